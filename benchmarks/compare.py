"""Compare two runs of 10,000 cases, beside the same pairing done with pandas and scipy.

    python -m benchmarks.compare [--cases 10000]

The alternative reads the same journals with ``json``, pairs them with ``pandas.merge`` and tests
each mode with ``scipy.stats.permutation_test`` (9,999 sign flips of the studies' sums): the usual
way to do it by hand. Both in one process, in turns, the best of three; what to read is the ratio.
"""

import argparse
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import permutation_test

from ancrage.compare.paired import compare
from ancrage.compare.results import read_results
from ancrage.compare.terminal import read_items
from ancrage.runs import RunFolder
from ancrage.snapshot import open_snapshot
from tests.compare.runs import world, write_run

MODES = tuple(f"mode_{at}" for at in range(8))


def build(root: Path, cases: int) -> tuple[RunFolder, RunFolder]:
    """Two runs on disk over one snapshot, eight modes, 500 words an answer."""
    rng = random.Random(1)
    data = world(root / "snapshot", cases, max(1, cases // 50))
    answer = " ".join("mot" * (1 + at % 3) for at in range(500))
    folders = []
    for name, shift in (("before", 0.0), ("after", 0.02)):
        outcomes = {
            mode: [float(rng.random() < 0.05 + shift) for _ in range(cases)] for mode in MODES
        }
        answers = {f"c{at:03d}": answer for at in range(cases)}
        folders.append(write_run(root / "runs", data, name, outcomes, answers=answers))
    return folders[0], folders[1]


def ours(first: RunFolder, second: RunFolder) -> float:
    """The comparison, from the disk, with the answers of the cases to show."""
    found = compare((read_results(first),), (after := read_results(second),))
    read_items(after, found.newly_failing[:5])
    return max(mode.difference or 0.0 for mode in found.modes)


def by_hand(first: RunFolder, second: RunFolder) -> float:
    """The same with json, pandas and scipy."""
    studies = {case.id: case.study_id for case in open_snapshot(_snapshot(first)).cases()}
    frames = []
    for folder in (first, second):
        lines = (folder.path / "scorings/001/scores.jsonl").read_text().splitlines()
        rows = [
            (entry["case_id"], score["name"], score.get("value"))
            for entry in map(json.loads, lines)
            for evaluation in entry["evaluations"]
            for score in evaluation["scores"]
        ]
        frames.append(pd.DataFrame(rows, columns=["case", "mode", "value"]))
    merged = frames[0].merge(frames[1], on=["case", "mode"])
    merged["change"] = (merged.value_y > 0).astype(float) - (merged.value_x > 0).astype(float)
    merged["study"] = merged.case.map(studies)
    largest = 0.0
    for _, part in merged.groupby("mode"):
        sums = part.groupby("study").change.sum().to_numpy()
        permutation_test(
            (sums,), np.sum, permutation_type="samples", n_resamples=9_999, vectorized=True, rng=1
        )
        largest = max(largest, float(part.change.mean()))
    return largest


def _snapshot(folder: RunFolder) -> Path:
    return folder.path / folder.run.snapshot.path


def best_of(times: int, *functions: Callable[[], object]) -> list[float]:
    """The shortest of several processor times of each function, in seconds, taken in turns."""
    found: list[list[float]] = [[] for _ in functions]
    for _ in range(times):
        for at, function in enumerate(functions):
            start = time.process_time()
            function()
            found[at].append(time.process_time() - start)
    return [min(each) for each in found]


def command(root: Path) -> tuple[float, float]:
    """Wall time and processor time of the whole command, start-up and terminal included."""
    code = "from ancrage.cli.app import main; main()"
    arguments = [sys.executable, "-c", code, "compare", "before", "after"]
    best = (float("inf"), float("inf"))
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        start = time.perf_counter()
        subprocess.run(arguments, cwd=root, check=True, capture_output=True)
        wall = time.perf_counter() - start
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        best = min(best, (wall, spent))
    return best


def main() -> None:
    """Build both runs, then time each way."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=10_000)
    cases = parser.parse_args().cases
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        first, second = build(root, cases)
        assert abs(ours(first, second) - by_hand(first, second)) < 1e-9
        mine, other = best_of(3, lambda: ours(first, second), lambda: by_hand(first, second))
        wall, spent = command(root)
    print(f"compare, 2 runs × {cases} cases × {len(MODES)} modes: {mine:.2f} s of processor")
    print(f"json + pandas + scipy: {other:.2f} s of processor, ratio {other / mine:.1f}")
    print(f"the whole command: {wall:.2f} s (goal 3 s), {spent:.2f} s of processor")


if __name__ == "__main__":
    main()
