"""Simulations of the statistics: false alarms, looks, promises, power, coverage.

    python -m benchmarks.stats [--simulations 2000] [--only WORD]

Every line is a measured share over the simulations, beside what it should be.
"""

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, stdtr
from scipy.stats import norm

from ancrage.compare.gate import Outcome, decide
from ancrage.compare.looks import look
from ancrage.compare.pairing import ALIKE
from ancrage.compare.policy import Policy
from ancrage.compare.results import Mode, Origin, Results
from ancrage.domain import OutputState, RunState
from ancrage.stats import (
    Confusion,
    alike_p,
    detectable_change,
    difference_interval,
    effective_cases,
    exchanges,
    holm,
    plan,
    ppi,
    rate_interval,
    rogan_gladen,
    swap_test,
)

Floats = NDArray[np.float64]
Labels = NDArray[np.intp]

SIZES = {30: 15, 100: 25, 300: 40, 1000: 60}
"""Cases, and the number of studies that they fall in, of uneven sizes."""
_NORMAL = np.random.default_rng(7).normal(size=100_000)
_GRID = np.linspace(-14, 6, 400)


@dataclass(frozen=True)
class World:
    """Where outcomes come from, on the logit scale; the rates are those of the population."""

    rate: float = 0.1
    after: float | None = None
    """The rate of the second run; the same when None."""
    case_spread: float = 1.5
    study_spread: float = 1.0
    shifts: tuple[float, float] = (0.5, 0.5)
    """What each run does to whole studies: their cases then change together. Unequal numbers
    crowd one run's failures in few studies, at the same rate."""

    @cached_property
    def bases(self) -> tuple[float, float]:
        """The logits around which each run's cases lie."""
        rates = self.rate, self.rate if self.after is None else self.after
        return self._base(rates[0], 0), self._base(rates[1], 1)

    def _base(self, rate: float, run: int) -> float:
        spread = np.sqrt(self.study_spread**2 + self.case_spread**2 + self.shifts[run] ** 2)
        means = np.array([expit(base + spread * _NORMAL[:20_000]).mean() for base in _GRID])
        return float(np.interp(rate, means, _GRID))

    def outcomes(
        self, rng: np.random.Generator, labels: Labels, runs: tuple[int, int] = (1, 1)
    ) -> tuple[Floats, Floats]:
        """Failures (0/1), cases × repeats, of both sides."""
        n, k = labels.size, int(labels.max()) + 1
        shared = rng.normal(0, self.study_spread, k)[labels] + rng.normal(0, self.case_spread, n)
        sides = []
        for base, shift, count in zip(self.bases, self.shifts, runs, strict=True):
            logits = base + shared[:, None] + rng.normal(0, shift, (k, count))[labels]
            sides.append((rng.random((n, count)) < expit(logits)).astype(np.float64))
        return sides[0], sides[1]


