"""The gate: never green by accident, and each outcome with its exit code."""

from dataclasses import replace
from datetime import date
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError
from scipy.stats import binom

from ancrage.compare.baseline import read_baseline, write_baseline
from ancrage.compare.gate import Decision, Outcome, decide
from ancrage.compare.looks import dispatch_order, in_dispatch_order, look
from ancrage.compare.model import ChangeVerdict
from ancrage.compare.paired import compare
from ancrage.compare.policy import Ignore, Policy, load_policy
from ancrage.compare.results import Anchoring, Results
from ancrage.config import Config
from ancrage.domain import OutputState, RunState
from ancrage.errors import ExitCode, UsageError
from ancrage.runs import NOT_RUN
from ancrage.stats import swap_evidence
from tests.compare.runs import read_results, results, world, write_run

TODAY = date(2026, 6, 1)


def gate(
    candidate: Results | tuple[Results, ...],
    baseline: Results | tuple[Results, ...] | str | None = None,
    **policy: Any,
) -> Decision:
    """The decision on a candidate under a policy made of keyword arguments."""
    return decide(
        Policy.model_validate(policy),
        candidate if isinstance(candidate, tuple) else (candidate,),
        (baseline,) if isinstance(baseline, Results) else baseline,
        today=TODAY,
    )


CLEAN = results({"x": [0.0] * 100})


def test_a_clean_run_ships() -> None:
    found = gate(CLEAN, CLEAN, ceilings={"x": 0.02})
    assert found.outcome is Outcome.PASSED
    assert found.exit_code is ExitCode.OK
    assert found.words == "SHIP"


def test_exit_codes() -> None:
    codes = {Outcome.PASSED: 0, Outcome.FAILED: 1, Outcome.UNKNOWN: 3}
    for outcome, code in codes.items():
        assert Decision(outcome=outcome, candidate=(), baseline=None, checks=()).exit_code == code


def test_zero_items_are_never_green() -> None:
    for empty in (results({"x": []}), results({})):
        found = gate(empty, empty, minimum={"cases": 1})
        assert found.outcome is Outcome.UNKNOWN
        assert any(check.name == "items" for check in found.of(Outcome.UNKNOWN))


def test_nothing_scored_is_never_green() -> None:
    every_call_failed = results({"x": [None] * 100})
    found = gate(every_call_failed, CLEAN)
    assert found.outcome is Outcome.UNKNOWN
    assert {check.name for check in found.of(Outcome.UNKNOWN)} >= {"coverage", "regression"}
    no_mode = results({"x": [0.0] * 100})
    no_mode = Results(no_mode.origin, {}, no_mode.cases, no_mode.studies, no_mode.states, {})
    assert gate(no_mode).outcome is Outcome.UNKNOWN


@pytest.mark.parametrize("state", [RunState.INCOMPLETE, RunState.RUNNING])
def test_an_errored_run_is_never_green(state: RunState) -> None:
    found = gate(results({"x": [0.0] * 100}, state=state), CLEAN)
    assert found.outcome is Outcome.UNKNOWN
    assert found.of(Outcome.UNKNOWN)[0].name == "run"


def test_a_missing_baseline_is_never_green() -> None:
    found = gate(CLEAN, "no baseline 'main'; record one")
    assert found.outcome is Outcome.UNKNOWN
    assert found.of(Outcome.UNKNOWN)[0].message == "no baseline 'main'; record one"
    assert gate(CLEAN, None).outcome is Outcome.PASSED


def test_an_incomplete_baseline_is_never_green() -> None:
    found = gate(CLEAN, results({"x": [0.0] * 100}, state=RunState.INCOMPLETE))
    assert found.outcome is Outcome.UNKNOWN


