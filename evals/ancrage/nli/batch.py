"""The three commands at work: files in, files out, a table on the terminal."""

import asyncio
import json
from collections import Counter
from collections.abc import Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from pydantic import Field, ValidationError

from ancrage.domain import Frozen
from ancrage.errors import ExitCode, UsageError, describe
from ancrage.nli.bench import Inputs, Result, run
from ancrage.nli.calibrate import fit
from ancrage.nli.datasets import Dataset, read_dataset
from ancrage.nli.freeze import freeze
from ancrage.nli.generation import llm_correct, llm_recall
from ancrage.nli.generations import (
    Generations,
    generate,
    read_generations,
    samples_against,
    simulated,
)
from ancrage.nli.model import NLIModel, Pair
from ancrage.nli.page import cells, html, markdown
from ancrage.nli.retrieval import BM25
from ancrage.nli.rules import rule_of
from ancrage.nli.settings import NLISettings
from ancrage.nli.thresholds import Floats
from ancrage.nli.verify import Verification, Verifier

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.console import Console


class Answer(Frozen):
    """One line of the file that ``invoke verify`` reads."""

    id: str | None = None
    question: str = ""
    answer: str
    reference: str | None = Field(default=None)
    context: str | list[str] | None = None
    domain: str = ""

    @property
    def premise(self) -> str | None:
        """The reference, or the context joined; None when there is neither."""
        if self.reference is not None or self.context is None:
            return self.reference
        return self.context if isinstance(self.context, str) else "\n\n".join(self.context)


def verify_file(
    file: str, out: str, settings: NLISettings, *, recall: bool, correct: bool, resume: bool
) -> ExitCode:
    """Verify the answers of ``file`` into ``out``, one line each, in order.

    Returns ``INCOMPLETE`` when a line could not be read or a claim not be scored.

    Raises:
        UsageError: the file, the model or the settings cannot be used.
    """
    source = Path(file)
    if not source.is_file():
        raise UsageError(f"{file}: no such file")
    target = Path(out) if out else source.with_suffix(".verified.jsonl")
    done = _done(target) if resume else {}
    if target.exists() and not resume:
        raise UsageError(f"{target} exists: give another --out, or --resume")
    rule = rule_of(settings)
    retriever = BM25.folder(settings.documents) if settings.documents else None
    model = NLIModel.load(settings)

    async def work() -> tuple[Counter[str], list[str]]:
        counts: Counter[str] = Counter()
        faults: list[str] = []
        async with AsyncExitStack() as stack:
            llm = None
            if recall or correct:
                from ancrage.llm import LLM

                llm = await stack.enter_async_context(LLM.configured())
            verifier = Verifier(
                judge=model.judge,
                rule=rule,
                recall=llm_recall(llm, settings.tier) if llm and recall else None,
                correct=llm_correct(llm, settings.tier) if llm and correct else None,
                retriever=retriever,
            )
            target.parent.mkdir(parents=True, exist_ok=True)
            with target.open("a", encoding="utf-8") as lines:
                for name, item in _answers(source, faults):
                    result = done.get(name)
                    if result is None:
                        result = await verifier.verify(
                            item.answer, item.question, item.premise, id=name, domain=item.domain
                        )
                        lines.write(result.model_dump_json() + "\n")
                        lines.flush()
                    counts.update(_tally(result))
        return counts, faults

    counts, faults = asyncio.run(work())
    _show_verified(counts, faults, target)
    return ExitCode.INCOMPLETE if faults or counts["unscored"] else ExitCode.OK


def _done(target: Path) -> dict[str, Verification]:
    """What an earlier run verified; a torn line is taken out of the file and done again."""
    if not target.is_file():
        return {}
    found: dict[str, Verification] = {}
    good: list[bytes] = []
    # Not splitlines: an answer may hold other line separators.
    for line in target.read_bytes().split(b"\n"):
        try:
            result = Verification.model_validate_json(line)
        except ValidationError:
            continue
        found[result.id] = result
        good.append(line + b"\n")
    target.write_bytes(b"".join(good))
    return found


