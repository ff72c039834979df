"""What the runner costs a case: Ancrage's loop beside pydantic-evals', with the same code checks.

Run ``python -m benchmarks.checks``. The demonstration's answers are checked several times over in
one process, in turn by a plain loop that keeps nothing, by ``run_experiment`` (both journals, how
each answer was read), and by pydantic-evals' ``Dataset.evaluate`` with each check as an evaluator
and each answer's study shared. The runner's cost is what remains when the plain loop's time is
taken away; medians of processor time.
"""

import asyncio
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from ancrage.checks import load_checks
from ancrage.config import Config
from ancrage.domain import Case
from ancrage.evaluator import Evaluator, Subject
from ancrage.runs import create_run, recorded, run_experiment
from ancrage.snapshot import Snapshot, open_snapshot, write_snapshot
from ancrage.studies import Studies

DEMO = Path(__file__).parents[1] / "snapshots" / "demo"
TIMES, ROUNDS = 8, 3


def repeated(cases: Sequence[Case]) -> Iterator[Case]:
    """The cases, ``TIMES`` over, under ids of their own."""
    for turn in range(TIMES):
        for case in cases:
            yield case.model_copy(update={"id": f"{turn}-{case.id}"})


@dataclass
class Work:
    """The same answers and the same checks, for every runner."""

    snapshot: Snapshot
    checks: Sequence[Evaluator]
    studies: Studies
    folder: Path

    async def subject(self, case: Case) -> Subject:
        return self.studies.subject(case, await recorded(case))


async def plain(work: Work) -> None:
    """The checks alone."""
    for case in work.snapshot.cases():
        subject = await work.subject(case)
        if case.output:
            for check in work.checks:
                await check.evaluate(subject)


async def ours(work: Work) -> None:
    """The loop that ``experiment`` runs."""
    run = create_run(work.snapshot, kind="audit", root=work.folder / "runs")
    await run_experiment(run, work.snapshot.cases(), recorded, work.checks, work.studies)


async def theirs(work: Work) -> None:
    """pydantic-evals; its report stays in memory."""
    import pydantic_evals
    from pydantic_evals.evaluators import Evaluator as Base
    from pydantic_evals.evaluators import EvaluatorContext

    @dataclass
    class Checked(Base[Case, Subject, Any]):  # type: ignore[misc, unused-ignore]
        number: int

        def get_default_evaluation_name(self) -> str:
            return work.checks[self.number].name

        async def evaluate(self, context: EvaluatorContext[Case, Subject, Any]) -> float | bool:
            found = await work.checks[self.number].evaluate(context.output)
            value = found.scores[0].value
            return False if value is None else float(value)

    answered = [case for case in work.snapshot.cases() if case.output]
    dataset: Any = pydantic_evals.Dataset(
        name="answers",
        cases=[pydantic_evals.Case(name=case.id, inputs=case) for case in answered],
        evaluators=[Checked(number) for number in range(len(work.checks))],
    )
    await dataset.evaluate(work.subject, max_concurrency=1, progress=False)


def measured(runner: Callable[[Work], Any], snapshot: Snapshot, folder: Path) -> float:
    """Processor seconds of one round, studies indexed anew."""
    config = Config(None, {})
    checks: Sequence[Evaluator] = load_checks(config)
    work = Work(snapshot, checks, Studies(snapshot, config), folder)
    _ = [(check.name, check.version) for check in checks]
    began = time.process_time()
    asyncio.run(runner(work))
    return time.process_time() - began


def main() -> None:
    """Print the cost of a case in each runner."""
    demo = open_snapshot(DEMO)
    cases = list(demo.cases())
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_snapshot(folder / "snap", repeated(cases), demo.study, source="benchmark")
        snapshot = open_snapshot(folder / "snap")
        runners = {"checks alone": plain, "Ancrage": ours, "pydantic-evals": theirs}
        rounds = [
            {label: measured(runner, snapshot, folder) for label, runner in runners.items()}
            for _ in range(ROUNDS)
        ]
    count = TIMES * len(cases)
    alone = median(found["checks alone"] for found in rounds)
    print(f"checks alone: {1000 * alone / count:.3f} ms a case, {count / alone:,.0f} a second")
    costs = {
        label: median(found[label] - found["checks alone"] for found in rounds)
        for label in ("Ancrage", "pydantic-evals")
    }
    for label, cost in costs.items():
        print(f"{label + ':':15} {1000 * cost / count:.3f} ms a case beyond the checks")
    print(f"ratio: {costs['Ancrage'] / costs['pydantic-evals']:.2f}")


if __name__ == "__main__":
    main()
