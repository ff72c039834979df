"""NLI: ``NLIModel.judge`` beside the transformers pipeline called the obvious way, and thresholds.

Same model, same pairs, same CPU threads, one run; the outputs are compared. Run it with
``python -m benchmarks.nli.speed MODEL DATA`` where MODEL is a checkpoint folder and DATA a labelled
file as for ``python -m benchmarks.nli``.
"""

import argparse
import random
import time
from collections.abc import Callable
from itertools import groupby
from typing import Any, Literal

import numpy as np
import torch
import transformers

from ancrage.nli import NLIModel, NLISettings
from ancrage.nli.labelled import read_dataset
from ancrage.nli.model import Pair
from ancrage.nli.thresholds import paper


def realistic(pairs: list[Pair], count: int) -> list[Pair]:
    """Short and long premises, a third of the pairs asked twice, in no order."""
    chosen = random.Random(0)
    unique = chosen.sample(pairs, min(len(pairs), count * 2 // 3))
    for i in range(0, len(unique), 4):
        # Every fourth premise is a document: three evidences together.
        unique[i] = (" ".join(p for p, _ in unique[i : i + 3]), unique[i][1])
    mixed = unique + chosen.choices(unique, k=count - len(unique))
    chosen.shuffle(mixed)
    return mixed


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("model")
    options.add_argument("data")
    options.add_argument("--pairs", type=int, default=300)
    options.add_argument("--threads", type=int, default=1)
    arguments = options.parse_args()
    torch.set_num_threads(arguments.threads)
    data = read_dataset(arguments.data)
    pairs = realistic([(i.premise, i.claim) for i in data.items], arguments.pairs)

    def load(dtype: Literal["float32", "bfloat16"]) -> NLIModel:
        return NLIModel.load(
            NLISettings(model=arguments.model, offline=True, device="cpu", dtype=dtype)
        )

    model, half = load("float32"), load("bfloat16")
    obvious = transformers.pipeline(
        "text-classification", model=arguments.model, top_k=None, device="cpu", dtype=torch.float32
    )
    inputs = [{"text": premise, "text_pair": hypothesis} for premise, hypothesis in pairs]
    ways: dict[str, Callable[[], Any]] = {
        "pipeline, one by one": lambda: [obvious(each, truncation=True) for each in inputs],
        "pipeline, batches of 16": lambda: list(obvious(inputs, truncation=True, batch_size=16)),
        "judge, float32": lambda: model.judge(pairs),
        "judge, bfloat16": lambda: half.judge(pairs),
    }
    # Processor time, the least of three rounds in turn: other work on the machine counts less.
    best: dict[str, float] = {}
    results: dict[str, Any] = {}
    for _ in range(3):
        for name, way in ways.items():
            began = time.process_time()
            results[name] = way()
            spent = time.process_time() - began
            best[name] = min(spent, best.get(name, spent))

    labels = [model.network.config.id2label[column] for column in model.order]
    said = results["pipeline, one by one"]
    expected = np.array(
        [[{x["label"]: x["score"] for x in row}[name] for name in labels] for row in said]
    )
    whole = results["judge, float32"].windows == 1
    print(f"{len(pairs)} pairs, {len(set(pairs))} distinct, {arguments.threads} thread(s)")
    for name, spent in best.items():
        line = f"{name:24} {spent:6.2f} s   {best['pipeline, one by one'] / spent:4.1f} ×"
        if name.startswith("judge"):
            gap = np.abs(results[name].probabilities - expected)[whole].max()
            line += f"   largest difference {gap:.1e} over {int(whole.sum())} pairs"
        print(line)

    generator = np.random.default_rng(0)
    rows = generator.dirichlet([0.5, 0.5, 0.5], 1_000_000)
    owner = np.sort(generator.integers(0, 300_000, 1_000_000))
    sizes = np.array([len(list(group)) for _, group in groupby(owner.tolist())])
    times = []
    for _ in range(5):
        began = time.perf_counter()
        paper(rows, sizes)
        times.append(time.perf_counter() - began)
    print(f"1,000,000 claims thresholded: {min(times):.3f} s at best, {max(times):.3f} s at worst")


if __name__ == "__main__":
    main()
