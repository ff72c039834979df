"""What must hold before a checkpoint is trusted, and the one line that says why it does not."""

import copy
import hashlib
import os
import socket
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ancrage.errors import UsageError
from ancrage.nli.settings import NLISettings

Forward = Callable[[Mapping[str, NDArray[np.int64]]], NDArray[np.float64]]
"""From a padded batch of tokens to logits, shape (n, 3), in the model's own order."""
_PREFIXES = ("entail", "neutral", "contradict")
_PATIENCE = 3.0
"""Seconds to wait for the hub to be reached."""


def usable_device(wanted: str) -> str:
    """The device that ``wanted`` names, ``auto`` being the best there is.

    Raises:
        UsageError: it is unknown, or not on this machine.
    """
    import torch

    if wanted == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    try:
        torch.zeros(1, device=wanted)
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        raise UsageError(f"[nli] device = {wanted!r} cannot be used: {_first(error)}") from None
    return wanted


def is_local(settings: NLISettings) -> bool:
    """Whether the weights are on this machine, so that the network need not be reached for.

    Raises:
        UsageError: they are not, and the hub cannot be reached or must not be.
    """
    if Path(settings.model).is_dir():
        return True
    if settings.model.count("/") > 1 or settings.model[:1] in ("", ".", "/", "~"):
        raise UsageError(f"[nli] model: there is no folder {settings.model!r}")
    from huggingface_hub import constants, try_to_load_from_cache

    if all(
        isinstance(try_to_load_from_cache(settings.model, name, revision=settings.revision), str)
        for name in ("config.json", "model.safetensors")
    ):
        return True
    if settings.offline or not _reachable(constants.ENDPOINT):
        why = "" if settings.offline else " and the hub cannot be reached"
        revision = f" --revision {settings.revision}" if settings.revision else ""
        raise UsageError(
            f"the weights of {settings.model} are not here{why}: run `hf download "
            f"{settings.model}{revision}` where "
            "there is a network, or set model in [nli] to a folder that holds a checkpoint"
        )
    return False


def _reachable(endpoint: str) -> bool:
    if any(os.environ.get(name) for name in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY")):
        return True
    host = endpoint.split("//")[-1].split("/")[0]
    name, _, port = host.partition(":")
    try:
        socket.create_connection((name, int(port or 443)), _PATIENCE).close()
    except OSError:
        return False
    return True


def network_of(settings: NLISettings, where: Mapping[str, Any], dtype: Any) -> Any:
    """The trained classifier in evaluation mode.

    Raises:
        UsageError: its weights are damaged, in no safe format, or those of something else.
    """
    import transformers

    auto: Any = transformers.AutoModelForSequenceClassification
    try:
        network, told = auto.from_pretrained(
            settings.model, use_safetensors=True, dtype=dtype, output_loading_info=True, **where
        )
    except Exception as error:  # noqa: BLE001  a damaged checkpoint can raise anything
        raise UsageError(unusable(settings, error)) from None
    if told["missing_keys"]:
        missing = ", ".join(sorted(told["missing_keys"])[:2])
        raise UsageError(f"{settings.model}: not a trained classifier: {missing} is missing")
    return network.eval()


def unusable(settings: NLISettings, error: Exception) -> str:
    """One line for what loading raised."""
    name = settings.model
    if "safetensors" in str(error) and "does not appear to have" in str(error):
        return f"{name} has no safetensors weights; other formats can run code and are not loaded"
    return f"{name}: no usable checkpoint: {_first(error)}"


def _first(error: BaseException) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0][:300]


