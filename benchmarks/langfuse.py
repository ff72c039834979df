"""What an experiment costs beside the bare SDK, and whether everything arrives.

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

from ancrage.domain import Case, Output, OutputState
from ancrage.evaluator import Subject
from ancrage.langfuse.connection import Connection, Credentials, Settings
from ancrage.langfuse.items import to_case
from ancrage.langfuse.push import push
from ancrage.langfuse.receipt import Receipt
from ancrage.langfuse.session import Follower, open_session
from ancrage.runs import RunFolder, create_run, recorded, run_experiment
from ancrage.snapshot import Snapshot
from ancrage.studies import Studies
from tests.langfuse.worlds import EVALUATORS, case, snapshot
from tests.servers.langfuse_server import LangfuseServer

CASES = 300
ROUNDS = 5
LARGE = 1_000
INNER = 10
CONCURRENCY = 50


def _serve(pipe: Pipe, slow: float) -> None:
    with LangfuseServer() as server:
        if slow:
            server.faults.slow["/otel"] = slow
        pipe.send((server.public_key, server.secret_key, server.url))
        while pipe.recv() == "count":
            names = [row["name"] for row in list(server.store.observations.values())]
            posts = [path for method, path, _ in server.requests if method == "POST"]
            pipe.send(
                {
                    "roots": names.count("experiment-item-task"),
                    "inner": names.count("inner"),
                    "scores": len(server.store.scores),
                    "posts": len(posts),
                }
            )


@contextmanager
def serving(slow: float = 0.0) -> Iterator[tuple[Connection, Callable[[], dict[str, int]]]]:
    """A server in another process: a connection to it, and what it has received."""
    here, there = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(target=_serve, args=(there, slow))
    process.start()
    public, secret, url = here.recv()
    connection = Connection(
        Credentials(public, secret, url), Settings(poll=0.1, deadline=600, concurrency=8)
    )

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


def ours(connection: Connection, dataset: str, root: Path, name: str, produce: Any) -> Receipt:
    """An experiment as ``invoke experiment --dataset`` makes it."""
    session = open_session(connection, dataset)
    folder = create_run(
        session.snapshot, kind="audit", name=name, root=root, details=session.details(name)
    )
    with Follower(session, folder) as follower:
        asyncio.run(_run(folder, session.snapshot, follower, produce))
    return follower.finish()


async def _run(folder: RunFolder, data: Snapshot, follower: Follower, produce: Any) -> None:
    await run_experiment(
        folder,
        data.cases(),
        produce,
        EVALUATORS,
        Studies(data),
        concurrency=CONCURRENCY,
        on_item=follower.on_item,
    )


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
            receipt = ours(mine, "d", root / "runs", f"ours-{turn}", recorded)
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


def arrivals(root: Path) -> None:
    """All items, spans and scores of a large run at 1 s an export; then a push without change."""
    data = snapshot(root / "snapshots" / "large", LARGE)
    with serving(slow=1.0) as (connection, count):
        first = push(connection, data, "large")
        before = count()["posts"]
        again = push(connection, data, "large")
        writes = count()["posts"] - before
        start = time.perf_counter()

        async def nested(one: Case) -> Output:
            from langfuse import get_client

            client = get_client(public_key=connection.credentials.public_key)
            for number in range(INNER):
                with client.start_as_current_observation(name="inner", input={"n": number}):
                    await asyncio.sleep(0)
            return await recorded(one)

        receipt = ours(connection, "large", root / "runs", "large", nested)
        wall = time.perf_counter() - start
        seen = count()
    print(f"{LARGE} items × {INNER} inner spans, 1 s an export, in {wall:.0f} s:")
    print(f"  items {seen['roots']} of {LARGE}, inner spans {seen['inner']} of {LARGE * INNER}")
    print(f"  scores {receipt.scores_seen} of {receipt.scores} read back")
    print(f"  sent again because they had not arrived: {receipt.sent_items} items")
    print(f"push of {LARGE} items: {first.created} created")
    print(f"  again: {again.unchanged} unchanged, {writes} writes (goal 0)")


def main() -> None:
    """Print the measures."""
    logging.getLogger("langfuse").setLevel(logging.ERROR)
    os.environ["NO_PROXY"] = os.environ["no_proxy"] = "127.0.0.1"
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        overhead(Path(folder))
        alone(Path(folder))
        arrivals(Path(folder))


if __name__ == "__main__":
    main()
