"""Run an experiment through the SDK's own runner, and keep the record of it all the same.

The SDK opens the spans, so that traces, nesting and latency are what its users know; every
output and score is in the local journals before the SDK hears of it. Scores are not left to the
SDK, which drops those it cannot deliver: ``publish`` sends them.
"""

import asyncio
import contextvars
import logging
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from langfuse._client.datasets import DatasetClient
from langfuse.api import DatasetItem

from ancrage.domain import Case, Output, OutputState
from ancrage.errors import UsageError
from ancrage.langfuse.connection import Connection
from ancrage.langfuse.dataset import Dataset, local_snapshot, read_dataset
from ancrage.langfuse.publish import (
    Say,
    description,
    experiment_metadata,
    new_target,
    publish,
)
from ancrage.langfuse.reads import find_experiment
from ancrage.langfuse.receipt import Receipt
from ancrage.langfuse.sdk import (
    Keep,
    cancel_all,
    refuse_sampled_provider,
    refuse_sampling,
    sdk_client,
)
from ancrage.langfuse.spans import model_of, output_of, usage_details
from ancrage.langfuse.target import KEY, Target
from ancrage.runs import Producer, RunFolder, RunView
from ancrage.runs.loop import Drive, Steps
from ancrage.snapshot import Snapshot


@dataclass(frozen=True)
class Session:
    """A dataset ready to be run on: one client, one pinned version, one local snapshot."""

    connection: Connection
    dataset: Dataset
    snapshot: Snapshot

    def target(self, run_name: str) -> Target:
        """The experiment of that name.

        Raises:
            UsageError: Langfuse has a run of that name on this dataset already.
        """
        target = new_target(self.connection, self.dataset, run_name)
        if find_experiment(self.connection, target.experiment_id):
            raise UsageError(
                f"Langfuse has a run named {run_name!r} on dataset {self.dataset.name!r}; its "
                "items would mix with these: give another --run-name"
            )
        return target


def open_session(connection: Connection, dataset: str, version: datetime | None = None) -> Session:
    """Everything that is checked before any work: server, tracing, dataset, cases.

    Raises:
        UsageError: tracing is off or sampled, there is no such dataset, or an item is no case.
        LangfuseError: Langfuse cannot be reached, refuses the keys or is too old.
    """
    refuse_sampling()
    _ = connection.server
    found = read_dataset(connection, dataset, version)
    return Session(connection, found, local_snapshot(connection, found))


def resume_session(connection: Connection, folder: RunFolder) -> Session:
    """The session that a run was made in, to go on with it.

    Raises:
        UsageError: the run was made without Langfuse.
    """
    details = folder.run.details.get(KEY)
    if not isinstance(details, dict):
        raise UsageError(f"run {folder.run.id} was not made on a dataset of Langfuse")
    refuse_sampling()
    target = Target.model_validate(details)
    dataset = read_dataset(connection, target.dataset, target.version)
    return Session(connection, dataset, folder.snapshot())


