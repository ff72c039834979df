"""The ``[nli]`` table of the configuration."""

from typing import Literal

from pydantic import Field

from ancrage.domain import Frozen

DEFAULT_MODEL = "MoritzLaurer/DeBERTa-v3-large-mnli-fever-anli-ling-wanli"
MULTILINGUAL_MODEL = "MoritzLaurer/mDeBERTa-v3-base-xnli-multilingual-nli-2mil7"


class NLISettings(Frozen):
    """Which model judges, and by which rule its probabilities become decisions."""

    model: str = DEFAULT_MODEL
    """A name on the Hugging Face hub, or a local folder."""
    revision: str | None = None
    """The commit to use; the one resolved is recorded in every result."""
    offline: bool = False
    """Never reach for the network: the weights must already be here."""
    device: str = "auto"
    dtype: Literal["auto", "float32", "bfloat16"] = "auto"
    """``auto``: bfloat16 on a GPU, float32 on a CPU. A CPU with bfloat16 instructions is nearly
    twice as fast with it, at differences of about a hundredth in probability."""
    labels: tuple[str, str, str] | None = None
    """The model's own labels for entailment, neutral, contradiction, when it names them oddly."""
    max_tokens: int | None = Field(default=None, ge=16)
    """The longest input; by default what the model reads, at most 512."""
    batch_tokens: int = Field(default=1024, ge=64)
    """Tokens in one batch, padding included."""

    rule: Literal["paper", "fixed", "argmax", "calibrated"] = "paper"
    k: float = Field(default=0.7, ge=0)
    """For ``paper``: τ = µ + kσ."""
    tau: float = Field(default=0.7, ge=0, le=1)
    """For ``fixed``: the least probability that decides."""
    score: Literal["signed", "difference"] = "signed"
    scope: Literal["response", "pooled"] = "response"
    ddof: Literal[0, 1] = 0
    calibration: str | None = None
    """For ``calibrated``: the file that ``invoke calibrate-nli`` wrote."""
    documents: str | None = None
    """A folder of texts searched for the claims that their reference cannot settle."""
    tier: str = "standard"
    """The model tier that recalls references and writes corrections."""
