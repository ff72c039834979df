"""The benchmark: every method on the same splits, with intervals over responses."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from ancrage.claims.figures import figures
from ancrage.claims.terms import terms
from ancrage.domain import Frozen
from ancrage.errors import UsageError
from ancrage.nli.labelled import Dataset, Item
from ancrage.nli.thresholds import Bools, Floats, Ints
from benchmarks.nli.methods import ABLATION, METHODS, SWEEP, Method, Prediction, Split

_DRAWS = 2000
_MEASURES = ("accuracy", "precision", "recall", "f1", "hallucination_rate", "responses")
"""``responses`` is the share of responses that are told right: those with a wrong claim by one
called wrong, the others by none."""


class Figure(Frozen):
    """A measure with its 95 % bootstrap interval over responses; None where undefined."""

    value: float | None
    low: float | None = None
    high: float | None = None


class Row(Frozen):
    """One method on one data set."""

    method: str
    measures: dict[str, Figure] = {}
    """``hallucination_rate`` is the share of wrong claims among those not called wrong."""
    auc: float | None = None
    """Area under the ROC curve of the method's scores; None where it ranks nothing."""
    undecided: int = 0
    note: str = ""
    missing: str | None = None
    """Why the method was not run."""


class Result(Frozen):
    """The tables of one data set."""

    dataset: str
    grouping: str
    dropped: dict[str, int]
    claims: int
    responses: int
    wrong: int
    tuning_claims: int
    unscored: int
    rows: tuple[Row, ...]
    ablation: tuple[Row, ...]
    sweep: tuple[Row, ...]
    taxonomy: dict[str, dict[str, dict[str, int]]]
    """By method, error (false negative, false positive) and kind of claim."""


@dataclass(frozen=True)
class Inputs:
    """All that the methods read, in the order of the data set's claims."""

    data: Dataset
    probabilities: Floats
    windows: Ints
    samples: Floats | None = None
    self_check: Bools | None = None

    def scored(self) -> "Inputs":
        """The claims that have probabilities."""
        known = ~np.isnan(self.probabilities).any(axis=1)
        rows = [int(i) for i in np.flatnonzero(known)]
        items = tuple(self.data.items[i] for i in rows)
        return Inputs(
            replace(self.data, items=items),
            self.probabilities[rows],
            self.windows[rows],
            None if self.samples is None else self.samples[rows],
            None if self.self_check is None else self.self_check[rows],
        )


@dataclass(frozen=True)
class Splits:
    tuning: Split
    test: Split


def split(inputs: Inputs, seed: int = 0) -> Splits:
    """20 % of the responses for tuning, the rest for the test."""
    labelled = inputs.data.labelled(inputs.probabilities, inputs.windows)
    shuffled = np.random.default_rng(seed).permutation(len(labelled.sizes))
    cut = max(1, round(0.2 * len(shuffled)))
    starts = np.r_[0, np.cumsum(labelled.sizes)[:-1]]

    def part(responses: Ints) -> Split:
        rows = np.concatenate(
            [np.arange(starts[r], starts[r] + labelled.sizes[r]) for r in responses]
        )
        return Split(
            labelled.subset(responses),
            tuple(inputs.data.items[i] for i in rows),
            None if inputs.samples is None else inputs.samples[rows],
            None if inputs.self_check is None else inputs.self_check[rows],
        )

    return Splits(part(np.sort(shuffled[:cut])), part(np.sort(shuffled[cut:])))


def run(inputs: Inputs) -> Result:
    """All tables of one data set, from frozen inputs alone; unscored claims are counted apart."""
    data, scored = inputs.data, inputs.scored()
    splits = split(scored)
    rows = table(METHODS, splits)
    taxonomy = {
        name: errors(prediction, splits.test)
        for name in ("word overlap", "argmax", "paper, k = 0.7", "one cut on 1 − p(entailed)")
        if (prediction := _tried(METHODS[name], splits)[0])
    }
    test = splits.test.data
    return Result(
        dataset=data.name,
        grouping=data.grouping,
        dropped=data.dropped,
        claims=len(test.wrong),
        responses=len(test.sizes),
        wrong=int(test.wrong.sum()),
        tuning_claims=len(splits.tuning.data.wrong),
        unscored=len(data.items) - len(scored.data.items),
        rows=rows,
        ablation=table(ABLATION, splits),
        sweep=table(SWEEP, splits),
        taxonomy=taxonomy,
    )


