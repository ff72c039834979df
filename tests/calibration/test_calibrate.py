"""Calibration: known error rates are recovered, counts add up, and reports know whom to trust."""

import io
import json
from dataclasses import replace
from pathlib import Path

import pytest

from ancrage.calibration import (
    Label,
    Labels,
    calibrate,
    compare_judges,
    load_calibrations,
    measure,
    read_labels,
    save_calibration,
    split_of,
)
from ancrage.calibration.labels import hash_of
from ancrage.calibration.measure import confusion, corrected
from ancrage.calibration.pairs import unmatched
from ancrage.calibration.section import judge_sections, judged_modes
from ancrage.calibration.terminal import calibrated
from ancrage.cli.reporting import read
from ancrage.errors import UsageError
from ancrage.report.terminal import console, show
from ancrage.runs import RunView
from tests.calibration.worlds import MODE, World, judge_again, verdicts, world, write_labels
from tests.judges.scripted import definition


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> World:
    """400 answers, 30 % with the defect; the judge finds 85 % of these, spares 90 % of others."""
    return world(tmp_path_factory.mktemp("judged"), n=400)


@pytest.fixture
def labels(judged: World, tmp_path: Path) -> Labels:
    """The truth about every answer."""
    return read_labels([write_labels(tmp_path / "labels.jsonl", judged.truth, judged.truth)])


@pytest.fixture(autouse=True)
def workplace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty current folder, where calibrations are looked for."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_known_error_rates_are_recovered_exactly(judged: World, labels: Labels) -> None:
    calibration, disagreements = calibrate(RunView(judged.folder), labels, split=None)
    (mode,) = calibration.modes
    table = confusion(mode.pairs)
    pairs = [(judged.truth[name], judged.judged[name]) for name in judged.truth]
    assert table.true_positive == pairs.count((True, True))
    assert table.false_positive == pairs.count((False, True))
    assert table.false_negative == pairs.count((True, False))
    assert table.true_negative == pairs.count((False, False))
    assert len(disagreements) == table.false_positive + table.false_negative
    found = measure(mode)
    assert found.sensitivity.low < 0.85 < found.sensitivity.high
    assert found.specificity.low < 0.9 < found.specificity.high
    assert found.agreement.kappa is not None
    assert found.alpha is None


def test_the_corrected_rate_finds_the_truth_where_the_raw_rate_does_not(
    judged: World, labels: Labels
) -> None:
    view = RunView(judged.folder)
    true_rate = sum(judged.truth.values()) / len(judged.truth)
    (row,) = view.summaries()
    assert row.rate is not None
    for random_sample, method in ((True, "PPI++"), (False, "Rogan–Gladen")):
        calibration, _ = calibrate(view, labels, random_sample=random_sample)
        save_calibration(calibration)
        (known,) = judged_modes(view)
        assert known.corrected is not None
        assert known.corrected.method == method
        assert known.corrected.rate is not None
        assert known.corrected.interval is not None
        low, high = known.corrected.interval
        assert low < true_rate < high
        assert abs(known.corrected.rate - true_rate) < abs(row.rate - true_rate) + 0.02


def test_only_the_asked_side_of_the_split_is_measured(judged: World, labels: Labels) -> None:
    sides = {
        side: calibrate(RunView(judged.folder), labels, split=side)[0].modes[0]
        for side in ("train", "held-out")
    }
    for side, mode in sides.items():
        assert {split_of(pair.case_id) for pair in mode.pairs} == {side}
    assert sum(len(mode.pairs) for mode in sides.values()) == 400


def test_several_annotators_disputes_gaps_and_stale_labels_add_up(judged: World) -> None:
    view = RunView(judged.folder)
    names = list(judged.truth)[:8]

    def label(case_id: str, annotator: str, value: bool | None, read: str | None = None) -> Label:
        return Label(case_id=case_id, mode=MODE, label=value, annotator=annotator, answer_hash=read)

    given = [
        *(label(names[0], who, True) for who in ("ana", "ben", "cleo")),
        label(names[1], "ana", True),
        label(names[1], "ben", False),  # disputed
        label(names[2], "ana", None),  # undecided
        label(names[3], "ana", True, "0" * 16),  # of another answer
        label("nowhere", "ana", True),  # not in the run
        label(names[4], "ana", True),
        label(names[4], "ben", True),
        label(names[4], "cleo", False),  # outvoted
        label(names[5], "ben", False),
    ]
    calibration, _ = calibrate(view, Labels(tuple(given)), split=None)
    (mode,) = calibration.modes
    assert (mode.disputed, mode.undecided, mode.stale, mode.absent) == (1, 1, 1, 1)
    left = mode.unscored + mode.disputed + mode.undecided + mode.stale + mode.absent
    assert mode.labelled == 7 == len(mode.pairs) + left
    assert {pair.case_id: pair.truth for pair in mode.pairs} == {
        names[0]: True,
        names[4]: True,
        names[5]: False,
    }
    assert mode.annotators == {"ana": 6, "ben": 4, "cleo": 2}
    assert measure(mode).alpha is not None


