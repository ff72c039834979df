"""The Python API: what the commands do, for notebooks and programs. See docs/api.md."""

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from ancrage.checks.base import CodeCheck
from ancrage.config import Config, load
from ancrage.domain import FailureMode, Finding
from ancrage.errors import UsageError
from ancrage.evaluator import Evaluator, Subject
from ancrage.fingerprint import code_version
from ancrage.runs import RUNS, RunView, create_run, find_run, recorded, run_experiment
from ancrage.snapshot import Snapshot
from ancrage.snapshot import open_snapshot as read_snapshot
from ancrage.studies import Studies

if TYPE_CHECKING:
    from ancrage.compare.gate import Decision
    from ancrage.compare.model import Comparison
    from ancrage.compare.results import Results

T = TypeVar("T")
Function = Callable[[Subject], Iterable[Finding]]
"""A plain function as an evaluator: its findings are counted under the function's own name."""
RunReference = RunView | str | Path
"""A run that is open, or its id, the beginning of it, ``latest``, or its folder."""


def open_snapshot(path: str | Path) -> Snapshot:
    """The snapshot in the folder ``path``: ``cases()`` streams, ``study(id)`` reads one study.

    Raises:
        UsageError: there is none, or it has changed since it was taken.
    """
    return read_snapshot(path)


def open_run(reference: str | Path = "latest", root: str | Path = RUNS) -> RunView:
    """A run that was made before; see ``audit`` for what can be asked of it.

    Raises:
        UsageError: no run, or several, answer to it.
    """
    return RunView(find_run(reference, Path(root)))


def audit(
    snapshot: Snapshot | str | Path,
    evaluators: Sequence[Evaluator | Function] | None = None,
    *,
    name: str | None = None,
    root: str | Path = RUNS,
    config: Config | None = None,
) -> RunView:
    """Score the answers that production gave, and keep the run under ``root``.

    Args:
        snapshot: what ``open_snapshot`` gave, or its folder.
        evaluators: code checks, judges, or plain functions; default: every code check.
        name: the run's name; default: date, time and snapshot.
        config: default: ``evals.toml`` of the current folder.

    Returns:
        The run: ``summaries()`` has one row a failure mode with its counts, ``anchors`` how much
        was looked at, ``items()`` the answers with their findings, ``frame()`` all scores as a
        pandas DataFrame.

    Raises:
        UsageError: the snapshot cannot be read, two evaluators own one mode, or the name is taken.
        IncompleteError: the record can no longer be written; what was done is kept.
    """
    config = config or load()
    data = snapshot if isinstance(snapshot, Snapshot) else read_snapshot(snapshot)
    chosen = _evaluators(evaluators, config)
    folder = create_run(data, kind="audit", name=name, root=Path(root))
    _wait(run_experiment(folder, data.cases(), recorded, chosen, Studies(data, config)))
    return RunView(folder)


def compare_runs(
    first: RunReference, second: RunReference, *, root: str | Path = RUNS
) -> "Comparison":
    """What changed from ``first`` to ``second``, mode by mode, over the cases that both have.

    Raises:
        UsageError: a run cannot be found or read.
    """
    from ancrage.compare.paired import compare as compare_groups

    return compare_groups(_group(first, root), _group(second, root))


def gate(
    run: RunReference,
    baseline: RunReference | None = None,
    *,
    policy: str | Path | None = None,
    root: str | Path = RUNS,
    config: Config | None = None,
) -> "Decision":
    """Whether ``run`` may ship: ``outcome`` is passed, failed, or unknown, with its reasons.

    Args:
        baseline: a run to compare with; default: the baseline that the policy names.
        policy: a policy file; default: the table ``[gate]`` of the configuration.

    Raises:
        UsageError: a run or the policy cannot be read.
    """
    from ancrage.compare.baseline import find_reference
    from ancrage.compare.gate import decide
    from ancrage.compare.policy import load_policy

    config = config or load()
    rules = load_policy(config, Path(policy) if policy else None)
    if baseline is None:
        return decide(rules, _group(run, root), find_reference(rules.baseline, config.root))
    return decide(rules, _group(run, root), _group(baseline, root))


def as_evaluator(function: Evaluator | Function) -> Evaluator:
    """``function`` as the evaluator of a failure mode of the same name; evaluators as they are.

    The mode's title is the function's name, its definition the docstring; the version is a hash
    of all that the function depends on, wherever it was defined, a notebook included.

    Raises:
        UsageError: it is no function with a name.
    """
    if isinstance(function, Evaluator):
        return function
    name = getattr(function, "__name__", "")
    if not callable(function) or not name.isidentifier() or name != name.lower():
        raise UsageError(f"{function!r} is no evaluator: give a function named in lower case")
    words = " ".join((function.__doc__ or "").split())
    mode = FailureMode(
        name=name, title=name.replace("_", " ").capitalize(), definition=words or name
    )
    return CodeCheck(mode, function, code_version(function))


def _evaluators(
    chosen: Sequence[Evaluator | Function] | None, config: Config
) -> Sequence[Evaluator]:
    from ancrage.evaluators import refuse_shared_modes, select

    if chosen is None:
        return select(config=config)
    found = [as_evaluator(evaluator) for evaluator in chosen]
    refuse_shared_modes(found)
    return found


def _group(run: RunReference, root: str | Path) -> "Sequence[Results]":
    from ancrage.compare.results import find_group, read_results

    if isinstance(run, RunView):
        return (read_results(run.folder),)
    return find_group(str(run), Path(root))


def _wait(work: Coroutine[object, object, T]) -> T:
    """The result of ``work``, also where an event loop runs already, as in a notebook."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, work).result()
