"""The checks that the gate makes; each one passes, fails, or cannot tell."""

from collections import Counter
from collections.abc import Iterator
from enum import StrEnum

import numpy as np

from ancrage.compare import figures
from ancrage.compare.compatible import same_data
from ancrage.compare.looks import Look, look
from ancrage.compare.model import Comparison, ModeComparison, Side
from ancrage.compare.paired import Ignored
from ancrage.compare.pairing import common_cases, outcomes, side
from ancrage.compare.policy import DOUBT, Policy
from ancrage.compare.results import Group
from ancrage.domain import Frozen, OutputState, RunState
from ancrage.program import called
from ancrage.stats.intervals import Floats


class Outcome(StrEnum):
    """What a check, and in the end the gate, says."""

    PASSED = "pass"
    FAILED = "fail"
    UNKNOWN = "inconclusive"


class Check(Frozen):
    """One thing looked at."""

    name: str
    """``run``, ``items``, ``answers``, ``anchors``, ``coverage``, ``ceiling``, ``regression`` or
    ``baseline``."""
    mode: str | None
    outcome: Outcome
    message: str
    cases: tuple[str, ...] = ()
    """The cases that speak against it, most telling first."""


def _enough(name: str, mode: str | None, message: str, *, enough: bool) -> Check:
    """A check that cannot tell anything where there is too little."""
    outcome = Outcome.PASSED if enough else Outcome.UNKNOWN
    return Check(name=name, mode=mode, outcome=outcome, message=message)


def run_checks(policy: Policy, candidate: Group) -> Iterator[Check]:
    """Whether the runs are complete, real, and have enough cases."""
    for run in candidate:
        origin = run.origin
        complete = origin.state is RunState.COMPLETE
        message = f"{origin.id} is {origin.state.value}"
        if origin.mock:
            message = f"{origin.id} was answered by a mock: it says nothing of the assistant"
        elif not complete:
            ended = sum(state is not OutputState.NOT_RUN for state in run.states)
            message += f": {ended} of {len(run.cases)} cases answered"
        yield _enough("run", None, message, enough=complete and not origin.mock)
    cases = common_cases(candidate)
    if any(len(run.cases) != len(cases) for run in candidate):
        yield _enough("run", None, "the repeats do not have the same cases", enough=False)
    items = len(cases)
    message = f"{items} cases, at least {policy.minimum.cases} asked for"
    yield _enough("items", None, message, enough=items >= policy.minimum.cases)


_SAME = 0.5
"""An assistant that gives one and the same answer to more than this share of cases says nothing."""


def anchor_checks(
    policy: Policy, candidate: Group, comparison: Comparison | None
) -> Iterator[Check]:
    """Whether the answers say and cite enough for low rates of failure to mean something."""
    texts = Counter(text for run in candidate for text in run.answers.values())
    answers = texts.total()
    most = max(texts.values(), default=0)
    if answers > len(candidate) and most > _SAME * answers:
        message = f"{most} of {answers} answers are one and the same text"
        yield _enough("answers", None, message, enough=False)
    read = [answer for run in candidate for answer in run.anchors.values()]
    if read:
        cited = sum(answer.citations + answer.quotes for answer in read)
        message = f"{cited} citations and quotes in {len(read)} answers"
        message += f", at least {policy.minimum.citations} asked for"
        enough = cited >= policy.minimum.citations
        yield _enough("anchors", None, message, enough=enough)
    if (least := policy.minimum.quotes_per_answer) is not None:
        held = sum(answer.held for answer in read)
        mean = held / len(read) if read else 0.0
        message = f"{held} quotes held against a message in {len(read)} answers, {mean:.2f} each"
        message += f", at least {least:g} each asked for"
        yield _enough("anchors", None, message, enough=bool(read) and mean >= least)
    for change in comparison.collapsed if comparison else ():
        message = f"{change.what}: {change.first:g} → {change.second:g} in {change.second_of} "
        message += "answers; what is not there cannot be wrong, so the rates say nothing"
        yield _enough("anchors", None, message, enough=False)


def mode_checks(
    policy: Policy, candidate: Group, modes: list[str], ignored: Ignored
) -> Iterator[Check]:
    """For each mode: enough cases scored, the rate below its ceiling, few flips."""
    if not modes:
        message = f"no failure mode was scored: {called('score')}"
        yield _enough("coverage", None, message, enough=False)
    for mode in modes:
        absent = [run.origin.id for run in candidate if mode not in run.modes]
        if absent:
            message = f"no evaluator scored {mode} in {absent[0]}"
            yield _enough("coverage", mode, message, enough=False)
            continue
        left_out = ignored.get(mode, frozenset())
        cases = tuple(case for case in common_cases(candidate) if case not in left_out)
        found = outcomes(candidate, mode, cases)
        if len(cases) < policy.minimum.cases and left_out:
            message = f"{len(cases)} cases once the ignored ones are out"
            message += f", at least {policy.minimum.cases} asked for"
            yield _enough("items", mode, message, enough=False)
        yield _coverage(policy, mode, found, candidate)
        if mode in policy.ceilings:
            yield _ceiling(policy.ceilings[mode], mode, side(found, None), cases, found)


