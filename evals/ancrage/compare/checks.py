"""The checks that the gate makes; each one passes, fails, or cannot tell."""

from collections import Counter
from collections.abc import Iterator
from enum import StrEnum

import numpy as np

from ancrage.compare import figures
from ancrage.compare.compatible import same_data
from ancrage.compare.growing import anytime_p
from ancrage.compare.model import Comparison, ModeComparison, Side
from ancrage.compare.paired import Ignored, common_cases, outcomes, side
from ancrage.compare.policy import Policy
from ancrage.compare.results import Group
from ancrage.domain import Frozen, RunState
from ancrage.stats import consistency
from ancrage.stats.intervals import Floats


class Outcome(StrEnum):
    """What a check, and in the end the gate, says."""

    PASSED = "pass"
    FAILED = "fail"
    UNKNOWN = "inconclusive"


class Check(Frozen):
    """One thing looked at."""

    name: str
    """``run``, ``items``, ``coverage``, ``ceiling``, ``regression``, ``flips`` or ``baseline``."""
    mode: str | None
    outcome: Outcome
    message: str
    cases: tuple[str, ...] = ()
    """The cases that speak against it, most telling first."""


def run_checks(policy: Policy, candidate: Group) -> Iterator[Check]:
    """Whether the runs are complete and have enough cases."""
    for each in candidate:
        origin = each.origin
        if origin.state is RunState.COMPLETE:
            yield Check(
                name="run", mode=None, outcome=Outcome.PASSED, message=f"{origin.id} is complete"
            )
            continue
        answered = f"{len(each.completed)} of {len(each.cases)} cases answered"
        message = f"{origin.id} is {origin.state.value}: {answered}"
        yield Check(name="run", mode=None, outcome=Outcome.UNKNOWN, message=message)
    cases = common_cases(candidate)
    if any(len(each.cases) != len(cases) for each in candidate):
        message = "the repeats do not have the same cases"
        yield Check(name="run", mode=None, outcome=Outcome.UNKNOWN, message=message)
    items = len(cases)
    enough = items >= policy.minimum_items
    yield Check(
        name="items",
        mode=None,
        outcome=Outcome.PASSED if enough else Outcome.UNKNOWN,
        message=f"{items} cases, at least {policy.minimum_items} asked for",
    )


def mode_checks(
    policy: Policy, candidate: Group, modes: list[str], ignored: Ignored
) -> Iterator[Check]:
    """For each mode: enough cases scored, the rate below its ceiling, few flips."""
    if not modes:
        message = "no failure mode was scored: invoke score"
        yield Check(name="coverage", mode=None, outcome=Outcome.UNKNOWN, message=message)
    for mode in modes:
        absent = [each.origin.id for each in candidate if mode not in each.modes]
        if absent:
            message = f"no evaluator scored {mode} in {absent[0]}"
            yield Check(name="coverage", mode=mode, outcome=Outcome.UNKNOWN, message=message)
            continue
        left_out = ignored.get(mode, frozenset())
        cases = tuple(case for case in common_cases(candidate) if case not in left_out)
        found = outcomes(candidate, mode, cases)
        if len(cases) < policy.minimum_items and left_out:
            message = f"{len(cases)} cases once the ignored ones are out"
            message += f", at least {policy.minimum_items} asked for"
            yield Check(name="items", mode=mode, outcome=Outcome.UNKNOWN, message=message)
        yield _coverage(policy, mode, found, candidate)
        if mode in policy.ceilings:
            yield _ceiling(policy.ceilings[mode], mode, side(found, None), cases, found)
        if policy.maximum_flips is not None:
            yield _flips(policy.maximum_flips, mode, found)


def _coverage(policy: Policy, mode: str, found: Floats, candidate: Group) -> Check:
    scored, total = int(np.count_nonzero(~np.isnan(found))), found.size
    share = scored / total if total else 0.0
    enough = scored > 0 and share >= policy.minimum_coverage
    message = f"{scored} of {total} scored ({share:.1%})"
    message += f", at least {policy.minimum_coverage:.1%} asked for"
    if not enough and (why := _commonest_reason(mode, candidate)):
        message += f"; most often: {why}"
    outcome = Outcome.PASSED if enough else Outcome.UNKNOWN
    return Check(name="coverage", mode=mode, outcome=outcome, message=message)


def _commonest_reason(mode: str, candidate: Group) -> str | None:
    reasons = Counter(why for each in candidate for why in each.reasons.get(mode, {}).values())
    return reasons.most_common(1)[0][0][:160] if reasons else None


def _ceiling(ceiling: float, mode: str, rate: Side, cases: tuple[str, ...], found: Floats) -> Check:
    """Decided by the bounds: what is unscored could be anything."""
    low, high = rate.bounds
    outcome = Outcome.UNKNOWN
    if rate.cases and low > ceiling:
        outcome = Outcome.FAILED
    elif rate.cases and high <= ceiling:
        outcome = Outcome.PASSED
    shown = "no case scored" if rate.rate is None else f"{rate.failing:g} of {rate.scored} fail"
    if rate.rate is not None:
        shown += f" ({rate.rate:.1%})"
    message = f"{shown}, at most {ceiling:.1%} allowed"
    if outcome is Outcome.UNKNOWN and rate.cases:
        message += f"; unscored cases put it between {low:.1%} and {high:.1%}"
    failing = tuple(cases[at] for at in np.flatnonzero((found > 0).any(axis=1)).tolist())
    return Check(
        name="ceiling",
        mode=mode,
        outcome=outcome,
        message=message,
        cases=failing if outcome is Outcome.FAILED else (),
    )