def test_nobody_votes_twice_on_one_answer(judged: World) -> None:
    view = RunView(judged.folder)
    (name,) = list(judged.truth)[:1]
    item = next(each for each in view.items() if each.case.id == name)
    first = Label(case_id=name, mode=MODE, label=False, annotator="ana")
    again = first.model_copy(update={"label": True, "answer_hash": hash_of(item.output)})
    ben = first.model_copy(update={"annotator": "ben", "label": True})
    (mode,) = calibrate(view, Labels((first, again)), split=None)[0].modes
    assert [pair.truth for pair in mode.pairs] == [True], "the last word counts, no tie with itself"
    given = (ben, again, first.model_copy(update={"answer_hash": None}))
    (mode,) = calibrate(view, Labels(given), split=None)[0].modes
    assert (mode.disputed, mode.pairs) == (1, ())


def test_labels_of_unknown_modes_and_cases_are_named(judged: World, tmp_path: Path) -> None:
    path = tmp_path / "l.csv"
    rows = [f"{next(iter(judged.truth))},vague,1", "c0001,vaguee,1", "c0002,vaguee,0", "no,vague,1"]
    path.write_text("case_id,mode,label\n" + "\n".join(rows) + "\n")
    assert unmatched(RunView(judged.folder), read_labels([path])) == [
        f"{path}:3: mode: no judge of the run owns 'vaguee' (and 1 more labels)",
        f"{path}:5: case_id: the run has no case 'no'",
    ]


def test_reports_do_not_go_by_the_side_that_definitions_are_tuned_on(
    judged: World, labels: Labels
) -> None:
    view = RunView(judged.folder)
    save_calibration(calibrate(view, labels, split="train")[0])
    (known,) = judged_modes(view)
    assert (known.status, known.corrected) == ("not calibrated", None)
    save_calibration(calibrate(view, labels)[0])
    save_calibration(calibrate(view, labels, split="train")[0])
    (known,) = judged_modes(view)
    assert known.calibration is not None
    assert known.calibration.split == "held-out"
    save_calibration(calibrate(view, labels, split=None)[0])
    (known,) = judged_modes(view)
    assert known.status == "calibrated on 400 answers, the tuning side included"


def test_one_vote_against_undecided_ones_is_a_decision() -> None:
    from ancrage.calibration.pairs import consensus

    def votes(*values: bool | None) -> list[Label]:
        return [
            Label(case_id="c", mode=MODE, label=value, annotator=str(at))
            for at, value in enumerate(values)
        ]

    assert consensus(votes(True, None, None)) is True
    assert consensus(votes(False)) is False
    assert consensus(votes(True, False)) == "disputed"
    assert consensus(votes(None)) == "undecided"


def test_judges_are_compared_on_the_same_answers(
    tmp_path_factory: pytest.TempPathFactory, tmp_path: Path
) -> None:
    first = world(tmp_path_factory.mktemp("comparison"), n=150, sensitivity=0.6)
    judge_again(first, verdicts(first.truth, 0.95, 0.95, seed=9))
    found = read_labels([write_labels(tmp_path / "l.jsonl", first.truth, first.truth)])
    old = calibrate(RunView(first.folder, scoring="001"), found, split=None)[0].modes[0]
    new = calibrate(RunView(first.folder), found, split=None)[0].modes[0]
    assert (old.judge, new.judge) == ("tester", "rival")
    comparison = compare_judges(old, new)
    total = (
        comparison.both_right
        + comparison.only_first
        + comparison.only_second
        + comparison.both_wrong
    )
    assert total == comparison.n == 150
    assert comparison.only_second > comparison.only_first
    assert comparison.test.p_value < 0.05
    assert comparison.difference.low > 0


def test_a_report_flags_judges_without_calibration_and_those_that_changed(
    judged: World, labels: Labels, tmp_path_factory: pytest.TempPathFactory
) -> None:
    view = RunView(judged.folder)
    (known,) = judged_modes(view)
    assert known.status == "not calibrated"
    calibration, _ = calibrate(view, labels)
    save_calibration(calibration)
    (known,) = judged_modes(view)
    assert known.status.startswith("calibrated on ")
    changed = definition(MODE)
    changed = changed.model_copy(update={"task": "You check again."})
    other = world(tmp_path_factory.mktemp("other"), n=20, name="o", by=changed)
    (known,) = judged_modes(RunView(other.folder))
    version = calibration.modes[0].version
    assert known.status == f"changed since calibration ({version} → {other.judge.version})"
    assert known.corrected is None
    rates = judge_sections(RunView(other.folder))[0].rows[0]
    assert rates[2] == "none"


