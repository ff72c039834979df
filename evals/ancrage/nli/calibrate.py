"""Calibrated decisions: probabilities made honest, then thresholds with a guarantee.

1. q: the probability that a claim is wrong, a ridge-penalised logistic regression on
   (log pC − log pE, log pC − log pN, log windows), fitted on split A (Platt, 1999).
2. The flagging threshold, on split B, by conformal risk control: among responses that hold a wrong
   claim, E[false-negative rate] ≤ α for exchangeable responses.
3. The correction threshold, on split B, by Learn-then-Test: with confidence 1 − δ, the mean over
   responses of the share of their corrections that were due is at least the target.
"""

import hashlib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from ancrage.domain import Frozen
from ancrage.errors import UsageError, describe
from ancrage.nli.conformal import learn_then_test, risk_controlled
from ancrage.nli.thresholds import Bools, Decision, Decisions, Floats, Ints

_EPSILON = 1e-6
_LEAST = 20
Facts = dict[str, str | int | None]
"""Of a model: what its probabilities depend on."""


class Flagging(Frozen):
    """What flagging from a threshold on would have done, on responses not fitted on."""

    flagged: float
    """Of all claims."""
    missed: float
    """Of the wrong claims of a response, on average over the responses that have some."""
    precision: float | None
    """Of the flagged claims, how many are wrong; None when none is flagged."""
    f1: float


class Calibration(Frozen):
    """A fitted calibration, as stored by ``ancrage calibrate --nli``."""

    format: int = 2
    coefficients: tuple[float, float, float, float]
    """Intercept, then one a feature."""
    alpha: float
    threshold: float
    """Claims with q at or above it are flagged; above 1 flags nothing."""
    precision: float
    delta: float
    correction: float
    """Flagged claims with q at or above it are corrected; above 1 corrects nothing."""
    responses: tuple[int, int]
    """Responses of split A and of split B."""
    data_hash: str
    """SHA-256 of the labelled probabilities that it was fitted on."""
    model: Facts = {}

    @property
    def digest(self) -> str:
        """Two fits decide differently."""
        return hashlib.sha256(self.model_dump_json().encode()).hexdigest()[:12]


@dataclass(frozen=True)
class Labelled:
    """Claims with their probabilities and whether each is wrong, in responses."""

    probabilities: Floats
    wrong: Bools
    sizes: Ints
    windows: Ints | None = None

    @cached_property
    def owner(self) -> Ints:
        """The response of each claim."""
        return np.repeat(np.arange(len(self.sizes)), self.sizes)

    def subset(self, responses: Ints) -> "Labelled":
        """The given responses, in the given order."""
        starts = np.r_[0, np.cumsum(self.sizes)[:-1]]
        rows = np.concatenate(
            [np.arange(starts[r], starts[r] + self.sizes[r]) for r in responses]
            or [np.zeros(0, dtype=np.int64)]
        ).astype(np.int64)
        return Labelled(
            probabilities=self.probabilities[rows],
            wrong=self.wrong[rows],
            sizes=self.sizes[responses],
            windows=None if self.windows is None else self.windows[rows],
        )

    def halves(self, seed: int = 0) -> tuple["Labelled", "Labelled"]:
        """Its responses in two halves drawn at random."""
        shuffled = np.random.default_rng(seed).permutation(len(self.sizes))
        first, second = (self.subset(np.sort(half)) for half in np.array_split(shuffled, 2))
        return first, second

    def digest(self) -> str:
        """SHA-256 of the content."""
        hasher = hashlib.sha256()
        for array in (self.probabilities, self.wrong, self.sizes):
            hasher.update(np.ascontiguousarray(array).tobytes())
        return hasher.hexdigest()


def fit(
    data: Labelled,
    *,
    alpha: float = 0.1,
    precision: float = 0.8,
    delta: float = 0.1,
    seed: int = 0,
    model: Facts | None = None,
) -> Calibration:
    """Fit on ``data``, its responses split at random into two halves.

    Raises:
        UsageError: too few responses, or no wrong or no right claim among them.
    """
    known = ~np.isnan(data.probabilities).any(axis=1)
    if not known.all():
        raise UsageError(f"{int((~known).sum())} claims have no probabilities: leave them out")
    if len(data.sizes) < _LEAST or data.wrong.all() or not data.wrong.any():
        raise UsageError(
            f"calibration needs {_LEAST} responses with right and wrong claims; there are "
            f"{len(data.sizes)}, {int(data.wrong.sum())} of {len(data.wrong)} claims wrong"
        )
    first, second = data.halves(seed)
    a, b, c, d = map(float, logistic(_features(first.probabilities, first.windows), first.wrong))
    draft = Calibration(
        coefficients=(a, b, c, d),
        alpha=alpha,
        threshold=0.0,
        precision=precision,
        delta=delta,
        correction=2.0,
        responses=(len(first.sizes), len(second.sizes)),
        data_hash=data.digest(),
        model=model or {},
    )
    q = probabilities_wrong(draft, second.probabilities, second.windows)
    threshold = risk_controlled(q, second.wrong, second.sizes, alpha)
    correction = learn_then_test(q, second.wrong, second.sizes, precision, delta)
    return draft.model_copy(update={"threshold": threshold, "correction": correction})