def _flips(most: float, mode: str, found: Floats) -> Check:
    repeats = found.shape[1]
    if repeats < 2:
        message = f"at most {most:.1%} of cases may flip, but one run shows no flip: use --repeat"
        return Check(name="flips", mode=mode, outcome=Outcome.UNKNOWN, message=message)
    seen = consistency(found, len(found))
    low = seen.flips / seen.cases if seen.cases else 0.0
    high = (seen.flips + seen.missing) / seen.cases if seen.cases else 1.0
    outcome = Outcome.UNKNOWN
    if low > most:
        outcome = Outcome.FAILED
    elif high <= most:
        outcome = Outcome.PASSED
    message = f"{seen.flips} of {seen.cases} cases flip over {repeats} repeats ({low:.1%})"
    message += f", at most {most:.1%} allowed"
    if seen.missing:
        message += f"; {seen.missing} without a score in every repeat"
    return Check(name="flips", mode=mode, outcome=outcome, message=message)


def regressions(
    policy: Policy,
    candidate: Group,
    baseline: Group | str | None,
    comparison: Comparison | None,
    modes: list[str],
    ignored: Ignored,
) -> Iterator[Check]:
    """For each mode: no worse than the baseline, by the paired test."""
    if baseline is None:
        return
    if isinstance(baseline, str) or comparison is None:
        yield Check(name="baseline", mode=None, outcome=Outcome.UNKNOWN, message=str(baseline))
        return
    for origin in comparison.first:
        if origin.state is not RunState.COMPLETE:
            message = f"the baseline's run {origin.id} is {origin.state.value}"
            yield Check(name="baseline", mode=None, outcome=Outcome.UNKNOWN, message=message)
    if not same_data(baseline, candidate):
        message = "the baseline was recorded on other data; record one on this snapshot"
        yield Check(name="baseline", mode=None, outcome=Outcome.UNKNOWN, message=message)
    # A run that stopped half-way may have been stopped because of what someone saw.
    growing = policy.repeated_looks or any(
        origin.state is not RunState.COMPLETE for origin in comparison.second
    )
    looked = {mode.mode: mode for mode in comparison.modes}
    family = sum(1 for name in modes if name in looked and not looked[name].problem)
    for name in modes:
        found = looked.get(name)
        if found is None:
            continue
        p = found.adjusted_p
        if growing and found.problem is None:
            p = family * anytime_p(
                baseline,
                candidate,
                name,
                clustered=comparison.clustered,
                ignored=ignored.get(name, frozenset()),
            )
            p = min(1.0, p)
        yield _regression(policy, found, p, anytime=growing)


def _regression(policy: Policy, found: ModeComparison, p: float | None, *, anytime: bool) -> Check:
    change = found.difference
    if found.problem or change is None or p is None:
        message = found.problem or "no case is scored both here and in the baseline"
        return Check(name="regression", mode=found.mode, outcome=Outcome.UNKNOWN, message=message)
    test = "anytime-valid p" if anytime else "p"
    message = (
        f"{figures.points(change)} points over {found.pairs} cases "
        f"{figures.points_between(found.interval)}, {test} {figures.p_value(p)}; "
        f"{len(found.worse)} newly failing, {len(found.better)} newly passing"
    )
    significant = p <= policy.alpha and change > 0
    outcome = Outcome.FAILED if significant else Outcome.PASSED
    if policy.margin is not None:
        excluded = found.cautious.high <= policy.margin
        if not significant or change <= policy.margin:
            outcome = Outcome.PASSED if excluded else Outcome.UNKNOWN
        if found.cautious != found.interval:
            message += f"; {figures.points_between(found.cautious)} whatever the unscored cases are"
        message += f"; the policy allows {figures.points(policy.margin)} points"
    elif not significant and change > 0 and found.interval.high > policy.doubt:
        outcome = Outcome.UNKNOWN
        message += f"; not significant, but more than {figures.points(policy.doubt)} points"
        message += " cannot be excluded: more cases would tell"
    blind = policy.detect is not None and (
        found.detectable is None or found.detectable > policy.detect
    )
    if outcome is Outcome.PASSED and blind and policy.detect is not None:
        outcome = Outcome.UNKNOWN
        seen = "none" if found.detectable is None else f"only {found.detectable * 100:.1f} points"
        message += f"; too few cases: {seen} would have shown, {policy.detect * 100:.1f} asked for"
    return Check(
        name="regression",
        mode=found.mode,
        outcome=outcome,
        message=message,
        cases=found.worse if outcome is not Outcome.PASSED else (),
    )
