"""Commands killed at random moments, taken up again, and held against ones left in peace.

``python -m benchmarks.crashes``: for each way of working, 30 times in a new folder, SIGKILL at a
time drawn between the start and the usual end, then the same command again or ``--resume``. A
kill is *survived* when the second command ends well and the record holds every case once, with
the very lines of a run left in peace; for a snapshot, when it is absent or whole after the kill
and has the usual hash after the second command. Takes 15 minutes on a busy machine; ``--kills 3``
for a look.
"""

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

CASES = 600
MESSAGES = 300
ANCRAGE = Path(sys.executable).with_name("ancrage")


@dataclass(frozen=True)
class Way:
    """A command to kill, how to take it up, and what it leaves when all is well."""

    name: str
    start: tuple[str, ...]
    resume: tuple[str, ...]
    left: Callable[[Path], object]
    """What the folder of a project holds, to be held against that of an undisturbed run."""
    began: Callable[[Path], bool]
    """Whether there is something to take up; else the command is given again."""


def journal(path: Path) -> list[tuple[str, str]]:
    """Each case of a journal and what its line holds, in the order of their names."""
    entries = (json.loads(line) for line in path.read_bytes().splitlines())
    return sorted((entry["case_id"], json.dumps(entry, sort_keys=True)) for entry in entries)


def run_left(project: Path) -> object:
    run = project / "runs/k"
    manifest = json.loads((run / "manifest.json").read_text())
    scorings = [
        (json.loads((path / "manifest.json").read_text())["state"], journal(path / "scores.jsonl"))
        for path in sorted(run.glob("scorings/*"))
    ]
    return manifest["state"], manifest["counts"], journal(run / "outputs.jsonl"), scorings


def snapshot_left(project: Path) -> object:
    found = sorted(path.name for path in (project / "taken").iterdir() if path.name[0] != ".")
    manifest = json.loads((project / "taken/s/manifest.json").read_text())
    return found, manifest["counts"], manifest["hash"]


def has_run(project: Path) -> bool:
    return (project / "runs/k").exists()


def experiment(workers: int) -> Way:
    start = ("experiment", "--snapshot", "snap", "--run-name", "k", "--workers", str(workers))
    resume = ("experiment", "--resume", "k", "--workers", str(workers))
    return Way(
        f"experiment, {workers} process{'es' * (workers > 1)}", start, resume, run_left, has_run
    )


_TAKE = ("snapshot", "--source", "answers.jsonl", "--studies", "messages.jsonl")
TAKE = (*_TAKE, "--pseudonymise", "none", "--out")
REPLAY = (
    "replay",
    "--snapshot",
    "snap",
    "--mock",
    "mock.json",
    "--run-name",
    "k",
    "--no-preflight",
)
WAYS = (
    Way(
        "snapshot", (*TAKE, "taken/s"), (*TAKE, "taken/s"), snapshot_left,
        lambda project: (project / "taken/s").exists(),
    ),
    experiment(1),
    experiment(2),
    Way("replay --mock", REPLAY, ("replay", "--resume", "k", "--no-preflight"), run_left, has_run),
)  # fmt: skip


def project(path: Path) -> None:
    """A folder with answers, messages, mock answers and the snapshot of them."""
    path.mkdir()
    answers = [
        {
            "id": f"c{n:05d}", "study_id": "s", "question": f"Question {n} ?",
            "answer": f"« rien à dire, message {n % MESSAGES} » [R-{n % MESSAGES:03d}, "
            f"M-{n % MESSAGES:04d}], et encore {n}.",
        }
        for n in range(CASES)
    ]  # fmt: skip
    messages = [
        {
            "id": f"M-{n:04d}",
            "respondent_id": f"R-{n:03d}",
            "text": f"Ah, rien à dire, message {n}.",
        }
        for n in range(MESSAGES)
    ]
    for name, rows in (("answers", answers), ("messages", messages)):
        (path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    mock = [{"id": answer["id"], "answer": answer["answer"]} for answer in answers]
    (path / "mock.json").write_text(json.dumps(mock))
    (path / "evals.toml").write_text(
        '[assistant]\nuse = "mine:answer"\n\n[tiers.standard]\nmodel = "mock"\n'
    )
    (path / "mine.py").write_text("def answer(question):\n    return question\n")
    ended = command(path, (*TAKE, "snap"))
    if ended.returncode:
        raise SystemExit(ended.stderr)


def command(path: Path, words: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """The command done, undisturbed."""
    return subprocess.run([ANCRAGE, *words], cwd=path, capture_output=True, text=True, check=False)


def killed(path: Path, words: Sequence[str], after: float) -> bool:
    """Start the command and kill its process alone ``after`` seconds; whether it still ran.

    Raises:
        AssertionError: a worker outlives its parent by ten seconds.
    """
    quiet = subprocess.DEVNULL
    process = subprocess.Popen(
        [ANCRAGE, *words], cwd=path, stdout=quiet, stderr=quiet, start_new_session=True
    )
    try:
        process.wait(after)
        return False
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    for _ in range(100):
        try:
            os.killpg(process.pid, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.1)
    os.killpg(process.pid, signal.SIGKILL)
    raise AssertionError("a worker outlives its parent")


def trial(way: Way, template: Path, path: Path, after: float, expected: object) -> str:
    """One kill and what became of it: ``survived``, ``ended before``, or what is wrong."""
    shutil.copytree(template, path)
    try:
        if not killed(path, way.start, after):
            return "ended before"
    except AssertionError as error:
        return str(error)
    began = way.began(path)
    if began and way.left is snapshot_left:  # whole, or not there
        ended = command(path, ("experiment", "--snapshot", "taken/s", "--run-name", "probe"))
    else:
        ended = command(path, way.resume if began else way.start)
    if ended.returncode:
        return f"exit {ended.returncode}: {(ended.stderr.strip().splitlines() or [''])[-1]}"
    return "survived" if way.left(path) == expected else "lost or twice"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--kills", type=int, default=30, help="for each way of working")
    parser.add_argument("--only", default="", help="ways of working whose name begins so")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    chance = random.Random(options.seed)
    print(f"{'way of working':26} kills  survived")
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        template = root / "project"
        project(template)
        for way in (way for way in WAYS if way.name.startswith(options.only)):
            took = []
            for _ in range(2):  # the first finds its files cold
                shutil.rmtree(root / "whole", ignore_errors=True)
                shutil.copytree(template, root / "whole")
                began = time.perf_counter()
                ended = command(root / "whole", way.start)
                took.append(time.perf_counter() - began)
                if ended.returncode:
                    raise SystemExit(ended.stderr)
            usual, expected = min(took), way.left(root / "whole")
            results: Counter[str] = Counter()
            while results.total() - results["ended before"] < options.kills:
                outcome = trial(way, template, root / "trial", chance.random() * usual, expected)
                results[outcome] += 1
                shutil.rmtree(root / "trial")
            shutil.rmtree(root / "whole")
            del results["ended before"]
            wrong = "; ".join(f"{n} × {what}" for what, n in results.items() if what != "survived")
            print(
                f"{way.name:26} {results.total():5}  {results['survived']:8}  {wrong}", flush=True
            )


if __name__ == "__main__":
    main()
