"""Simulations of the statistics: false alarms, looks, promises, power, coverage.

    python -m benchmarks.stats [--simulations 2000] [--only WORD] [--keep FILE]

Every line is a measured share over the simulations, beside what it should be. With ``--keep`` each
cell is written to a file as it comes, and not simulated again when it is there.
"""

import argparse
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property, partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr, expit, stdtr
from scipy.stats import norm

from ancrage.compare.gate import Outcome, decide
from ancrage.compare.looks import look
from ancrage.compare.pairing import Pairing
from ancrage.compare.policy import Policy
from ancrage.compare.results import Mode, Origin, Results
from ancrage.domain import OutputState, RunState
from ancrage.stats import (
    Confusion,
    Noise,
    difference_interval,
    exchanges,
    holm,
    plan,
    ppi,
    rate_interval,
    rogan_gladen,
    swap_evidence,
    swap_test,
)

Floats = NDArray[np.float64]
Labels = NDArray[np.intp]

SIZES = {30: 15, 100: 25, 300: 40, 1000: 60}
"""Cases, and the number of studies that they fall in, of uneven sizes."""
FEW = ((100, 8), (300, 8), (1000, 12))
"""Cases in few studies, the largest of which holds a third of them."""
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


def compared(first: Floats, second: Floats, labels: Labels) -> Pairing:
    """The two sides as ``compare`` has them."""
    mode = Mode(name="x", title="x", definition="", evaluator="e", version="1")
    unknown = Noise(None, None, None, None, 0)
    return Pairing(
        mode=mode,
        cases=tuple(map(str, range(labels.size))),
        first=first,
        second=second,
        noise=(unknown, unknown),
        studies=labels,
        choose=True,
        problem=None,
        ignored=0,
    )


def by_default(first: Floats, second: Floats, labels: Labels) -> float:
    """The p-value as ``compare`` has it; 1 where it says that one study decides."""
    pairing = compared(first, second, labels)
    return 1.0 if pairing.test is None or pairing.one_study_decides else pairing.test.p_value


def by_mid_p(first: Floats, second: Floats, labels: Labels) -> float:
    """McNemar's test with half of the chance of what was observed: Fagerland et al. (2013)."""
    worse, better = np.sum(second > first), np.sum(second < first)
    few, n = min(worse, better), worse + better
    fewer = bdtr(few - 1, n, 0.5) if few else 0.0
    return min(1.0, float(bdtr(few, n, 0.5) + fewer)) if n else 1.0


def by_wild_bootstrap(first: Floats, second: Floats, labels: Labels) -> float:
    """The wild cluster bootstrap of Student's t, no change imposed: Cameron et al. (2008)."""
    sums: Floats = np.bincount(labels, weights=(second - first)[:, 0]).astype(np.float64)
    sizes = np.bincount(labels)

    def t(sums: Floats) -> Floats:  # of one sample, or a row a sample
        total = sums.sum(axis=-1)
        spread = np.sum((sums - sizes * total[..., None] / labels.size) ** 2, axis=-1)
        return np.asarray(np.abs(total) / np.sqrt(spread + 1e-12))

    signs = np.random.default_rng(1).choice([-1.0, 1.0], (399, sums.size))
    return (1 + np.count_nonzero(t(signs * sums) >= t(sums) - 1e-9)) / 400


def by_robust_t(first: Floats, second: Floats, labels: Labels) -> float:
    """Student's test on the cluster-robust standard error: the usual alternative."""
    change = second.mean(axis=1) - first.mean(axis=1)
    k = np.unique(labels).size
    sums = np.bincount(labels, weights=change - change.mean())
    return _student(change.mean(), np.sqrt(np.sum(sums**2) * k / (k - 1)) / change.size, k)


def by_jackknife_t(first: Floats, second: Floats, labels: Labels) -> float:
    """Student's test on the error of leaving one study out (CR3): MacKinnon et al. (2023)."""
    change = second.mean(axis=1) - first.mean(axis=1)
    sums, sizes = np.bincount(labels, weights=change), np.bincount(labels)
    without = (change.sum() - sums) / (change.size - sizes)
    k = sums.size
    return _student(change.mean(), np.sqrt((k - 1) / k * np.sum((without - change.mean()) ** 2)), k)