def _answers(source: Path, faults: list[str]) -> Iterator[tuple[str, Answer]]:
    """The answers with their ids; what cannot be read goes to ``faults``, one line each."""
    seen: set[str] = set()
    with source.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            line = line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line
            if not line.strip():
                continue
            try:
                item = Answer.model_validate_json(line)
            except ValidationError as error:
                faults.append(f"{source}:{number}: {describe(error)}")
                continue
            name = item.id or f"line-{number}"
            if name in seen:
                faults.append(f"{source}:{number}: id: {name!r} occurs twice")
                continue
            seen.add(name)
            yield name, item


def _tally(result: Verification) -> Counter[str]:
    counts: Counter[str] = Counter(result.counts)
    counts["answers"] = 1
    counts["corrected"] = sum(bool(v.correction and v.correction.used) for v in result.verdicts)
    counts["correction failed"] = sum(
        bool(v.correction and not v.correction.used) for v in result.verdicts
    )
    counts.update({f"flag {flag}": 1 for flag in result.flags})
    return counts


def _show_verified(counts: "Counter[str]", faults: list[str], target: Path) -> None:
    from rich.table import Table

    console = _console()
    table = Table("", "count", title="Verification")
    names = ["answers", "claims", "accepted", "kept", "correct", "unscored"]
    names += [name for name in ("corrected", "correction failed") if counts[name]]
    for name in [*names, *sorted(n for n in counts if n.startswith("flag "))]:
        table.add_row(name, str(counts[name]))
    console.print(table)
    for fault in faults:
        console.print(fault, markup=False, style="red")
    console.print(f"verdicts in {target}", markup=False)


def calibrate_file(
    file: str,
    out: str,
    settings: NLISettings,
    alpha: float,
    precision: float,
    delta: float,
    *,
    frozen: str = "",
) -> None:
    """Fit on the labelled claims of ``file`` and store the calibration at ``out``.

    Raises:
        UsageError: a rate is not within (0, 1), or the data cannot be used.
    """
    for name, value in (("alpha", alpha), ("precision", precision), ("delta", delta)):
        if not 0 < value < 1:
            raise UsageError(f"--{name} {value}: must lie between 0 and 1")
    data = read_dataset(file)
    kept = Path(frozen) if frozen else Path(file).with_suffix(".frozen.jsonl").absolute()
    pairs = [(item.premise, item.claim) for item in data.items]
    table = freeze(kept, pairs, lambda: NLIModel.load(settings), _progress())
    probabilities, windows = table.of(pairs)
    labelled = Inputs(data, probabilities, windows).scored()
    fitted = fit(
        labelled.data.labelled(labelled.probabilities, labelled.windows),
        alpha=alpha,
        precision=precision,
        delta=delta,
        model=table.facts,
    )
    Path(out).write_text(fitted.model_dump_json(indent=2) + "\n", encoding="utf-8")
    correction = f"from {fitted.correction:.2f}" if fitted.correction <= 1 else "never"
    _console().print(
        f"{len(data.items)} claims; flagged from q′ = {fitted.threshold:.3f} (FNR ≤ {alpha}), "
        f"corrected {correction}; written to {out}",
        markup=False,
    )


def bench_files(
    files: list[str],
    out: str,
    settings: NLISettings,
    limit: int | None,
    generations: str,
    tier: str,
) -> None:
    """Run the benchmark on ``files`` into the folder ``out``.

    Raises:
        UsageError: a file or the model cannot be used.
    """
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    sets = [read_dataset(file, limit=limit) for file in files]
    written = Path(generations) if generations else folder / "generations.jsonl"
    if tier:
        asyncio.run(_generate(sets, written, tier))
    spoken = read_generations(written)
    results: list[Result] = []
    facts: dict[str, str | int | None] = {}
    for data in sets:
        # The model is told by the frozen file; without it, its weights would be loaded.
        result, facts = _bench(data, folder, settings, spoken)
        results.append(result)
    _write(folder, results, facts)