def test_the_main_report_shows_raw_and_corrected_rates(judged: World, labels: Labels) -> None:
    calibration, _ = calibrate(RunView(judged.folder), labels, random_sample=True)
    save_calibration(calibration)
    shown = read(judged.folder).sections
    sections = [section for section in shown if section.title.startswith("Judges")]
    titles = [section.title for section in sections]
    assert titles == ["Judges: raw and corrected rates", "Judges: coverage, evidence and cost"]
    row = dict(zip(sections[0].header, sections[0].rows[0], strict=True))
    alarms = sum(judged.judged.values())
    assert row["Raw"].startswith(f"{alarms}/400 = ")
    assert row["Corrected"].endswith("PPI++")
    costs = dict(zip(sections[1].header, sections[1].rows[0], strict=True))
    assert costs["Coverage"] == "400/400 = 100.0 %"


def test_a_calibration_on_few_labels_replaces_no_larger_one(judged: World, labels: Labels) -> None:
    view = RunView(judged.folder)
    save_calibration(calibrate(view, labels, split=None)[0])
    few = replace(labels, labels=labels.labels[:1])
    save_calibration(calibrate(view, few, split=None)[0])
    (mode,) = judged_modes(view)
    assert mode.measures is not None
    assert mode.measures.confusion.n == 400
    some = replace(labels, labels=labels.labels[:40])
    save_calibration(calibrate(view, some, split=None)[0])
    (mode,) = judged_modes(view)
    assert mode.measures is not None
    assert mode.measures.confusion.n == 40, "the newest on enough"


def test_a_calibration_applies_to_another_run_through_the_error_rates_alone(
    judged: World, labels: Labels
) -> None:
    calibration, _ = calibrate(RunView(judged.folder), labels, random_sample=True, split=None)
    (mode,) = calibration.modes
    elsewhere = {f"x{number}": ("0" * 16, number % 5 == 0) for number in range(400)}
    found = corrected(mode, elsewhere, random_sample=True)
    assert found.method == "Rogan–Gladen"


def test_a_judge_that_knows_nothing_is_refused(judged: World, labels: Labels) -> None:
    mode = calibrate(RunView(judged.folder), labels, split=None)[0].modes[0]
    pairs = tuple(
        pair.model_copy(update={"judged": number % 2 == 0})
        for number, pair in enumerate(mode.pairs)
    )
    blind = mode.model_copy(update={"pairs": pairs})
    found = corrected(blind, {"x": ("0" * 16, True)}, random_sample=False)
    assert found.rate is None
    assert "too little information" in (found.refusal or "")
    one_sided = mode.model_copy(update={"pairs": tuple(p for p in pairs if not p.truth)})
    found = corrected(one_sided, {"x": ("0" * 16, True)}, random_sample=False)
    assert found.refusal == "no labelled case with the defect"


def test_a_judge_that_always_says_the_same_gets_no_certain_agreement(
    judged: World, labels: Labels
) -> None:
    calibration, _ = calibrate(RunView(judged.folder), labels, split=None)
    (mode,) = calibration.modes
    pairs = tuple(pair.model_copy(update={"judged": False}) for pair in mode.pairs)
    silent = calibration.model_copy(update={"modes": (mode.model_copy(update={"pairs": pairs}),)})
    out = io.StringIO()
    show(calibrated(silent, [], [], []), console(out))
    (row,) = (line for line in out.getvalue().splitlines() if line.startswith("κ"))
    assert row.split()[-2:] == ["0.00", "unknown"]


def test_stored_calibrations_are_read_back_as_they_were(judged: World, labels: Labels) -> None:
    calibration, _ = calibrate(RunView(judged.folder), labels)
    path = save_calibration(calibration)
    assert load_calibrations() == [calibration]
    assert calibration.labels == labels.hash
    stored = json.loads(path.read_text(encoding="utf-8"))
    assert stored["modes"][0]["version"] == judged.judge.version
    path.write_text("{}", encoding="utf-8")
    with pytest.raises(UsageError, match=path.name):
        load_calibrations()


def test_labels_that_bear_on_nothing_stop_the_command(judged: World, labels: Labels) -> None:
    other = Labels(tuple(each.model_copy(update={"mode": "rude"}) for each in labels.labels))
    with pytest.raises(UsageError, match="bears on a judged mode: vague"):
        calibrate(RunView(judged.folder), other)
    with pytest.raises(UsageError, match="bears on a judged mode"):
        calibrate(RunView(judged.folder), replace(labels, labels=()))
