"""What a run is in Langfuse: the spans and scores of each item, the run's own, and its words."""

from collections import Counter
from collections.abc import Iterator
from functools import cached_property
from typing import Literal

from opentelemetry.proto.trace.v1.trace_pb2 import Span

from ancrage.domain import JsonValue, OutputState, SnapshotRef
from ancrage.langfuse.configs import ANCHORED_MODE, score_configs
from ancrage.langfuse.connection import Connection
from ancrage.langfuse.dataset import Dataset
from ancrage.langfuse.readback import Expected, Sent
from ancrage.langfuse.scores import (
    ItemRecord,
    ItemScores,
    RunRecord,
    ScoreBody,
    ScoredBy,
    run_scores,
)
from ancrage.langfuse.spans import Experiment, item_spans
from ancrage.langfuse.target import KEY, Target, TracePlace, place, run_uid
from ancrage.runs import Item, RunView

Only = Literal["all", "failing"]


class Publication:
    """What a run is in Langfuse: the spans and scores of each item, and the run's own."""

    def __init__(
        self,
        connection: Connection,
        view: RunView,
        target: Target,
        dataset: Dataset,
        only: Only = "all",
    ) -> None:
        self.connection, self.view, self.target, self.dataset = connection, view, target, dataset
        self.only = only
        self.run = view.run
        self.experiment = Experiment(
            target=target,
            metadata=told_of(view),
            description=description(view),
            audit=self.run.kind == "audit",
        )
        # Where the snapshot lies and where the run was published differ from copy to copy.
        details = {name: said for name, said in self.run.details.items() if name != KEY}
        nowhere = SnapshotRef(path="", hash="")
        self.record = RunRecord(
            run=self.run.model_copy(update={"details": details, "snapshot": nowhere}),
            evaluators=tuple(
                ScoredBy(info=info, made=folder.scoring.created, state=folder.scoring.state)
                for info, folder in view.evaluators.values()
            ),
        )

    @cached_property
    def _scores(self) -> ItemScores:
        configs = score_configs(self.connection, [*self.view.modes, ANCHORED_MODE])
        return ItemScores(self.record.evaluators, self.run.created, configs)

    def items(self, also: frozenset[str] = frozenset()) -> Iterator[Item]:
        """The items to publish: those that have an output, and, where only failing ones are
        wanted, fail, or are in ``also``: item ids that are there already."""
        for item in self.view.items():
            if item.output.state is OutputState.NOT_RUN:
                continue
            if self.only == "all" or self.item_id(item) in also or fails(item):
                yield item

    def item_id(self, item: Item) -> str:
        """The id of the dataset's item."""
        return self.dataset.by_case[item.case.id].id

    def place(self, item: Item) -> TracePlace:
        """Where the item goes."""
        return place(self.target, self.run, self.item_id(item), item.output)

    def spans(self, item: Item) -> list[Span]:
        """The spans of an item."""
        return item_spans(
            self.experiment,
            item.case,
            item.output,
            self.place(item),
            self.dataset.by_case[item.case.id],
            item.output.started or self.run.created,
        )

    def scores(self, item: Item) -> Iterator[ScoreBody]:
        """The scores of an item."""
        record = ItemRecord(output=item.output, evaluations=item.evaluations, anchors=item.anchors)
        return self._scores.of(self.place(item), record)

    def run_scores(self) -> Iterator[ScoreBody]:
        """The scores of the run itself, which are of all its cases, whichever are published."""
        view = self.view
        counts = Counter(str(item.output.state) for item in view.items())
        judges = []
        if any(info.kind == "judge" for info, _ in view.evaluators.values()):
            from ancrage.judges.account import current_accounts

            judges = [*current_accounts(view)]
        yield from run_scores(
            self.target.experiment_id,
            self.record,
            view.summaries(),
            view.anchors,
            {"cases": counts.total(), **counts},
            judges,
        )

    def expected(self, also: frozenset[str] = frozenset()) -> Expected:
        """What must be seen in the end."""
        places, failed, sent = {}, set(), {}
        since = self.run.created
        for item in self.items(also):
            name = self.item_id(item)
            places[name] = self.place(item)
            since = min(since, item.output.started or since)
            if item.output.state is not OutputState.OK:
                failed.add(name)
            for body in self.scores(item):
                sent[body.id] = Sent.of(body, f"{body.name} on {name}")
        for body in self.run_scores():
            sent[body.id] = Sent.of(body, f"{body.name} of the run")
        return Expected(
            target=self.target,
            since=since,
            places=places,
            failed=frozenset(failed),
            scores=sent,
            run_uid=run_uid(self.run),
        )

    def worst(self) -> str | None:
        """The mode that most answers fail."""
        found = [row for row in self.view.summaries() if row.failing and row.kind != "external"]
        return max(found, key=lambda row: row.failing).mode.name if found else None


def fails(item: Item) -> bool:
    """Whether a defect was found in an answer, or there is none to look at."""
    found = (score for done in item.evaluations for score in done.scores)
    return item.output.state is not OutputState.OK or any(score.value for score in found)


def told_of(view: RunView) -> dict[str, JsonValue]:
    """What an experiment says of its run, for those who read there; flat, and short, as every span
    carries it. ``uid`` tells the run from others of the same name."""
    run = view.run
    said: dict[str, JsonValue] = {
        "run": run.id,
        "uid": run_uid(run),
        "created": run.created.isoformat(),
        "kind": run.kind,
        "snapshot": run.snapshot.hash[:12],
        **{f"versions.{name}": version for name, version in run.versions.items()},
        **{f"evaluators.{name}": info.version for name, (info, _) in view.evaluators.items()},
        **{f"parameters.{name}": str(value)[:200] for name, value in run.parameters.items()},
    }
    if run.group:
        said |= {"group": run.group, "repeat": run.repeat}
    return said


def description(view: RunView) -> str:
    """One line on a run, for the interface: what it is, of what model, how many cases."""
    run = view.run
    named = [
        f"{name} {run.parameters[name]}" for name in ("model", "prompt") if name in run.parameters
    ]
    parts = [
        f"Ancrage {run.kind} {run.name}",
        *([f"repeat {run.repeat}"] if run.group else []),
        *named,
        f"{view.snapshot.manifest.counts.kept:,} cases",
        f"{len(view.modes)} failure modes",
        *(["latency and cost are production's"] if run.kind == "audit" else []),
    ]
    return ", ".join(parts)
