"""Ship, don't ship, or cannot tell: a policy applied to a run and a baseline."""

from collections.abc import Iterable, Iterator
from datetime import date, datetime

from ancrage.compare.checks import (
    Check,
    Outcome,
    anchor_checks,
    mode_checks,
    regressions,
    run_checks,
)
from ancrage.compare.looks import note_look
from ancrage.compare.model import Comparison
from ancrage.compare.paired import compare
from ancrage.compare.policy import Policy
from ancrage.compare.results import Group, Origin
from ancrage.domain import Frozen
from ancrage.errors import ExitCode

__all__ = ["Check", "Decision", "Outcome", "decide"]


class Decision(Frozen):
    """The gate's answer and all that it rests on."""

    outcome: Outcome
    candidate: tuple[Origin, ...]
    baseline: tuple[Origin, ...] | None
    checks: tuple[Check, ...]
    remarks: tuple[str, ...] = ()
    """What does not decide but should be known: ignored cases, expired entries."""
    comparison: Comparison | None = None

    @property
    def words(self) -> str:
        """``SHIP``, ``DON'T SHIP`` or ``INCONCLUSIVE``."""
        return {
            Outcome.PASSED: "SHIP",
            Outcome.FAILED: "DON'T SHIP",
            Outcome.UNKNOWN: "INCONCLUSIVE",
        }[self.outcome]

    @property
    def exit_code(self) -> ExitCode:
        """0 to ship, 1 not to ship, 3 when the gate cannot tell."""
        return {
            Outcome.PASSED: ExitCode.OK,
            Outcome.FAILED: ExitCode.BELOW_GATE,
            Outcome.UNKNOWN: ExitCode.INCOMPLETE,
        }[self.outcome]

    def of(self, outcome: Outcome) -> tuple[Check, ...]:
        """The checks that came out so."""
        return tuple(check for check in self.checks if check.outcome is outcome)


def decide(
    policy: Policy,
    candidate: Group,
    baseline: Group | str | None,
    *,
    today: date | None = None,
) -> Decision:
    """Apply ``policy`` to a run, or the repeats of one.

    ``baseline`` is the outcomes to compare with, or, in words, why they cannot be had; None when
    the policy asks for no comparison. One failed check is enough not to ship; else one check that
    cannot tell is enough to be inconclusive; nothing checked is inconclusive too. A look at a run
    that is not complete is noted in its folder: from then on the test for repeated looks judges it.

    Raises:
        UsageError: a look cannot be noted.
    """
    day = today or datetime.now().astimezone().date()
    ignored = _ignored(policy, candidate, day)
    known = baseline if not isinstance(baseline, str) else None
    modes = _modes(policy, candidate, known)
    comparison = (
        compare(
            known,
            candidate,
            alpha=policy.alpha,
            ignored=ignored,
            only=modes if policy.modes else (),
        )
        if known
        else None
    )
    if known:
        note_look(candidate)
    checks = [
        *run_checks(policy, candidate),
        *anchor_checks(policy, candidate, comparison),
        *mode_checks(policy, candidate, modes, ignored),
        *regressions(policy, candidate, baseline, comparison, modes, ignored),
    ]
    return Decision(
        outcome=_overall(checks),
        candidate=tuple(run.origin for run in candidate),
        baseline=tuple(run.origin for run in known) if known else None,
        checks=tuple(checks),
        remarks=tuple(_remarks(policy, candidate, known, modes, day)),
        comparison=comparison,
    )


def _overall(checks: Iterable[Check]) -> Outcome:
    found = {check.outcome for check in checks}
    for outcome in (Outcome.FAILED, Outcome.UNKNOWN):
        if outcome in found:
            return outcome
    return Outcome.PASSED if found else Outcome.UNKNOWN


def _modes(policy: Policy, candidate: Group, baseline: Group | None) -> list[str]:
    if policy.modes:
        return list(dict.fromkeys((*policy.modes, *policy.ceilings)))
    scored = (mode for run in (*candidate, *(baseline or ())) for mode in run.modes)
    return list(dict.fromkeys((*scored, *policy.ceilings)))


def _ignored(policy: Policy, candidate: Group, day: date) -> dict[str, set[str]]:
    ignored: dict[str, set[str]] = {}
    every = {mode for run in candidate for mode in run.modes}
    for entry in policy.active(day):
        for mode in every if entry.mode == "*" else (entry.mode,):
            ignored.setdefault(mode, set()).add(entry.case)
    return ignored


def _remarks(
    policy: Policy, candidate: Group, baseline: Group | None, modes: list[str], day: date
) -> Iterator[str]:
    runs = {run.origin.id for run in candidate}
    if same := [run.origin.id for run in baseline or () if run.origin.id in runs]:
        yield f"{same[0]} is compared with itself: it is the baseline"
    known = set(candidate[0].cases)
    for entry in policy.active(day):
        what = f"{entry.case} ({'all modes' if entry.mode == '*' else entry.mode})"
        if entry.case not in known:
            yield f"the ignore list names {what}, which is not in the run"
        elif entry.mode != "*" and entry.mode not in modes:
            yield f"the ignore list names {what}, a mode that nothing scored"
        else:
            yield f"ignored until {entry.until}: {what}: {entry.reason}"
    for entry in policy.expired(day):
        yield f"no longer ignored since {entry.until}: {entry.case}: {entry.reason}"
