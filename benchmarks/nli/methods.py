"""The methods of the benchmark: each says which claims it calls wrong, from frozen inputs."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ancrage.claims import Agreement, compare_figures
from ancrage.claims.terms import stem
from ancrage.nli import thresholds
from ancrage.nli.calibrate import Labelled, best_cut, fit, probabilities_wrong
from ancrage.nli.labelled import Item
from ancrage.nli.thresholds import Bools, Decision, Decisions, Floats

_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Split:
    """The claims of one split: labelled probabilities and the texts, in the same order."""

    data: Labelled
    items: tuple[Item, ...]
    samples: Floats | None = None
    """Mean contradiction of each claim by sampled answers; None when there are none."""
    self_check: Bools | None = None
    """Claims that the answering model itself calls wrong; None when it was not asked."""


@dataclass(frozen=True)
class Prediction:
    """What a method says of each claim."""

    positive: Bools
    """Called wrong."""
    undecided: Bools
    """Neither called wrong nor accepted."""
    note: str = ""
    scores: Floats | None = None
    """The surer a claim is wrong, the higher; None where the method ranks nothing."""


Method = Callable[[Split, Split], Prediction | None]
"""From the tuning split and the test split; None when its inputs are missing."""


def f1(positive: Bools, wrong: Bools) -> float:
    """F1 of calling wrong claims wrong; 0 when there is nothing to divide."""
    total = int(positive.sum() + wrong.sum())
    return 2 * int((positive & wrong).sum()) / total if total else 0.0


def decided(decisions: Decisions, note: str = "") -> Prediction:
    """A rule's decisions: contradicted is called wrong; all but supported besides is undecided."""
    d = decisions.decisions
    wrong = d == Decision.CONTRADICTED
    return Prediction(wrong, ~wrong & (d != Decision.SUPPORTED), note, -decisions.scores)


def overlap(items: Sequence[Item]) -> Floats:
    """The share of a claim's words that are not in its reference."""
    result = np.zeros(len(items))
    for i, item in enumerate(items):
        words = {stem(w) for w in _WORD.findall(item.claim)}
        known = {stem(w) for w in _WORD.findall(item.premise)}
        result[i] = len(words - known) / len(words) if words else 0.0
    return result


def _base(tuning: Split, test: Split) -> Prediction:
    nothing = np.zeros(len(test.data.wrong), dtype=bool)
    return Prediction(nothing, nothing, "accepts everything")


def _always(tuning: Split, test: Split) -> Prediction:
    everything = np.ones(len(test.data.wrong), dtype=bool)
    return Prediction(everything, ~everything, "calls everything wrong")


def _cut(name: str, scores: Callable[[Split], Floats]) -> Method:
    """Called wrong from one score on, the cut tuned for F1 on the tuning split."""

    def method(tuning: Split, test: Split) -> Prediction:
        cut, found = best_cut(scores(tuning), tuning.data.wrong), scores(test)
        note = f"{name} ≥ {cut:.2f}, tuned"
        return Prediction(found >= cut, np.zeros(len(found), dtype=bool), note, found)

    return method


def _self_check(tuning: Split, test: Split) -> Prediction | None:
    if test.self_check is None:
        return None
    return Prediction(test.self_check, np.zeros_like(test.self_check), "asked one by one")


def _sampling(tuning: Split, test: Split) -> Prediction | None:
    if test.samples is None or tuning.samples is None:
        return None
    cut = best_cut(tuning.samples, tuning.data.wrong)
    positive = test.samples >= cut
    return Prediction(positive, np.zeros_like(positive), f"cut {cut:.2f}, tuned", test.samples)


def _fixed(tuning: Split, test: Split) -> Prediction:
    return decided(thresholds.fixed(test.data.probabilities, test.data.sizes, 0.7), "τ = 0.7")


def _argmax(tuning: Split, test: Split) -> Prediction:
    return decided(thresholds.argmax(test.data.probabilities, test.data.sizes))


def _supported(tuning: Split, test: Split) -> Prediction:
    likeliest = thresholds.classes(test.data.probabilities)
    return Prediction(likeliest != 0, np.zeros(len(likeliest), dtype=bool), "not entailed")


def paper_with(
    k: float = 0.7, score: str = "signed", scope: str = "response", ddof: int = 0
) -> Method:
    """The paper's rule with these options."""

    def method(tuning: Split, test: Split) -> Prediction:
        data = test.data
        result = thresholds.paper(
            data.probabilities,
            data.sizes,
            k,
            score="difference" if score == "difference" else "signed",
            scope="pooled" if scope == "pooled" else "response",
            ddof=ddof,
        )
        shares = [
            f"{name} {where.mean():.0%}" for name, where in result.flags.items() if where.any()
        ]
        return decided(result, ", ".join(shares))

    return method


def calibrated_with(alpha: float) -> Method:
    """Calibration fitted on the tuning split for a risk α."""

    def method(tuning: Split, test: Split) -> Prediction:
        fitted = fit(tuning.data, alpha=alpha)
        q = probabilities_wrong(fitted, test.data.probabilities, test.data.windows)
        flagged = q >= fitted.threshold
        sure = int((flagged & (q >= fitted.correction)).sum())
        note = f"q ≥ {fitted.threshold:.2f}; {sure} sure enough to correct"
        return Prediction(flagged, np.zeros(len(q), dtype=bool), note, q)

    return method


def with_figures(method: Method) -> Method:
    """``method``, overruled where the figures of claim and reference contradict each other."""

    def overruled(tuning: Split, test: Split) -> Prediction | None:
        said = method(tuning, test)
        if said is None:
            return None
        differ = np.array(
            [
                compare_figures(item.claim, item.premise).verdict is Agreement.CONTRADICTS
                for item in test.items
            ]
        )
        note = f"figures contradict in {int(differ.sum())} claims"
        return replace(
            said, positive=said.positive | differ, undecided=said.undecided & ~differ, note=note
        )

    return overruled


_NOT_ENTAILED = _cut("1 − p(entailed)", lambda split: 1 - split.data.probabilities[:, 0])

METHODS: dict[str, Method] = {
    "base": _base,
    "always wrong": _always,
    "word overlap": _cut("words absent", lambda split: overlap(split.items)),
    "self-check": _self_check,
    "sampling (SelfCheckGPT-style)": _sampling,
    "fixed 0.7": _fixed,
    "argmax": _argmax,
    "supported or not (FActScore-style)": _supported,
    "one cut on 1 − p(entailed)": _NOT_ENTAILED,
    "paper, k = 0.7": paper_with(),
    "calibrated, FNR ≤ 0.1": calibrated_with(0.1),
    "calibrated, FNR ≤ 0.2": calibrated_with(0.2),
}

ABLATION: dict[str, Method] = {
    "paper": paper_with(),
    "paper, score pE − pC": paper_with(score="difference"),
    "paper, pooled": paper_with(scope="pooled"),
    "paper, ddof 1": paper_with(ddof=1),
    "paper + figures": with_figures(paper_with()),
    "paper without threshold (argmax)": _argmax,
    "one cut + figures": with_figures(_NOT_ENTAILED),
}

SWEEP: dict[str, Method] = {f"{k}": paper_with(k) for k in (0.3, 0.5, 0.7, 1.0)}
