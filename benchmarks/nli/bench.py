"""The benchmark: every method on the same splits, with intervals over responses."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ancrage.claims.figures import figures
from ancrage.claims.terms import terms
from ancrage.domain import Frozen
from ancrage.errors import UsageError
from ancrage.nli.labelled import Dataset, Item
from ancrage.nli.thresholds import Bools, Floats, Ints
from benchmarks.nli.methods import ABLATION, METHODS, SWEEP, Method, Parts, Prediction, Split

_DRAWS = 2000
_EXPLAINED = (
    "word overlap", "argmax", "paper, k = 0.7", "one cut on 1 − p(entailed)",
    "calibrated, FNR ≤ 0.2",
)  # fmt: skip
"""Methods whose errors are told by kind of claim."""
_MEASURES = (
    "accuracy", "precision", "recall", "f1", "hallucination_rate", "responses", "responses_left",
)  # fmt: skip
"""``responses`` is the share of responses that are told right: those with a wrong claim by one
called wrong, the others by none. ``responses_left`` is the share that keep a wrong claim which was
not called wrong: the hallucination rate with the response as unit."""


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
    """By method, error (false negative, false positive, correction not due) and kind of claim."""


@dataclass(frozen=True)
class Inputs:
    """All that the methods read, in the order of the data set's claims."""

    data: Dataset
    probabilities: Floats
    windows: Ints
    samples: Floats | None = None
    self_check: Bools | None = None
    looked_up: Floats | None = None
    parts: Parts | None = None

    def of(self, rows: Ints) -> "Inputs":
        """The given claims."""

        def some(array: "np.ndarray | None") -> "np.ndarray | None":
            return None if array is None else array[rows]

        return Inputs(
            replace(self.data, items=tuple(self.data.items[i] for i in rows)),
            self.probabilities[rows],
            self.windows[rows],
            some(self.samples),
            some(self.self_check),
            some(self.looked_up),
            self.parts.of(rows) if self.parts else None,
        )

    def split(self) -> Split:
        """The same as methods take it."""
        return Split(
            self.data.labelled(self.probabilities, self.windows),
            self.data.items,
            self.samples,
            self.self_check,
            self.looked_up,
            self.parts,
        )


class Splits(NamedTuple):
    """What methods are tuned on, and what they are measured on."""

    tuning: Split
    test: Split


def split(inputs: Inputs, seed: int = 0) -> Splits:
    """20 % of the responses for tuning, the rest for the test."""
    sizes = inputs.data.labelled(inputs.probabilities, inputs.windows).sizes
    shuffled = np.random.default_rng(seed).permutation(len(sizes))
    cut = max(1, round(0.2 * len(shuffled)))
    owner = np.repeat(np.arange(len(sizes)), sizes)

    def part(responses: Ints) -> Split:
        return inputs.of(np.flatnonzero(np.isin(owner, responses))).split()

    return Splits(part(shuffled[:cut]), part(shuffled[cut:]))


def run(inputs: Inputs) -> Result:
    """All tables of one data set, from frozen inputs alone; unscored claims are counted apart."""
    data = inputs.data
    scored = inputs.of(np.flatnonzero(~np.isnan(inputs.probabilities).any(axis=1)))
    splits = split(scored)
    rows = table(METHODS, splits)
    taxonomy = {
        name: errors(prediction, splits.test)
        for name in _EXPLAINED
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
        return method(splits.tuning, splits.test), "its inputs are not there (see --tier, --claims)"
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
    cells = np.vstack([cells, told, cells[2] > 0, np.ones(number)])
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
    """The measures, shape (7, n), of true and false positives, false and true negatives, and
    responses told right, left with an error and in all."""
    tp, fp, fn, tn, told, left, responses = cells
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.stack(
            [
                (tp + tn) / (tp + fp + fn + tn),
                tp / (tp + fp),
                tp / (tp + fn),
                2 * tp / (2 * tp + fp + fn),
                fn / (fn + tn),
                told / responses,
                left / responses,
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
    """How many false negatives and false positives there are of each kind of claim; and, where the
    method corrects, how many corrections of right claims."""
    wrong = test.data.wrong
    found = {"false negative": wrong & ~said.positive, "false positive": ~wrong & said.positive}
    if said.corrected is not None:
        found["correction not due"] = ~wrong & said.corrected
    return {
        name: dict(Counter(kind(test.items[i]) for i in np.flatnonzero(where)))
        for name, where in found.items()
    }


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
