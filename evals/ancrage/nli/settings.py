"""The ``[nli]`` table of the configuration."""

from typing import Literal

from pydantic import Field

from ancrage.domain import Frozen

DEFAULT_MODEL = "MoritzLaurer/mDeBERTa-v3-base-xnli-multilingual-nli-2mil7"
"""Reads French, English and a hundred other languages."""


class NLISettings(Frozen):
    """Which model gives probabilities, and by which rule they become decisions."""

    model: str = DEFAULT_MODEL
    """A name on the Hugging Face hub, or a local folder."""
    revision: str | None = None
    """The commit to use, for a folder the hash of its weights; what was resolved is recorded in
    every result."""
    offline: bool = False
    """Never reach for the network: the weights must already be here."""
    device: str = "auto"
    dtype: Literal["auto", "float32", "bfloat16", "onnx-float32", "onnx-int8"] = "auto"
    """``auto``: bfloat16 on a GPU; on a processor, the faster of float32 and bfloat16 by a short
    measurement. The ``onnx`` formats run in ONNX Runtime on a processor. Formats differ by about a
    hundredth in probability; the one taken is recorded."""
    labels: tuple[str, str, str] | None = None
    """The model's own labels for entailment, neutral, contradiction, when it names them oddly."""
    max_tokens: int | None = Field(default=None, ge=16)
    """The longest input; by default all that the model reads."""
    window: int | None = Field(default=128, ge=16)
    """Tokens of context read at a time; None for as many as fit."""
    batch_tokens: int = Field(default=1024, ge=64)
    """Tokens in one batch, padding included."""

    rule: Literal["argmax", "calibrated", "fixed", "paper"] = "argmax"
    k: float = Field(default=0.7, ge=0)
    """For ``paper``: τ = µ + kσ."""
    tau: float = Field(default=0.7, ge=0, le=1)
    """For ``fixed``: the least probability that decides."""
    calibration: str | None = None
    """For ``calibrated``: the file that ``ancrage calibrate --nli`` wrote."""
    penalty: float | None = Field(default=None, gt=0)
    """For ``calibrated``: how many needless flags a missed wrong claim is worth. Flags are then
    raised from a probability of 1 / (1 + penalty) on, in place of the file's threshold."""
