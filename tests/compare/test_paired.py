"""Comparisons: what changed, over which denominators, and when one may not compare."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ancrage.compare.model import ChangeVerdict
from ancrage.compare.paired import compare
from ancrage.compare.results import Results
from ancrage.domain import RunState
from ancrage.stats import mcnemar
from ancrage.stats.units import FEWEST
from tests.compare.runs import results

_VALUES = st.lists(st.sampled_from([0.0, 1.0, 3.0, None]), min_size=1, max_size=40)


@given(st.data(), _VALUES)
def test_counts_add_up(data: st.DataObject, before: list[float | None]) -> None:
    size = len(before)
    after = data.draw(st.lists(st.sampled_from([0.0, 1.0, None]), min_size=size, max_size=size))
    (found,) = compare((results({"x": before}),), (results({"x": after}),)).modes
    for side, values in ((found.first, before), (found.second, after)):
        assert side.cases == side.scored + side.unscored == size
        assert side.unscored == values.count(None)
        assert side.bounds.low * size == pytest.approx(sum(v is not None and v > 0 for v in values))
        assert side.bounds.high - side.bounds.low == pytest.approx(side.unscored / size)
    pairs = [(a, b) for a, b in zip(before, after, strict=True) if a is not None and b is not None]
    assert found.pairs == len(pairs)
    assert len(found.worse) == sum(a == 0 and b > 0 for a, b in pairs)
    assert len(found.better) == sum(a > 0 and b == 0 for a, b in pairs)
    assert found.both_fail == sum(a > 0 and b > 0 for a, b in pairs)
    if found.difference is not None:
        assert found.interval.low - 1e-9 <= found.difference <= found.interval.high + 1e-9
        change = (len(found.worse) - len(found.better)) / len(pairs)
        assert found.difference == pytest.approx(change)
        assert found.p_value == pytest.approx(mcnemar(len(found.worse), len(found.better)).p_value)


def test_a_planted_regression_is_worse_and_names_its_cases() -> None:
    before, after = [0.0] * 100, [1.0] * 12 + [0.0] * 88
    found = compare((results({"x": before, "y": before}),), (results({"x": after, "y": before}),))
    x, y = found.modes
    assert x.verdict is ChangeVerdict.WORSE
    assert x.worse == tuple(f"c{at:03d}" for at in range(12))
    assert x.interval.low > 0
    assert y.verdict is ChangeVerdict.UNCHANGED
    # Nothing moved in y: it does not weaken the evidence on x.
    assert x.adjusted_p == x.p_value
    assert found.newly_failing == x.worse
    reverse = compare((results({"x": after}),), (results({"x": before}),)).modes[0]
    assert reverse.verdict is ChangeVerdict.BETTER
    assert reverse.better == x.worse


def test_five_changes_one_way_are_too_few_to_tell() -> None:
    found = compare((results({"x": [0.0] * 60}),), (results({"x": [1.0] * 5 + [0.0] * 55}),)).modes[
        0
    ]
    assert found.verdict is ChangeVerdict.TOO_FEW
    assert found.detectable is not None
    assert found.detectable > 5 / 60


def test_one_study_that_breaks_is_one_unit() -> None:
    studies = [f"s{at // 20}" for at in range(200)]
    before, after = [0.0] * 200, [1.0] * 20 + [0.0] * 180
    sides = (results({"x": v}, studies=studies) for v in (before, after))
    first, second = ((each,) for each in sides)
    clustered = compare(first, second)
    assert clustered.clustered
    assert clustered.clusters == 10
    assert clustered.modes[0].units == 1
    assert clustered.modes[0].verdict is ChangeVerdict.TOO_FEW
    assert compare(first, second, cluster="case").modes[0].verdict is ChangeVerdict.WORSE


def test_few_studies_are_said_and_cases_become_the_units() -> None:
    studies = ["a", "b"] * 20
    sides = [(results({"x": [0.0] * 40}, studies=studies),)] * 2
    found = compare(*sides)
    assert not found.clustered
    assert any("only 2 studies" in note.text for note in found.notes)
    forced = compare(*sides, cluster="study")
    assert any("no test can be significant" in note.text for note in forced.notes)


def test_unscored_cases_bound_the_difference() -> None:
    before: list[float | None] = [0.0] * 10
    after: list[float | None] = [0.0] * 7 + [None] * 3
    found = compare((results({"x": before}),), (results({"x": after}),)).modes[0]
    assert found.pairs == 7
    assert found.difference == 0
    assert found.bounds == pytest.approx((0, 0.3))
    assert found.second.unscored == 3


def test_all_unscored_is_not_compared() -> None:
    found = compare((results({"x": [0.0, 1.0]}),), (results({"x": [None, None]}),)).modes[0]
    assert found.verdict is ChangeVerdict.NOT_COMPARED
    assert found.difference is None
    assert found.second.rate is None
    assert found.bounds == pytest.approx((-0.5, 0.5))


def test_other_evaluator_versions_are_not_compared() -> None:
    first, second = results({"x": [0.0] * 50}), results({"x": [1.0] * 50}, version="2")
    found = compare((first,), (second,)).modes[0]
    assert found.verdict is ChangeVerdict.NOT_COMPARED
    assert found.problem is not None
    assert "check_x 1" in found.problem
    assert "check_x 2" in found.problem
    assert found.p_value is None
    assert (found.difference, found.pairs, found.worse, found.better) == (None, 0, (), ())
    assert compare((first,), (second,)).newly_failing == ()
    assert (found.first.failing, found.second.failing) == (0, 50)


def test_a_mode_that_one_side_lacks_is_shown_not_dropped() -> None:
    found = compare(
        (results({"x": [0.0], "y": [1.0]}, name="old"),), (results({"x": [0.0]}, name="new"),)
    )
    assert [mode.mode for mode in found.modes] == ["x", "y"]
    assert found.modes[1].problem == "new was not scored for it"


def test_other_data_parameters_and_states_are_said() -> None:
    first = results({"x": [0.0] * 4}, parameters={"model": "a", "temperature": 0})
    second = results(
        {"x": [0.0] * 3},
        name="late",
        parameters={"model": "b", "temperature": 0},
        snapshot="b0",
        state=RunState.INCOMPLETE,
        reached=1,
    )
    found = compare((first,), (second,))
    texts = {note.text: note.serious for note in found.notes}
    assert texts["model: a → b"] is False
    assert any(text.startswith("the data differ") and texts[text] for text in texts)
    assert any("late is incomplete" in text and texts[text] for text in texts)
    assert (found.cases, found.only_first, found.only_second) == (3, 1, 0)


def test_ignored_cases_are_left_out_and_counted() -> None:
    before, after = [0.0] * 40, [1.0] * 8 + [0.0] * 32
    ignored = {"x": {f"c{at:03d}" for at in range(8)}}
    found = compare((results({"x": before}),), (results({"x": after}),), ignored=ignored).modes[0]
    assert found.ignored == 8
    assert found.second.cases == 32
    assert found.verdict is ChangeVerdict.UNCHANGED


def test_no_case_in_common() -> None:
    found = compare((results({"x": []}),), (results({"x": []}),))
    assert found.cases == 0
    assert found.modes[0].verdict is ChangeVerdict.NOT_COMPARED
    assert any("no case in common" in note.text and note.serious for note in found.notes)


def _times(n: int, *repeats: float | None) -> list[list[float | None]]:
    return [list(repeats)] * n


def test_the_article_s_thirty_cases_with_two_missing() -> None:
    """14 always pass, 10 always fail, 4 flip; the other two of 30 are reported missing."""
    rows: list[list[float | None]] = [
        *_times(14, 0.0, 0.0, 0.0),
        *_times(10, 1.0, 1.0, 1.0),
        *_times(2, 0.0, 1.0, 0.0),
        *_times(2, 1.0, 1.0, 0.0),
        [0.0, None, 0.0],
        [None, None, None],
    ]
    group = tuple(results({"x": list(column)}) for column in zip(*rows, strict=True))
    found = compare(group, group).modes[0]
    counts = found.first_repeats
    assert counts is not None
    assert (counts.always_pass, counts.always_fail, counts.flips, counts.missing) == (14, 10, 4, 2)
    assert counts.cases == 30
    assert counts.flip_rate == pytest.approx(4 / 28)
    assert counts.flaky == ("c024", "c025", "c026", "c027")
    # 28 cases were tried three times: 14 passed thrice, 4 flipped.
    assert counts.pass_hat[3] == pytest.approx(14 / 28)
    assert counts.pass_at[3] == pytest.approx(18 / 28)
    assert found.noise_floor is not None
    assert found.difference == 0


def test_repeats_are_averaged_by_case_and_compared() -> None:
    base = [[0.0, 0.0]] * 30
    worse = [[1.0, 1.0]] * 8 + [[0.0, 1.0]] * 4 + [[0.0, 0.0]] * 18
    first, second = (
        tuple(results({"x": list(column)}) for column in zip(*rows, strict=True))
        for rows in (base, worse)
    )
    found = compare(first, second).modes[0]
    assert found.difference == pytest.approx(10 / 30)
    assert found.verdict is ChangeVerdict.WORSE
    assert len(found.worse) == 12
    assert found.worse[:8] == tuple(f"c{at:03d}" for at in range(8))
    single = compare((results({"x": [0.0] * 30}),), second).modes[0]
    assert single.difference == pytest.approx(10 / 30)
    assert single.first_repeats is None
    assert math.isfinite(single.noise_floor or 0)


def test_judge_s_noise_is_told_apart_from_the_model_s() -> None:
    """Each answer is judged three times; a third of the verdicts on a doubtful one differ."""
    rng = np.random.default_rng(6)
    n = 600
    chance = rng.choice([0.0, 0.5, 1.0], n)

    def run() -> Results:
        answers = rng.random(n) < chance
        verdicts = np.where(rng.random((n, 3)) < 0.1, ~answers[:, None], answers[:, None])
        made = results({"x": verdicts[:, 0].astype(float).tolist()})
        again = {
            case: tuple(map(float, row)) for case, row in zip(made.cases, verdicts, strict=True)
        }
        return replace(made, verdicts={"x": again})

    group = (run(), run(), run())
    found = compare(group, (run(),)).modes[0]
    counts = found.first_repeats
    assert counts is not None
    assert counts.judge_noise == pytest.approx(0.09**0.5, rel=0.1)
    # A coin a third of the time, seen through a judge who keeps 0.8 of every difference.
    assert counts.model_noise == pytest.approx((0.25 / 3 * 0.8**2) ** 0.5, rel=0.15)
    assert found.judge_floor is not None
    assert found.noise_floor is not None
    assert 0 < found.judge_floor < found.noise_floor
    once = compare((results({"x": [0.0, 1.0]}),) * 2, (results({"x": [0.0, 1.0]}),)).modes[0]
    assert once.judge_floor is None


def test_would_show_and_too_few_know_the_other_modes() -> None:
    """Six cases that moved one way can be significant alone, not beside a second such mode."""
    before, after = [0.0] * 40, [1.0] * 6 + [0.0] * 34
    alone = compare((results({"x": before}),), (results({"x": after}),)).modes[0]
    both = compare((results({"x": before, "y": before}),), (results({"x": after, "y": after}),))
    assert alone.verdict is ChangeVerdict.WORSE
    assert both.modes[0].adjusted_p == pytest.approx(2 * 2**-5)
    assert [mode.verdict for mode in both.modes] == [ChangeVerdict.TOO_FEW] * 2
    assert alone.detectable is not None
    assert both.modes[0].detectable is not None
    assert both.modes[0].detectable > alone.detectable


@pytest.mark.parametrize("clusters", [1, 2, 3, 4, 5, 6])
def test_few_studies_as_units_show_nothing(clusters: int) -> None:
    studies = [f"s{at % clusters}" for at in range(60)]
    sides = [results({"x": [0.0] * 60}, studies=studies, name=name) for name in "ab"]
    found = compare((sides[0],), (sides[1],), cluster="study").modes[0]
    assert (found.detectable is None) == (clusters < FEWEST)


def test_unscored_cases_move_the_ends_of_the_cautious_interval() -> None:
    before, after = [0.0] * 100, [*[1.0] * 3, None, None, *[0.0] * 95]
    found = compare((results({"x": before}),), (results({"x": after}),)).modes[0]
    as_worst = [1.0] * 5 + [0.0] * 95
    worst = compare((results({"x": before}),), (results({"x": as_worst}),)).modes[0]
    assert found.cautious.high == worst.interval.high > found.interval.high
    assert worst.cautious == worst.interval


def test_cases_that_one_repeat_lacks_are_counted_as_left_out() -> None:
    short, full = results({"x": [0.0] * 8}, name="a"), results({"x": [0.0] * 10}, name="b")
    found = compare((short, full), (results({"x": [0.0] * 10}, name="c"),))
    assert (found.cases, found.only_first, found.only_second) == (8, 2, 2)


def test_a_run_against_itself_and_repeats_of_other_code_are_said() -> None:
    run = results({"x": [0.0] * 4})
    texts = [note.text for note in compare((run,), (run,)).notes if note.serious]
    assert texts == ["run stands on both sides, against itself"]
    other = results({"x": [0.0] * 4}, name="other")
    other = replace(other, origin=other.origin.model_copy(update={"versions": {"commit": "b"}}))
    notes = compare((run, other), (results({"x": [0.0] * 4}, name="c"),)).notes
    assert any(note.text == "repeats run and other: commit: unset → b" for note in notes)