class Tracing:
    """The SDK's client for one run, its exporter watched."""

    def __init__(self, session: Session, folder: RunFolder) -> None:
        self.session, self.folder = session, folder
        self.target = Target.model_validate(folder.run.details[KEY])
        self.client, self.exporter, self._generations = sdk_client(
            session.connection.credentials, session.connection.settings
        )
        self._failed_before = self.exporter.failed
        refuse_sampled_provider()
        self.warnings: list[str] = []
        self._traced: dict[str, tuple[Case, Output]] = {}

    def traced(self, produce: Producer) -> Producer:
        """``produce``, its outputs marked with the trace they were made in."""

        async def wrapped(case: Case) -> Output:
            mark = {
                "experiment_id": self.target.experiment_id,
                "trace_id": self.client.get_current_trace_id(),
                "observation_id": self.client.get_current_observation_id(),
            }
            try:
                output = await produce(case)
            except asyncio.CancelledError:
                raise
            except Exception as error:  # noqa: BLE001  a failed output is traced like any other
                output = Output(
                    case_id=case.id,
                    state=OutputState.FAILED,
                    reason=f"{type(error).__name__}: {error}",
                )
            return output.model_copy(update={"details": {**output.details, KEY: mark}})

        return wrapped

    @property
    def drive(self) -> Drive:
        """The runner of the SDK, in the place of ours."""

        async def drive(steps: Steps, cases: Iterable[Case], concurrency: int) -> None:
            todo = {case.id: case for case in cases}
            by_case = self.session.dataset.by_case
            items = [by_case[name] for name in todo if name in by_case]
            of_item = {item.id: todo[name] for name, item in by_case.items() if name in todo}
            # A clean context: under an active span all items would share one trace.
            context = contextvars.Context()
            loops: list[asyncio.AbstractEventLoop] = []
            runner = asyncio.get_running_loop().run_in_executor(
                None, context.run, self._run, steps, items, of_item, concurrency, loops
            )
            try:
                with self._watched():
                    await asyncio.shield(runner)
            except asyncio.CancelledError:
                for loop in loops:
                    loop.call_soon_threadsafe(cancel_all, loop)
                await asyncio.wait([runner])
                raise

        return drive

    def _run(
        self,
        steps: Steps,
        items: list[DatasetItem],
        of_item: dict[str, Case],
        concurrency: int,
        loops: list[asyncio.AbstractEventLoop],
    ) -> None:
        async def task(*, item: DatasetItem, **_: Any) -> dict[str, Any]:
            if not loops:
                loops.append(asyncio.get_running_loop())
            case = of_item[item.id]
            output = await steps.answer(case)
            self._show(case, output)
            self._traced[str(self.client.get_current_trace_id())] = case, output
            return output_of(output)

        async def ancrage(**_: Any) -> list[Any]:
            case, output = self._traced.pop(str(self.client.get_current_trace_id()))
            entry = await steps.score(case, output)
            scores = {
                score.name: score.reason if score.value is None else score.value
                for evaluation in entry.evaluations
                for score in evaluation.scores
            }
            self.client.update_current_span(metadata={"scores": scores})
            return []

        dataset = DatasetClient(
            dataset=self.session.dataset.record,
            items=items,
            langfuse_client=self.client,
            version=self.target.version,
        )
        dataset.run_experiment(
            name=self.target.run_name,
            run_name=self.target.run_name,
            description=description(self.folder.run),
            task=task,  # type: ignore[arg-type]  # datasets have no local items
            evaluators=[ancrage],
            max_concurrency=max(1, concurrency),
            metadata=experiment_metadata(RunView(self.folder)),
            experiment_id=self.target.experiment_id,
        )
        self.exporter.wait()

    def _show(self, case: Case, output: Output) -> None:
        """Make a failure and the cost of an answer visible on the item's trace."""
        if output.state is not OutputState.OK:
            self.client.update_current_span(
                level="ERROR", status_message=f"{output.state}: {output.reason or 'no answer'}"
            )
        usage = output.usage or (output.answer.usage if output.answer else None)
        if self._generations.pop(self.client.get_current_trace_id()):
            return  # The assistant's own spans carry its tokens and cost.
        if usage and (details := usage_details(usage)):
            self.client.start_observation(
                name="answer",
                as_type="generation",
                model=model_of(case, output),
                usage_details=details,
                cost_details=None if usage.cost is None else {"total": usage.cost},
            ).end()

    @contextmanager
    def _watched(self) -> Iterator[None]:
        """Keep what the SDK only logs: it is where losses show."""
        handler = Keep(self.warnings)
        loggers = [logging.getLogger(name) for name in ("langfuse", "opentelemetry")]
        before = [(each, each.propagate) for each in loggers]
        for each in loggers:
            each.addHandler(handler)
            each.propagate = False
        try:
            yield
        finally:
            for each, propagate in before:
                each.removeHandler(handler)
                each.propagate = propagate

    def finish(self, say: Say = lambda _: None) -> Receipt:
        """Send the scores, read everything back, write the receipt.

        Raises:
            LangfuseError: Langfuse cannot be reached; the local record is whole.
        """
        for warning in self.warnings[:3]:
            say(warning)
        lost = self.exporter.failed - self._failed_before
        if lost:
            say(f"{lost:,} spans were lost, sending their items again: {self.exporter.error}")
        session = self.target, self.session.dataset
        return publish(
            self.session.connection, self.folder, session=session, fresh=not lost, say=say
        )
