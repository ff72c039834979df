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
from ancrage.nli.thresholds import Bools, Decision, Decisions, Floats, Ints

_WORD = re.compile(r"\w+")
_GRID = (0.3, 0.5, 0.7, 1.0)


@dataclass(frozen=True)
class Split:
    """The claims of one split: labelled probabilities and the texts, in the same order."""

    data: Labelled
    items: tuple[Item, ...]
    samples: Floats | None = None
    """Mean contradiction of each claim by sampled answers; None when there are none."""
    self_check: Bools | None = None
    """Claims that the answering model itself calls wrong; None when it was not asked."""
    looked_up: Floats | None = None
    """Probabilities by passages looked up, where a contradiction is likeliest; NaN elsewhere."""
    parts: "Parts | None" = None
    """Where items are whole answers, the claims they are cut into."""


@dataclass(frozen=True)
class Parts:
    """The claims that answers are cut into, in the order of the answers."""

    probabilities: Floats
    sizes: Ints
    """Claims of each answer, at least one."""

    def of(self, answers: Ints) -> "Parts":
        """Those of the given answers."""
        starts = np.r_[0, np.cumsum(self.sizes)[:-1]]
        rows = [np.arange(starts[a], starts[a] + self.sizes[a]) for a in answers]
        return Parts(self.probabilities[np.concatenate(rows)], self.sizes[answers])

    def worst(self, scores: Floats) -> Floats:
        """The highest score among the claims of each answer."""
        starts = np.r_[0, np.cumsum(self.sizes)[:-1]]
        result: Floats = np.maximum.reduceat(scores, starts)
        return result


@dataclass(frozen=True)
class Prediction:
    """What a method says of each claim."""

    positive: Bools
    """Called wrong."""
    undecided: Bools
    """Neither called wrong nor accepted."""
    note: str = ""
    corrected: Bools | None = None
    """Would be rewritten; None where the method corrects nothing."""
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
    undecided = ~wrong & (d != Decision.SUPPORTED)
    return Prediction(wrong, undecided, note, corrected=wrong, scores=-decisions.scores)


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
        return Prediction(found >= cut, np.zeros(len(found), dtype=bool), note, scores=found)

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
    note = f"cut {cut:.2f}, tuned"
    return Prediction(positive, np.zeros_like(positive), note, scores=test.samples)


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


def paper_tuned(tuning: Split, test: Split) -> Prediction | None:
    """The paper's rule with the k that has the best F1 on the tuning split."""
    found = {k: paper_with(k)(tuning, tuning) for k in _GRID}
    best = max(
        _GRID, key=lambda k: f1(said.positive, tuning.data.wrong) if (said := found[k]) else 0
    )
    said = paper_with(best)(tuning, test)
    return replace(said, note=f"k = {best:g}, tuned") if said else None


def looked_up(tuning: Split, test: Split) -> Prediction | None:
    """The paper's rule; a contradiction that is too weak for it is judged again by the passages
    looked up for its claim."""
    if test.looked_up is None:
        return None
    data = test.data
    first = thresholds.paper(data.probabilities, data.sizes)
    weak = (first.decisions == Decision.UNDECIDED) & (thresholds.classes(data.probabilities) == 2)
    weak &= ~np.isnan(test.looked_up).any(axis=1)
    rows = np.where(weak[:, None], test.looked_up, data.probabilities)
    again = decided(thresholds.paper(rows, data.sizes))
    return replace(again, note=f"{int(weak.sum())} claims looked up")


def calibrated_with(alpha: float, penalty: float | None = None) -> Method:
    """Calibration fitted on the tuning split, flagging from a risk α on; or from where a flag costs
    less than a miss that is ``penalty`` times as bad as a needless one (Elkan, 2001)."""

    def method(tuning: Split, test: Split) -> Prediction:
        fitted = fit(tuning.data, alpha=alpha)
        q = probabilities_wrong(fitted, test.data.probabilities, test.data.windows)
        threshold = fitted.threshold if penalty is None else 1 / (1 + penalty)
        flagged = q >= threshold
        corrected = flagged & (q >= fitted.correction)
        note = f"q ≥ {threshold:.2f}; {int(corrected.sum())} sure enough to correct"
        return Prediction(flagged, np.zeros(len(q), dtype=bool), note, corrected, q)

    return method


def by_claims(score: Callable[[Parts], Floats], note: str) -> Method:
    """An answer is called wrong where one of its claims is; ``score`` is above 0 there."""

    def method(tuning: Split, test: Split) -> Prediction | None:
        if test.parts is None:
            return None
        worst = test.parts.worst(score(test.parts))
        return Prediction(worst > 0, np.zeros(len(worst), dtype=bool), note, scores=worst)

    return method


def _least_entailed(tuning: Split, test: Split) -> Prediction | None:
    if tuning.parts is None or test.parts is None:
        return None
    own, other = (s.worst(1 - s.probabilities[:, 0]) for s in (tuning.parts, test.parts))
    cut = best_cut(own, tuning.data.wrong)
    note = f"1 − p(entailed) of the least entailed claim ≥ {cut:.2f}, tuned"
    return Prediction(other >= cut, np.zeros(len(other), dtype=bool), note, scores=other)


def _paper_parts(parts: Parts) -> Floats:
    result = thresholds.paper(parts.probabilities, parts.sizes)
    return np.where(result.decisions == Decision.CONTRADICTED, -result.scores, 0.0)


def _argmax_parts(parts: Parts) -> Floats:
    return np.maximum(0.0, -thresholds.signed(parts.probabilities))


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
    "paper, k tuned": paper_tuned,
    "calibrated, FNR ≤ 0.1": calibrated_with(0.1),
    "calibrated, FNR ≤ 0.2": calibrated_with(0.2),
    "calibrated, a miss costs 5 flags": calibrated_with(0.1, penalty=5),
}

ABLATION: dict[str, Method] = {
    "paper": paper_with(),
    "paper, score pE − pC": paper_with(score="difference"),
    "paper, pooled": paper_with(scope="pooled"),
    "paper, ddof 1": paper_with(ddof=1),
    "paper + figures": with_figures(paper_with()),
    "paper without threshold (argmax)": _argmax,
    "paper + passages looked up for weak contradictions": looked_up,
    "one cut + figures": with_figures(_NOT_ENTAILED),
    "answers cut into claims, argmax": by_claims(_argmax_parts, "any claim contradicted"),
    "answers cut into claims, paper": by_claims(_paper_parts, "any claim contradicted"),
    "answers cut into claims, one cut": _least_entailed,
}

SWEEP: dict[str, Method] = {f"{k:g}": paper_with(k) for k in _GRID}
