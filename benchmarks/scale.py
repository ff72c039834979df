"""What a large run costs: answers a second, memory, the page, beside a plain look-up.

Run ``python -m benchmarks.scale [ANSWERS …] [--ray]``; 5,000 and 20,000 by default. The answers
are made up: four quotes each, all verbatim, of a study of ten messages an answer. Every figure is
of a process of its own, its start and imports included; processor time is that of all its
processes. The named alternative is a regular expression, a dictionary and ``in``, with one line
written an answer: it knows no typography, elision, state, offset or explanation.
"""

import argparse
import asyncio
import json
import multiprocessing
import random
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path

from ancrage.checks import load_checks
from ancrage.config import Config
from ancrage.domain import Answer, Case, CaseInput, Message, Provenance, Question, Study
from ancrage.runs import RunView, create_run, find_run, recorded, run_experiment
from ancrage.runs.parallel import Pool, processes
from ancrage.snapshot import open_snapshot, write_snapshot
from ancrage.studies import Studies

TEXT = (
    "the app is fast and I like it because delivery takes too long when we order on weekends but "
    "people at the desk are kind although parking costs more than ten euros which feels unfair to "
    "families who live outside the city centre and use public transport after dark"
)
QUOTED = re.compile(r"“([^“”]+)” \[[^\]]*?(M-\d+)\]")
STEPS = ("plain look-up", "audit, 1 worker", "audit, 2 workers", "page", "show one answer", "query")
RAY = ("audit, Ray on 1", "audit, Ray on 2")


def study(messages: int) -> Study:
    """A study of messages of 12 to 40 words, three a respondent."""
    draw, words = random.Random(1), TEXT.split()
    return Study(
        id="s",
        language="en",
        questions=(Question(ref="Q1", text="What do you think?"),),
        messages=tuple(
            Message(
                id=f"M-{number:06d}",
                respondent_id=f"R-{number // 3:06d}",
                text=" ".join(draw.choices(words, k=draw.randint(12, 40))).capitalize() + ".",
                question_ref="Q1",
            )
            for number in range(messages)
        ),
    )


def cases(count: int, source: Study) -> Iterator[Case]:
    """Answers of four bulleted quotes of eight words."""
    draw = random.Random(2)
    for number in range(count):
        lines = ["Here is what people say:", ""]
        for message in draw.choices(source.messages, k=4):
            words = message.text.split()
            at = draw.randint(0, len(words) - 9)
            quote = " ".join(words[at : at + 8])
            lines.append(f"- “{quote}” [{message.respondent_id}, {message.id}]")
        yield Case(
            id=f"c{number:06d}",
            study_id=source.id,
            input=CaseInput(question="What do people say?"),
            output=Answer(text="\n".join(lines)),
            provenance=Provenance(source="benchmark", time=datetime(2026, 1, 1, tzinfo=UTC)),
        )


def plain(folder: Path) -> None:
    """Look each quote up with ``in``, without any state, offset or explanation."""
    found = json.loads(next((folder / "snap" / "studies").glob("*.json")).read_text())
    texts = {message["id"]: message["text"] for message in found["messages"]}
    failing = 0
    with (folder / "snap" / "cases.jsonl").open() as lines, (folder / "plain").open("w") as out:
        for line in lines:
            case = json.loads(line)
            quotes = QUOTED.findall(case["output"]["text"])
            failed = sum(words not in texts.get(message, "") for words, message in quotes)
            out.write(json.dumps({"case": case["id"], "failed": failed}) + "\n")
            failing += failed > 0
    if failing:
        raise SystemExit(f"{failing} made-up answers fail the plain look-up")


def audit(folder: Path, pool: Pool | None, name: str) -> None:
    """The loop that ``ancrage experiment`` runs: all checks, both journals."""
    snapshot, config = open_snapshot(folder / "snap"), Config(None, {})
    run = create_run(snapshot, kind="audit", root=folder / name)
    checks, sources = load_checks(config), Studies(snapshot, config)
    asyncio.run(run_experiment(run, snapshot.cases(), recorded, checks, sources, pool=pool))


