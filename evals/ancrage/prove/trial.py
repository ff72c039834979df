"""Plant every kind in every shape, look what the checks say, and count."""

import asyncio
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from ancrage.domain import Answer, Case, Frozen, OutputState, Scored, ScoreState
from ancrage.evaluator import Evaluator
from ancrage.prove.model import Draft, Kind, known
from ancrage.prove.read import read_draft
from ancrage.prove.shapes import SHAPES, write
from ancrage.runs import evaluate, recorded
from ancrage.snapshot import Snapshot
from ancrage.studies import Studies

PER_CELL = 6
"""Answers that each kind is planted in, for each shape and language."""


class Cell(Frozen):
    """One kind in one shape and language: ``tried == right + other + missed + unscored``.

    For a harmless kind ``right`` counts the answers that stay clean, ``other`` false alarms.
    """

    kind: str
    shape: str
    language: str
    tried: int = 0
    right: int = 0
    """Found by the first of the kind's modes, or rightly left alone."""
    other: int = 0
    """Found by another mode; for a harmless kind, a false alarm."""
    missed: int = 0
    unscored: int = 0
    """The mode could not tell: neither found nor missed."""
    found: dict[str, int] = {}
    """By mode, the answers in which it found something."""


@dataclass(frozen=True)
class Wrong:
    """An answer on which the checks went wrong."""

    kind: Kind
    shape: str
    host: Draft
    """The clean answer that it was planted in."""
    seed: str
    found: tuple[str, ...]
    """Modes that found something."""

    @property
    def draft(self) -> Draft:
        """The answer as it was planted."""
        return plant(self.kind, self.host, self.seed) or self.host


def plant(kind: Kind, host: Draft, seed: str) -> Draft | None:
    """The host with the change; the same for one seed. None where it does not apply."""
    return kind.plant(host, random.Random(f"{seed}:{host.case.id}"))  # noqa: S311  a sample


@dataclass(frozen=True)
class Trial:
    """All cells, and what went wrong."""

    cells: tuple[Cell, ...]
    wrong: tuple[Wrong, ...]
    hosts: int
    """Clean answers that changes were planted in."""
    answers: int
    """Answers of the snapshot."""
    not_applied: tuple[str, ...] = ()
    """Kinds that no answer could take."""
    unowned: tuple[str, ...] = ()
    """Kinds of fault that no evaluator of this trial looks for."""


@dataclass
class _Tally:
    counts: dict[tuple[str, str, str], Counter[str]] = field(
        default_factory=lambda: defaultdict(Counter)
    )
    found: dict[tuple[str, str, str], Counter[str]] = field(
        default_factory=lambda: defaultdict(Counter)
    )
    wrong: list[Wrong] = field(default_factory=list)

    def add(self, kind: Kind, shape: str, language: str, result: str, raised: set[str]) -> None:
        cell = kind.name, shape, language
        self.counts[cell].update(("tried", result))
        self.found[cell].update(raised)


def find_hosts(
    snapshot: Snapshot, studies: Studies, evaluators: Sequence[Evaluator]
) -> tuple[list[Draft], int]:
    """The answers that quote and that all find clean; and how many answers there are."""

    async def find() -> tuple[list[Draft], int]:
        found, answers = [], 0
        for case in snapshot.cases():
            output = await recorded(case)
            if output.state is not OutputState.OK:
                continue
            answers += 1
            scored = await evaluate(studies.subject(case, output), evaluators)
            if not raised_modes(scored) and (draft := read_draft(studies, case, output)):
                found.append(draft)
        return found, answers

    return asyncio.run(find())


def run_trial(
    hosts: Sequence[Draft],
    answers: int,
    studies: Studies,
    evaluators: Sequence[Evaluator],
    kinds: Iterable[Kind],
    *,
    shapes: Sequence[str] = tuple(SHAPES),
    per_cell: int = PER_CELL,
    seed: int = 0,
    progress: Callable[[], None] = lambda: None,
) -> Trial:
    """Plant each kind in ``per_cell`` hosts for each shape and language; the same for one seed."""
    modes = tuple(mode for evaluator in evaluators for mode in evaluator.modes)
    all_kinds = list(kinds)
    owned = [kind for kind in all_kinds if known(modes, kind)]
    tally = _Tally()

    async def work() -> None:
        for kind in owned:
            for shape in shapes:
                if shape in kind.not_in:
                    continue
                cell_seed = f"{seed}:{kind.name}:{shape}"
                for host, draft in _planted(kind, hosts, per_cell, cell_seed):
                    case = planted_case(draft, shape)
                    result, raised = await _score(kind, case, studies, evaluators)
                    tally.add(kind, shape, draft.language, result, raised)
                    if result == "missed" or (result == "other" and not kind.is_fault):
                        found = tuple(sorted(raised))
                        tally.wrong.append(Wrong(kind, shape, host, cell_seed, found))
                progress()

    asyncio.run(work())
    cells = tuple(
        Cell(
            kind=kind,
            shape=shape,
            language=language,
            found=dict(tally.found[kind, shape, language]),
            **counts,
        )
        for (kind, shape, language), counts in tally.counts.items()
    )
    tried = {cell.kind for cell in cells}
    return Trial(
        cells,
        tuple(tally.wrong),
        len(hosts),
        answers,
        tuple(kind.name for kind in owned if kind.name not in tried),
        tuple(kind.name for kind in all_kinds if kind not in owned),
    )


def _planted(
    kind: Kind, hosts: Sequence[Draft], per_cell: int, seed: str
) -> Iterator[tuple[Draft, Draft]]:
    chance = random.Random(seed)  # noqa: S311  a sample, not a secret
    left: dict[str, int] = {}
    for host in chance.sample(hosts, len(hosts)):
        if left.setdefault(host.language, per_cell) == 0:
            continue
        planted = plant(kind, host, seed)
        if planted is not None:
            left[host.language] -= 1
            yield host, planted


async def _score(
    kind: Kind, case: Case, studies: Studies, evaluators: Sequence[Evaluator]
) -> tuple[str, set[str]]:
    scored = await evaluate(studies.subject(case, await recorded(case)), evaluators)
    raised = raised_modes(scored)
    return judge(kind, raised, unscored_modes(scored)), raised


def planted_case(draft: Draft, shape: str) -> Case:
    """The case of ``draft`` with the answer that it makes in a shape."""
    return draft.case.model_copy(update={"output": Answer(text=write(draft, shape))})


def judge(kind: Kind, raised: set[str], unscored: set[str]) -> str:
    """The count that a planted answer goes to; see ``Cell``."""
    if not kind.is_fault:
        return "other" if raised else "right"
    if kind.modes[0] in raised:
        return "right"
    if raised:
        return "other"
    return "unscored" if unscored & set(kind.modes) else "missed"


def raised_modes(scored: Scored) -> set[str]:
    """The modes that found something."""
    return {
        score.name
        for evaluation in scored.evaluations
        for score in evaluation.scores
        if score.value
    }


def unscored_modes(scored: Scored) -> set[str]:
    """The modes that could not tell."""
    return {
        score.name
        for evaluation in scored.evaluations
        for score in evaluation.scores
        if score.state is ScoreState.UNSCORED
    }