def test_crashing_the_judge_does_not_improve_the_rate() -> None:
    """Half of the cases fail; a judge that dies on the failing ones must not turn it green."""
    before = results({"x": [1.0] * 50 + [0.0] * 50})
    crashed = results({"x": [None] * 45 + [1.0] * 5 + [0.0] * 50})
    assert gate(crashed, before, ceilings={"x": 0.1}).outcome is Outcome.UNKNOWN
    lenient = gate(crashed, before, ceilings={"x": 0.1}, minimum={"coverage": 0.0})
    assert lenient.outcome is Outcome.UNKNOWN
    assert lenient.of(Outcome.UNKNOWN)[0].name == "ceiling"


def test_a_ceiling_is_decided_by_the_bounds() -> None:
    values: list[float | None] = [1.0] * 4 + [None] * 2 + [0.0] * 94
    for ceiling, outcome in (
        (0.03, Outcome.FAILED),
        (0.04, Outcome.UNKNOWN),
        (0.05, Outcome.UNKNOWN),
        (0.06, Outcome.PASSED),
    ):
        assert gate(results({"x": values}), ceilings={"x": ceiling}).outcome is outcome


def test_a_ceiling_on_a_mode_nobody_scored_is_inconclusive() -> None:
    found = gate(CLEAN, ceilings={"mispelt": 0.1})
    assert found.outcome is Outcome.UNKNOWN
    assert found.of(Outcome.UNKNOWN)[0].mode == "mispelt"


def test_a_significant_regression_does_not_ship_and_names_its_cases() -> None:
    found = gate(results({"x": [1.0] * 9 + [0.0] * 91}), CLEAN)
    assert found.exit_code == 1
    (check,) = found.of(Outcome.FAILED)
    assert (check.name, check.mode, len(check.cases)) == ("regression", "x", 9)
    assert "9 newly failing" in check.message


def test_noise_ships() -> None:
    before = [1.0, 0.0] * 10 + [0.0] * 80
    after = [0.0, 1.0] * 10 + [0.0] * 80
    assert gate(results({"x": after}), results({"x": before})).outcome is Outcome.PASSED


def test_an_improvement_ships() -> None:
    assert gate(CLEAN, results({"x": [1.0] * 30 + [0.0] * 70})).outcome is Outcome.PASSED


def test_a_margin_asks_for_evidence_of_no_harm() -> None:
    small = results({"x": [0.0] * 40})
    assert gate(small, small, margin=0.02).outcome is Outcome.UNKNOWN
    large = results({"x": [0.0] * 1000})
    assert gate(large, large, margin=0.02).outcome is Outcome.PASSED
    tolerated = results({"x": [1.0] * 8 + [0.0] * 992})
    assert gate(tolerated, large).outcome is Outcome.FAILED
    assert gate(tolerated, large, margin=0.02).outcome is Outcome.PASSED


def test_other_data_or_another_judge_is_inconclusive() -> None:
    assert gate(results({"x": [0.0] * 100}, snapshot="b0"), CLEAN).outcome is Outcome.UNKNOWN
    assert gate(results({"x": [0.0] * 100}, version="2"), CLEAN).outcome is Outcome.UNKNOWN


def test_a_mode_that_vanished_is_inconclusive() -> None:
    before = results({"x": [0.0] * 100, "y": [0.0] * 100})
    found = gate(CLEAN, before)
    assert found.outcome is Outcome.UNKNOWN
    assert gate(CLEAN, before, modes=["x"]).outcome is Outcome.PASSED


def test_the_ignore_list_expires() -> None:
    worse = results({"x": [1.0] * 9 + [0.0] * 91})
    cases = [f"c{at:03d}" for at in range(9)]

    def entries(until: date) -> list[Ignore]:
        return [Ignore(case=case, mode="x", until=until, reason="known") for case in cases]

    clean = results({"x": [0.0] * 100}, name="base")
    held = gate(worse, clean, ignore=entries(TODAY))
    assert held.outcome is Outcome.PASSED
    assert len(held.remarks) == 9
    assert held.remarks[0].startswith("ignored until 2026-06-01: c000 (x)")
    expired = gate(worse, clean, ignore=entries(date(2026, 5, 31)))
    assert expired.outcome is Outcome.FAILED
    assert expired.remarks[0].startswith("no longer ignored since 2026-05-31")


