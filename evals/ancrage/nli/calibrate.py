"""Calibrated decisions: probabilities made honest, then thresholds with a guarantee.

1. q: the probability that a claim is wrong, a ridge-penalised logistic regression on
   (log pC − log pE, log pC − log pN, log windows), fitted on split A (Platt, 1999).
2. q′: q shrunk towards how wrong the rest of its response looks (leave-one-out), fitted on A.
3. The flagging threshold, on split B, by conformal risk control with the response as unit and its
   false-negative rate as loss (Angelopoulos et al., 2024): E[FNR] ≤ α for exchangeable responses.
4. The correction threshold, on split B, by Learn-then-Test (Angelopoulos et al., 2021) with
   Hoeffding–Bentkus p-values in a fixed sequence: with confidence 1 − δ, the mean over responses
   of the share of their corrections that were due is at least the target.
"""

import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from ancrage.domain import Frozen
from ancrage.errors import UsageError, describe
from ancrage.nli.conformal import learn_then_test, risk_controlled
from ancrage.nli.thresholds import Bools, Decision, Decisions, Floats, Ints

_EPSILON = 1e-6
_STRENGTHS = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 64.0)


class Calibration(Frozen):
    """A fitted calibration, as stored by ``invoke calibrate-nli``."""

    format: int = 1
    coefficients: tuple[float, ...]
    """Intercept, then one a feature."""
    strength: float
    """c: how many claims the prior weighs as much as; infinite shrinkage is written 1e9."""
    rate: float
    rates: dict[str, float] = {}
    """The share of wrong claims, in all and by domain (shrunk to the whole)."""
    alpha: float
    threshold: float
    """Claims with q′ at or above it are flagged; above 1 flags nothing."""
    thresholds: dict[str, float] = {}
    """By domain, where the domain has 10/α responses."""
    precision: float
    delta: float
    correction: float
    """Flagged claims with q′ at or above it are corrected; above 1 corrects nothing."""
    responses: tuple[int, int]
    """Responses of split A and of split B."""
    data_hash: str
    """SHA-256 of the labelled probabilities that it was fitted on."""
    model: dict[str, str | int | None] = {}


class Labelled(Frozen):
    """Claims with their probabilities and whether each is wrong, in responses."""

    model_config = {**Frozen.model_config, "arbitrary_types_allowed": True}
    probabilities: NDArray[np.float64] = Field(repr=False)
    wrong: NDArray[np.bool_] = Field(repr=False)
    sizes: NDArray[np.int64] = Field(repr=False)
    domains: tuple[str, ...] = ()
    """One a response; empty when there are none."""
    windows: NDArray[np.int64] | None = Field(default=None, repr=False)

    @property
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
            domains=tuple(self.domains[r] for r in responses) if self.domains else (),
            windows=None if self.windows is None else self.windows[rows],
        )

    def digest(self) -> str:
        """SHA-256 of the content."""
        hasher = hashlib.sha256()
        for array in (self.probabilities, self.wrong, self.sizes):
            hasher.update(np.ascontiguousarray(array).tobytes())
        hasher.update("\n".join(self.domains).encode())
        return hasher.hexdigest()


def fit(
    data: Labelled,
    *,
    alpha: float = 0.1,
    precision: float = 0.8,
    delta: float = 0.1,
    seed: int = 0,
    model: dict[str, str | int | None] | None = None,
) -> Calibration:
    """Fit on ``data``, its responses split at random into two halves.

    Raises:
        UsageError: too few responses, or no wrong or no right claim among them.
    """
    known = ~np.isnan(data.probabilities).any(axis=1)
    if not known.all():
        raise UsageError(f"{int((~known).sum())} claims have no probabilities: leave them out")
    if len(data.sizes) < 20 or data.wrong.all() or not data.wrong.any():
        raise UsageError(
            f"calibration needs 20 responses with right and wrong claims; there are "
            f"{len(data.sizes)}, {int(data.wrong.sum())} of {len(data.wrong)} claims wrong"
        )
    shuffled = np.random.default_rng(seed).permutation(len(data.sizes))
    first, second = (data.subset(np.sort(half)) for half in np.array_split(shuffled, 2))
    coefficients = logistic(_features(first), first.wrong)
    rate = float(first.wrong.mean())
    rates = {
        domain: float((first.wrong[of].sum() + 10 * rate) / (of.sum() + 10))
        for domain in sorted(set(first.domains))
        for of in [_rows_of(first, domain)]
    }
    raw = _sigmoid(_features(first) @ coefficients)
    likelihoods = [
        _likelihood(shrink(raw, first.sizes, _priors(first, rate, rates), c), first.wrong)
        for c in (*_STRENGTHS, 1e9)
    ]
    strength = (*_STRENGTHS, 1e9)[int(np.argmax(likelihoods))]
    draft = Calibration(
        coefficients=tuple(map(float, coefficients)),
        strength=strength,
        rate=rate,
        rates=rates,
        alpha=alpha,
        threshold=0.0,
        precision=precision,
        delta=delta,
        correction=2.0,
        responses=(len(first.sizes), len(second.sizes)),
        data_hash=data.digest(),
        model=model or {},
    )
    q = probabilities_wrong(draft, second)
    threshold = risk_controlled(q, second.wrong, second.sizes, alpha)
    thresholds = {}
    for domain in sorted(set(second.domains)):
        responses = np.flatnonzero(np.array(second.domains) == domain)
        if len(responses) >= 10 / alpha:
            part, rows = second.subset(responses), _rows_of(second, domain)
            thresholds[domain] = risk_controlled(q[rows], part.wrong, part.sizes, alpha)
    correction = learn_then_test(q, second.wrong, second.sizes, precision, delta)
    return draft.model_copy(
        update={"threshold": threshold, "thresholds": thresholds, "correction": correction}
    )


