"""Plant every kind in every shape, look what the checks say, and count."""

import asyncio
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from ancrage.calibration.labels import Label, hash_of
from ancrage.domain import (
    Answer,
    Case,
    FailureMode,
    Frozen,
    OutputState,
    Scored,
    ScoreState,
)
from ancrage.evaluator import Evaluator
from ancrage.prove.model import Draft, Kind, known
from ancrage.prove.read import read_draft
from ancrage.prove.shapes import SHAPES, write
from ancrage.runs import evaluate, recorded
from ancrage.runs.scoring import release
from ancrage.snapshot import Snapshot
from ancrage.studies import Studies

PER_CELL = 6
"""Answers that each kind is planted in, for each shape and language."""


class Cell(Frozen):
    """One kind in one shape and language; the five counts that follow ``tried`` add up to it.

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
    not_claimed: int = 0
    """Not found, and nobody who looked says that they find it."""
    by_judges: int = 0
    """Of those found (or false alarms), the ones that a judge raised and no code."""
    found: dict[str, int] = {}
    """By mode, the answers in which it found something that the host did not have."""


@dataclass(frozen=True)
class Panel:
    """Who looks at what is planted."""

    checks: Sequence[Evaluator]
    """Look at every answer."""
    scorers: Sequence[Evaluator] = ()
    """Look at the kinds that are not planted in quotes."""
    judges: Sequence[Evaluator] = ()
    """Look at every answer, beside what they say of the clean one."""

    @property
    def code(self) -> tuple[Evaluator, ...]:
        """Those that call no model."""
        everybody = (*self.checks, *self.scorers, *self.judges)
        models = ("tiers", "verifiers")
        return tuple(
            one for one in everybody if not any(getattr(one, name, None) for name in models)
        )

    @property
    def models(self) -> bool:
        """Whether somebody calls a model."""
        return len(self.code) < len(self.checks) + len(self.scorers) + len(self.judges)

    @property
    def modes(self) -> tuple[FailureMode, ...]:
        """All modes that somebody owns."""
        everybody = (*self.checks, *self.scorers, *self.judges)
        return tuple(mode for evaluator in everybody for mode in evaluator.modes)


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
    if kind.needs_quotes and not host.units:
        return None
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

    def add(self, kind: Kind, shape: str, language: str, seen: "Seen") -> None:
        cell = kind.name, shape, language
        self.counts[cell].update(("tried", seen.result))
        if seen.raised and not seen.by_code:
            self.counts[cell]["by_judges"] += 1
        self.found[cell].update(seen.raised)


def find_hosts(
    snapshot: Snapshot,
    studies: Studies,
    evaluators: Sequence[Evaluator],
    labels: Iterable[Label] = (),
) -> tuple[list[Draft], int]:
    """The answers that are clean, by all ``evaluators`` or by a person; and how many there are.

    A person's word on a mode goes before the evaluators': who says that an answer has a defect
    rules it out, who says that it has not overrules what was found. An answer whose study is gone
    is not clean: nothing could hold it against its sources.
    """
    said: dict[str, list[Label]] = defaultdict(list)
    for label in labels:
        said[label.case_id].append(label)

    async def find() -> tuple[list[Draft], int]:
        found, answers = [], 0
        for case in snapshot.cases():
            output = await recorded(case)
            if output.state is not OutputState.OK:
                continue
            answers += 1
            own = [
                label
                for label in said[case.id]
                if label.answer_hash in (None, hash_of(output)) and label.label is not None
            ]
            subject = studies.subject(case, output)
            if case.study_id is not None and subject.source is None:
                continue
            raised = raised_modes(await evaluate(subject, evaluators))
            denied = {label.mode for label in own if not label.label}
            if raised <= denied and all(not label.label for label in own):
                draft = read_draft(studies, case, output)
                found.append(replace(draft, raised=frozenset(raised)))
        return found, answers

    return asyncio.run(find())


def run_trial(
    hosts: Sequence[Draft],
    answers: int,
    studies: Studies,
    panel: Panel,
    kinds: Iterable[Kind],
    *,
    shapes: Sequence[str] = tuple(SHAPES),
    per_cell: int = PER_CELL,
    seed: int = 0,
    progress: Callable[[], None] = lambda: None,
) -> Trial:
    """Plant each kind in ``per_cell`` hosts for each shape and language; the same for one seed."""
    all_kinds = list(kinds)
    owned = [kind for kind in all_kinds if known(panel.modes, kind)]
    tally = _Tally()
    look = Look(panel, studies)

    async def work() -> None:
        for kind in owned:
            for shape in shapes:
                chosen = list(planted(kind, hosts, shape, per_cell, seed))
                seen = await asyncio.gather(
                    *(look(kind, host, draft, shape) for host, draft, _ in chosen)
                )
                for (host, draft, cell_seed), one in zip(chosen, seen, strict=True):
                    tally.add(kind, shape, draft.language, one)
                    if one.result == "missed" or (one.result == "other" and not kind.is_fault):
                        found = tuple(sorted(one.raised))
                        tally.wrong.append(Wrong(kind, shape, host, cell_seed, found))
                progress()
        await release([*panel.scorers, *panel.judges])

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


def planted(
    kind: Kind, hosts: Sequence[Draft], shape: str, per_cell: int, seed: int
) -> Iterator[tuple[Draft, Draft, str]]:
    """Hosts, what was planted in each, and the seed that plants it again."""
    if shape in kind.not_in:
        return
    own_seed = f"{seed}:{kind.name}:{shape}"
    chance = random.Random(own_seed)  # noqa: S311  a sample, not a secret
    left: dict[str, int] = {}
    for host in chance.sample(hosts, len(hosts)):
        if not host.units and shape != "as_is":
            continue
        if left.setdefault(host.language, per_cell) == 0:
            continue
        draft = plant(kind, host, own_seed)
        if draft is not None:
            left[host.language] -= 1
            yield host, draft, own_seed


@dataclass(frozen=True)
class Seen:
    """What was said of one planted answer."""

    result: str
    """The count of ``Cell`` that it goes to."""
    raised: frozenset[str]
    """Modes that found something, or the state of an answer that is none."""
    by_code: frozenset[str]
    """Of these, those that needed no judge."""


@dataclass(frozen=True)
class Look:
    """Shows planted answers to a panel."""

    panel: Panel
    studies: Studies
    before: dict[str, frozenset[str]] = field(default_factory=dict)
    """By case, what judges find in the host as it was."""

    async def __call__(self, kind: Kind, host: Draft, draft: Draft, shape: str) -> Seen:
        """What the panel says of ``draft``, which is ``host`` with ``kind`` planted in it."""
        case = planted_case(draft, shape)
        code = (*self.panel.checks, *(() if kind.needs_quotes else self.panel.scorers))
        by_code, unscored = await self._say(case, code)
        by_judges: frozenset[str] = frozenset()
        if self.panel.judges:
            by_judges, more = await self._say(case, self.panel.judges)
            unscored |= more
            if kind.is_fault:
                by_judges -= await self._before(host)
        if kind.is_fault:
            by_code -= host.raised
        raised = by_code | by_judges
        return Seen(judge(kind, raised, unscored, self.panel.models), raised, by_code)

    async def _before(self, host: Draft) -> frozenset[str]:
        if host.case.id not in self.before:
            self.before[host.case.id], _ = await self._say(host.case, self.panel.judges)
        return self.before[host.case.id]

    async def _say(
        self, case: Case, evaluators: Sequence[Evaluator]
    ) -> tuple[frozenset[str], frozenset[str]]:
        """The modes that found something, and those that could not tell."""
        output = await recorded(case)
        if output.state is not OutputState.OK:
            return frozenset({output.state.value}), frozenset()
        scored = await evaluate(self.studies.subject(case, output), evaluators)
        return frozenset(raised_modes(scored)), frozenset(unscored_modes(scored))


def planted_case(draft: Draft, shape: str) -> Case:
    """The case of ``draft`` with the answer that it makes in a shape."""
    return draft.case.model_copy(update={"output": Answer(text=write(draft, shape))})


def judge(kind: Kind, raised: frozenset[str], unscored: frozenset[str], models: bool) -> str:
    """The count that a planted answer goes to; see ``Cell``."""
    if not kind.is_fault:
        return "other" if raised else "right"
    if kind.modes[0] in raised:
        return "right"
    if raised:
        return "other"
    if kind.claimed_by == "nobody" or (kind.claimed_by == "models" and not models):
        return "not_claimed"
    return "unscored" if unscored & set(kind.modes) else "missed"


def raised_modes(scored: Scored) -> set[str]:
    """The modes that found something, whether or not they could tell of the whole answer."""
    found = {finding.mode for each in scored.evaluations for finding in each.findings}
    return found | {
        score.name for each in scored.evaluations for score in each.scores if score.value
    }


def unscored_modes(scored: Scored) -> set[str]:
    """The modes that could not tell."""
    return {
        score.name
        for evaluation in scored.evaluations
        for score in evaluation.scores
        if score.state is ScoreState.UNSCORED
    }