def _coverage(policy: Policy, mode: str, found: Floats, candidate: Group) -> Check:
    scored, total = int(np.count_nonzero(~np.isnan(found))), found.size
    share = scored / total if total else 0.0
    enough = scored > 0 and share >= policy.minimum.coverage
    message = f"{scored} of {total} scored ({share:.1%})"
    message += f", at least {policy.minimum.coverage:.1%} asked for"
    if not enough and (why := _commonest_reason(mode, candidate)):
        message += f"; most often: {why}"
    return _enough("coverage", mode, message, enough=enough)


def _commonest_reason(mode: str, candidate: Group) -> str | None:
    reasons = Counter(why for run in candidate for why in run.reasons.get(mode, {}).values())
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
        yield _enough("baseline", None, str(baseline), enough=False)
        return
    for origin in comparison.first:
        if origin.state is not RunState.COMPLETE:
            message = f"the baseline's run {origin.id} is {origin.state.value}"
            yield _enough("baseline", None, message, enough=False)
    if not same_data(baseline, candidate):
        message = "the baseline was recorded on other data; record one on this snapshot: "
        message += called("gate RUN --save NAME")
        yield _enough("baseline", None, message, enough=False)
    # A run that stopped half-way may have been stopped because of what someone saw.
    growing = any(
        origin.looks or origin.state is not RunState.COMPLETE for origin in comparison.second
    )
    looked = {mode.mode: mode for mode in comparison.modes}
    family = sum(1 for name in modes if name in looked and not looked[name].problem)
    for name in modes:
        found = looked.get(name)
        if found is None:
            continue
        seen = None
        if growing and found.problem is None:
            seen = look(
                baseline,
                candidate,
                name,
                clustered=comparison.clustered,
                ignored=ignored.get(name, frozenset()),
            )
            seen = seen._replace(p=min(1.0, family * seen.p))
        yield _regression(policy, found, seen, _renewal(policy, baseline, found))


def _renewal(policy: Policy, baseline: Group, found: ModeComparison) -> str:
    """How to bring a recorded baseline to the evaluators of today; empty when it is a run."""
    if baseline[0].view is not None or found.mode not in baseline[0].modes:
        return ""
    name, run = policy.baseline, baseline[0].origin.id
    return (
        f"; renew the baseline: {called('score')} {run}, then {called('gate')} {run} --save {name}"
    )


def _regression(policy: Policy, found: ModeComparison, seen: Look | None, renewal: str) -> Check:
    """``seen`` is what a run under way says; None for one that is looked at once."""
    change, p = found.difference, found.adjusted_p if seen is None else seen.p
    if found.problem or change is None or p is None:
        message = "no case is scored both here and in the baseline"
        if found.problem:
            message = found.problem + renewal
        return _enough("regression", found.mode, message, enough=False)
    message = (
        f"{figures.points(change)} points over {found.pairs} cases "
        f"{figures.points_between(found.interval)}, p {figures.p_value(p)}; "
        f"{len(found.worse)} newly failing, {len(found.better)} newly passing"
    )
    if seen is not None:
        message += (
            f"; anytime-valid, over the first {seen.counted} cases in the order of dispatch "
            f"({seen.ended} have ended)"
        )
    significant = p <= policy.alpha and change > 0
    outcome = Outcome.FAILED if significant else Outcome.PASSED
    if found.caution:
        message += f"; {found.caution}"
        outcome = Outcome.UNKNOWN if significant else outcome
    if policy.margin is not None:
        excluded = found.cautious.high <= policy.margin
        if not significant or change <= policy.margin:
            outcome = Outcome.PASSED if excluded else Outcome.UNKNOWN
        if found.cautious != found.interval:
            message += f"; {figures.points_between(found.cautious)} whatever the unscored cases are"
        message += f"; the policy allows {figures.points(policy.margin)} points"
    elif not significant and change > 0 and p <= DOUBT * policy.alpha:
        outcome = Outcome.UNKNOWN
        message += "; too much for chance, too little to be sure"
        if found.needed:
            message += f": about {found.needed} cases would tell"
    if outcome is Outcome.PASSED and found.detectable is not None:
        message += f"; {found.detectable * 100:.1f} points would have shown"
    return Check(
        name="regression",
        mode=found.mode,
        outcome=outcome,
        message=message,
        cases=found.worse if outcome is not Outcome.PASSED else (),
    )