def _rows_of(data: Labelled, domain: str) -> Bools:
    return np.repeat(np.array([each == domain for each in data.domains], dtype=bool), data.sizes)


def _features(data: Labelled) -> Floats:
    logs = np.log(np.clip(data.probabilities, _EPSILON, 1))
    columns = [np.ones(len(logs)), logs[:, 2] - logs[:, 0], logs[:, 2] - logs[:, 1]]
    if data.windows is not None and (data.windows > 1).any():
        columns.append(np.log(np.maximum(data.windows, 1)))
    else:
        columns.append(np.zeros(len(logs)))
    return np.column_stack(columns)


def _sigmoid(x: Floats) -> Floats:
    from scipy.special import expit

    result: Floats = np.clip(expit(x), _EPSILON, 1 - _EPSILON)
    return result


def _logit(q: Floats) -> Floats:
    from scipy.special import logit

    result: Floats = logit(np.clip(q, _EPSILON, 1 - _EPSILON))
    return result


def _likelihood(q: Floats, wrong: Bools) -> float:
    return float(np.log(np.where(wrong, q, 1 - q)).sum())


def logistic(features: Floats, wrong: Bools, ridge: float = 1.0) -> Floats:
    """Coefficients of a logistic regression, all but the first penalised by ``ridge``/2·β²."""
    from scipy.optimize import minimize

    penalised = np.r_[0.0, np.full(features.shape[1] - 1, ridge)]

    def loss(beta: Floats) -> tuple[float, Floats]:
        z = features @ beta
        value = np.logaddexp(0, z).sum() - z[wrong].sum() + (penalised * beta**2).sum() / 2
        gradient = features.T @ (_sigmoid(z) - wrong) + penalised * beta
        return float(value), gradient

    solution = minimize(loss, np.zeros(features.shape[1]), jac=True, method="L-BFGS-B")
    result: Floats = solution.x
    return result


def _priors(data: Labelled, rate: float, rates: dict[str, float]) -> Floats:
    """The prior rate of each response's domain."""
    if not data.domains:
        return np.full(len(data.sizes), rate)
    return np.array([rates.get(domain, rate) for domain in data.domains])


def shrink(q: Floats, sizes: Ints, priors: Floats, strength: float) -> Floats:
    """q′: each claim's odds moved from its domain's rate to its response's, itself left out.

    π_i = (c·π_d + Σ_{j≠i} q_j) / (c + n − 1) and logit q′ = logit q − logit π_d + logit π_i.
    """
    owner = np.repeat(np.arange(len(sizes)), sizes)
    others = np.bincount(owner, weights=q, minlength=len(sizes))[owner] - q
    weight = strength + sizes[owner] - 1
    prior = priors[owner]
    local = np.where(weight > 0, (strength * prior + others) / np.maximum(weight, _EPSILON), prior)
    return _sigmoid(_logit(q) - _logit(prior) + _logit(local))


def probabilities_wrong(calibration: Calibration, data: Labelled) -> Floats:
    """q′ of each claim of ``data``; its labels are not looked at."""
    q = _sigmoid(_features(data) @ np.array(calibration.coefficients))
    priors = _priors(data, calibration.rate, calibration.rates)
    return shrink(q, data.sizes, priors, calibration.strength)


def calibrated(
    calibration: Calibration,
    probabilities: Floats,
    sizes: Ints,
    domains: Sequence[str] = (),
    windows: Ints | None = None,
) -> Decisions:
    """Accepted when not flagged; to be corrected when sure enough; else kept, flagged.

    The scores are 1 − 2q′: from 1, surely right, to −1, surely wrong.
    """
    known = ~np.isnan(probabilities).any(axis=1)
    owner = np.repeat(np.arange(len(sizes)), sizes)
    data = Labelled(
        probabilities=probabilities[known],
        wrong=np.zeros(int(known.sum()), dtype=bool),
        sizes=np.bincount(owner[known], minlength=len(sizes)),
        domains=tuple(domains),
        windows=None if windows is None else windows[known],
    )
    q = np.full(len(probabilities), np.nan)
    q[known] = probabilities_wrong(calibration, data)
    names = domains or [""] * len(sizes)
    thresholds = np.array(
        [calibration.thresholds.get(name, calibration.threshold) for name in names], dtype=float
    )
    flagged = q >= thresholds[owner]
    decisions = np.where(flagged, Decision.KEPT, Decision.ACCEPTED).astype(np.int8)
    decisions[flagged & (q >= calibration.correction)] = Decision.CORRECT
    decisions[~known] = Decision.UNSCORED
    return Decisions(decisions, 1 - 2 * q, thresholds, {})


def read(path: str | Path) -> Calibration:
    """The calibration stored at ``path``.

    Raises:
        UsageError: there is none, or it cannot be read.
    """
    from pydantic import ValidationError

    try:
        return Calibration.model_validate_json(Path(path).read_text(encoding="utf-8"))
    except OSError:
        raise UsageError(f"{path}: no calibration here; `invoke calibrate-nli` makes one") from None
    except ValidationError as error:
        raise UsageError(f"{path}: not a calibration: {describe(error)}") from None