def table(methods: Mapping[str, Method], splits: Splits) -> tuple[Row, ...]:
    """One row a method, in order."""
    rows = []
    for name, method in methods.items():
        said, why = _tried(method, splits)
        if said is None:
            rows.append(Row(method=name, missing=why))
            continue
        rows.append(
            Row(
                method=name,
                measures=measures(said, splits.test),
                auc=auc(said.scores, splits.test.data.wrong),
                undecided=int(said.undecided.sum()),
                note=said.note,
            )
        )
    return tuple(rows)


def _tried(method: Method, splits: Splits) -> tuple[Prediction | None, str]:
    """What a method says, or nothing and the reason why."""
    try:
        return method(splits.tuning, splits.test), "no generations of the answering model"
    except UsageError as error:
        return None, str(error)


def measures(said: Prediction, test: Split, seed: int = 0) -> dict[str, Figure]:
    """Every measure, with its interval from resampling whole responses."""
    wrong, positive, owner = test.data.wrong, said.positive, test.data.owner
    number = len(test.data.sizes)
    cells = np.stack(
        [
            np.bincount(owner[mask], minlength=number)
            for mask in (positive & wrong, positive & ~wrong, ~positive & wrong, ~positive & ~wrong)
        ]
    ).astype(float)
    told = ((cells[0] + cells[1] > 0) == (cells[0] + cells[2] > 0)).astype(float)
    cells = np.vstack([cells, told, np.ones(number)])
    whole = _of(cells.sum(axis=1)[:, None])[:, 0]
    weights = np.random.default_rng(seed).multinomial(
        number, np.full(number, 1 / number), size=_DRAWS
    )
    with np.errstate(invalid="ignore"):
        drawn = _of(cells @ weights.T)
    result = {}
    for i, name in enumerate(_MEASURES):
        if np.isnan(whole[i]):
            result[name] = Figure(value=None)
            continue
        low, high = np.nanquantile(drawn[i], [0.025, 0.975])
        result[name] = Figure(value=float(whole[i]), low=float(low), high=float(high))
    return result


def _of(cells: Floats) -> Floats:
    """The measures, shape (6, n), of true and false positives, false and true negatives, and
    responses told right and in all."""
    tp, fp, fn, tn, told, responses = cells
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.stack(
            [
                (tp + tn) / (tp + fp + fn + tn),
                tp / (tp + fp),
                tp / (tp + fn),
                2 * tp / (2 * tp + fp + fn),
                fn / (fn + tn),
                told / responses,
            ]
        )


def auc(scores: Floats | None, wrong: Bools) -> float | None:
    """The chance that a wrong claim scores higher than a right one; ties count half."""
    from scipy.stats import rankdata

    if scores is None or wrong.all() or not wrong.any():
        return None
    ranks = rankdata(np.nan_to_num(scores))
    positive = int(wrong.sum())
    above = float(ranks[wrong].sum()) - positive * (positive + 1) / 2
    return above / (positive * (len(wrong) - positive))


def errors(said: Prediction, test: Split) -> dict[str, dict[str, int]]:
    """How many false negatives and false positives there are of each kind of claim."""
    found: dict[str, Counter[str]] = {"false negative": Counter(), "false positive": Counter()}
    for item, positive in zip(test.items, said.positive, strict=True):
        if positive != item.wrong:
            found["false positive" if positive else "false negative"][kind(item)] += 1
    return {name: dict(counter) for name, counter in found.items()}


def kind(item: Item) -> str:
    """What a claim turns on, by rules: temporal, numeric, substitution (it names something that
    its reference does not), else rare fact."""
    stated = figures(item.claim)
    if any(figure.unit in ("date", "clock", "weekday") for figure in stated):
        return "temporal"
    if stated:
        return "numeric"
    named = terms(item.claim).entities
    known = terms(item.premise)
    if named - known.entities - known.openers:
        return "substitution"
    return "rare fact"
