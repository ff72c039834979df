"""Short versions of ``benchmarks/stats.py``: wide enough bands that luck never fails them."""

import pytest

from ancrage.stats import sequential
from benchmarks.stats import (
    JUDGES,
    Judge,
    World,
    calibrations,
    coverage,
    family,
    peeking,
    rejections,
)

SIMULATIONS = 300


@pytest.mark.parametrize("n", [30, 100, 1000])
def test_false_alarms_of_the_clustered_test(n: int) -> None:
    shares = rejections(World(), n, SIMULATIONS)
    assert shares["sign-flip"] <= 0.05 + 0.035


def test_ignoring_clusters_raises_false_alarms() -> None:
    shares = rejections(World(), 1000, SIMULATIONS)
    assert shares["McNemar by case"] > 0.12 > shares["sign-flip"]


def test_false_alarms_over_several_modes() -> None:
    assert family(100, 8, 150) <= 0.05 + 0.05


def test_peeking() -> None:
    shares = peeking(300, 150)
    assert shares["anytime-valid"] <= 0.05 + 0.02
    assert shares["sign-flip at each look"] > shares["anytime-valid"] + 0.03


def test_power_over_the_unpaired_test() -> None:
    shares = rejections(World(shift=0.5, run_cluster_spread=0.0), 300, SIMULATIONS)
    assert shares["sign-flip"] > shares["unpaired z"]


def test_coverage_of_intervals() -> None:
    shares = coverage(World(shift=0.7), 300, SIMULATIONS)
    assert shares["difference"] > 0.90
    assert shares["rate"] > 0.89 > shares["rate, clusters ignored"]


@pytest.mark.parametrize("judge", JUDGES)
def test_coverage_of_corrected_rates(judge: Judge) -> None:
    found = calibrations(judge, 150, 1000, SIMULATIONS)
    assert found["PPI++"][0] > 0.89
    assert found["Rogan–Gladen"][0] > 0.91


def test_sequential_evidence_grows_only_with_one_way_changes() -> None:
    assert sequential([]).p_value == 1.0
    assert sequential([0.0] * 100).units == 0
    assert sequential([1.0] * 5).p_value > 0.05
    assert sequential([1.0] * 12).p_value < 0.01
    assert sequential([1.0, -1.0] * 50).p_value > 0.5
    path = [1.0] * 12 + [-1.0] * 12
    assert sequential(path).p_value == sequential(path[:12]).p_value
    assert sequential(path).e_value < sequential(path[:12]).e_value
    assert sequential([1.0] * 12).p_greater < sequential([1.0] * 12).p_value
    fell = sequential([-1.0] * 12 + [1.0] * 13)
    assert fell.p_value < 0.01
    assert fell.p_greater > 0.2
    with pytest.raises(ValueError, match="unscored"):
        sequential([float("nan")])
