"""The measure of the checks is itself measured: a blind check is caught, a good one passes."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from ancrage.checks import check, load_checks
from ancrage.config import Config
from ancrage.domain import Finding
from ancrage.errors import UsageError
from ancrage.evaluator import Evaluator, Subject
from ancrage.prove import Draft, Kind, Panel, Trial, find_hosts, run_trial
from ancrage.prove.edits import HARMLESS
from ancrage.prove.faults import FAULTS
from ancrage.prove.page import markdown, write_html
from ancrage.prove.quotes import FAULTS as QUOTE_FAULTS
from ancrage.prove.settings import ProveSettings, load_kinds
from ancrage.prove.shapes import SHAPES, write
from ancrage.prove.shrink import smallest
from ancrage.prove.summary import Row, by_kind, by_shape
from ancrage.prove.terminal import share_of_all
from ancrage.prove.trial import Look, plant
from ancrage.snapshot import open_snapshot
from ancrage.studies import Studies

DEMO = Path(__file__).parents[2] / "snapshots" / "demo"
CONFIG = Config(None, {})


@pytest.fixture(scope="module")
def studies() -> Studies:
    return Studies(open_snapshot(DEMO), CONFIG)


@pytest.fixture(scope="module")
def hosts(studies: Studies) -> list[Draft]:
    found, answers = find_hosts(studies.snapshot, studies, load_checks(CONFIG))
    assert answers == 130
    assert len(found) > 50
    return found


def trial(
    hosts: list[Draft], studies: Studies, kinds: list[Kind], *extra: Evaluator, per_cell: int = 2
) -> Trial:
    checks: list[Evaluator] = [*load_checks(CONFIG), *extra]
    return run_trial(hosts, 130, studies, Panel(checks), kinds, per_cell=per_cell)


def test_an_answer_taken_apart_and_put_together_is_the_same(hosts: list[Draft]) -> None:
    for draft in hosts:
        assert write(draft, "as_is") == draft.text


@pytest.mark.parametrize("kind", [*FAULTS, *QUOTE_FAULTS, *HARMLESS], ids=lambda kind: kind.name)
def test_a_kind_changes_the_answer_and_is_the_same_for_one_seed(
    kind: Kind, hosts: list[Draft]
) -> None:
    planted = [(draft, plant(kind, draft, "3")) for draft in hosts]
    again = [plant(kind, draft, "3") for draft in hosts]
    changed = [(draft, new) for draft, new in planted if new is not None]
    assert changed
    for draft, new in changed:
        if kind.is_fault:
            assert any(write(new, shape) != write(draft, shape) for shape in SHAPES)
    assert [new and write(new, "bullets") for _, new in planted] == [
        new and write(new, "bullets") for new in again
    ]


def test_the_counts_of_a_cell_add_up(hosts: list[Draft], studies: Studies) -> None:
    found = trial(
        hosts, studies, load_kinds(ProveSettings(), "unknown_message,marks_curly,foreign")
    )
    assert {cell.shape for cell in found.cells} == set(SHAPES)
    for cell in found.cells:
        counts = cell.right, cell.other, cell.missed, cell.unscored, cell.not_claimed
        assert cell.tried == sum(counts)
        assert 0 < cell.tried <= 2


def test_our_checks_find_the_plain_faults_in_every_shape(
    hosts: list[Draft], studies: Studies
) -> None:
    names = "unknown_ref,unknown_message,respondent_swapped,altered_digit,moved_to_another_message"
    kinds = load_kinds(ProveSettings(), names)
    rows = by_kind(trial(hosts, studies, kinds), kinds, ProveSettings())
    assert {row.name: row.rate for row in rows} == dict.fromkeys(names.split(","), 1.0)


def test_a_blind_check_falls_below_its_floor(hosts: list[Draft], studies: Studies) -> None:
    kinds = load_kinds(ProveSettings(), "altered_digit,marks_curly")
    found = run_trial(hosts, 130, studies, Panel([_blind("non_verbatim_quote")]), kinds, per_cell=2)
    fault, edit = by_kind(found, kinds, ProveSettings())
    assert (fault.rate, fault.missed, fault.falls_short) == (0.0, fault.tried, True)
    assert not edit.falls_short


def test_a_check_that_cries_wolf_is_a_false_alarm(hosts: list[Draft], studies: Studies) -> None:
    kinds = load_kinds(ProveSettings(), "marks_curly")
    found = trial(hosts, studies, kinds, _loud)
    (row,) = by_kind(found, kinds, ProveSettings())
    assert (row.right, row.falls_short) == (0, True)
    assert row.by_mode == {"loud": row.tried}


def test_what_nobody_looks_for_is_said_and_not_counted(
    hosts: list[Draft], studies: Studies
) -> None:
    kinds = load_kinds(ProveSettings(), "unknown_ref")
    found = run_trial(hosts, 130, studies, Panel([_blind("non_verbatim_quote")]), kinds)
    assert (found.cells, found.unowned) == ((), ("unknown_ref",))


def test_what_went_wrong_is_made_small_and_still_goes_wrong(
    hosts: list[Draft], studies: Studies, tmp_path: Path
) -> None:
    kinds = load_kinds(ProveSettings(), "altered_digit,altered_synonym")
    blind = [_blind("non_verbatim_quote")]
    found = run_trial(hosts, 130, studies, Panel(blind), kinds, shapes=["bullets"], per_cell=2)
    small = smallest(found.wrong, Look(Panel(blind), studies))
    assert [len(wrong.draft.units) for wrong in small] == [1, 1]
    assert max(len(write(wrong.draft, "bullets")) for wrong in small) < 40
    rows = by_kind(found, kinds, ProveSettings())
    page = tmp_path / "proof.html"
    script = small[0].host.with_unit(0, words="<script>alert()</script>")
    hostile = replace(small[0], host=script)
    write_html(page, found, kinds, rows, [hostile])
    html = page.read_text(encoding="utf-8")
    assert "&lt;script&gt;alert()" in html
    assert "<script>alert" not in html
    text = "\n".join(markdown(found, rows, by_shape(found, kinds)))
    assert "| `altered_digit` One digit is another. | 0/" in text


def test_kinds_of_ones_own_and_floors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "my_faults.py").write_text(
        "from ancrage.prove import fault\n\n"
        "@fault('non_verbatim_quote')\ndef shouted(draft, chance):\n"
        "    'Every word in capitals.'\n"
        "    return draft.with_unit(0, words=draft.units[0].words.upper())\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    settings = ProveSettings(modules=("my_faults",), floors={"shouted": 0.5})
    (kind,) = load_kinds(settings, "shouted")
    assert (kind.modes, kind.definition) == (("non_verbatim_quote",), "Every word in capitals.")
    assert settings.floor(kind) == 0.5
    with pytest.raises(UsageError, match="no kind of fault or edit is named 'shouted'"):
        load_kinds(ProveSettings(), "shouted")
    with pytest.raises(UsageError, match="cannot import 'nowhere_at_all'"):
        load_kinds(ProveSettings(modules=("nowhere_at_all",)))


@check(title="Loud", definition="Everything.")
def loud(subject: Subject) -> Iterator[Finding]:
    from ancrage.checks import finding

    yield finding("loud", subject, 0, 1, "!")


_loud = replace(loud, version="1")


def _blind(mode: str) -> Evaluator:
    """A check that owns ``mode`` and never finds anything."""
    owned = loud.mode.model_copy(update={"name": mode})
    return replace(loud, mode=owned, function=lambda subject: (), version="1")


def test_what_is_kept_stays_apart_from_the_projects_own_runs(tmp_path: Path) -> None:
    from tests.cli.test_commands import run

    (tmp_path / "evals.toml").write_text("[prove]\ndetection = 0\n")
    ended = run(
        *("prove", str(DEMO), "--kinds", "bracket_that_turns,foreign,altered_digit"),
        *("--shapes", "as_is", "--per-cell", "30", "--keep", "small"),
        cwd=tmp_path,
    )
    assert ended.returncode == 0, ended.stderr
    assert not (tmp_path / "runs").exists()
    assert not (tmp_path / "snapshots").exists()
    if ".ancrage/prove/runs/small" in ended.stdout:
        shown = run("report", str(tmp_path / ".ancrage/prove/runs/small"), cwd=tmp_path)
        assert shown.returncode == 0, shown.stderr


def _row(right: int, missed: int, not_claimed: int = 0, floor: float = 0.95) -> Row:
    return Row(
        name="a", is_fault=True, tried=right + missed + not_claimed, right=right, other=0,
        missed=missed, unscored=0, not_claimed=not_claimed, by_judges=0, floor=floor,
    )  # fmt: skip


def test_what_is_not_claimed_stands_outside_every_share() -> None:
    row = _row(64, 0, not_claimed=12)
    assert (row.claimed, row.rate, row.interval[1]) == (64, 1.0, 1.0)
    assert share_of_all(row).startswith("64/64 = 100.0 %")
    assert share_of_all(row).endswith(", 12 not claimed")
    assert share_of_all(_row(0, 0, not_claimed=2)) == "–, 2 not claimed"


def test_one_miss_among_a_few_is_not_below_a_floor_and_many_are() -> None:
    assert not _row(17, 1).falls_short
    assert _row(170, 30).falls_short
    assert not _row(0, 0, not_claimed=5).falls_short


def test_an_answer_whose_study_is_gone_is_no_host(hosts: list[Draft], studies: Studies) -> None:
    gone = {case.id for case in studies.snapshot.cases() if case.study_id and not studies.of(case)}
    assert gone
    assert not gone & {host.case.id for host in hosts}