def test_ignore_entries_that_match_nothing_are_said() -> None:
    entry = {"until": TODAY, "reason": "r"}
    found = gate(
        CLEAN,
        ignore=[{"case": "gone", **entry}, {"case": "c001", "mode": "typo", **entry}],
    )
    assert "not in the run" in found.remarks[0]
    assert "nothing scored" in found.remarks[1]


def test_policies_come_from_the_configuration_or_a_file(tmp_path: Path) -> None:
    config = Config(tmp_path / "evals.toml", {"gate": {"minimum": {"cases": 7}}})
    assert load_policy(config).minimum.cases == 7
    path = tmp_path / "gate.toml"
    path.write_text(
        'alpha = 0.01\n[ceilings]\nx = 0.1\n[[ignore]]\ncase = "c1"\nuntil = 2026-07-01\n'
        'reason = "being fixed"\n',
        encoding="utf-8",
    )
    policy = load_policy(config, path)
    assert (policy.alpha, policy.ceilings, policy.ignore[0].until) == (
        0.01,
        {"x": 0.1},
        date(2026, 7, 1),
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("alfa = 0.01", "alfa"),
        ("alpha = 2", "alpha"),
        ("alpha = ", "not valid TOML"),
        ('[[ignore]]\ncase = "c"\nreason = "r"', "until"),
    ],
)
def test_bad_policies_name_file_and_field(text: str, words: str, tmp_path: Path) -> None:
    path = tmp_path / "gate.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=rf"gate\.toml: .*{words}"):
        load_policy(Config(None, {}), path)
    with pytest.raises(UsageError, match="No such file"):
        load_policy(Config(None, {}), tmp_path / "absent.toml")
    with pytest.raises(ValidationError):
        Ignore(case="c", until=TODAY, reason="")


def test_repeats_over_different_cases_are_inconclusive() -> None:
    found = gate((results({"x": [0.0] * 100}), results({"x": [0.0] * 90})))
    assert found.outcome is Outcome.UNKNOWN
    assert any("same cases" in check.message for check in found.of(Outcome.UNKNOWN))


def test_unscored_cases_count_against_a_margin() -> None:
    large = results({"x": [0.0] * 1000})
    crashed = results({"x": [None] * 40 + [0.0] * 960})
    found = gate(crashed, large, margin=0.02)
    assert found.outcome is Outcome.UNKNOWN
    assert "whatever the unscored cases are" in found.of(Outcome.UNKNOWN)[0].message
    assert gate(crashed, large, margin=0.1).outcome is Outcome.PASSED


def test_every_call_failed_is_not_green_even_if_the_policy_asks_for_no_coverage() -> None:
    found = gate(results({"x": [None] * 100}), None, minimum={"coverage": 0})
    assert found.outcome is Outcome.UNKNOWN


@pytest.mark.parametrize("ceiling", [5, 1.01, -0.1, float("nan"), float("inf")])
def test_a_ceiling_is_a_share(ceiling: float) -> None:
    """A ceiling of 5, meant as 5 %, would let everything pass."""
    with pytest.raises(ValidationError, match="ceilings"):
        Policy(ceilings={"x": ceiling})


def test_ignoring_nearly_everything_is_not_green() -> None:
    worse = results({"x": [1.0] * 99 + [0.0]})
    entries = [{"case": case, "until": TODAY, "reason": "all of them"} for case in worse.cases[:99]]
    found = gate(worse, CLEAN, ignore=entries)
    assert found.outcome is Outcome.UNKNOWN
    assert "1 cases once the ignored ones are out" in found.of(Outcome.UNKNOWN)[0].message


def test_only_the_modes_of_the_policy_share_its_chance_of_a_mistake() -> None:
    others = {f"other{at}": [1.0, 0.0] * 10 + [0.0] * 80 for at in range(9)}
    moved = {name: values[::-1] for name, values in others.items()}
    before = results({"x": [0.0] * 100, **others})
    after = results({"x": [1.0] * 7 + [0.0] * 93, **moved})
    assert gate(after, before).outcome is Outcome.UNKNOWN
    assert gate(after, before, modes=["x"]).outcome is Outcome.FAILED