def label_order(id2label: dict[int, str], settings: NLISettings) -> tuple[int, int, int]:
    """The columns of entailment, neutral and contradiction, read from the model's own labels.

    Raises:
        UsageError: there are not three labels, or their names do not tell which is which.
    """
    names = {int(index): str(label).lower() for index, label in id2label.items()}
    shown = ", ".join(id2label[index] for index in sorted(id2label))
    if len(names) != 3:
        raise UsageError(
            f"{settings.model} has {len(names)} labels ({shown}): entailment, neutral and "
            "contradiction are needed to tell an unsupported claim from a contradicted one"
        )
    wanted = [label.lower() for label in settings.labels] if settings.labels else _PREFIXES
    if settings.labels and sorted(wanted) != sorted(names.values()):
        raise UsageError(
            f"[nli] labels: {', '.join(settings.labels)} are not the labels of {settings.model}, "
            f"which are {shown}"
        )
    found = [[i for i, name in names.items() if name.startswith(label)] for label in wanted]
    if any(len(columns) != 1 for columns in found):
        raise UsageError(
            f"{settings.model}: labels {shown} do not name entailment, neutral and contradiction; "
            "give them in this order as labels in [nli]"
        )
    return found[0][0], found[1][0], found[2][0]


def longest(settings: NLISettings, tokenizer: Any, config: Any) -> int:
    """The tokens that the model reads at most, or those of the settings.

    Raises:
        UsageError: the settings ask for more than the model reads.
    """
    positions = int(getattr(config, "max_position_embeddings", 512))
    if "roberta" in config.model_type or config.model_type == "camembert":
        positions -= int(config.pad_token_id) + 1  # its positions begin after the padding's
    limit = min(int(min(tokenizer.model_max_length, 10**9)), positions)
    if settings.max_tokens and settings.max_tokens > limit:
        raise UsageError(f"[nli] max_tokens = {settings.max_tokens}: the model reads {limit}")
    return settings.max_tokens or limit


def revision_of(settings: NLISettings) -> str | None:
    """The commit of a model of the hub that is here; for a folder, a hash of its weights.

    Raises:
        UsageError: a folder does not hold the revision that the settings ask for.
    """
    folder = Path(settings.model)
    if not folder.is_dir():
        from huggingface_hub import try_to_load_from_cache

        file = try_to_load_from_cache(settings.model, "config.json", revision=settings.revision)
        return Path(file).parent.name if isinstance(file, str) else settings.revision
    digest = hashlib.sha256()
    for file in sorted(folder.glob("*.safetensors")):
        with file.open("rb") as weights:
            digest.update(hashlib.file_digest(weights, "sha256").digest())
    revision = f"sha256:{digest.hexdigest()[:16]}"
    if settings.revision and settings.revision != revision:
        raise UsageError(
            f"[nli] revision = {settings.revision!r}: the weights in {folder} are {revision}"
        )
    return revision


def softmax(logits: NDArray[np.float64]) -> NDArray[np.float64]:
    """Probabilities, row by row."""
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    result: NDArray[np.float64] = powers / powers.sum(axis=1, keepdims=True)
    return result


def torch_forward(network: Any, device: str) -> Forward:
    """The network as it is, on ``device``."""
    import torch

    def forward(batch: Mapping[str, NDArray[np.int64]]) -> NDArray[np.float64]:
        with torch.inference_mode():
            inputs = {name: torch.from_numpy(ids).to(device) for name, ids in batch.items()}
            logits: NDArray[np.float64] = network(**inputs).logits.double().cpu().numpy()
        return logits

    return forward


def faster_format(network: Any) -> tuple[Any, str]:
    """The network in the number format that this processor computes faster.

    Both are tried on one batch for half a second each; bfloat16 must win by a tenth.
    """
    import torch

    ids = np.full((8, min(64, network.config.max_position_embeddings)), 1)
    half = copy.deepcopy(network).to(torch.bfloat16)
    full, short = (_batch_seconds(torch_forward(tried, "cpu"), ids) for tried in (network, half))
    return (half, "bfloat16") if short < 0.9 * full else (network, "float32")


def _batch_seconds(forward: Forward, ids: NDArray[np.int64]) -> float:
    batch = {"input_ids": ids, "attention_mask": np.ones_like(ids)}
    best = float("inf")
    end = time.perf_counter() + 0.5
    forward(batch)
    while (began := time.perf_counter()) < end:
        forward(batch)
        best = min(best, time.perf_counter() - began)
    return best
