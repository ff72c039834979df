"""Runs inside pytest: cases as parameters, and ``assert_no_regression``.

Options ``--ancrage-run`` (default: the latest run), ``--ancrage-baseline`` (default: the policy's)
and ``--ancrage-policy``. A test that takes the fixture ``ancrage_case`` runs once a case; the
fixture ``ancrage_run`` is the run as a whole. Nothing heavy is imported until one is used.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from ancrage.compare.gate import Decision
    from ancrage.compare.results import Group


@dataclass(frozen=True)
class CaseOutcome:
    """One case of the run under test; over repeats, at its worst."""

    id: str
    study: str | None
    state: str
    """How the production of the answer ended; only ``ok`` can be scored."""
    scores: dict[str, float | None]
    """The score of each failure mode: above 0 it fails in some repeat; None, it fails in none and
    is unscored in some."""
    reasons: dict[str, str]
    """Why modes are unscored, in any repeat."""

    def assert_passes(self, *modes: str) -> None:
        """Fail the test unless every mode (default: all) was scored and found nothing.

        Raises:
            AssertionError: a mode fails, is unscored, or was never looked for.
        """
        problems = []
        for mode in modes or tuple(self.scores):
            score = self.scores.get(mode)
            if mode not in self.scores:
                problems.append(f"{mode} was not looked for")
            elif score is None:
                problems.append(f"{mode} is unscored: {self.reasons.get(mode, 'no reason given')}")
            elif score > 0:
                problems.append(f"{mode} fails (score {score:g})")
        if not self.scores:
            problems.append("no failure mode was scored")
        if problems:
            raise AssertionError(f"case {self.id}: {'; '.join(problems)}")


def assert_no_regression(
    run: "Group",
    baseline: "Group | str | None" = None,
    *,
    policy: Path | None = None,
) -> "Decision":
    """Fail the test unless the gate lets ``run`` ship; returns the decision.

    Args:
        run: what the fixture ``ancrage_run`` gives.
        baseline: outcomes, or the name of a baseline, or "none" (default: the policy's).
        policy: a policy file (default: the configuration's ``[gate]``).

    Raises:
        AssertionError: the run regresses, falls short of the policy, or cannot be told; an
            inconclusive gate, such as for a missing baseline, is never a pass.
    """
    from ancrage.compare.baseline import find_reference
    from ancrage.compare.gate import Outcome, decide
    from ancrage.compare.policy import load_policy
    from ancrage.config import load

    config = load()
    rules = load_policy(config, policy)
    reference = rules.baseline if baseline is None else baseline
    if isinstance(reference, str):
        reference = find_reference(reference, config.root)
    decision = decide(rules, run, reference)
    if decision.outcome is not Outcome.PASSED:
        against = [*decision.of(Outcome.FAILED), *decision.of(Outcome.UNKNOWN)]
        lines = [f"  {c.outcome.value}: {c.name} {c.mode or ''}: {c.message}" for c in against]
        lines += [f"    {case}" for check in against for case in check.cases[:10]]
        raise AssertionError("\n".join([decision.words, *lines]))
    return decision


def cases_of(run: "Group") -> list[CaseOutcome]:
    """The cases of a run, or of its repeats together."""
    cases = dict.fromkeys(case for each in run for case in each.cases)
    return [_at_worst(case, run) for case in cases]


def _at_worst(case: str, run: "Group") -> CaseOutcome:
    scores: dict[str, float | None] = {}
    reasons: dict[str, str] = {}
    for mode in dict.fromkeys(mode for each in run for mode in each.modes):
        worst = 0.0
        for each in run:
            at, values = each.position.get(case), each.values.get(mode)
            value = float("nan") if at is None or values is None else float(values[at])
            if isnan(value):
                absent = f"not looked for in {each.origin.name}"
                reasons[mode] = each.reasons.get(mode, {}).get(case, absent)
            else:
                worst = max(worst, value)
        scores[mode] = worst if worst > 0 or mode not in reasons else None
    found = [(each, each.position[case]) for each in run if case in each.position]
    states = [each.states[at].value for each, at in found]
    return CaseOutcome(
        id=case,
        study=found[0][0].studies[found[0][1]],
        state=next((state for state in states if state != "ok"), "ok"),
        scores=scores,
        reasons=reasons,
    )


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("ancrage", "evals of LLM assistants")
    group.addoption("--ancrage-run", default="latest", help="run to test (default: the latest)")
    group.addoption("--ancrage-baseline", default=None, help="baseline (default: the policy's)")
    group.addoption("--ancrage-policy", default=None, help="policy file (default: [gate])")


_GROUP = pytest.StashKey["Group"]()


def _group(config: pytest.Config) -> "Group":
    from ancrage.compare.results import find_group
    from ancrage.errors import AncrageError

    if _GROUP not in config.stash:
        try:
            config.stash[_GROUP] = find_group(config.getoption("--ancrage-run"))
        except AncrageError as error:
            raise pytest.UsageError(f"--ancrage-run: {error}") from None
    return config.stash[_GROUP]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One test a case for whatever takes ``ancrage_case``; a run without cases is an error."""
    if "ancrage_case" not in metafunc.fixturenames:
        return
    cases = cases_of(_group(metafunc.config))
    if not cases:
        raise pytest.UsageError("the run has no case: nothing would be tested")
    metafunc.parametrize("ancrage_case", cases, ids=[case.id for case in cases])


@pytest.fixture(scope="session")
def ancrage_run(pytestconfig: pytest.Config) -> "Group":
    """The run under test: its repeats, or itself alone."""
    return _group(pytestconfig)


@pytest.fixture
def assert_ships(pytestconfig: pytest.Config, ancrage_run: "Group") -> "Callable[[], Decision]":
    """``assert_no_regression`` on the run, under the options of the command line."""
    policy = pytestconfig.getoption("--ancrage-policy")
    return partial(
        assert_no_regression,
        ancrage_run,
        pytestconfig.getoption("--ancrage-baseline"),
        policy=Path(policy) if policy else None,
    )
