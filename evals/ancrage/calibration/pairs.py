"""Labels beside verdicts: which cases can be compared, and what became of the others."""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from ancrage.calibration.labels import Label, Labels, Split, hash_of, split_of
from ancrage.domain import EvaluatorInfo, Frozen, ScoreState
from ancrage.errors import UsageError
from ancrage.judges.account import is_judge
from ancrage.program import called
from ancrage.runs import Item, RunView

HELD_OUT = 0.5


class Pair(Frozen):
    """One answer that both people and judge decided on."""

    case_id: str
    answer: str
    """See ``hash_of``."""
    truth: bool
    """What most annotators say."""
    judged: bool


class ModeCalibration(Frozen):
    """One judge against people on one mode. The counts add up:
    ``labelled == len(pairs) + unscored + disputed + undecided + absent + stale``."""

    mode: str
    judge: str
    version: str
    model: str
    labelled: int
    """Cases with a label in this split."""
    unscored: int
    """People decided, the judge did not."""
    disputed: int
    """As many annotators for as against."""
    undecided: int
    """No annotator could decide."""
    absent: int
    """Cases that the run does not hold, or has no answer to."""
    stale: int
    """Labels of another answer than the one that the judge saw."""
    pairs: tuple[Pair, ...]
    annotators: dict[str, int]
    """How many answers each person labelled."""
    ratings: tuple[tuple[bool | None, ...], ...]
    """One row a case, one column an annotator in the order of ``annotators``."""


class Calibration(Frozen):
    """The calibration of a run's judges, as stored."""

    format: int = 1
    id: str
    created: datetime
    run: str
    labels: str
    """Hash of the labels used."""
    random_sample: bool
    """Whether the labelled answers are a random sample of the run's."""
    split: Split | None
    """The side of the split that was measured; None for both."""
    held_out: float
    """The share of cases on the held-out side."""
    chances: dict[str, float] = {}
    """By labelled case, the chance that it had of being labelled, where labels were chosen by a
    plan (see ``ancrage.calibration.sampling``)."""
    modes: tuple[ModeCalibration, ...]


class Disagreement(Frozen):
    """One answer on which judge and people differ, with the passages of both."""

    case_id: str
    mode: str
    judge: str
    truth: bool
    judged: bool
    human: tuple[str, ...]
    """Passages and notes of the annotators."""
    evidence: tuple[str, ...]
    """Passages and reasons of the judge."""
    question: str = ""
    answer: str = ""
    passages: tuple[str, ...] = ()
    """Of the annotators, as they marked them."""
    notes: tuple[str, ...] = ()
    alarms: tuple[str, ...] = ()
    """Passages of the judge."""


@dataclass
class _Side:
    """Labels and verdicts of one mode while a run is read."""

    counts: Counter[str] = field(default_factory=Counter)
    pairs: list[Pair] = field(default_factory=list)
    ratings: list[tuple[bool | None, ...]] = field(default_factory=list)
    disagreements: list[Disagreement] = field(default_factory=list)


def calibrate(
    view: RunView,
    labels: Labels,
    *,
    split: Split | None = "held-out",
    held_out: float = HELD_OUT,
    random_sample: bool = False,
    chances: Mapping[str, float] | None = None,
) -> tuple[Calibration, list[Disagreement]]:
    """Hold the judges of a run against labels, on one side of the split (None: on both).

    Raises:
        UsageError: no judge scored the run, or no label is on a mode that a judge owns.
    """
    owner = _owners(view)
    if not owner:
        again = called(f"score {view.run.id} --judges three")
        raise UsageError(f"no judge has scored run {view.run.id}: {again}")
    used = [
        each
        for each in labels.labels
        if each.mode in owner and (split is None or split_of(each.case_id, held_out) == split)
    ]
    if not used:
        side = f" on the {split} side of the split" if split else ""
        raise UsageError(f"no label{side} bears on a judged mode: {', '.join(sorted(owner))}")
    by_mode: dict[str, dict[str, list[Label]]] = defaultdict(lambda: defaultdict(list))
    for each in used:
        by_mode[each.mode][each.case_id].append(each)
    wanted = {each.case_id for each in used}
    sides = {mode: _Side() for mode in by_mode}
    raters = {mode: _raters(cases.values()) for mode, cases in by_mode.items()}
    seen: set[str] = set()
    for item in view.items():
        if item.case.id not in wanted:
            continue
        seen.add(item.case.id)
        for mode, cases in by_mode.items():
            if item.case.id in cases:
                _weigh(sides[mode], mode, owner[mode].name, cases[item.case.id], item, raters[mode])
    for mode, cases in by_mode.items():
        sides[mode].counts["absent"] += len(cases.keys() - seen)
    now = datetime.now(UTC)
    identity = hashlib.sha256(f"{view.run.id}/{labels.hash}/{now.isoformat()}".encode())
    calibration = Calibration(
        id=f"{now:%Y%m%d-%H%M%S}-{identity.hexdigest()[:6]}",
        created=now,
        run=view.run.id,
        labels=labels.hash,
        random_sample=random_sample,
        split=split,
        held_out=held_out,
        chances=dict(chances or {}),
        modes=tuple(
            ModeCalibration(
                mode=mode,
                judge=info.name,
                version=info.version,
                model=str(info.details["judge"]),
                labelled=len(by_mode[mode]),
                pairs=tuple(sides[mode].pairs),
                annotators=raters[mode],
                ratings=tuple(sides[mode].ratings),
                **{name: sides[mode].counts[name] for name in _COUNTS},
            )
            for mode, info in owner.items()
            if mode in sides
        ),
    )
    return calibration, [each for side in sides.values() for each in side.disagreements]


