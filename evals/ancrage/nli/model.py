"""A natural-language-inference model: probabilities of entailment, neutral and contradiction."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ancrage.errors import UsageError
from ancrage.nli.settings import NLISettings
from ancrage.nli.windows import decide, windows

if TYPE_CHECKING:
    import torch

Floats = NDArray[np.float64]
Pair = tuple[str, str]
"""A premise and a hypothesis."""

ENTAILMENT, NEUTRAL, CONTRADICTION = 0, 1, 2
"""Columns of every array of probabilities."""
_PREFIXES = ("entail", "neutral", "contradict")


@dataclass(frozen=True)
class Judged:
    """What the model says of some pairs, in their order."""

    probabilities: Floats
    """Shape (n, 3): entailment, neutral, contradiction. A row of NaN where the hypothesis is
    longer than the model reads: it is never cut, so there is no answer."""
    windows: NDArray[np.int64]
    """How many windows the premise was read in."""
    passages: tuple[str, ...]
    """The window that decided."""


@dataclass(frozen=True)
class NLIModel:
    """A sequence-classification checkpoint, ready to judge pairs.

    Pairs that occur twice are computed once; batches hold inputs of like length, up to
    ``settings.batch_tokens`` tokens each.
    """

    settings: NLISettings
    network: Any
    tokenizer: Any
    order: tuple[int, int, int]
    """The model's own columns of entailment, neutral and contradiction."""
    device: str
    dtype: str
    revision: str | None
    max_tokens: int

    @classmethod
    def load(cls, settings: NLISettings | None = None) -> "NLIModel":
        """Load the model: safetensors only, no remote code.

        Raises:
            UsageError: torch or transformers is not installed, the weights are not here, or the
                labels cannot be told apart.
        """
        settings = settings or NLISettings()
        try:
            import torch
            import transformers
        except ImportError:
            raise UsageError(
                "NLI needs torch and transformers: pip install 'ancrage[nli]'"
            ) from None
        where: dict[str, Any] = {
            "revision": settings.revision,
            "local_files_only": settings.offline,
            "trust_remote_code": False,
        }
        device = settings.device
        if device == "auto":
            device = "cuda" if torch.cuda.is_available() else "cpu"
        dtype = settings.dtype
        if dtype == "auto":
            dtype = "float32" if device == "cpu" else "bfloat16"
        transformers.utils.logging.disable_progress_bar()  # type: ignore[no-untyped-call]
        try:
            tokenizer = transformers.AutoTokenizer.from_pretrained(settings.model, **where)
            network = transformers.AutoModelForSequenceClassification.from_pretrained(
                settings.model, use_safetensors=True, dtype=getattr(torch, dtype), **where
            )
        except (OSError, ValueError) as error:
            raise UsageError(_missing(settings, error)) from None
        order = label_order(network.config.id2label, settings)
        limit = min(tokenizer.model_max_length, network.config.max_position_embeddings, 512)
        return cls(
            settings=settings,
            network=network.to(device).eval(),
            tokenizer=tokenizer,
            order=order,
            device=device,
            dtype=dtype,
            revision=settings.revision or getattr(network.config, "_commit_hash", None),
            max_tokens=min(settings.max_tokens or limit, limit),
        )

    @property
    def facts(self) -> dict[str, str | int | None]:
        """What a result must record of the model: name, revision, device, dtype, limit."""
        return {
            "model": self.settings.model,
            "revision": self.revision,
            "device": self.device,
            "dtype": self.dtype,
            "max_tokens": self.max_tokens,
        }

    def judge(self, pairs: Sequence[Pair], on_batch: Callable[[int], None] | None = None) -> Judged:
        """The probabilities of ``pairs``; ``on_batch`` hears how many inputs were computed."""
        inputs: dict[Pair, int] = {}
        needed: list[list[int]] = []
        cache: dict[Pair, list[int]] = {}
        for pair in pairs:
            if pair not in cache:
                cut = windows(*pair, self._length, self.max_tokens - self._specials)
                cache[pair] = [inputs.setdefault((window, pair[1]), len(inputs)) for window in cut]
            needed.append(cache[pair])
        texts = list(inputs)
        computed = self._compute(texts, on_batch)
        rows = np.full((len(pairs), 3), np.nan)
        passages = [""] * len(pairs)
        for i, indices in enumerate(needed):
            if indices:
                best = indices[decide(computed[indices])]
                rows[i], passages[i] = computed[best], texts[best][0]
        counts = np.array([len(indices) for indices in needed], dtype=np.int64)
        return Judged(rows, counts, tuple(passages))

    @property
    def _specials(self) -> int:
        return int(self.tokenizer.num_special_tokens_to_add(pair=True))

    def _length(self, texts: list[str]) -> list[int]:
        if not texts:
            return []
        encoded = self.tokenizer(texts, add_special_tokens=False, verbose=False)["input_ids"]
        return [len(ids) for ids in encoded]

    def _compute(self, pairs: list[Pair], on_batch: Callable[[int], None] | None) -> Floats:
        """Softmaxed outputs, shape (len(pairs), 3), computed in batches of like length."""
        result = np.zeros((len(pairs), 3))
        if not pairs:
            return result
        encoded = self.tokenizer([p for p, _ in pairs], [h for _, h in pairs], verbose=False)
        lengths = [len(ids) for ids in encoded["input_ids"]]
        order = sorted(range(len(pairs)), key=lengths.__getitem__, reverse=True)
        position = 0
        while position < len(order):
            longest = lengths[order[position]]
            taken = order[position : position + max(1, self.settings.batch_tokens // longest)]
            position += len(taken)
            batch = self.tokenizer.pad(
                {name: [encoded[name][i] for i in taken] for name in encoded},
                return_tensors="pt",
            )
            result[taken] = self._forward(batch)[:, self.order]
            if on_batch:
                on_batch(len(taken))
        return result

    def _forward(self, batch: "dict[str, torch.Tensor]") -> Floats:
        import torch

        with torch.inference_mode():
            logits = self.network(**{k: v.to(self.device) for k, v in batch.items()}).logits
            output: Floats = torch.softmax(logits.double(), dim=-1).cpu().numpy()
        return output


def label_order(id2label: dict[int, str], settings: NLISettings) -> tuple[int, int, int]:
    """The columns of entailment, neutral and contradiction, read from the model's own labels.

    Raises:
        UsageError: there are not three labels, or their names do not tell which is which.
    """
    names = {int(index): str(label).lower() for index, label in id2label.items()}
    wanted = [label.lower() for label in settings.labels] if settings.labels else _PREFIXES
    found = [
        [i for i, name in names.items() if name == label or name.startswith(label)]
        for label in wanted
    ]
    if len(names) != 3 or any(len(columns) != 1 for columns in found):
        raise UsageError(
            f"{settings.model}: labels {', '.join(names.values())} do not name entailment, neutral "
            "and contradiction; give them in this order as labels in [nli]"
        )
    return found[0][0], found[1][0], found[2][0]


def _missing(settings: NLISettings, error: Exception) -> str:
    name = settings.model
    if "safetensors" in str(error):
        return f"{name} has no safetensors weights; other formats can run code and are not loaded"
    if Path(name).is_dir():
        return f"{name}: no usable checkpoint in this folder: {str(error).splitlines()[0]}"
    return (
        f"the weights of {name} are not here: run `hf download {name}` where there is a network, "
        "or set model in [nli] to a folder that holds a checkpoint"
    )
