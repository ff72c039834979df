"""What an experiment costs beside the bare SDK, how many requests, and whether all comes back.

Run ``python -m benchmarks.langfuse``. The server is the strict one of the tests, on loopback, in a
process of its own. Both runners work on the same dataset with the same two evaluators, in turn;
ours also keeps the record, delivers the scores with fixed ids and reads everything back.
"""

import asyncio
import logging
import multiprocessing
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection as Pipe
from pathlib import Path
from statistics import median
from typing import Any

from langfuse import Evaluation, Langfuse

from ancrage.domain import Evaluation as Evaluated
from ancrage.domain import FailureMode, Output, OutputState, Score
from ancrage.evaluator import Subject
from ancrage.langfuse.connection import Connection, Credentials, Settings
from ancrage.langfuse.items import to_case
from ancrage.langfuse.publish import publish
from ancrage.langfuse.pull import pull
from ancrage.langfuse.push import push
from ancrage.langfuse.receipt import Receipt
from ancrage.langfuse.session import Follower, open_session
from ancrage.runs import (
    OnItem,
    RunFolder,
    RunView,
    create_run,
    find_run,
    recorded,
    run_experiment,
)
from ancrage.snapshot import Snapshot
from ancrage.studies import Studies
from tests.langfuse.worlds import EVALUATORS, case, snapshot
from tests.servers.langfuse_server import LangfuseServer

CASES = 300
ROUNDS = 3
LARGE = 1_000
CONCURRENCY = 50


def _serve(pipe: Pipe, slow: float, version: str) -> None:
    with LangfuseServer(version=version) as server:
        if slow:
            server.faults.slow["/scores"] = slow
        pipe.send((server.public_key, server.secret_key, server.url))
        while pipe.recv() == "count":
            writes = [path for method, path, _ in server.requests if method != "GET"]
            reads = len(server.requests) - len(writes)
            pipe.send({"writes": len(writes), "reads": reads, "scores": len(server.store.scores)})


@contextmanager
def serving(
    slow: float = 0.0, version: str = "4.59.0", **settings: Any
) -> Iterator[tuple[Connection, Callable[[], dict[str, int]]]]:
    """A server in another process, each POST of scores ``slow`` seconds: a connection to it, and
    what it has received."""
    here, there = multiprocessing.Pipe()
    arguments = (there, slow, version)
    process = multiprocessing.get_context("spawn").Process(target=_serve, args=arguments)
    process.start()
    public, secret, url = here.recv()
    chosen = Settings(**{"poll": 0.1, "deadline": 600, "concurrency": 8, **settings})
    connection = Connection(Credentials(public, secret, url), chosen)

    def count() -> dict[str, int]:
        here.send("count")
        found: dict[str, int] = here.recv()
        return found

    try:
        yield connection, count
    finally:
        connection.close()
        here.send("end")
        process.join()


class Six:
    """An evaluator of six failure modes; every third answer fails one."""

    name = "six"
    version = "1"
    kind = "check"
    modes = tuple(
        FailureMode(name=f"mode_{n}", title=f"Mode {n}", definition="Planted.") for n in range(6)
    )

    async def evaluate(self, subject: Subject) -> Evaluated:
        """One score a mode."""
        wrong = int(subject.case.id[1:]) % 18
        scores = (
            Score(name=mode.name, value=float(3 * n == wrong)) for n, mode in enumerate(self.modes)
        )
        return Evaluated(evaluator=self.name, version=self.version, scores=tuple(scores))


def ours(connection: Connection, dataset: str, root: Path, name: str) -> Receipt:
    """An experiment as ``ancrage experiment --dataset`` makes it."""
    session = open_session(connection, dataset)
    folder = create_run(
        session.snapshot, kind="audit", name=name, root=root, details=session.details(name)
    )
    with Follower(session, folder) as follower:
        audit(folder, session.snapshot, EVALUATORS, follower.on_item)
    return follower.finish()


def audit(
    folder: RunFolder, data: Snapshot, evaluators: Any, on_item: OnItem | None = None
) -> None:
    """Fill a run."""
    work = run_experiment(
        folder,
        data.cases(),
        recorded,
        evaluators,
        Studies(data),
        concurrency=CONCURRENCY,
        on_item=on_item,
    )
    assert asyncio.run(work).state == "complete"


def bare(connection: Connection, dataset: str, name: str) -> None:
    """The same through the SDK alone: it sends the scores, and nothing is read back."""
    keys = connection.credentials
    client = Langfuse(
        public_key=keys.public_key, secret_key=keys.secret_key, base_url=keys.base_url
    )
    found = client.get_dataset(dataset, fetch_items_page_size=100)
    cases = {item.id: to_case(item) for item in found.items}

    async def task(*, item: Any, **_: Any) -> dict[str, Any]:
        answer = cases[item.id].output
        return {"id": item.id, "answer": answer.text if answer else ""}

    def evaluator(each: Any) -> Any:
        async def evaluate(*, output: Any, **_: Any) -> list[Evaluation]:
            one = cases[output["id"]]
            made = Output(case_id=one.id, state=OutputState.OK, answer=one.output)
            said = await each.evaluate(Subject(one, made, None))
            return [
                Evaluation(
                    name=score.name,
                    value=score.value,
                    comment=" ".join(finding.explanation for finding in said.findings) or None,
                )
                for score in said.scores
                if score.value is not None
            ]

        return evaluate

    found.run_experiment(
        name=name,
        run_name=name,
        task=task,
        evaluators=[evaluator(each) for each in EVALUATORS],
        max_concurrency=CONCURRENCY,
    )


