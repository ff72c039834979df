"""Answers with several claims verified by NLI, beside the transformers pipeline; where time goes.

Same model, same distinct pairs, one thread, processor time, the least of three rounds in turn.
``python -m benchmarks.nli.speed MODEL FILE`` where MODEL is a checkpoint folder and FILE JSON lines
with answer and context, such as SummEdits. Then the stages of one answer, and the thresholds of a
million claims. With ``--out`` every measure is kept there, with a plot.
"""

import argparse
import asyncio
import json
import random
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
import transformers

from ancrage.claims import Claim, extract_claims
from ancrage.errors import UsageError
from ancrage.nli import NLIModel, NLISettings, rule_of
from ancrage.nli.thresholds import paper
from ancrage.verify import ContextItem, make_run
from ancrage.verify.code import Context
from ancrage.verify.decide import settle
from ancrage.verify.nli import NLIVerifier
from benchmarks.nli import plots

FORMATS = ("float32", "bfloat16", "onnx-float32", "onnx-int8")


class Answer(NamedTuple):
    """What is verified."""

    text: str
    context: str
    claims: tuple[Claim, ...]


def read(file: Path, limit: int) -> list[Answer]:
    """Answers drawn at random, each pair of context and claim once."""
    rows = [json.loads(line) for line in file.open(encoding="utf-8")]
    random.Random(0).shuffle(rows)
    seen: set[tuple[str, str]] = set()
    found = []
    for row in rows:
        context, claims = "\n\n".join(row["context"]), extract_claims(row["answer"])
        pairs = {(context, claim.statement) for claim in claims}
        if len(claims) > 1 and len(pairs) == len(claims) and not pairs & seen:
            seen |= pairs
            found.append(Answer(row["answer"], context, claims))
    return found[:limit]


def least(ways: dict[str, Callable[[], Any]], rounds: int = 3) -> dict[str, float]:
    """The least processor time of each way, tried in turn."""
    best: dict[str, float] = {}
    for _ in range(rounds):
        for name, way in ways.items():
            began = time.process_time()
            way()
            spent = time.process_time() - began
            best[name] = min(spent, best.get(name, spent))
    return best


def verified(model: NLIModel, answers: list[Answer]) -> Callable[[], Any]:
    """All answers through the verifier at once."""
    verifier = NLIVerifier(model.judge, rule_of(model.settings), "")

    async def together() -> Any:
        return await asyncio.gather(
            *(
                verifier.verify(make_run("", a.text), a.claims, [ContextItem(text=a.context)])
                for a in answers
            )
        )

    return lambda: asyncio.run(together())


def stages(model: NLIModel, answers: list[Answer]) -> dict[str, list[float]]:
    """Milliseconds of processor time that each answer spends in each stage, one by one."""
    found: dict[str, list[float]] = defaultdict(list)
    rule = rule_of(model.settings)
    idle = replace(model, forward=lambda batch: np.zeros((len(batch["input_ids"]), 3)))

    def timed(name: str, work: Callable[[], Any]) -> Any:
        began = time.process_time()
        result = work()
        found[name].append((time.process_time() - began) * 1000)
        return result

    for answer in answers:
        claims = timed("claims", lambda: extract_claims(answer.text))  # noqa: B023
        pairs = [(answer.context, claim.statement) for claim in claims]
        timed("windows and tokens", lambda: idle.judge(pairs))  # noqa: B023
        judged = timed("network", lambda: model.judge(pairs))  # noqa: B023
        found["network"][-1] -= found["windows and tokens"][-1]
        sizes = np.array([len(claims)])
        timed("rule", lambda: rule(judged.probabilities, sizes, judged.windows))  # noqa: B023
        context = Context((ContextItem(text=answer.context),))
        timed("figures and words", lambda: [settle(c, (), context) for c in claims])  # noqa: B023
    return dict(found)


def main() -> None:
    """Print one line a way, with what it takes in the sorted pipeline's time; then the stages."""
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("model")
    options.add_argument("file", type=Path)
    options.add_argument("--answers", type=int, default=40)
    options.add_argument("--threads", type=int, default=1)
    options.add_argument("--out", type=Path)
    arguments = options.parse_args()
    torch.set_num_threads(arguments.threads)
    answers = read(arguments.file, arguments.answers)
    pairs = [(answer.context, claim.statement) for answer in answers for claim in answer.claims]
    plain = transformers.pipeline(
        "text-classification", model=arguments.model, top_k=None, device="cpu", dtype=torch.float32
    )
    inputs = [{"text": premise, "text_pair": claim} for premise, claim in pairs]
    ordered = sorted(inputs, key=lambda pair: len(pair["text"]) + len(pair["text_pair"]))
    piped = "pipeline, sorted, batches of 16"
    ways: dict[str, Callable[[], Any]] = {
        "pipeline, one by one": lambda: [plain(pair, truncation=True) for pair in inputs],
        piped: lambda: list(plain(ordered, truncation=True, batch_size=16)),
    }
    loaded: dict[str, NLIModel] = {}
    for name in ("auto", *FORMATS):
        settings = NLISettings.model_validate(
            {"model": arguments.model, "offline": True, "device": "cpu", "dtype": name}
        )
        try:
            model = NLIModel.load(settings.model_copy(update={"window": None}))
        except UsageError as error:
            print(f"{name}: not measured: {error}")
            continue
        if name == "auto":
            print(f"auto takes {model.dtype}")
            continue
        loaded[name] = model
        drift = "" if model.drift is None else f" (drift {model.drift:.3f})"
        ways[f"verify, {name}{drift}"] = verified(model, answers)
    best = least(ways)
    print(f"{len(answers)} answers, {len(pairs)} distinct pairs, {arguments.threads} thread(s)")
    for name, spent in best.items():
        print(f"{name:36} {spent:6.2f} s   {best[piped] / spent:4.2f} × the sorted pipeline")
    measured = stages(loaded["float32"], answers)
    total = sum(map(sum, measured.values()))
    print("\n| stage, ms an answer | median | 95 % | share |\n|---|---|---|---|")
    for stage, times in measured.items():
        middle, high = np.quantile(times, [0.5, 0.95])
        print(f"| {stage} | {middle:.2f} | {high:.2f} | {sum(times) / total:.1%} |")
    if arguments.out:
        arguments.out.mkdir(parents=True, exist_ok=True)
        (arguments.out / "stages.json").write_text(json.dumps(measured), encoding="utf-8")
        plots.latency(measured, arguments.out / "latency.png")
    generator = np.random.default_rng(0)
    rows = generator.dirichlet([0.5, 0.5, 0.5], 1_000_000)
    owner = np.sort(generator.integers(0, 300_000, 1_000_000))
    sizes = np.array([len(list(group)) for _, group in groupby(owner.tolist())])
    spent = least({"paper": lambda: paper(rows, sizes)}, rounds=5)["paper"]
    print(f"\n1,000,000 claims thresholded: {spent:.3f} s at best of five")


if __name__ == "__main__":
    main()
