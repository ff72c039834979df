"""Frozen probabilities: computed once, kept line by line, so that tables need no model."""

import hashlib
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ancrage.errors import UsageError
from ancrage.nli import NLIModel, NLISettings
from ancrage.nli.model import Pair
from ancrage.nli.thresholds import Floats, Ints

_CHUNK = 256
"""Pairs between two writes."""


@dataclass(frozen=True)
class Frozen:
    """Probabilities by pair, as a file keeps them, and what computed them."""

    rows: dict[str, tuple[float, float, float, int]]
    """By key of the pair: entailment, neutral, contradiction, windows; NaN where unscored."""
    facts: dict[str, str | int | None]

    def of(self, pairs: Sequence[Pair]) -> tuple[Floats, Ints]:
        """Probabilities, shape (n, 3), and windows of ``pairs``.

        Raises:
            UsageError: some pair has not been computed.
        """
        keys = [key(pair) for pair in pairs]
        missing = sum(k not in self.rows for k in keys)
        if missing:
            raise UsageError(f"{missing} of {len(keys)} pairs are not frozen: run with the model")
        table = np.array([self.rows[k] for k in keys], dtype=float).reshape(-1, 4)
        return table[:, :3], table[:, 3].astype(np.int64)


def key(pair: Pair) -> str:
    """What a pair is known by."""
    return hashlib.sha256("\x00".join(pair).encode()).hexdigest()[:24]


def read_frozen(path: Path) -> Frozen:
    """What ``path`` keeps; nothing when there is no such file. A torn last line is left out."""
    rows: dict[str, tuple[float, float, float, int]] = {}
    facts: dict[str, str | int | None] = {}
    if not path.is_file():
        return Frozen(rows, facts)
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            record = json.loads(line)
        except ValueError:
            continue
        if "facts" in record:
            facts = record["facts"]
        else:
            e, n, c = (float("nan") if p is None else p for p in record["p"])
            rows[record["key"]] = (e, n, c, record["windows"])
    return Frozen(rows, facts)


def freeze(
    path: Path,
    pairs: Sequence[Pair],
    settings: NLISettings,
    on_progress: Callable[[int, int], None] | None = None,
) -> Frozen:
    """Compute what ``path`` does not hold yet, writing as it goes; a killed run takes up there.

    Processor time goes beside it, one line a chunk, to ``latency.jsonl``.

    Raises:
        UsageError: the file was computed by another model.
    """
    known = read_frozen(path)
    asked = {"model": settings.model, "window": settings.window}
    made = {name: known.facts[name] for name in asked if known.facts}
    if made and made != asked:
        raise UsageError(f"{path} was computed by {made}, not {asked}: use another --out")
    wanted = {key(pair): pair for pair in pairs}
    todo = [k for k in wanted if k not in known.rows]
    if not todo:
        return known
    model = NLIModel.load(settings)
    if known.facts and known.facts != model.facts:
        raise UsageError(
            f"{path} was computed by {known.facts}, not {model.facts}: use another --out"
        )
    # Short inputs with short ones, so that batches waste little; each chunk is one write.
    todo.sort(key=lambda k: sum(map(len, wanted[k])))
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as out, (path.parent / "latency.jsonl").open("a") as log:
        if known.rows or path.stat().st_size:
            out.write("\n")
        if not known.facts:
            out.write(json.dumps({"facts": model.facts}) + "\n")
        for start in range(0, len(todo), _CHUNK):
            chunk = todo[start : start + _CHUNK]
            began = time.process_time()
            judged = model.judge([wanted[k] for k in chunk])
            seconds = time.process_time() - began
            for k, row, windows in zip(chunk, judged.probabilities, judged.windows, strict=True):
                values = [None if np.isnan(p) else float(p) for p in row]
                out.write(json.dumps({"key": k, "p": values, "windows": int(windows)}) + "\n")
            out.flush()
            log.write(json.dumps({"stage": "nli", "pairs": len(chunk), "seconds": seconds}) + "\n")
            if on_progress:
                on_progress(start + len(chunk), len(todo))
    return read_frozen(path)