def test_an_early_improvement_is_no_evidence_of_a_regression() -> None:
    """Twelve cases better, then thirteen worse: something changed, but it is not "worse"."""
    before = results({"x": [1.0] * 12 + [0.0] * 988})
    after = results({"x": [0.0] * 12 + [1.0] * 13 + [0.0] * 975}, looks=1)
    assert gate(after, before).outcome is Outcome.PASSED


def test_a_run_compared_with_itself_says_so() -> None:
    assert any("itself" in remark for remark in gate(CLEAN, CLEAN).remarks)
    assert not gate(CLEAN, results({"x": [0.0] * 100}, name="base")).remarks


def test_fields_outside_of_the_gate_table_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "gate.toml"
    path.write_text("margin = 0.5\n[gate]\nalpha = 0.01\n", encoding="utf-8")
    with pytest.raises(UsageError, match="margin stands outside"):
        load_policy(Config(None, {}), path)
    path.write_text("[snapshot]\nx = 1\n[gate]\nalpha = 0.01\n", encoding="utf-8")
    assert load_policy(Config(None, {}), path).alpha == 0.01


def test_what_looks_worse_unproven_is_inconclusive_and_says_how_many_would_tell() -> None:
    before = results({"x": [0.0] * 40})
    five_more = results({"x": [1.0] * 5 + [0.0] * 35})
    found = gate(five_more, before)
    assert found.outcome is Outcome.UNKNOWN
    (check,) = found.of(Outcome.UNKNOWN)
    assert binom.sf(5, 62, 5 / 40) == pytest.approx(0.8, abs=0.01)
    assert "too little to be sure: about 62 cases would tell" in check.message
    assert len(check.cases) == 5
    assert gate(before, five_more).outcome is Outcome.PASSED
    (few,) = [
        check for check in gate(results({"x": [1.0, *[0.0] * 39]}), before).checks
        if check.name == "regression"
    ]  # fmt: skip
    assert few.outcome is Outcome.PASSED
    assert "points would have shown" in few.message


def test_a_growing_run_can_stop_early_but_never_ships_early() -> None:
    def growing(values: list[float | None]) -> Results:
        reached = sum(value is not None for value in values)
        return results({"x": values}, state=RunState.RUNNING, reached=reached)

    rest: list[float | None] = [None] * 60
    policy: dict[str, Any] = {"minimum": {"coverage": 0.0}}
    bad = gate(growing([*[1.0] * 30, *[0.0] * 10, *rest]), CLEAN, **policy)
    assert bad.outcome is Outcome.FAILED
    said = bad.of(Outcome.FAILED)[0].message
    assert "anytime-valid, over the first 40 cases in the order of dispatch (40 have ended)" in said
    assert gate(growing([*[0.0] * 40, *rest]), CLEAN, **policy).outcome is Outcome.UNKNOWN


def _answered(run: Results, ended: list[int]) -> Results:
    """``run`` while only these of its cases have come back."""
    states = tuple(
        OutputState.OK if at in ended else OutputState.NOT_RUN for at in range(len(run.cases))
    )
    return replace(
        run, states=states, origin=run.origin.model_copy(update={"state": RunState.RUNNING})
    )


def test_failures_that_come_back_first_are_no_evidence() -> None:
    """All 100 cases are under way; the 20 that fail are quick, the others are still thinking."""
    failing = [1.0 if at % 5 == 2 else 0.0 for at in range(100)]
    run = results({"x": failing})
    quick = _answered(run, [at for at in range(100) if failing[at]])
    assert look((CLEAN,), (quick,), "x", clustered=False) == (1.0, 0, 20)
    assert gate(quick, run, minimum={"coverage": 0}).outcome is Outcome.UNKNOWN
    half = _answered(run, [*range(50), 52, 57])
    assert look((CLEAN,), (half,), "x", clustered=False).counted == 50


