"""Adjusted p-values against statsmodels, and the gain for discrete tests."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests  # type: ignore[import-untyped]

from ancrage.stats import holm, mcnemar

_P = st.lists(st.floats(0, 1), min_size=1, max_size=20)


@settings(max_examples=15)  # statsmodels collects all garbage at each call
@given(_P)
def test_agree_with_statsmodels(p: list[float]) -> None:
    assert holm(p) == pytest.approx(multipletests(p, method="holm")[1], abs=1e-12)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=7))
def test_holm_is_the_closure_of_bonferroni(p: list[float]) -> None:
    """A hypothesis falls when every family that holds it falls to Bonferroni's test."""
    families = [f for size in range(1, len(p) + 1) for f in combinations(range(len(p)), size)]
    bonferroni = {
        family: min(1.0, len(family) * min(p[at] for at in family)) for family in families
    }
    expected = [max(v for f, v in bonferroni.items() if at in f) for at in range(len(p))]
    assert holm(p) == pytest.approx(expected, abs=1e-12)


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)), min_size=1, max_size=8))
def test_discrete_holm_is_between_the_raw_and_the_plain(counts: list[tuple[int, int]]) -> None:
    tests = [mcnemar(*pair) for pair in counts]
    raw = np.array([test.p_value for test in tests])
    adjusted = holm(raw, [test.attainable for test in tests])
    assert np.all(adjusted >= raw - 1e-12)
    assert np.all(adjusted <= holm(raw) + 1e-9)


def test_modes_where_nothing_moved_cost_nothing() -> None:
    tests = [mcnemar(9, 0), *[mcnemar(0, 0)] * 11]
    adjusted = holm([t.p_value for t in tests], [t.attainable for t in tests])
    assert adjusted[0] == tests[0].p_value
    assert holm([t.p_value for t in tests])[0] == pytest.approx(12 * tests[0].p_value)


def test_no_test_and_bad_p_values() -> None:
    assert holm([]).size == 0
    with pytest.raises(ValueError, match="p-values"):
        holm([0.5, float("nan")])