def overhead(root: Path) -> None:
    """Time per case of both, alternating."""
    cases = [case(number * 10) for number in range(CASES)]
    data = snapshot(root / "snapshots" / "s", cases)
    with serving() as (mine, _), serving() as (theirs, _):
        for connection in (mine, theirs):
            push(connection, data, "d")
        times: dict[str, list[float]] = {"ours": [], "bare": []}
        for turn in range(ROUNDS + 1):
            start = time.perf_counter()
            bare(theirs, "d", f"bare-{turn}")
            middle = time.perf_counter()
            receipt = ours(mine, "d", root / "runs", f"ours-{turn}")
            end = time.perf_counter()
            assert receipt.complete, str(receipt)
            if turn:  # The first warms both.
                times["bare"].append((middle - start) / CASES * 1e3)
                times["ours"].append((end - middle) / CASES * 1e3)
    ratios = [a / b for a, b in zip(times["ours"], times["bare"], strict=True)]
    print(f"{CASES} cases, {len(EVALUATORS)} evaluators, {ROUNDS} rounds, ms a case (median)")
    print(f"  bare SDK, scores sent, nothing read back      {median(times['bare']):6.2f}")
    print(f"  ours, recorded, scores delivered, read back   {median(times['ours']):6.2f}")
    print(f"  ratio {median(ratios):.2f} (from {min(ratios):.2f} to {max(ratios):.2f}; goal 1.5)")


def alone(root: Path) -> None:
    """Time per case of the loop with no Langfuse."""
    data = snapshot(root / "alone", [case(number * 10) for number in range(LARGE)])
    times = []
    for turn in range(ROUNDS):
        folder = create_run(data, kind="audit", name=f"alone-{turn}", root=root / "runs")
        start = time.perf_counter()
        run = run_experiment(folder, data.cases(), recorded, EVALUATORS, Studies(data))
        assert asyncio.run(run).state == "complete"
        times.append((time.perf_counter() - start) / LARGE * 1e3)
    print(f"with no Langfuse: {median(times):.3f} ms a case (goal 0.3)")


def one_by_one(root: Path) -> None:
    """The scores of a large run on a server that takes them one by one, at 50 ms a request."""
    data = snapshot(root / "single", LARGE)
    folder = create_run(data, kind="audit", name="single", root=root / "runs")
    audit(folder, data, [Six()])
    for concurrency in (4, 16):
        with serving(slow=0.05, version="4.16.0", concurrency=concurrency) as (connection, count):
            push(connection, data, "single")
            start = time.perf_counter()
            receipt = publish(connection, folder, "single")
            wall = time.perf_counter() - start
            assert receipt.complete, str(receipt)
            ideal = count()["scores"] * 0.05 / concurrency
        print(
            f"{LARGE} items x 7 scores one by one at 50 ms, concurrency {concurrency}: "
            f"{wall:.0f} s, ideal {ideal:.0f} s, ratio {wall / ideal:.2f}"
        )


def requests(root: Path) -> None:
    """How many requests each command takes on 1,000 items, and whether a run comes back whole."""
    data = snapshot(root / "counted-snapshot", LARGE)
    for version in ("4.59.0", "4.16.0"):
        runs, name = root / version, "counted"
        folder = create_run(data, kind="audit", name=name, root=runs)
        audit(folder, data, [Six()])
        with serving(version=version) as (connection, count):
            before = count()

            def step(command: str, done: str, version: str = version) -> None:
                nonlocal before
                after = count()
                reads, writes = (after[key] - before[key] for key in ("reads", "writes"))
                print(f"{version} {command:24} {reads:5} reads {writes:6} writes  {done}")
                before = after

            step("push", f"{push(connection, data, name).created} created")
            step("push again", f"{push(connection, data, name).unchanged} unchanged")
            first = publish(connection, folder, name)
            step("publish", f"{first.items_seen} items, {first.scores_seen} scores seen")
            again = publish(connection, folder)
            step("publish again", f"{again.sent_items} items, {again.sent_scores} scores sent")
            pulled = pull(connection, name, root=runs / "colleague")
            copy = find_run(pulled.run_id, runs / "colleague")
            step("pull", f"the same record: {_told(copy) == _told(folder)}")
            copied = publish(connection, copy)
            step("publish the copy", f"{copied.sent_items + copied.sent_scores} sent")


def _told(folder: RunFolder) -> Any:
    view = RunView(folder)
    run = folder.run.model_dump(exclude={"details": {"langfuse"}, "snapshot": {"path"}})
    return run, [(item.output, item.evaluations, item.anchors) for item in view.items()]


def main() -> None:
    """Print the measures."""
    logging.getLogger("langfuse").setLevel(logging.ERROR)
    os.environ["NO_PROXY"] = os.environ["no_proxy"] = "127.0.0.1"
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        requests(Path(folder))
        one_by_one(Path(folder))
        alone(Path(folder))
        overhead(Path(folder))


if __name__ == "__main__":
    main()