async def _generate(sets: list[Dataset], path: Path, tier: str) -> None:
    from ancrage.llm import LLM

    async with LLM.configured() as llm:
        for data in sets:
            if any(item.question for item in data.items):
                await generate(path, data, llm, tier)


def _bench(
    data: Dataset, folder: Path, settings: NLISettings, spoken: Generations
) -> tuple[Result, dict[str, str | int | None]]:
    pairs: list[Pair] = [(item.premise, item.claim) for item in data.items]
    names = {item.response for item in data.items}
    drawn = spoken
    if not names <= set(spoken.samples) and all(item.question for item in data.items):
        drawn = simulated(data)
    against = [samples_against(drawn.samples.get(i.response, ()), i.claim) for i in data.items]
    sampled = [
        (sample, item.claim)
        for item, samples in zip(data.items, against, strict=True)
        for sample in samples
    ]
    frozen = freeze(
        folder / "probabilities.jsonl",
        pairs + sampled,
        lambda: NLIModel.load(settings),
        _progress(),
    )
    probabilities, windows = frozen.of(pairs)
    inputs = Inputs(
        data,
        probabilities,
        windows,
        _mean_contradiction(frozen.of(sampled)[0], [len(s) for s in against]) if sampled else None,
        spoken.self_check(data),
    )
    result = run(inputs)
    if drawn is not spoken:
        rows = [
            row.model_copy(update={"note": f"simulated samples; {row.note}"})
            if row.method.startswith("sampling")
            else row
            for row in result.rows
        ]
        result = result.model_copy(update={"rows": tuple(rows)})
    return result, frozen.facts


def _mean_contradiction(rows: Floats, counts: list[int]) -> Floats:
    owner = np.repeat(np.arange(len(counts)), counts)
    contradiction = np.nan_to_num(rows[:, 2])
    sums = np.bincount(owner, weights=contradiction, minlength=len(counts))
    mean: Floats = sums / np.maximum(counts, 1)
    return mean


def _write(folder: Path, results: list[Result], facts: dict[str, str | int | None]) -> None:
    from rich.table import Table

    from ancrage.nli import plots

    dump = {"model": facts, "results": [result.model_dump() for result in results]}
    (folder / "results.json").write_text(json.dumps(dump, indent=1), encoding="utf-8")
    (folder / "tables.md").write_text("\n".join(map(markdown, results)), encoding="utf-8")
    images = [plots.dead_zone(folder / "dead-zone.png"), plots.sweep(results, folder / "sweep.png")]
    images += [
        plots.f1_bars(r, folder / f"f1-{r.dataset.lower().replace('/', '-')}.png") for r in results
    ]
    shown = {**facts, **_latency(folder)}
    (folder / "bench.html").write_text(html(results, shown, images), encoding="utf-8")
    console = _console()
    for result in results:
        table = Table(
            "Method", "Accuracy", "Precision", "Recall", "F1", "Rate after", "Undecided",
            title=f"{result.dataset}: {result.claims} claims",
        )  # fmt: skip
        for row in result.rows:
            table.add_row(*cells(row)[:7])
        console.print(table)
    console.print(f"tables, plots and page in {folder}", markup=False)


def _latency(folder: Path) -> dict[str, str]:
    """Quantiles of the seconds a pair took, over the chunks that were computed."""
    path = folder / "latency.jsonl"
    if not path.is_file():
        return {}
    records = [json.loads(line) for line in path.read_text().splitlines() if line.strip()]
    each = [record["seconds"] / record["pairs"] * 1000 for record in records]
    low, mid, high = np.quantile(each, [0.05, 0.5, 0.95])
    return {"ms a pair (5, 50, 95 % of chunks)": f"{low:.1f}, {mid:.1f}, {high:.1f}"}


def _console() -> "Console":
    from rich.console import Console

    return Console()


def _progress() -> "Callable[[int, int], None] | None":
    """A line on standard error now and then, where someone watches."""
    import sys

    from rich.console import Console

    if not sys.stderr.isatty():
        return None
    console = Console(stderr=True)
    return lambda done, total: console.print(f"{done} of {total} pairs", end="\r", markup=False)
