"""The network in ONNX Runtime: converted once, held against the original, kept for the next load.

``onnx-int8`` is dynamic quantisation with one scale a channel of the weights (ONNX Runtime,
``quantize_dynamic``). Both formats are compared with float32 on pairs of short sentences when they
are made; a conversion that says something else than the original is refused.
"""

import json
import logging
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ancrage.errors import UsageError
from ancrage.files import write_atomic
from ancrage.nli.loading import Forward, softmax, torch_forward

if TYPE_CHECKING:
    import torch

KEPT = Path(".ancrage") / "onnx"
_EXACT, _DRIFT = 1e-3, 0.1
"""The largest mean difference in probability that is let pass, in float32 and in int8."""
_SENTENCES = (
    "The firm closed its office in Lyon in March 2021.",
    "The firm has no office in Lyon any more.",
    "Its office in Lyon opened in 2021.",
    "About 120 customers said that the application was slow.",
    "Nobody complained about the speed of the application.",
    "Most of the people who answered were satisfied with the price.",
    "She won the prize for her work on radium.",
    "She was never given a prize.",
    "L'entreprise a fermé son bureau de Lyon en mars 2021.",
    "L'entreprise n'a plus de bureau à Lyon.",
    "Son bureau de Lyon a ouvert en 2021.",
    "Environ 120 clients ont dit que l'application était lente.",
    "Personne ne s'est plaint de la vitesse de l'application.",
    "La plupart des personnes interrogées étaient satisfaites du prix.",
    "Elle a reçu le prix pour ses travaux sur le radium.",
    "Aucun prix ne lui a jamais été remis.",
)


def converted(
    load: Callable[[], Any], tokenizer: Any, revision: str | None, *, int8: bool
) -> tuple[Forward, float]:
    """The network that ``load`` gives, in ONNX Runtime, and by how much its probabilities differ
    on average from those of the original. What was converted before is read from ``KEPT``.

    Raises:
        UsageError: onnxruntime or onnx is not installed, or the network cannot be converted.
    """
    try:
        import onnx  # noqa: F401  the exporter and the quantiser need it
        import onnxruntime
    except ImportError:
        raise UsageError(
            "this number format needs ONNX Runtime: pip install 'ancrage[onnx]'"
        ) from None
    name = (revision or "unknown").replace(":", "-").replace("/", "-")
    file = KEPT / f"{name}-{'int8' if int8 else 'float32'}-{onnxruntime.__version__}.onnx"
    told = file.with_suffix(".json")
    if revision and file.is_file() and told.is_file():
        return _forward(file), float(json.loads(told.read_text(encoding="utf-8"))["drift"])
    network = load()
    file.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=file.parent) as folder:
        made = Path(folder) / "network.onnx"
        try:
            _export(network, tokenizer, made)
            if int8:
                made = _quantised(made)
            forward = _forward(made)
        except Exception as error:  # noqa: BLE001  exporters raise what they like
            raise UsageError(
                f"the network cannot be converted to ONNX ({type(error).__name__}): set dtype in "
                "[nli] to float32"
            ) from None
        drift = _drift(torch_forward(network, "cpu"), forward, tokenizer)
        if not drift <= (_DRIFT if int8 else _EXACT):
            raise UsageError(
                f"converted to ONNX the network differs by {drift:.3f} in probability: set dtype "
                "in [nli] to float32"
            )
        made.replace(file)
    write_atomic(told, json.dumps({"drift": drift}) + "\n")
    return _forward(file), drift


def _export(network: Any, tokenizer: Any, file: Path) -> None:
    import warnings

    import torch

    example = tokenizer(list(_SENTENCES[:2]), list(_SENTENCES[2:4]), padding=True)
    names = list(example)

    class Named(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.network = network

        def forward(self, *inputs: "torch.Tensor") -> Any:
            return self.network(**dict(zip(names, inputs, strict=True))).logits

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            Named().eval(),
            tuple(torch.tensor(example[name]) for name in names),
            str(file),
            input_names=names,
            output_names=["logits"],
            dynamic_axes={name: {0: "pairs", 1: "tokens"} for name in names},
            opset_version=17,
            dynamo=False,
        )
    network.eval()


def _quantised(file: Path) -> Path:
    from onnxruntime.quantization import QuantType, quantize_dynamic

    made = file.with_name("int8.onnx")
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)  # it advises a step for convolutions
    try:
        quantize_dynamic(file, made, weight_type=QuantType.QInt8, per_channel=True)
    finally:
        logging.disable(before)
    return made


def _forward(file: Path) -> Forward:
    import onnxruntime
    import torch

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = torch.get_num_threads()
    session = onnxruntime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])
    return lambda batch: np.asarray(session.run(None, dict(batch))[0], dtype=np.float64)


def _drift(one: Forward, other: Forward, tokenizer: Any) -> float:
    """The mean absolute difference of their probabilities, over every pair of sentences."""
    differences = []
    for premise in _SENTENCES:
        pairs = ([premise] * len(_SENTENCES), list(_SENTENCES))
        batch = tokenizer(*pairs, padding=True, return_tensors="np")
        inputs = {name: np.asarray(values, dtype=np.int64) for name, values in batch.items()}
        differences.append(np.abs(softmax(one(inputs)) - softmax(other(inputs))).mean())
    return float(np.mean(differences))