def held_out(
    data: Labelled, alpha: float, precision: float, delta: float, seed: int = 0
) -> dict[str, Flagging]:
    """What a calibration on half of ``data`` would have done on the other half, beside two ways
    without a guarantee: one cut on 1 − p(entailed), tuned for F1 on the first half, and flagging
    all claims.

    Raises:
        UsageError: the half is too small to calibrate on.
    """
    first, second = data.halves(seed + 1)
    fitted = fit(first, alpha=alpha, precision=precision, delta=delta, seed=seed)
    q = probabilities_wrong(fitted, second.probabilities, second.windows)
    cut = best_cut(1 - first.probabilities[:, 0], first.wrong)
    beyond = 1 - second.probabilities[:, 0] >= cut
    return {
        f"calibrated, α = {alpha:g}": flagging(q >= fitted.threshold, second),
        "one cut on 1 − p(entailed), tuned": flagging(beyond, second),
        "every claim flagged": flagging(np.ones(len(second.wrong), dtype=bool), second),
    }


def flagging(flagged: Bools, data: Labelled) -> Flagging:
    """How a choice of claims to flag fares on labelled ones."""
    totals = np.bincount(data.owner, weights=data.wrong, minlength=len(data.sizes))
    missed = np.bincount(data.owner, weights=data.wrong & ~flagged, minlength=len(data.sizes))
    some = totals > 0
    hits = int((flagged & data.wrong).sum())
    return Flagging(
        flagged=float(flagged.mean()),
        missed=float((missed[some] / totals[some]).mean()) if some.any() else 0.0,
        precision=hits / int(flagged.sum()) if flagged.any() else None,
        f1=2 * hits / max(1, int(flagged.sum() + data.wrong.sum())),
    )


def best_cut(scores: Floats, wrong: Bools) -> float:
    """The least score to call wrong that gives the best F1."""
    order = np.argsort(-scores, kind="stable")
    hits = np.cumsum(wrong[order])
    values = 2 * hits / (np.arange(1, len(scores) + 1) + wrong.sum())
    last = np.r_[np.diff(scores[order]) != 0, True]
    values = np.where(last, values, -1.0)
    return float(scores[order][int(values.argmax())])


def _features(probabilities: Floats, windows: Ints | None) -> Floats:
    logs = np.log(np.clip(probabilities, _EPSILON, 1))
    read = np.zeros(len(logs)) if windows is None else np.log(np.maximum(windows, 1))
    return np.column_stack(
        [np.ones(len(logs)), logs[:, 2] - logs[:, 0], logs[:, 2] - logs[:, 1], read]
    )


def logistic(features: Floats, wrong: Bools, ridge: float = 1.0) -> Floats:
    """Coefficients of a logistic regression, all but the first penalised by ``ridge``/2·β²."""
    from scipy.optimize import minimize
    from scipy.special import expit

    penalised = np.r_[0.0, np.full(features.shape[1] - 1, ridge)]

    def loss(beta: Floats) -> tuple[float, Floats]:
        z = features @ beta
        value = np.logaddexp(0, z).sum() - z[wrong].sum() + (penalised * beta**2).sum() / 2
        gradient = features.T @ (expit(z) - wrong) + penalised * beta
        return float(value), gradient

    solution = minimize(loss, np.zeros(features.shape[1]), jac=True, method="L-BFGS-B")
    result: Floats = solution.x
    return result


def probabilities_wrong(
    calibration: Calibration, probabilities: Floats, windows: Ints | None = None
) -> Floats:
    """q of each claim; NaN where the model gave no probabilities."""
    from scipy.special import expit

    result: Floats = expit(_features(probabilities, windows) @ np.array(calibration.coefficients))
    return result


def calibrated(
    calibration: Calibration, probabilities: Floats, sizes: Ints, windows: Ints | None = None
) -> Decisions:
    """Supported when not flagged; else contradicted or unsupported, whichever is likelier.

    The scores are 1 − 2q: from 1, surely right, to −1, surely wrong.
    """
    q = probabilities_wrong(calibration, probabilities, windows)
    decisions = np.full(len(q), Decision.SUPPORTED, dtype=np.int8)
    flagged = q >= calibration.threshold
    decisions[flagged] = Decision.UNSUPPORTED
    decisions[flagged & (probabilities[:, 2] > probabilities[:, 1])] = Decision.CONTRADICTED
    decisions[np.isnan(q)] = Decision.UNSCORED
    return Decisions(decisions, 1 - 2 * q, np.full(len(sizes), calibration.threshold))


def read(path: str | Path) -> Calibration:
    """The calibration stored at ``path``.

    Raises:
        UsageError: there is none, or it cannot be read.
    """
    from pydantic import ValidationError

    try:
        return Calibration.model_validate_json(Path(path).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):
        raise UsageError(
            f"{path}: no calibration here; `ancrage calibrate --nli FILE` makes one"
        ) from None
    except ValidationError as error:
        raise UsageError(f"{path}: not a calibration: {describe(error)}") from None


def refuse_foreign(calibration: Calibration, facts: Facts) -> None:
    """Stop where probabilities of one model would be decided by the calibration of another.

    Raises:
        UsageError: a fact on which probabilities depend differs.
    """
    for name, value in calibration.model.items():
        if name not in ("device", "drift") and facts.get(name) != value:
            raise UsageError(
                f"the calibration was fitted with {name} {value}, the model has "
                f"{facts.get(name)}: calibrate again"
            )