def test_the_order_of_dispatch_is_a_hash_of_the_study() -> None:
    studies = [f"s{at // 10}" for at in range(100)]
    cases = [(f"c{at:03d}", study) for at, study in enumerate(studies)]
    order = dispatch_order(cases)
    assert sorted(order) == [name for name, _ in cases]
    assert order != sorted(order)
    assert dispatch_order(list(reversed(cases))) == order
    place = dict(cases)
    seen = [place[name] for name in order]
    assert sum(a != b for a, b in pairwise(seen)) == 9  # each study stands together
    run = results({"x": [0.0] * 100}, studies=studies, hashed_order=True)
    base = results({"x": [0.0] * 100}, studies=studies)
    ended = _answered(run, [int(name[1:]) for name in order[:35]])
    assert look((base,), (ended,), "x", clustered=True).counted == 30


def test_a_run_that_was_looked_at_keeps_the_anytime_valid_test_to_the_end() -> None:
    values = [1.0] * 6 + [0.0] * 94
    assert gate(results({"x": values}), CLEAN).outcome is Outcome.FAILED
    assert gate(results({"x": values}, looks=1), CLEAN).outcome is Outcome.UNKNOWN


def test_a_look_at_an_unfinished_run_is_noted_in_its_folder(tmp_path: Path) -> None:
    data = world(tmp_path / "snap", 40)
    folder = write_run(
        tmp_path / "runs", data, "new", {"x": [0.0] * 40}, state=RunState.INCOMPLETE, reached=30
    )
    base = read_results(write_run(tmp_path / "runs", data, "old", {"x": [0.0] * 40}))
    assert read_results(folder).origin.looks == 0
    for _ in range(2):
        assert gate(read_results(folder), base).outcome is Outcome.UNKNOWN
    assert read_results(folder).origin.looks == 2
    gate(base, base)
    gate(read_results(folder))
    assert (read_results(folder).origin.looks, base.origin.looks) == (2, 0)
    done = write_run(tmp_path / "more", data, "done", {"x": [1.0] * 6 + [0.0] * 34})
    assert gate(read_results(done), base).outcome is Outcome.FAILED
    gate(replace(read_results(done), origin=read_results(folder).origin), base)
    assert gate(read_results(done), base).outcome is Outcome.UNKNOWN


def test_where_one_study_decides_nobody_says_worse() -> None:
    studies = [f"s{at // 20}" for at in range(240)]
    after = [float(at < 18 or at % 20 == 19) for at in range(240)]
    sides = [results({"x": v}, studies=studies) for v in ([0.0] * 240, after)]
    found = compare((sides[0],), (sides[1],), cluster="study").modes[0]
    assert found.adjusted_p is not None
    assert found.adjusted_p < 0.01
    assert found.verdict is ChangeVerdict.UNEVEN
    decision = gate(sides[1], sides[0])
    assert decision.outcome is Outcome.UNKNOWN
    assert any("one study" in check.message for check in decision.of(Outcome.UNKNOWN))


def test_a_run_that_was_stopped_is_judged_by_the_test_for_looks() -> None:
    values: list[float | None] = [*[1.0] * 6, *[0.0] * 44, *[None] * 50]
    stopped = results({"x": values}, state=RunState.INCOMPLETE, reached=50)
    found = gate(stopped, CLEAN, minimum={"coverage": 0})
    assert found.outcome is Outcome.UNKNOWN
    assert any("anytime-valid" in check.message for check in found.of(Outcome.UNKNOWN))


def test_an_answer_without_its_score_yet_keeps_its_study_out() -> None:
    values: list[float | None] = [*[1.0] * 11, None]
    studies = [f"s{at // 2}" for at in range(12)]
    base = results({"x": [0.0] * 12}, studies=studies)
    run = results({"x": values}, studies=studies, state=RunState.RUNNING)
    waiting = replace(run, reasons={"x": {"c011": NOT_RUN}})
    failed = replace(run, reasons={"x": {"c011": "the judge gave no verdict"}})
    five = np.array([[2.0, -2.0]] * 5)
    six = np.concatenate([five, [[1.0, -1.0]]])
    for candidate, orbits in ((waiting, five), (failed, six)):
        found = look((base,), (candidate,), "x", clustered=True)
        assert found.p == pytest.approx(2 * swap_evidence(orbits))