def unmatched(view: RunView, labels: Labels) -> list[str]:
    """One line for each mode that no judge of the run owns and each case that it lacks: the first
    label that names it, and how many do."""
    owned = _owners(view)
    cases = {case.id for case in view.snapshot.cases()}
    found: dict[str, list[str]] = {}
    for each in labels.labels:
        if each.mode not in owned:
            fault = f"mode: no judge of the run owns {each.mode!r}"
        elif each.case_id not in cases:
            fault = f"case_id: the run has no case {each.case_id!r}"
        else:
            continue
        found.setdefault(fault, []).append(each.where)
    return [
        ": ".join(filter(None, [places[0], fault]))
        + (f" (and {len(places) - 1} more labels)" if len(places) > 1 else "")
        for fault, places in found.items()
    ]


def _owners(view: RunView) -> dict[str, EvaluatorInfo]:
    """The judge of each judged mode."""
    return {
        mode.name: info
        for info, _ in view.evaluators.values()
        if is_judge(info)
        for mode in info.modes
    }


_COUNTS = ("unscored", "disputed", "undecided", "absent", "stale")


def consensus(labels: Iterable[Label]) -> bool | str:
    """What most annotators say, or ``disputed`` or ``undecided``."""
    votes = Counter(each.label for each in labels)
    if votes[True] == votes[False]:
        return "disputed" if votes[True] else "undecided"
    return votes[True] > votes[False]


def _raters(cases: Iterable[Sequence[Label]]) -> dict[str, int]:
    counts = Counter(name for labels in cases for name in {each.annotator for each in labels})
    return dict(sorted(counts.items()))


def _weigh(
    side: _Side,
    mode: str,
    judge: str,
    labels: Sequence[Label],
    item: Item,
    raters: Mapping[str, int],
) -> None:
    """Put one labelled answer where it belongs: exactly one count, or one pair."""
    answer = hash_of(item.output)
    score = item.scores.get(mode)
    if answer is None:
        side.counts["absent"] += 1
        return
    by_person = {each.annotator: each for each in labels if each.answer_hash in (None, answer)}
    read = list(by_person.values())  # one vote a person, the last
    if not read:
        side.counts["stale"] += 1
        return
    given = {each.annotator: each.label for each in read}
    side.ratings.append(tuple(given.get(name) for name in raters))
    truth = consensus(read)
    if isinstance(truth, str):
        side.counts[truth] += 1
    elif score is None or score.state is ScoreState.UNSCORED or score.value is None:
        side.counts["unscored"] += 1
    else:
        judged = score.value > 0
        side.pairs.append(Pair(case_id=item.case.id, answer=answer, truth=truth, judged=judged))
        if truth != judged:
            side.disagreements.append(
                Disagreement(
                    case_id=item.case.id,
                    mode=mode,
                    judge=judge,
                    truth=truth,
                    judged=judged,
                    human=tuple(
                        f"{each.annotator}: {each.passage or each.note}"
                        for each in read
                        if each.passage or each.note
                    ),
                    evidence=tuple(
                        f"{found.evidence.text} ({found.explanation})"
                        for found in item.findings
                        if found.mode == mode
                    ),
                    question=item.case.input.question,
                    answer=item.output.answer.text if item.output.answer else "",
                    passages=tuple(each.passage for each in read if each.passage),
                    notes=tuple(each.note for each in read if each.note),
                    alarms=tuple(f.evidence.text for f in item.findings if f.mode == mode),
                )
            )
