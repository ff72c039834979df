"""The index of a page: a line a case for lists, filters and sorting; and all of it packed."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from markupsafe import Markup

from ancrage.domain import OutputState
from ancrage.report.page import Advance, packed
from ancrage.report.payload import Block, Numbers
from ancrage.report.text import TIERS, diagnosis, line, visible
from ancrage.runs import NOT_RUN, Item
from ancrage.studies import IndexedStudy

BLOCK = 256
"""Answers in a block."""
MOST_WHOLE = 25_000
"""Answers up to which a page holds the messages of quotes that passed; those of quotes that fail
stand in every page."""


class Column(NamedTuple):
    """A run on the page."""

    name: str
    side: int = 0
    """Repeats of one experiment share a side."""


class Standing(NamedTuple):
    """What a run says of a case, for lists and filters."""

    state: OutputState
    scores: Mapping[str, float | None]
    reasons: Mapping[str, str]
    """Why modes are unscored."""
    fails: tuple[str, ...] = ()
    """Why quotes of the answer fail."""
    silent: bool = False
    """Whether the answer was read and cites nothing."""

    @classmethod
    def of(cls, item: Item) -> "Standing":
        """What the record says of ``item``."""
        scores, read = item.scores, item.anchors
        words = {diagnosis(finding) for finding in item.findings if finding.tier}
        return cls(
            state=item.output.state,
            scores={name: score.value for name, score in scores.items()},
            reasons={n: s.reason or NOT_RUN for n, s in scores.items() if s.value is None},
            fails=tuple(sorted(words - {""})),
            silent=read is not None and not read.citations,
        )


class Entry(NamedTuple):
    """A case of the page: what each of its runs says of it, and what there is to read."""

    id: str
    question: str
    study: str
    standings: Sequence[Standing | None]
    """None where the case is not in the run."""
    answers: Sequence[tuple[Item, IndexedStudy | None] | None]
    """None where the run keeps no answer."""


@dataclass
class Index:
    """A line a case."""

    columns: Sequence[Column]
    sides: Sequence[str]
    modes: Mapping[str, str]
    """Titles by name."""
    cases: int
    """How many there will be."""
    compared: Mapping[str, Sequence[bool]] = field(default_factory=dict)
    """By mode, for each side after the first, whether it may be compared with the first."""

    def __post_init__(self) -> None:
        runs = range(len(self.columns))
        self.block = max(16, BLOCK // len(self.columns))
        self.whole = self.cases * len(self.columns) <= MOST_WHOLE
        self.ids: list[str] = []
        self.questions: list[str] = []
        self.study: list[int] = []
        self.studies, self.states, self.reasons, self.diagnoses = (Numbers() for _ in range(4))
        self.state: list[list[int]] = [[] for _ in runs]
        self.scores: list[list[list[float | None]]] = [[[] for _ in runs] for _ in self.modes]
        self.why: list[list[dict[int, int]]] = [[{} for _ in runs] for _ in self.modes]
        self.fails: list[dict[int, list[int]]] = [{} for _ in runs]
        self.silent: list[list[int]] = [[] for _ in runs]

    def add(self, entry: Entry) -> None:
        """One line more."""
        at = len(self.ids)
        self.ids.append(visible(entry.id))
        self.questions.append(line(entry.question)[:160])
        self.study.append(self.studies[line(entry.study)])
        for run, standing in enumerate(entry.standings):
            self.state[run].append(self.states[standing.state.value] if standing else -1)
            for mode, name in enumerate(self.modes):
                value = standing.scores.get(name) if standing else None
                whole = value is not None and value == int(value)
                self.scores[mode][run].append(int(value) if whole and value is not None else value)
                if standing and name in standing.reasons:
                    self.why[mode][run][at] = self.reasons[line(standing.reasons[name])]
            if standing and standing.fails:
                self.fails[run][at] = [self.diagnoses[word] for word in standing.fails]
            if standing and standing.silent:
                self.silent[run].append(at)

    def value(self) -> dict[str, object]:
        """The index as JSON."""
        return {
            "runs": [{"name": line(run.name), "side": run.side} for run in self.columns],
            "sides": [line(side) for side in self.sides],
            "modes": [[name, line(title)] for name, title in self.modes.items()],
            "compared": [list(self.compared.get(name, ())) for name in self.modes],
            "tiers": TIERS,
            "block": self.block,
            "whole": self.whole,
            "ids": self.ids,
            "questions": self.questions,
            "study": self.study,
            "studies": list(self.studies),
            "states": list(self.states),
            "reasons": list(self.reasons),
            "diagnoses": list(self.diagnoses),
            "state": self.state,
            "scores": self.scores,
            "why": self.why,
            "fails": self.fails,
            "silent": self.silent,
        }


def pack(
    index: Index, entries: Iterable[Entry], advance: Advance = lambda: None
) -> Iterator[tuple[str, Markup]]:
    """The blocks in order, each as ``("block", …)``, and last ``("index", …)``.

    Memory holds one block, and a line for each case.
    """
    block = Block(whole=index.whole)
    for entry in entries:
        index.add(entry)
        block.add(entry.answers)
        advance()
        if len(block.cases) == index.block:
            yield "block", packed(block.cases)
            block = Block(whole=index.whole)
    if block.cases:
        yield "block", packed(block.cases)
    yield "index", packed(index.value())