def test_one_run_against_five_repeats_is_weighed_as_such() -> None:
    """3 of 5 repeats fail on a third of the cases; the new run fails where chance would have it."""
    rng = np.random.default_rng(4)
    table = (rng.random((100, 6)) < 0.05).astype(float)
    repeats = tuple(results({"x": column.tolist()}, name=f"r{at}") for at, column in
                    enumerate(table[:, :5].T))  # fmt: skip
    found = gate(results({"x": table[:, 5].tolist()}, name="new"), repeats)
    assert found.outcome is Outcome.PASSED


def test_mocks_never_ship() -> None:
    found = gate(results({"x": [0.0] * 100}, parameters={"mock": "answers.json"}), CLEAN)
    assert found.outcome is Outcome.UNKNOWN
    assert "mock" in found.of(Outcome.UNKNOWN)[0].message


def _anchored(citations: int, quotes: int, *, different: int = 80) -> Results:
    each = Anchoring(citations=citations, quotes=quotes, held=quotes)
    return results({"x": [0.0] * 100}, anchors=[each] * 100, different_quotes=different)


@pytest.mark.parametrize(
    ("candidate", "what"),
    [
        (_anchored(0, 0, different=0), "citations: 300 → 0"),
        (_anchored(1, 2), "citations: 300 → 100"),
        (_anchored(3, 0, different=0), "quotes: 200 → 0"),
        (_anchored(3, 2, different=1), "different quotes: 80 → 1"),
    ],
)
def test_fewer_failures_where_less_is_cited_do_not_ship(candidate: Results, what: str) -> None:
    before = replace(_anchored(3, 2), values={"x": np.array([1.0] * 40 + [0.0] * 60)})
    assert gate(_anchored(3, 2), before).outcome is Outcome.PASSED
    found = gate(candidate, before)
    assert found.outcome is Outcome.UNKNOWN
    assert any(what in check.message for check in found.of(Outcome.UNKNOWN))


def test_an_assistant_that_cites_nothing_never_ships_unless_told_that_it_may() -> None:
    silent = _anchored(0, 0, different=0)
    assert gate(silent).outcome is Outcome.UNKNOWN
    assert gate(silent, minimum={"citations": 0}).outcome is Outcome.PASSED
    assert gate(_anchored(3, 1), minimum={"quotes_per_answer": 2}).outcome is Outcome.UNKNOWN
    assert gate(_anchored(3, 2), minimum={"quotes_per_answer": 2}).outcome is Outcome.PASSED


def test_one_answer_for_every_question_does_not_ship() -> None:
    same = replace(CLEAN, answers=dict.fromkeys(CLEAN.cases, 7))
    found = gate(same)
    assert found.outcome is Outcome.UNKNOWN
    assert "100 of 100 answers are one and the same text" in found.of(Outcome.UNKNOWN)[0].message


def test_a_baseline_of_older_evaluators_says_how_to_renew_it(tmp_path: Path) -> None:
    write_baseline("main", (results({"x": [0.0] * 100}, name="old-run"),), tmp_path)
    found = gate(results({"x": [0.0] * 100}, version="2"), read_baseline("main", tmp_path)[0])
    assert any(
        "ancrage score old-run, then ancrage gate old-run --save main" in check.message
        for check in found.of(Outcome.UNKNOWN)
    )


def test_a_snapshot_is_sent_out_in_the_order_of_dispatch(tmp_path: Path) -> None:
    data = world(tmp_path / "snap", 30, studies=5)
    sent = list(in_dispatch_order(data))
    assert [case.id for case in sent] == dispatch_order([(c.id, c.study_id) for c in data.cases()])
    studies = [case.study_id for case in sent]
    assert sum(a != b for a, b in pairwise(studies)) == 4
