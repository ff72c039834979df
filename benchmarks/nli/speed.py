"""NLI of answers with several claims, beside the transformers pipeline; thresholds of a million.

Same model, same distinct pairs, same processor threads, processor time, the least of three rounds
in turn. ``python -m benchmarks.nli.speed MODEL FILE`` where MODEL is a checkpoint folder and FILE
JSON lines with answer and context, such as SummEdits.
"""

import argparse
import asyncio
import json
import time
from collections.abc import Callable
from itertools import groupby
from typing import Any, Literal

import numpy as np
import torch
import transformers

from ancrage.claims import extract_claims
from ancrage.nli import NLIModel, NLISettings, rule_of
from ancrage.nli.thresholds import paper
from ancrage.verify import ContextItem, make_run
from ancrage.verify.nli import NLIVerifier


def main() -> None:
    """Print one line a way, with what it takes in the first way's time."""
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("model")
    options.add_argument("file")
    options.add_argument("--answers", type=int, default=60)
    options.add_argument("--threads", type=int, default=1)
    arguments = options.parse_args()
    torch.set_num_threads(arguments.threads)
    answers: dict[str, tuple[str, Any]] = {}
    with open(arguments.file, encoding="utf-8") as lines:  # noqa: PTH123
        for row in map(json.loads, lines):
            context = "\n\n".join(row["context"])
            if context not in answers and (claims := extract_claims(row["answer"])):
                answers[context] = (row["answer"], claims)
    work = dict(list(answers.items())[: arguments.answers])
    pairs = [(text, claim.statement) for text, (_, claims) in work.items() for claim in claims]

    def load(dtype: Literal["float32", "bfloat16"]) -> NLIModel:
        settings = NLISettings(
            model=arguments.model, offline=True, device="cpu", dtype=dtype, window=None
        )
        return NLIModel.load(settings)

    plain = transformers.pipeline(
        "text-classification", model=arguments.model, top_k=None, device="cpu", dtype=torch.float32
    )
    inputs = [{"text": premise, "text_pair": claim} for premise, claim in pairs]
    ordered = sorted(inputs, key=lambda pair: len(pair["text"]) + len(pair["text_pair"]))

    def verified(model: NLIModel) -> Callable[[], Any]:
        verifier = NLIVerifier(model.judge, rule_of(model.settings), "")

        async def all_answers() -> Any:
            return await asyncio.gather(
                *(
                    verifier.verify(make_run("", answer), claims, [ContextItem(text=context)])
                    for context, (answer, claims) in work.items()
                )
            )

        return lambda: asyncio.run(all_answers())

    ways: dict[str, Callable[[], Any]] = {
        "pipeline, one by one": lambda: [plain(each, truncation=True) for each in inputs],
        "pipeline, sorted, batches of 16": lambda: list(
            plain(ordered, truncation=True, batch_size=16)
        ),
        "verify, float32": verified(load("float32")),
        "verify, bfloat16": verified(load("bfloat16")),
    }
    best: dict[str, float] = {}
    for _ in range(3):
        for name, way in ways.items():
            began = time.process_time()
            way()
            spent = time.process_time() - began
            best[name] = min(spent, best.get(name, spent))
    print(f"{len(work)} answers, {len(pairs)} claims, {arguments.threads} thread(s)")
    for name, spent in best.items():
        ratio = best["pipeline, sorted, batches of 16"] / spent
        print(f"{name:32} {spent:6.2f} s   {ratio:4.2f} × the sorted pipeline")

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
