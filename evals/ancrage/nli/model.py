"""A natural-language-inference model: probabilities of entailment, neutral and contradiction."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ancrage.errors import UsageError
from ancrage.nli.calibrate import Facts
from ancrage.nli.loading import (
    Forward,
    faster_format,
    is_local,
    label_order,
    longest,
    network_of,
    revision_of,
    softmax,
    torch_forward,
    unusable,
    usable_device,
)
from ancrage.nli.onnx import converted
from ancrage.nli.settings import NLISettings
from ancrage.nli.windows import decide, windows

Floats = NDArray[np.float64]
Pair = tuple[str, str]
"""A premise and a hypothesis."""

ENTAILMENT, NEUTRAL, CONTRADICTION = 0, 1, 2
"""Columns of every array of probabilities."""


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
    forward: Forward
    tokenizer: Any
    order: tuple[int, int, int]
    """The model's own columns of entailment, neutral and contradiction."""
    device: str
    dtype: str
    revision: str | None
    max_tokens: int
    drift: float | None = None
    """By how much probabilities differ on average from float32, where the format was converted."""

    @classmethod
    def load(cls, settings: NLISettings | None = None) -> "NLIModel":
        """Load the model: safetensors only, no remote code, from disk where it is there.

        Raises:
            UsageError: torch or transformers is not installed, the weights are not here and cannot
                be had, are damaged, not those of a classifier or not the revision asked for, the
                device or the number format cannot be used, or the labels cannot be told apart.
        """
        settings = settings or NLISettings()
        try:
            import torch
            import transformers
        except ImportError:
            raise UsageError(
                "NLI needs torch and transformers: pip install 'ancrage[nli]'"
            ) from None
        in_onnx = settings.dtype.startswith("onnx")
        if in_onnx and settings.device not in ("auto", "cpu"):
            raise UsageError(
                f"[nli] dtype = {settings.dtype!r} runs on a processor: device = 'cpu'"
            )
        device = "cpu" if in_onnx else usable_device(settings.device)
        where = {
            "revision": settings.revision if not Path(settings.model).is_dir() else None,
            "local_files_only": is_local(settings),
            "trust_remote_code": False,
        }
        transformers.utils.logging.disable_progress_bar()  # type: ignore[no-untyped-call]
        transformers.utils.logging.set_verbosity_error()  # type: ignore[no-untyped-call]
        try:
            config: Any = transformers.AutoConfig.from_pretrained(settings.model, **where)
            tokenizer: Any = transformers.AutoTokenizer.from_pretrained(settings.model, **where)
        except Exception as error:  # noqa: BLE001  a damaged checkpoint can raise anything
            raise UsageError(unusable(settings, error)) from None
        order = label_order(config.id2label, settings)
        revision = revision_of(settings)
        read = partial(network_of, settings, where)
        drift = None
        if in_onnx:
            forward, drift = converted(
                partial(read, torch.float32),
                tokenizer,
                revision,
                int8=settings.dtype == "onnx-int8",
            )
            dtype: str = settings.dtype
        else:
            dtype = settings.dtype
            if dtype == "auto":
                dtype = "bfloat16" if device != "cpu" else "float32"
            network = read(getattr(torch, dtype)).to(device)
            if settings.dtype == "auto" and device == "cpu":
                network, dtype = faster_format(network)
            forward = torch_forward(network, device)
        return cls(
            settings=settings,
            forward=forward,
            tokenizer=tokenizer,
            order=order,
            device=device,
            dtype=dtype,
            revision=revision,
            max_tokens=longest(settings, tokenizer, config),
            drift=drift,
        )

    @property
    def facts(self) -> Facts:
        """What probabilities depend on: name, revision, device, number format, limits."""
        return {
            "model": self.settings.model,
            "revision": self.revision,
            "device": self.device,
            "dtype": self.dtype,
            "max_tokens": self.max_tokens,
            "window": self.settings.window,
            **({} if self.drift is None else {"drift": f"{self.drift:.3f}"}),
        }

    def judge(self, pairs: Sequence[Pair], on_batch: Callable[[int], None] | None = None) -> Judged:
        """The probabilities of ``pairs``; ``on_batch`` hears how many inputs were computed."""
        inputs: dict[Pair, int] = {}
        cut: dict[tuple[str, int], list[str]] = {}
        needed: list[list[int]] = []
        claims = list(dict.fromkeys(hypothesis for _, hypothesis in pairs))
        lengths = dict(zip(claims, self._length(claims), strict=True))
        most = self.settings.window or self.max_tokens
        for premise, hypothesis in pairs:
            room = min(most, self.max_tokens - self._specials - lengths[hypothesis])
            if (premise, room) not in cut:
                cut[premise, room] = windows(premise, self._length, room)
            needed.append(
                [inputs.setdefault((w, hypothesis), len(inputs)) for w in cut[premise, room]]
            )
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
            padded = self.tokenizer.pad(
                {name: [encoded[name][i] for i in taken] for name in encoded}, return_tensors="np"
            )
            batch = {name: np.asarray(ids, dtype=np.int64) for name, ids in padded.items()}
            result[taken] = softmax(self.forward(batch))[:, self.order]
            if on_batch:
                on_batch(len(taken))
        return result
