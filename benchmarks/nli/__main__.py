"""Every NLI method on labelled claims, on the same splits: tables, plots, probabilities kept.

Run ``python -m benchmarks.nli FILE… --model FOLDER [--out DIR] [--window N] [--tier NAME]``. The
files are those that ``ancrage calibrate --nli`` reads. Probabilities are computed once and kept in
the folder, with the facts of their model, so that tables need no model; another model or window
than theirs is refused. With ``--tier`` a model of the configuration is asked for sampled answers
and for checks of its own claims, where the file has questions.
"""

import argparse
import asyncio
import json
from pathlib import Path

import numpy as np

from ancrage.errors import AncrageError
from ancrage.nli import NLISettings
from ancrage.nli.labelled import Dataset, read_dataset
from ancrage.nli.thresholds import Floats
from benchmarks.nli import plots
from benchmarks.nli.bench import Inputs, Result, run
from benchmarks.nli.freeze import freeze
from benchmarks.nli.generations import (
    Generations,
    generate,
    read_generations,
    samples_against,
)
from benchmarks.nli.page import markdown


def bench(data: Dataset, folder: Path, settings: NLISettings, spoken: Generations) -> Result:
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
    frozen = freeze(folder / "probabilities.jsonl", pairs + sampled, settings)
    probabilities, windows = frozen.of(pairs)
    samples = None
    if sampled:
        samples = mean_contradiction(frozen.of(sampled)[0], [len(s) for s in against])
    return run(Inputs(data, probabilities, windows, samples, spoken.self_check(data)))


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
    options = parser.parse_args()
    settings = NLISettings(model=options.model, offline=True, dtype="float32")
    if options.window:
        settings = settings.model_copy(update={"window": options.window})
    options.out.mkdir(parents=True, exist_ok=True)
    sets = [read_dataset(file, limit=options.limit or None) for file in options.files]
    written = options.out / "generations.jsonl"
    if options.tier:
        asyncio.run(ask(sets, written, options.tier))
    spoken = read_generations(written)
    results = [bench(data, options.out, settings, spoken) for data in sets]
    dump = [result.model_dump() for result in results]
    (options.out / "results.json").write_text(json.dumps(dump, indent=1), encoding="utf-8")
    tables = "\n".join(map(markdown, results))
    (options.out / "tables.md").write_text(tables, encoding="utf-8")
    plots.dead_zone(options.out / "dead-zone.png")
    plots.sweep(results, options.out / "sweep.png")
    for result in results:
        name = result.dataset.lower().replace("/", "-")
        plots.f1_bars(result, options.out / f"f1-{name}.png")
    print(tables)


if __name__ == "__main__":
    try:
        main()
    except AncrageError as error:
        raise SystemExit(str(error)) from None
