"""What a report is made of: a run's view and its figures."""

import heapq
import json
import os
import re
from collections import Counter
from dataclasses import dataclass

from markupsafe import Markup

from ancrage.domain import OutputState, RunState
from ancrage.program import called
from ancrage.report.unread import Unread
from ancrage.runs import Item, ModeSummary, RunView

_STAMPED = re.compile(r"\d{8}-\d{6}-")
"""How the id of a run begins that nobody named."""


@dataclass(frozen=True)
class Section:
    """A further part of the HTML report: a title over safe markup, a table, or both."""

    title: str
    body: Markup | None = None
    header: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True)
class Report:
    """A run with the figures to show of it."""

    view: RunView
    modes: tuple[ModeSummary, ...]
    states: Counter[str]
    """How many cases ended in each state; they add up to the cases of the run."""
    with_findings: int
    worst: tuple[Item, ...]
    """The answers with most findings, worst first."""
    unread: Unread
    sections: tuple[Section, ...] = ()

    @property
    def cases(self) -> int:
        """How many cases the run has, whatever became of them."""
        return self.states.total()

    @property
    def title(self) -> str:
        """What the run is, for people; its own name where it was given one."""
        run = self.view.run
        if run.name != run.id or not _STAMPED.match(run.id):
            return run.name
        return f"{run.kind.capitalize()} of {self.view.snapshot.path.resolve().name}"

    @property
    def snapshot(self) -> str:
        """Where the snapshot lies, seen from here."""
        return os.path.relpath(self.view.snapshot.path)

    def figures(self) -> str:
        """The figures as JSON: the run, its states, a row a failure mode, its anchors."""
        run = self.view.run
        values = {
            "run": run.id,
            "kind": run.kind,
            "state": run.state.value,
            "snapshot": run.snapshot.hash,
            "incomplete": self.incomplete,
            "cases": self.cases,
            "states": dict(self.states),
            "with_findings": self.with_findings,
            "modes": [mode.model_dump(mode="json") | {"rate": mode.rate} for mode in self.modes],
            "anchors": self.view.anchors.model_dump(mode="json"),
        }
        return json.dumps(values, ensure_ascii=False, indent=1) + "\n"

    @property
    def failing_quotes(self) -> int:
        """Quotes that were held against a message and fail."""
        return sum(self.view.anchors.diagnoses.values())

    @property
    def quotes(self) -> str:
        """``38/449 = 8.5 %``; no interval, as quotes of one answer are not independent."""
        return share(self.failing_quotes, self.view.anchors.held, interval=False)

    @property
    def references(self) -> str:
        """What stands in the citations: a citation can hold several references, or none."""
        anchors = self.view.anchors
        return (
            f"{anchors.messages} references to messages, {anchors.references} to questions; one "
            "citation may hold several, or none"
        )

    @property
    def incomplete(self) -> str | None:
        """Why the report does not cover the whole run, in one line; None when it does."""
        run = self.view.run
        absent = run.counts.get("not_run", 0)
        unfinished = [
            f"scoring {folder.path.name}"
            for folder in {id(home): home for _, home in self.view.evaluators.values()}.values()
            if folder.scoring.state is not RunState.COMPLETE
        ]
        if not self.cases:
            return "there is no case to evaluate"
        if run.state is RunState.RUNNING:
            again = called(f"{run.kind} --resume {run.id}")
            return f"the run is under way, or was interrupted; go on with: {again}"
        if run.state is not RunState.COMPLETE:
            missing = f": {absent} of {self.cases} cases were not reached" if absent else ""
            return f"the run is incomplete{missing}"
        if unfinished:
            again = f"{called(f'score {self.view.folder.path.name}')} makes another"
            return f"{', '.join(unfinished)} is not complete: {again}"
        return None

    @property
    def totals(self) -> str:
        """The cases by state, as a sum: ``66 cases = 63 ok + 2 missing + 1 truncated``."""
        order = {state.value: place for place, state in enumerate(OutputState)}
        states = sorted(self.states, key=lambda state: order[state])
        parts = " + ".join(f"{self.states[s]} {s.replace('_', ' ')}" for s in states)
        noun = "case" if self.cases == 1 else "cases"
        return f"{self.cases} {noun} = {parts}" if parts else "no case"


def read_report(view: RunView, *, worst: int = 5, sections: tuple[Section, ...] = ()) -> Report:
    """The report of a run, its answers read one at a time.

    Raises:
        UsageError: the outputs or the scores cannot be read.
    """
    states: Counter[str] = Counter()
    with_findings = 0
    unread = Unread()
    heap: list[tuple[int, int, Item]] = []
    for order, item in enumerate(view.items()):
        states[item.output.state.value] += 1
        unread.add(item)
        if found := len(item.findings):
            with_findings += 1
            heapq.heappush(heap, (found, -order, item))
            if len(heap) > worst:
                heapq.heappop(heap)
    ranked = sorted(heap, key=lambda entry: entry[:2], reverse=True)
    return Report(
        view=view,
        modes=tuple(view.summaries()),
        states=states,
        with_findings=with_findings,
        worst=tuple(item for _, _, item in ranked),
        unread=unread,
        sections=(*_of_snapshot(view), *sections),
    )


def _of_snapshot(view: RunView) -> tuple[Section, ...]:
    """How much there was to look at, what of it was lost, and how it was read."""
    manifest = view.snapshot.manifest
    told = [str(manifest), *manifest.warnings, *manifest.notes]
    if manifest.pseudonyms.mode != "none":
        told.append(
            "Respondent ids are pseudonyms: snapshot --pseudonymise none keeps the originals, and "
            "a key in ANCRAGE_PSEUDONYM_KEY the same pseudonyms in every snapshot"
        )
    return (Section("Snapshot", rows=tuple((sentence,) for sentence in told)),)


def share(part: int, whole: int, *, interval: bool = True) -> str:
    """``12/63 = 19.0 % [11.2, 30.4]``: a share, its denominator and its 95 % interval (Wilson)."""
    from ancrage.stats.intervals import wilson

    if not whole:
        return f"{part}/{whole}"
    shown = f"{part}/{whole} = {part / whole * 100:.1f} %"
    if not interval:
        return shown
    low, high = wilson(part, whole)
    return f"{shown} [{low * 100:.1f}, {high * 100:.1f}]"


def interval(row: ModeSummary) -> tuple[float, float]:
    """Wilson's 95 % interval of the row's rate, as fractions."""
    from ancrage.stats.intervals import wilson

    low, high = wilson(row.failing, row.scored)
    return low, high


def rate(row: ModeSummary) -> str:
    """``12/63 = 19.0 % [11.2, 30.4]``: the rate, its denominator and its 95 % interval."""
    if row.rate is None:
        return "no scored answer"
    return share(row.failing, row.scored)
