"""Foreign bytes put to each reader for minutes, led by the branches that they take.

``python -m benchmarks.fuzz TARGET --minutes 10``, with a target of ``tests/fuzz/targets.py``, or
``all`` of them in turn. atheris (``pip install atheris``; Google's libFuzzer for Python) measures
which branches of ``ancrage`` an input reaches and keeps those that reach new ones in ``--keep``.
JSON is also changed as a tree, so that it stays JSON. A find is written there once for each place
it is raised at, with its traceback; the fuzzing goes on. Beside the finds stand the executions
and the inputs kept: a target of which nothing new was reached has not been fuzzed.
"""

import argparse
import hashlib
import json
import random
import subprocess
import sys
import time
import traceback
from collections import Counter
from pathlib import Path
from typing import Any

SLOWEST = 10.0
"""Seconds of processor time that an input may take."""
LONGEST = 4096
"""Bytes of an input."""


def fuzz(name: str, minutes: float, keep: Path, seed: int) -> None:
    """Fuzz one target in this process, which libFuzzer ends."""
    import atheris

    with atheris.instrument_imports(include=["ancrage"]):
        from tests.fuzz.targets import CORPUS, TARGETS

    target = TARGETS[name]
    finds: Counter[str] = Counter()
    started, done, last = time.monotonic(), 0, 0.0

    def one(data: bytes) -> None:
        nonlocal done, last
        done += 1
        began = time.process_time()
        try:
            target(data)
            took = time.process_time() - began
            if took > SLOWEST:
                raise TimeoutError(f"{took:.0f} s of processor time")
        except Exception as error:  # noqa: BLE001  whatever it is, it is a find
            note(error, data)
        if time.monotonic() - last > 1:
            last = time.monotonic()
            told()

    def note(error: Exception, data: bytes) -> None:
        frames = traceback.extract_tb(error.__traceback__)
        ours = [
            frame for frame in frames if "ancrage" in frame.filename or "fuzz" in frame.filename
        ]
        place = f"{type(error).__name__} at {Path(ours[-1].filename).name}:{ours[-1].lineno}"
        finds[place] += 1
        if finds[place] == 1:
            stem = keep / "finds" / hashlib.sha256(place.encode()).hexdigest()[:12]
            stem.parent.mkdir(parents=True, exist_ok=True)
            stem.with_suffix(".bin").write_bytes(data)
            stem.with_suffix(".txt").write_text(
                f"{place}\n\n{traceback.format_exc()}", encoding="utf-8", errors="backslashreplace"
            )

    def told() -> None:
        (keep / "state.json").write_text(
            json.dumps({"executions": done, "finds": finds, "seconds": time.monotonic() - started})
        )

    def mutate(data: bytes, most: int, number: int) -> bytes:
        chance = random.Random(number)
        if chance.random() < 0.6:
            try:
                tree = _changed(json.loads(data), chance)
                return json.dumps(tree, ensure_ascii=chance.random() < 0.5).encode(
                    "utf-8", "replace"
                )[:most]
            except (ValueError, RecursionError):
                pass
        return bytes(atheris.Mutate(data, most))

    found = keep / "corpus"
    found.mkdir(parents=True, exist_ok=True)
    words = [
        "-rss_limit_mb=4096", f"-max_total_time={round(minutes * 60)}", f"-max_len={LONGEST}",
        "-timeout=300", f"-seed={seed + 1}", "-verbosity=0", f"-artifact_prefix={keep}/",
        str(found), str(CORPUS / name),
    ]  # fmt: skip
    told()
    trees = {"custom_mutator": mutate} if name in ("replies", "traces") else {}
    atheris.Setup([sys.argv[0], *words], one, **trees)
    atheris.Fuzz()


def _changed(value: Any, chance: random.Random, depth: int = 0) -> Any:
    """The tree with a node or two replaced, dropped, doubled, wrapped or written as text."""
    if isinstance(value, dict | list) and value and chance.random() < 0.85 and depth < 20:
        keys = list(value) if isinstance(value, dict) else list(range(len(value)))
        key = chance.choice(keys)
        copy: Any = dict(value) if isinstance(value, dict) else list(value)
        if chance.random() < 0.1:
            del copy[key]
        elif chance.random() < 0.1 and isinstance(copy, list):
            copy.insert(chance.randrange(len(copy) + 1), copy[key])
        elif chance.random() < 0.1 and isinstance(copy, dict):
            copy[chance.choice(keys)] = copy[key]
        else:
            copy[key] = _changed(copy[key], chance, depth + 1)
        return copy
    odd = [
        None, True, 0, -1, 1e308, 10**30, "", " ", "\ud800", "é\u0000", [], {}, [None], [[]],
        {"": ""}, {"type": "text", "text": "t"}, {"role": "assistant", "content": None}, "{}",
        "[1]", value, [value], {"content": value}, str(value), json.dumps(value),
    ]  # fmt: skip
    return chance.choice(odd)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("target", help="its name, or all")
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--keep", type=Path, default=Path(".fuzz"), help="for inputs and finds")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.here:
        fuzz(options.target, options.minutes, options.keep, options.seed)
        return
    from tests.fuzz.targets import TARGETS  # after --here: atheris must see ancrage imported

    if options.target not in {*TARGETS, "all"}:
        parser.error(f"no target {options.target!r}: {', '.join(TARGETS)}, or all")
    print(f"{'target':12} {'seconds':>7} {'executions':>10} {'inputs kept':>11}  finds")
    for name in TARGETS if options.target == "all" else [options.target]:
        keep = options.keep / name
        words = [name, "--here", "--minutes", str(options.minutes), "--keep", str(keep)]
        keep.mkdir(parents=True, exist_ok=True)
        with (keep / "log.txt").open("wb") as log:
            ended = subprocess.run(
                [sys.executable, "-m", "benchmarks.fuzz", *words, "--seed", str(options.seed)],
                stdout=log, stderr=log, check=False,
            )  # fmt: skip
        state = json.loads((keep / "state.json").read_text())
        told = [f"{place} ({times} times)" for place, times in state["finds"].items()]
        told += [f"ended with {ended.returncode}, see {keep}/log.txt"] * bool(ended.returncode)
        kept = sum(1 for _ in (keep / "corpus").iterdir())
        print(
            f"{name:12} {state['seconds']:7.0f} {state['executions']:10,} {kept:11,}  "
            f"{'; '.join(told) or 'none'}",
            flush=True,
        )


if __name__ == "__main__":
    main()