def by_means_t(first: Floats, second: Floats, labels: Labels) -> float:
    """Student's test on the means of the studies, each counting the same."""
    change = second.mean(axis=1) - first.mean(axis=1)
    means = np.bincount(labels, weights=change) / np.bincount(labels)
    return _student(means.mean(), means.std(ddof=1) / np.sqrt(means.size), means.size)


def _student(mean: float, error: float, k: int) -> float:
    return 1.0 if error < 1e-12 else float(2 * stdtr(k - 1, -abs(mean) / error))


def by_z(first: Floats, second: Floats, labels: Labels) -> float:
    """The two-sample z-test, which knows neither pairs nor studies."""
    pooled = (first.mean() + second.mean()) / 2
    error = np.sqrt(2 * pooled * (1 - pooled) / labels.size)
    return 1.0 if error == 0 else float(2 * norm.sf(abs(second.mean() - first.mean()) / error))


TESTS: dict[str, Callable[[Floats, Floats, Labels], float]] = {
    "exact sign-flip by studies": lambda a, b, labels: swap_test(exchanges(a, b, labels)).p_value,
    "exact McNemar": lambda a, b, labels: swap_test(exchanges(a, b)).p_value,
    "mid-p McNemar": by_mid_p,
    "wild cluster bootstrap": by_wild_bootstrap,
    "robust t": by_robust_t,
    "jackknife t": by_jackknife_t,
    "t on study means": by_means_t,
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
    counts = dict.fromkeys(("default", *TESTS), 0)
    for _ in range(simulations):
        labels = studies(rng, n, k)
        pair = world.outcomes(rng, labels)
        found = {name: test(*pair, labels) <= 0.05 for name, test in TESTS.items()}
        # The default is one of the two exact tests: where neither rejects, nor does it.
        if found["exact sign-flip by studies"] or found["exact McNemar"]:
            counts["default"] += by_default(*pair, labels) <= 0.05
        for name, rejected in found.items():
            counts[name] += rejected
    return {name: count / simulations for name, count in counts.items()}


def unbalanced(world: World, n: int, simulations: int, seed: int = 2) -> dict[str, float]:
    """One run against five repeats of the same thing: share called worse, or better, at 5 %."""
    rng = np.random.default_rng(seed)
    counts = {"worse": 0, "better": 0}
    for _ in range(simulations):
        labels = studies(rng, n, SIZES[n])
        first, second = world.outcomes(rng, labels, (5, 1))
        change = float(second.mean() - first.mean())
        p = by_default(first, second, labels)
        counts["worse"] += p <= 0.05 and change > 0
        counts["better"] += p <= 0.05 and change < 0
    return {name: count / simulations for name, count in counts.items()}


def family(n: int, modes: int, runs: int, simulations: int, seed: int = 4) -> dict[str, float]:
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
    return {"any": alarms / simulations}


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
    return min(1.0, 2 * swap_evidence(exchanges(first, second)))


def promise(
    world: World, n: int, simulations: int, repeats: int = 1, seed: int = 9
) -> dict[str, float]:
    """How often a true change as large as "would show" shows; 80 % is promised."""
    rng = np.random.default_rng(seed)
    shown = told = 0
    rates = np.linspace(world.rate, min(0.95, world.rate + 0.6), 25)
    bases = [world._base(float(rate), 1) for rate in rates]
    for _ in range(simulations):
        labels = studies(rng, n, SIZES[n])
        could = compared(*world.outcomes(rng, labels, (repeats,) * 2), labels).would_show(0.05)
        if could is None or world.rate + could > 0.95:
            continue
        told += 1
        planted = replace(world, after=None)
        object.__setattr__(
            planted, "bases", (world.bases[0], float(np.interp(world.rate + could, rates, bases)))
        )
        first, second = planted.outcomes(rng, labels, (repeats,) * 2)
        shown += by_default(first, second, labels) <= 0.05 and second.mean() > first.mean()
    return {"shows": shown / told if told else float("nan"), "told": told / simulations}


def planned(
    rate: float,
    detect: float,
    k: int | None,
    simulations: int,
    repeats: int = 1,
    shift: float = 0.3,
    seed: int = 10,
) -> dict[str, float]:
    """How often a planned number of cases shows the rise; 80 % is asked for.

    The plan is told how steady cases are and how alike studies change, as one measures them in a
    large sample of the world.
    """
    rng = np.random.default_rng(seed)
    spread = (1.5, 1.0) if k else (1.8, 0.0)
    world = World(rate, rate + detect, *spread, shifts=(shift, shift) if k else (0.0, 0.0))
    labels = np.repeat(np.arange(4000), 25)
    again, second = world.outcomes(rng, labels, (2, 1))
    steady = float(again.prod(axis=1).mean() / again.mean())
    change = (second - again[:, :1])[:, 0]
    change -= change.mean()
    sums, own = np.bincount(labels, weights=change), np.bincount(labels, weights=change**2)
    alike = max(0.0, float(np.sum(sums**2 - own) / (24 * own.sum())))
    (need,) = plan(rate, detect, studies=k, alike=alike, steady=steady, repeats=(repeats,))
    if need.cases is None:
        return {"cases": float("nan")}
    shown = 0
    for _ in range(simulations):
        labels = rng.permutation(np.arange(need.cases) % (k or need.cases))
        first, second = world.outcomes(rng, labels, (repeats, repeats))
        shown += by_default(first, second, labels) <= 0.05 and second.mean() > first.mean()
    return {"shows": shown / simulations, "cases": need.cases}


def coverage(world: World, n: int, simulations: int, seed: int = 5) -> dict[str, float]:
    """Share of intervals that hold the population's rate and difference."""
    rng = np.random.default_rng(seed)
    after = world.rate if world.after is None else world.after
    hits = {"rate": 0, "rate, studies ignored": 0, "change": 0, "change, studies ignored": 0}
    for _ in range(simulations):
        labels = studies(rng, n, SIZES[n])
        first, second = world.outcomes(rng, labels)
        pairing = compared(first, second, labels)
        intervals = (
            rate_interval(second[:, 0], labels),
            rate_interval(second[:, 0]),
            pairing.interval_of(pairing.differences, pairing.paired_studies),
            difference_interval(pairing.differences),
        )
        for name, (low, high) in zip(hits, intervals, strict=True):
            hits[name] += low <= (after if "rate" in name else after - world.rate) <= high
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


@dataclass(frozen=True)
class Cell:
    """One line of a table: what is simulated, and how often for each of ``simulations``."""

    label: str
    measure: Callable[[int], dict[str, float]]
    share: float = 1.0


def tables() -> Iterator[tuple[str, list[Cell]]]:
    """All tables: a title that says what the shares should be, and the cells."""
    several = SIZES.items()
    yield (
        "alarms: share of p ≤ 5 % when nothing changed (at most 5 %; not promised: … crowd)",
        [
            Cell(f"{title:34} n={n:5} k={k:3}", partial(rejections, world, n, k))
            for title, world in WORLDS.items()
            for n, k in (*several, *FEW)
        ],
    )
    yield (
        "power: share of p ≤ 5 % on a planted rise",
        [
            Cell(
                f"10 % to {after:.0%}, runs shift studies {shift:g} n={n:5} k={k:3}",
                partial(rejections, World(after=after, shifts=(shift, shift)), n, k),
            )
            for after in (0.15, 0.2)
            for shift in (0.0, 0.5)
            for n, k in (*several, *FEW)
        ],
    )
    yield (
        "repeats: one run against five repeats of the same thing (2.5 % each way)",
        [
            Cell(f"rate {rate:3.0%} n={n:5}", partial(unbalanced, World(rate=rate), n))
            for rate in (0.02, 0.1, 0.3)
            for n in SIZES
        ],
    )
    yield (
        "family: any adjusted p ≤ 5 % over 8 modes when nothing changed (at most 5 %)",
        [
            Cell(f"n={n:5} {runs} runs", partial(family, n, 8, runs), share)
            for n in SIZES
            for runs, share in ((1, 1.0), (4, 0.5))
        ],
    )
    yield (
        "gate: what the default policy says of identical assistants, 8 modes",
        [Cell(f"n={n:5}", partial(gates, n, 8), 0.5) for n in (30, 100, 300)],
    )
    yield (
        "growing: looked at 20 times, failing answers ten times faster (at most 5 %)",
        [
            Cell(
                f"rate {rate:.0%} n=300, {at_once:3} at once",
                partial(growing, World(rate=rate, shifts=(0, 0)), 300, at_once),
            )
            for rate in (0.1, 0.3)
            for at_once in (1, 8, 64, 300)
        ],
    )
    yield (
        'promise: how often a change as large as "would show" shows (75–88 %)',
        [
            Cell(
                f"{title:34} n={n:5} repeats={repeats}",
                partial(promise, WORLDS[title], n, repeats=repeats),
            )
            for title in list(WORLDS)[:4]
            for n in SIZES
            for repeats in ((1, 3) if n == 100 else (1,))
        ],
    )
    yield (
        "plan: how often the planned cases show the rise (77–83 %)",
        [
            Cell(
                f"{rate:.0%} + {detect:.0%}, {k or 'no'} studies, {repeats} repeats",
                partial(planned, rate, detect, k, repeats=repeats),
            )
            for rate, detect in ((0.05, 0.05), (0.1, 0.1), (0.02, 0.03), (0.3, 0.1))
            for k in (None, 12, 40)
            for repeats in (1, 3)
        ],
    )
    yield (
        "coverage of 95 % intervals (93–98 %)",
        [
            Cell(f"{title:34} n={n:5}", partial(coverage, world, n))
            for title, world in {**WORLDS, "10 % to 15 %": World(after=0.15)}.items()
            for n in SIZES
        ],
    )
    yield (
        "judges: coverage of 95 % intervals of corrected rates, and mean width",
        [
            Cell(
                f"prevalence {judge.prevalence:4.0%} Se {judge.sensitivity} Sp "
                f"{judge.specificity} labels {labels:3} of {cases}",
                partial(_judged, judge, labels, cases),
            )
            for judge in JUDGES
            for labels, cases in ((60, 1000), (200, 2000))
        ],
    )


def _judged(judge: Judge, labels: int, cases: int, simulations: int) -> dict[str, float]:
    found = calibrations(judge, labels, cases, simulations)
    widths = {f"{name}, width": width for name, (_, width) in found.items()}
    return {name: covered for name, (covered, _) in found.items()} | widths


def run(simulations: int, only: str, keep: Path | None) -> None:
    """Print every table whose title begins with ``only``."""
    known: dict[str, dict[str, float]] = {}
    if keep and keep.exists():
        for line in keep.read_text(encoding="utf-8").splitlines():
            known.update(json.loads(line))
    for title, cells in tables():
        if not title.startswith(only):
            continue
        print(f"\n{title}")
        for cell in cells:
            key = f"{title.split(':')[0]} | {cell.label} | {simulations}"
            found = known.get(key) or cell.measure(round(simulations * cell.share))
            if keep and key not in known:
                with keep.open("a", encoding="utf-8") as file:
                    file.write(json.dumps({key: found}) + "\n")
            shares = "  ".join(
                f"{name} {value:g}" if value > 1 else f"{name} {value:.1%}"
                for name, value in found.items()
            )
            print(f"  {cell.label}  {shares}", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--simulations", type=int, default=2000)
    parser.add_argument("--only", default="", help="only the tables whose title begins so")
    parser.add_argument("--keep", type=Path, help="file to keep each cell in as it comes")
    options = parser.parse_args()
    print(f"{options.simulations} simulations a line; two standard errors of 5 % at 2,000: 1 point")
    run(options.simulations, options.only, options.keep)
