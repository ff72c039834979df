"""The linear model that tells what a clause does, and its weights on disk."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ancrage.abstention.clauses import SIZE
from ancrage.errors import UsageError


class Kind(StrEnum):
    """What a clause does."""

    UNKNOWN = "unknown"
    """Does not know."""
    SILENT = "silent"
    """The source does not say."""
    UNWILLING = "unwilling"
    """Will not, by policy."""
    UNABLE = "unable"
    """Cannot: no capability, no access, a tool failed."""
    ASKS = "asks"
    """Asks back."""
    REDIRECTS = "redirects"
    """Sends elsewhere."""
    GROUND = "ground"
    """Why there is no answer, or what the source speaks of instead."""
    COURTESY = "courtesy"
    """Says nothing: an apology, an offer, a lead-in."""
    ANSWER = "answer"
    """States something."""


KINDS = tuple(Kind)
WEIGHTS = Path(__file__).with_name("weights.npz")


@dataclass(frozen=True)
class ClauseModel:
    """Multinomial logistic regression over hashed features; weights of 8 bits."""

    weights: NDArray[np.int8]
    """(features, kinds)."""
    scale: float
    bias: NDArray[np.float32]
    labels: str = ""
    """Hash of the labelled clauses that it was trained on."""

    def probabilities(self, rows: Iterable[dict[int, float]]) -> NDArray[np.float64]:
        """(clauses, kinds), each row of sum 1."""
        scores = [
            self.bias + self.scale * (np.fromiter(row.values(), float) @ self.weights[list(row)])
            for row in rows
        ]
        return softmax(np.array(scores, dtype=float).reshape(-1, len(KINDS)))

    def save(self, path: Path) -> None:
        """Write the weights, compressed."""
        with path.open("wb") as file:
            np.savez_compressed(
                file, weights=self.weights, scale=self.scale, bias=self.bias, labels=self.labels
            )

    @classmethod
    def load(cls, path: Path) -> "ClauseModel":
        """Raises:
        UsageError: the file is not there, or holds no such weights.
        """
        try:
            with np.load(path, allow_pickle=False) as stored:
                model = cls(
                    stored["weights"], float(stored["scale"]), stored["bias"], str(stored["labels"])
                )
        except (OSError, ValueError, KeyError) as error:
            raise UsageError(f"{path}: no weights of a clause model: {error}") from None
        if model.weights.shape != (SIZE, len(KINDS)):
            raise UsageError(f"{path}: weights of another version of the model: train it again")
        return model


@cache
def shipped() -> ClauseModel:
    """The model that comes with the package."""
    return ClauseModel.load(WEIGHTS)


def softmax(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Row by row."""
    exponents = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(exponents / exponents.sum(axis=1, keepdims=True))


def quantised(weights: NDArray[np.float64], bias: NDArray[np.float64], labels: str) -> ClauseModel:
    """The model with weights of 8 bits; small ones become 0, so that the file is small."""
    scale = float(np.abs(weights).max()) / 127 or 1.0
    rounded = np.round(weights / scale).astype(np.int8)
    return ClauseModel(rounded, scale, bias.astype(np.float32), labels)
