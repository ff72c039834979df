"""Every NLI method on labelled claims, on the same splits: tables, plots, probabilities kept.

Run ``python -m benchmarks.nli FILE… --model FOLDER [--out DIR] [--window N] [--tier NAME]``. The
files are those that ``ancrage calibrate --nli`` reads, and TruthfulQA.csv. Probabilities are
computed once and kept in the folder, with the facts of their model, so that tables need no model;
another model or window than theirs is refused. Contradictions are judged again by passages that
are looked up among all references of the file; with ``--claims`` whole answers also claim by claim.
With ``--tier`` a model of the configuration is asked for sampled answers and for checks of its own
claims, where the file has questions.
"""

import argparse
import asyncio
import json
from pathlib import Path

import numpy as np

from ancrage.claims import extract_claims
from ancrage.errors import AncrageError
from ancrage.nli import NLISettings
from ancrage.nli.labelled import Dataset
from ancrage.nli.thresholds import Decision, Floats, classes
from ancrage.verify.lookup import BM25
from benchmarks.nli import plots
from benchmarks.nli.bench import Inputs, Result, run
from benchmarks.nli.freeze import freeze
from benchmarks.nli.generations import (
    Generations,
    generate,
    read_generations,
    samples_against,
)
from benchmarks.nli.methods import Parts
from benchmarks.nli.page import compact, markdown
from benchmarks.nli.truthfulqa import read

_PASSAGES = 3
"""Looked up for a contradicted claim."""


def bench(
    data: Dataset, folder: Path, settings: NLISettings, spoken: Generations, *, claims: bool
) -> Result:
    """The tables of one data set, its probabilities computed where they are not kept yet."""
    pairs = [(item.premise, item.claim) for item in data.items]
    names = {item.response for item in data.items}
    drawn = spoken.samples if names <= set(spoken.samples) else {}
    against = [samples_against(drawn.get(i.response, ()), i.claim) for i in data.items]
    sampled = [
        (sample, item.claim)
        for item, samples in zip(data.items, against, strict=True)
        for sample in samples
    ]
    cut: list[list[str]] = []
    if claims:
        cut = [[c.statement for c in extract_claims(i.claim)] or [i.claim] for i in data.items]
    parts = [(data.items[i].premise, claim) for i, some in enumerate(cut) for claim in some]
    file = folder / "probabilities.jsonl"
    frozen = freeze(file, pairs + sampled + parts, settings)
    probabilities, windows = frozen.of(pairs)
    contradicted = np.flatnonzero(classes(probabilities) == Decision.CONTRADICTED)
    found = BM25(dict.fromkeys(item.premise for item in data.items))
    again = [
        ("\n\n".join(found.search(data.items[i].claim, _PASSAGES)), data.items[i].claim)
        for i in contradicted
    ]
    looked_up = np.full_like(probabilities, np.nan)
    looked_up[contradicted] = freeze(file, again, settings).of(again)[0]
    samples = None
    if sampled:
        samples = mean_contradiction(frozen.of(sampled)[0], [len(s) for s in against])
    whole = None
    if cut:
        whole = Parts(np.nan_to_num(frozen.of(parts)[0]), np.array([len(some) for some in cut]))
    checked = spoken.self_check(data)
    return run(Inputs(data, probabilities, windows, samples, checked, looked_up, whole))


def mean_contradiction(rows: Floats, counts: list[int]) -> Floats:
    """The mean over each claim's samples of the probability that they contradict it."""
    owner = np.repeat(np.arange(len(counts)), counts)
    sums = np.bincount(owner, weights=np.nan_to_num(rows[:, 2]), minlength=len(counts))
    mean: Floats = sums / np.maximum(counts, 1)
    return mean


async def ask(sets: list[Dataset], path: Path, tier: str) -> None:
    """Samples and self-checks of a model, kept at ``path``."""
    from ancrage.llm import LLM

    async with LLM.configured() as llm:
        for data in sets:
            if any(item.question for item in data.items):
                await generate(path, data, llm, tier)


def main() -> None:
    """Print one table a data set, and leave all of them and the plots in the folder."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("files", nargs="+")
    parser.add_argument("--model", required=True)
    parser.add_argument("--out", type=Path, default=Path("nli-bench"))
    parser.add_argument("--window", type=int, default=0)
    parser.add_argument("--limit", type=int, default=0)
    parser.add_argument("--tier", default="")
    parser.add_argument("--claims", action="store_true")
    parser.add_argument("--dtype", default="float32")
    options = parser.parse_args()
    settings = NLISettings(model=options.model, offline=True, dtype=options.dtype)
    if options.window:
        settings = settings.model_copy(update={"window": options.window})
    options.out.mkdir(parents=True, exist_ok=True)
    sets = [read(Path(file), options.limit or None) for file in options.files]
    written = options.out / "generations.jsonl"
    if options.tier:
        asyncio.run(ask(sets, written, options.tier))
    spoken = read_generations(written)
    results = [bench(data, options.out, settings, spoken, claims=options.claims) for data in sets]
    dump = [result.model_dump() for result in results]
    (options.out / "results.json").write_text(json.dumps(dump, indent=1), encoding="utf-8")
    tables = "\n".join([compact(results), *map(markdown, results)])
    (options.out / "tables.md").write_text(tables, encoding="utf-8")
    plots.dead_zone(options.out / "dead-zone.png")
    plots.sweep(results, options.out / "sweep.png")
    for result in results:
        name = result.dataset.lower().replace("/", "-")
        plots.f1_bars(result, options.out / f"f1-{name}.png")
        plots.kinds(result, options.out / f"errors-{name}.png")
    print(tables)


if __name__ == "__main__":
    try:
        main()
    except AncrageError as error:
        raise SystemExit(str(error)) from None
