"""Simulations of the statistics: false alarms, peeking, power, coverage.

    python -m benchmarks.stats [--simulations 2000]

Every line is a measured share over the simulations, beside what it should be.
"""

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from ancrage.stats import (
    Confusion,
    difference_interval,
    holm,
    mcnemar,
    ppi,
    rate_interval,
    rogan_gladen,
    sign_flip,
)
from ancrage.stats.intervals import cluster_sums
from ancrage.stats.sequential import wealth

Floats = NDArray[np.float64]
Labels = NDArray[np.int64]

SIZES = {30: 15, 100: 25, 300: 40, 1000: 60}
"""Cases, and the number of clusters that they fall in, of uneven sizes."""


@dataclass(frozen=True)
class World:
    """Where outcomes come from, on the logit scale."""

    rate: float = 0.3
    case_spread: float = 1.5
    cluster_spread: float = 1.0
    run_cluster_spread: float = 0.5
    """What one run does to a whole cluster: cases of a cluster then differ together."""
    shift: float = 0.0
    """What the second run does to every case."""

    def pair(self, rng: np.random.Generator, n: int, k: int) -> tuple[Floats, Floats, Labels]:
        """Failures (0/1) of two runs over ``n`` cases in ``k`` clusters, and the cluster labels."""
        labels = np.sort(np.concatenate([np.arange(k), rng.integers(0, k, n - k) ** 2 // k]))
        base = np.log(self.rate / (1 - self.rate))
        base = base + rng.normal(0, self.cluster_spread, k)[labels]
        base = base + rng.normal(0, self.case_spread, n)
        runs = [
            base + shift + rng.normal(0, self.run_cluster_spread, k)[labels]
            for shift in (0.0, self.shift)
        ]
        first, second = ((rng.random(n) < 1 / (1 + np.exp(-x))).astype(float) for x in runs)
        return first, second, labels

    def truth(self, draws: int = 400_000) -> tuple[float, float]:
        """The population's rates of the two runs."""
        rng = np.random.default_rng(7)
        spread = np.sqrt(self.case_spread**2 + self.cluster_spread**2 + self.run_cluster_spread**2)
        base = np.log(self.rate / (1 - self.rate)) + rng.normal(0, spread, draws)
        first, second = (
            float(np.mean(1 / (1 + np.exp(-base - shift)))) for shift in (0.0, self.shift)
        )
        return first, second


def unpaired_z(first: Floats, second: Floats) -> float:
    """The two-sample z-test that ignores the pairing: the named alternative."""
    pooled = (first.mean() + second.mean()) / 2
    error = np.sqrt(2 * pooled * (1 - pooled) / first.size)
    return 1.0 if error == 0 else float(2 * norm.sf(abs(second.mean() - first.mean()) / error))


TESTS: dict[str, Callable[[Floats, Floats, Labels], float]] = {
    "sign-flip": lambda a, b, c: sign_flip(b - a, c).p_value,
    "sign-flip mid-p": lambda a, b, c: sign_flip(b - a, c).mid_p,
    "McNemar by case": lambda a, b, c: (
        mcnemar(int(((b - a) > 0).sum()), int(((b - a) < 0).sum())).p_value
    ),
    "unpaired z": lambda a, b, c: unpaired_z(a, b),
}


def rejections(world: World, n: int, simulations: int, seed: int = 1) -> dict[str, float]:
    """Share of simulations in which each test gives p ≤ 0.05."""
    rng = np.random.default_rng(seed)
    counts = dict.fromkeys(TESTS, 0)
    for _ in range(simulations):
        pair = world.pair(rng, n, SIZES[n])
        for name, test in TESTS.items():
            counts[name] += test(*pair) <= 0.05
    return {name: count / simulations for name, count in counts.items()}


def randomised_size(world: World, n: int, simulations: int, seed: int = 2) -> float:
    """Rejections of the sign-flip test made exactly 5 % by a lottery on its boundary."""
    rng = np.random.default_rng(seed)
    rejected = 0
    for _ in range(simulations):
        first, second, labels = world.pair(rng, n, SIZES[n])
        test = sign_flip(second - first, labels)
        at_observed = 2 * (test.p_value - test.mid_p)
        rejected += test.p_value - rng.random() * at_observed <= 0.05
    return rejected / simulations


def peeking(n: int, simulations: int, seed: int = 3) -> dict[str, float]:
    """Share of A/A runs that alarm at least once when looked at after every cluster."""
    rng = np.random.default_rng(seed)
    world = World()
    sequential = fixed = 0
    for _ in range(simulations):
        first, second, labels = world.pair(rng, n, SIZES[n])
        sums = cluster_sums(second - first, labels)
        sums = rng.permutation(sums)
        moved = sums[sums != 0]
        sequential += moved.size > 0 and wealth(moved).max() >= np.log(20)
        fixed += any(sign_flip(sums[: at + 1]).p_value <= 0.05 for at in range(sums.size))
    return {
        "anytime-valid": sequential / simulations,
        "sign-flip at each look": fixed / simulations,
    }


def family(n: int, modes: int, simulations: int, seed: int = 4) -> float:
    """Share of A/A comparisons over several modes with any Holm-adjusted p ≤ 0.05."""
    rng = np.random.default_rng(seed)
    rates = np.geomspace(0.01, 0.4, modes)
    alarms = 0
    for _ in range(simulations):
        pairs = (World(rate=float(rate)).pair(rng, n, SIZES[n]) for rate in rates)
        tests = [sign_flip(b - a, labels) for a, b, labels in pairs]
        adjusted = holm([t.p_value for t in tests], [t.attainable for t in tests])
        alarms += bool((adjusted <= 0.05).any())
    return alarms / simulations


def coverage(world: World, n: int, simulations: int, seed: int = 5) -> dict[str, float]:
    """Share of intervals that hold the population's rate and difference."""
    rng = np.random.default_rng(seed)
    first_rate, second_rate = world.truth()
    hits = {"rate": 0, "rate, clusters ignored": 0, "difference": 0}
    for _ in range(simulations):
        first, second, labels = world.pair(rng, n, SIZES[n])
        for name, clusters in (("rate", labels), ("rate, clusters ignored", None)):
            low, high = rate_interval(first, clusters)
            hits[name] += low <= first_rate <= high
        low, high = difference_interval(second - first, labels)
        hits["difference"] += low <= second_rate - first_rate <= high
    return {name: count / simulations for name, count in hits.items()}


@dataclass(frozen=True)
class Judge:
    """A judge of known error rates over traffic of a known prevalence."""

    prevalence: float
    sensitivity: float
    specificity: float

    def draw(self, rng: np.random.Generator, n: int) -> tuple[Floats, Floats]:
        """The truth and the judge's verdicts on ``n`` cases."""
        truth = rng.random(n) < self.prevalence
        chance = np.where(truth, self.sensitivity, 1 - self.specificity)
        return truth.astype(float), (rng.random(n) < chance).astype(float)


JUDGES = tuple(
    Judge(prevalence, sensitivity, specificity)
    for prevalence in (0.05, 0.2, 0.5)
    for sensitivity, specificity in ((0.9, 0.95), (0.75, 0.85))
)


def calibrations(
    judge: Judge, labels: int, cases: int, simulations: int, seed: int = 6
) -> dict[str, tuple[float, float]]:
    """For each method, the share of intervals that hold the prevalence, and their mean width.

    PPI++ labels a random sample of the traffic; Rogan–Gladen uses labels balanced by truth, as a
    calibration set from elsewhere would be.
    """
    rng = np.random.default_rng(seed)
    hits = {"PPI++": [], "labels only": [], "Rogan–Gladen": [], "naive": []}  # type: dict[str, list[tuple[bool, float]]]

    def note(name: str, low: float, high: float) -> None:
        hits[name].append((low <= judge.prevalence <= high, high - low))

    for _ in range(simulations):
        truth, verdict = judge.draw(rng, cases)
        note("naive", *rate_interval(verdict))
        note("labels only", *rate_interval(truth[:labels]))
        sampled = ppi(truth[:labels], verdict[:labels], verdict[labels:])
        if sampled.interval:
            note("PPI++", *sampled.interval)
        half = Judge(0.5, judge.sensitivity, judge.specificity)
        known, judged = half.draw(rng, labels)
        confusion = Confusion.of(list(known > 0), list(judged > 0))
        elsewhere = rogan_gladen(int(verdict.sum()), cases, confusion)
        if elsewhere.interval:
            note("Rogan–Gladen", *elsewhere.interval)
    return {
        name: (float(np.mean([h for h, _ in seen])), float(np.mean([w for _, w in seen])))
        for name, seen in hits.items()
    }


def report(simulations: int) -> Iterator[str]:
    """All simulations, a line at a time."""
    yield f"{simulations} simulations a line; Monte Carlo error of 5 %: ± 1 % (two standard errors)"
    yield "\nA/A: share of p ≤ 0.05 (goal 5 ± 1 %, exact tests at most 5 %)"
    worlds = {
        "cases independent within runs": World(run_cluster_spread=0.0),
        "runs shift whole clusters": World(),
        "rare failures, whole clusters": World(rate=0.05),
    }
    for title, world in worlds.items():
        for n in SIZES:
            shares = rejections(world, n, simulations)
            shares["sign-flip, randomised"] = randomised_size(world, n, simulations)
            yield f"  {title:32} n={n:5} " + _line(shares)
    yield "\nA/A over 8 modes: share with any adjusted p ≤ 0.05 (at most 5 %)"
    for n in SIZES:
        yield f"  n={n:5} {family(n, 8, simulations):6.1%}"
    yield "\nA/A looked at after every cluster: share that ever alarms (at most 5 %)"
    for n in SIZES:
        yield f"  n={n:5} " + _line(peeking(n, simulations))
    yield "\nPower on a planted regression (and on the same data the unpaired z-test)"
    for shift in (0.5, 1.0):
        for n in SIZES:
            yield f"  logit shift {shift} n={n:5} " + _line(
                rejections(World(shift=shift, run_cluster_spread=0.0), n, simulations)
            )
    yield "\nCoverage of 95 % intervals (goal 95 %)"
    for title, world in {**worlds, "planted regression": World(shift=0.7)}.items():
        for n in SIZES:
            yield f"  {title:32} n={n:5} " + _line(coverage(world, n, simulations))
    yield "\nCalibration: coverage of 95 % intervals (goal 93–97 %) and mean width"
    for judge in JUDGES:
        for labels, cases in ((60, 1000), (200, 2000)):
            found = calibrations(judge, labels, cases, simulations)
            yield (
                f"  prevalence {judge.prevalence:4.0%} Se {judge.sensitivity} Sp "
                f"{judge.specificity} labels {labels:3} of {cases} "
                + "  ".join(f"{k} {c:.1%} ({w:.3f})" for k, (c, w) in found.items())
            )


def _line(shares: dict[str, float]) -> str:
    return "  ".join(f"{name} {share:.1%}" for name, share in shares.items())


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--simulations", type=int, default=2000)
    for line in report(parser.parse_args().simulations):
        print(line, flush=True)