def audit_on_ray(folder: Path, processors: int) -> None:
    """The same on a cluster of one machine."""
    import ray

    from ancrage.scale.cluster import cluster

    ray.init(num_cpus=processors, include_dashboard=False, log_to_driver=False)
    audit(folder, cluster(load_checks), f"ray{processors}")
    ray.shutdown()


def page(folder: Path) -> None:
    """The HTML page of the audit."""
    from ancrage.report.data import read_report
    from ancrage.report.html import write_html

    run = next((folder / "runs1").iterdir())
    write_html(read_report(RunView(find_run(run))), folder / "report.html")


def show(folder: Path) -> None:
    """What ``ancrage show`` reads: one answer of the run."""
    view = RunView(find_run(next((folder / "runs1").iterdir())))
    assert view.item("c000004").evaluations


def query(folder: Path) -> None:
    """Scores counted by mode, out of the journals."""
    from ancrage.scale.query import connected

    with connected([find_run(next((folder / "runs1").iterdir()))]) as runs:
        assert list(runs.rows("select mode, count(*), sum(value) from scores group by mode"))


def step(name: str, folder: Path) -> None:
    """One step in this process; prints what it cost."""
    plain_steps = {"plain look-up": plain, "page": page, "show one answer": show, "query": query}
    if name in plain_steps:
        plain_steps[name](folder)
    elif name in RAY:
        audit_on_ray(folder, int(name.split()[-1]))
    else:
        workers = int(name.split()[1])
        audit(folder, processes(workers), f"runs{workers}")
    for worker in multiprocessing.active_children():
        worker.join()  # what it used counts once it has ended
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    seconds = sum(use.ru_utime + use.ru_stime for use in used)
    print(json.dumps({"cpu": seconds, "memory": max(use.ru_maxrss for use in used) / 1024}))


def make(count: int, folder: Path) -> None:
    """A snapshot of ``count`` answers."""
    source = study(10 * count)
    write_snapshot(folder / "snap", cases(count, source), {"s": source}.get, source="benchmark")


def measure(count: int, steps: Iterable[str]) -> Iterator[str]:
    """The rows of the table for ``count`` answers."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        # In a process of its own: on Linux a child's peak memory begins with its parent's.
        made = [sys.executable, "-m", "benchmarks.scale", "--make", str(count), name]
        subprocess.run(made, check=True)
        for what in steps:
            began = time.perf_counter()
            command = [sys.executable, "-m", "benchmarks.scale", "--step", what, str(folder)]
            said = subprocess.check_output(command, stderr=subprocess.DEVNULL, text=True)
            found = json.loads(said.splitlines()[-1])
            wall = time.perf_counter() - began
            size = (folder / "report.html").stat().st_size / 2**20 if what == "page" else 0
            yield (
                f"{count:7,}  {what + (f', {size:.1f} MB' if size else ''):18}"
                f"{found['cpu']:11.1f}{count / found['cpu']:13,.0f}{wall:8.1f}"
                f"{found['memory']:11,.0f}"
            )


def main() -> None:
    """Measure and print."""
    options = argparse.ArgumentParser()
    options.add_argument("answers", type=int, nargs="*")
    options.add_argument("--ray", action="store_true")
    options.add_argument("--step", nargs=2)
    options.add_argument("--make", nargs=2)
    chosen = options.parse_args()
    if chosen.make:
        make(int(chosen.make[0]), Path(chosen.make[1]))
        return
    if chosen.step:
        step(chosen.step[0], Path(chosen.step[1]))
        return
    print("answers  step              processor s  answers / s  wall s  largest MB")
    for count in chosen.answers or [5_000, 20_000]:
        for row in measure(count, (*STEPS, *RAY) if chosen.ray else STEPS):
            print(row, flush=True)


if __name__ == "__main__":
    main()