def studies(rng: np.random.Generator, n: int, k: int) -> Labels:
    """The study of each case: uneven sizes, none empty."""
    return np.sort(np.concatenate([np.arange(k), rng.integers(0, k, n - k) ** 2 // k]))


def by_auto(first: Floats, second: Floats, labels: Labels) -> float:
    """The p-value as ``compare`` has it: by studies unless changes look independent in them."""
    change = (second.mean(axis=1) - first.mean(axis=1)).astype(np.float64)
    units = labels if alike_p(change, labels) <= ALIKE else None
    return swap_test(exchanges(first, second, units)).p_value


def by_t(first: Floats, second: Floats, labels: Labels) -> float:
    """Student's test on the cluster-robust standard error: the usual alternative."""
    change = second.mean(axis=1) - first.mean(axis=1)
    k = np.unique(labels).size
    sums = np.bincount(labels, weights=change - change.mean())
    error = np.sqrt(np.sum(sums**2) * k / (k - 1)) / change.size
    return 1.0 if error == 0 else float(2 * stdtr(k - 1, -abs(change.mean()) / error))


def by_z(first: Floats, second: Floats, labels: Labels) -> float:
    """The two-sample z-test, which knows neither pairs nor studies."""
    pooled = (first.mean() + second.mean()) / 2
    error = np.sqrt(2 * pooled * (1 - pooled) / labels.size)
    return 1.0 if error == 0 else float(2 * norm.sf(abs(second.mean() - first.mean()) / error))


TESTS: dict[str, Callable[[Floats, Floats, Labels], float]] = {
    "auto": by_auto,
    "studies": lambda a, b, labels: swap_test(exchanges(a, b, labels)).p_value,
    "cases": lambda a, b, labels: swap_test(exchanges(a, b)).p_value,
    "robust t": by_t,
    "unpaired z": by_z,
}

SHIFTED = World()
WORLDS = {
    "cases independent in their change": World(shifts=(0, 0)),
    "runs shift studies": SHIFTED,
    "runs shift studies, strongly": World(rate=0.3, shifts=(1, 1)),
    "rare, runs shift studies": World(rate=0.02),
    "rare, strongly clustered": World(rate=0.02, study_spread=2.0),
    "one run's failures crowd": World(shifts=(0, 2)),
    "rare, one run's failures crowd": World(rate=0.02, shifts=(0, 2)),
}


def rejections(world: World, n: int, k: int, simulations: int, seed: int = 1) -> dict[str, float]:
    """Share of simulations in which each test gives p ≤ 0.05."""
    rng = np.random.default_rng(seed)
    counts = dict.fromkeys(TESTS, 0)
    for _ in range(simulations):
        labels = studies(rng, n, k)
        pair = world.outcomes(rng, labels)
        for name, test in TESTS.items():
            counts[name] += test(*pair, labels) <= 0.05
    return {name: count / simulations for name, count in counts.items()}


def unbalanced(world: World, n: int, simulations: int, seed: int = 2) -> dict[str, float]:
    """One run against five repeats of the same thing: share called worse, or better, at 5 %."""
    rng = np.random.default_rng(seed)
    counts = {"worse": 0, "better": 0}
    for _ in range(simulations):
        labels = studies(rng, n, SIZES[n])
        first, second = world.outcomes(rng, labels, (5, 1))
        change = float(second.mean() - first.mean())
        p = by_auto(first, second, labels)
        counts["worse"] += p <= 0.05 and change > 0
        counts["better"] += p <= 0.05 and change < 0
    return {name: count / simulations for name, count in counts.items()}


def family(n: int, modes: int, runs: int, simulations: int, seed: int = 4) -> float:
    """Share of A/A comparisons, over modes and runs, with any Holm-adjusted p ≤ 0.05."""
    rng = np.random.default_rng(seed)
    worlds = [World(rate=float(rate)) for rate in np.geomspace(0.01, 0.4, modes)]
    alarms = 0
    for _ in range(simulations):
        labels = studies(rng, n, SIZES[n])
        tests = []
        for world in worlds:
            first, second = world.outcomes(rng, labels, (1, runs))
            tests += [
                swap_test(exchanges(first, second[:, at : at + 1], labels)) for at in range(runs)
            ]
        adjusted = holm([t.p_value for t in tests], [t.attainable for t in tests])
        alarms += bool((adjusted <= 0.05).any())
    return alarms / simulations


def results(outcomes: dict[str, Floats], labels: Labels, name: str) -> Results:
    """Outcomes as a run that is complete."""
    origin = Origin(
        id=name,
        name=name,
        kind="replay",
        created=datetime(2026, 1, 1, tzinfo=UTC),
        state=RunState.COMPLETE,
        snapshot="s",
    )
    n = labels.size
    modes = {
        mode: Mode(name=mode, title=mode, definition="", evaluator="e", version="1")
        for mode in outcomes
    }
    return Results(
        origin=origin,
        modes=modes,
        cases=tuple(f"c{at:05d}" for at in range(n)),
        studies=tuple(f"s{label}" for label in labels.tolist()),
        states=(OutputState.OK,) * n,
        values=outcomes,
    )


def gates(n: int, modes: int, simulations: int, seed: int = 8) -> dict[str, float]:
    """What the default gate says of identical assistants."""
    rng = np.random.default_rng(seed)
    worlds = [World(rate=float(rate)) for rate in np.geomspace(0.01, 0.4, modes)]
    said = dict.fromkeys(Outcome, 0)
    for _ in range(simulations):
        labels = studies(rng, n, SIZES[n])
        drawn = [world.outcomes(rng, labels) for world in worlds]
        first, second = (
            results({f"m{at}": pair[side][:, 0] for at, pair in enumerate(drawn)}, labels, name)
            for side, name in enumerate(("before", "after"))
        )
        said[decide(Policy(), (second,), (first,)).outcome] += 1
    return {outcome.value: count / simulations for outcome, count in said.items()}


def growing(
    world: World, n: int, at_once: int, simulations: int, speed: float = 10, seed: int = 3
) -> dict[str, float]:
    """An A/A run looked at twenty times; failing answers come back ``speed`` times faster.

    The share of runs that ever alarm at 5 %, counting cases in the order of dispatch as the gate
    does, and in the order in which they come back.
    """
    rng = np.random.default_rng(seed)
    alarms = {"order of dispatch": 0, "order of return": 0}
    for _ in range(simulations):
        labels = rng.permutation(studies(rng, n, SIZES[n]))
        first, second = world.outcomes(rng, labels)
        took = rng.exponential(np.where(second[:, 0] > 0, 1 / speed, 1.0))
        free = np.zeros(min(at_once, n))
        back = np.empty(n)
        for case in range(n):
            worker = int(np.argmin(free))
            free[worker] += took[case]
            back[case] = free[worker]
        before, after = (results({"x": s[:, 0]}, labels, name) for s, name in
                         ((first, "before"), (second, "after")))  # fmt: skip
        order = np.argsort(back)
        looks = np.unique(np.linspace(n // 20, n, 20).astype(int))
        fair = naive = False
        for ended in looks.tolist():
            there = np.zeros(n, dtype=bool)
            there[order[:ended]] = True
            states = tuple(OutputState.OK if here else OutputState.NOT_RUN for here in there)
            fair |= (
                look((before,), (replace(after, states=states),), "x", clustered=False).p <= 0.05
            )
            kept = order[:ended]
            naive |= _sequential(first[kept], second[kept]) <= 0.05
        alarms["order of dispatch"] += fair
        alarms["order of return"] += naive
    return {name: count / simulations for name, count in alarms.items()}


def _sequential(first: Floats, second: Floats) -> float:
    from ancrage.stats import swap_evidence

    return min(1.0, 2 * swap_evidence(exchanges(first, second)))


def promise(world: World, n: int, simulations: int, seed: int = 9) -> float:
    """How often a true change as large as "would show" shows; 80 % is promised."""
    rng = np.random.default_rng(seed)
    shown = told = 0
    rates = np.linspace(world.rate, min(0.95, world.rate + 0.6), 25)
    bases = [world._base(float(rate), 1) for rate in rates]
    for _ in range(simulations):
        labels = studies(rng, n, SIZES[n])
        first, second = world.outcomes(rng, labels)
        change = (second - first)[:, 0]
        units = labels if alike_p(change, labels) <= ALIKE else None
        could = detectable_change(effective_cases(change, units), float(np.abs(change).mean()))
        if could is None or world.rate + could > 0.95:
            continue
        told += 1
        planted = replace(world, after=None)
        object.__setattr__(
            planted, "bases", (world.bases[0], float(np.interp(world.rate + could, rates, bases)))
        )
        first, second = planted.outcomes(rng, labels)
        shown += by_auto(first, second, labels) <= 0.05 and second.mean() > first.mean()
    return shown / told if told else float("nan")


def planned(
    rate: float, detect: float, k: int, simulations: int, seed: int = 10
) -> dict[str, float]:
    """How often a planned number of cases and repeats shows the rise; 80 % is asked for."""
    rng = np.random.default_rng(seed)
    world = World(rate=rate, after=rate + detect, shifts=(0.3, 0.3))
    spread = np.sqrt(world.study_spread**2 + world.case_spread**2 + 0.09)
    chance = expit(world.bases[0] + spread * _NORMAL)
    steady = float((chance**2).mean() / chance.mean())
    shares = {}
    for need in plan(rate, detect, studies=k, steady=steady, repeats=(1, 3)):
        if need.cases is None:
            continue
        shown = 0
        for _ in range(simulations):
            labels = rng.permutation(np.arange(need.cases) % k)
            first, second = world.outcomes(rng, labels, (need.repeats, need.repeats))
            shown += by_auto(first, second, labels) <= 0.05 and second.mean() > first.mean()
        shares[f"{need.repeats} repeats, {need.cases} cases"] = shown / simulations
    return shares


def coverage(world: World, n: int, simulations: int, seed: int = 5) -> dict[str, float]:
    """Share of intervals that hold the population's rate and difference."""
    rng = np.random.default_rng(seed)
    after = world.rate if world.after is None else world.after
    hits = {"rate": 0, "rate, studies ignored": 0, "change": 0}
    for _ in range(simulations):
        labels = studies(rng, n, SIZES[n])
        first, second = (side[:, 0] for side in world.outcomes(rng, labels))
        for name, units in (("rate", labels), ("rate, studies ignored", None)):
            low, high = rate_interval(second, units)
            hits[name] += low <= after <= high
        change = second - first
        units = labels if alike_p(change, labels) <= ALIKE else None
        low, high = difference_interval(change, units)
        hits["change"] += low <= after - world.rate <= high
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


def report(simulations: int) -> Iterator[tuple[str, Callable[[], Iterator[str]]]]:
    """All tables: a title, and what gives its lines."""

    def alarms() -> Iterator[str]:
        for title, world in WORLDS.items():
            for n, k in SIZES.items():
                yield f"{title:34} n={n:5} " + _line(rejections(world, n, k, simulations))
        for n, k in ((100, 8), (300, 8)):
            found = rejections(SHIFTED, n, k, simulations)
            yield f"{'runs shift 8 uneven studies':34} n={n:5} " + _line(found)

    def powers() -> Iterator[str]:
        for after in (0.15, 0.2):
            for shifts in ((0.0, 0.0), (0.5, 0.5)):
                world = World(after=after, shifts=shifts)
                for n, k in (*SIZES.items(), (300, 8)):
                    title = f"10 % to {after:.0%}, studies shift {shifts[0]:g}, k={k}"
                    yield f"{title:34} n={n:5} " + _line(rejections(world, n, k, simulations))

    def repeats() -> Iterator[str]:
        for rate in (0.02, 0.1, 0.3):
            for n in SIZES:
                found = unbalanced(World(rate=rate), n, simulations)
                yield f"rate {rate:3.0%} n={n:5} " + _line(found)

    def families() -> Iterator[str]:
        for n in SIZES:
            one = family(n, 8, 1, simulations)
            yield f"n={n:5} one run {one:.1%}  four runs {family(n, 8, 4, simulations // 2):.1%}"

    def shipping() -> Iterator[str]:
        for n in (30, 100, 300):
            yield f"n={n:5} " + _line(gates(n, 8, simulations // 4))

    def looks() -> Iterator[str]:
        for rate in (0.1, 0.3):
            for at_once in (1, 8, 64, 300):
                found = growing(World(rate=rate, shifts=(0, 0)), 300, at_once, simulations // 2)
                yield f"rate {rate:.0%} n=300, {at_once:3} at once " + _line(found)

    def promises() -> Iterator[str]:
        for title in list(WORLDS)[:4]:
            for n in SIZES:
                yield f"{title:34} n={n:5} {promise(WORLDS[title], n, simulations):.1%}"

    def plans() -> Iterator[str]:
        for rate, detect in ((0.05, 0.05), (0.1, 0.1), (0.02, 0.03)):
            for k in (12, 40):
                found = planned(rate, detect, k, simulations)
                yield f"{rate:.0%} + {detect:.0%}, {k} studies " + _line(found)

    def intervals() -> Iterator[str]:
        for title, world in {**WORLDS, "10 % to 15 %": World(after=0.15)}.items():
            for n in SIZES:
                yield f"{title:34} n={n:5} " + _line(coverage(world, n, simulations))

    def judges() -> Iterator[str]:
        for judge in JUDGES:
            for labels, cases in ((60, 1000), (200, 2000)):
                found = calibrations(judge, labels, cases, simulations)
                yield (
                    f"prevalence {judge.prevalence:4.0%} Se {judge.sensitivity} Sp "
                    f"{judge.specificity} labels {labels:3} of {cases} "
                    + "  ".join(f"{k} {c:.1%} ({w:.3f})" for k, (c, w) in found.items())
                )

    yield "alarms: share of p ≤ 0.05 when nothing changed (at most 5 %)", alarms
    yield "power: share of p ≤ 0.05 on a planted rise", powers
    yield "repeats: one run against five repeats of the same thing (2.5 % each way)", repeats
    yield "family: any adjusted p ≤ 0.05 over 8 modes when nothing changed (at most 5 %)", families
    yield "gate: what the default policy says of identical assistants, 8 modes", shipping
    yield "growing: looked at 20 times, failing answers ten times faster (at most 5 %)", looks
    yield 'promise: how often a change as large as "would show" shows (80 %)', promises
    yield "plan: how often the planned cases show the rise (80 %)", plans
    yield "coverage of 95 % intervals", intervals
    yield "judges: coverage of 95 % intervals of corrected rates, and mean width", judges


def _line(shares: dict[str, float]) -> str:
    return "  ".join(f"{name} {share:.1%}" for name, share in shares.items())


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--simulations", type=int, default=2000)
    parser.add_argument("--only", default="", help="only the tables whose title begins so")
    options = parser.parse_args()
    print(f"{options.simulations} simulations a line; two standard errors of 5 % at 2,000: 1 point")
    for heading, lines in report(options.simulations):
        if heading.startswith(options.only):
            print(f"\n{heading}")
            for line in lines():
                print(f"  {line}", flush=True)
