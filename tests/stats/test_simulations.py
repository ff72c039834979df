"""Short versions of ``benchmarks/stats.py``: wide enough bands that luck never fails them."""

import numpy as np
import pytest

from benchmarks.stats import (
    JUDGES,
    SHIFTED,
    Judge,
    World,
    calibrations,
    coverage,
    family,
    growing,
    planned,
    promise,
    rejections,
    unbalanced,
)

SIMULATIONS = 200


@pytest.mark.parametrize(("n", "k"), [(30, 15), (300, 8), (1000, 60)])
def test_false_alarms(n: int, k: int) -> None:
    found = rejections(SHIFTED, n, k, SIMULATIONS)
    assert found["default"] <= 0.05 + 0.04


def test_ignoring_studies_raises_false_alarms() -> None:
    found = rejections(World(rate=0.3, shifts=(1, 1)), 1000, 60, 100)
    assert found["exact McNemar"] > 0.15 > found["default"]


def test_power_where_few_studies_change_case_by_case() -> None:
    found = rejections(World(after=0.15, shifts=(0, 0)), 300, 8, SIMULATIONS)
    assert found["default"] > found["exact sign-flip by studies"] + 0.05


def test_false_alarms_over_several_modes_and_runs() -> None:
    assert family(100, 8, 4, 60)["any"] <= 0.05 + 0.07


def test_one_run_against_five() -> None:
    found = unbalanced(World(rate=0.02), 100, SIMULATIONS)
    assert max(found.values()) <= 0.025 + 0.03


def test_fast_failures_are_no_evidence() -> None:
    found = growing(World(rate=0.3, shifts=(0, 0)), 100, 100, 60)
    assert found["order of dispatch"] <= 0.05 + 0.05
    assert found["order of return"] > 0.5


def test_what_would_show_shows() -> None:
    assert 0.65 < promise(SHIFTED, 300, SIMULATIONS)["shows"] < 0.95
    assert 0.65 < planned(0.1, 0.1, 40, SIMULATIONS)["shows"] < 0.95


def test_coverage_of_intervals() -> None:
    found = coverage(World(rate=0.02, study_spread=2.0), 300, SIMULATIONS)
    assert found["change"] > 0.90
    assert found["rate"] > 0.90


@pytest.mark.parametrize("judge", JUDGES)
def test_coverage_of_corrected_rates(judge: Judge) -> None:
    found = calibrations(judge, 150, 1000, 300)
    assert found["PPI++"][0] > 0.89
    assert found["Rogan–Gladen"][0] > 0.91


def test_the_worlds_have_the_rates_they_say() -> None:
    rng = np.random.default_rng(0)
    labels = np.arange(40_000) % 8_000
    first, second = World(rate=0.02, after=0.1, shifts=(0, 2)).outcomes(rng, labels)
    assert first.mean() == pytest.approx(0.02, abs=0.004)
    assert second.mean() == pytest.approx(0.1, abs=0.01)
