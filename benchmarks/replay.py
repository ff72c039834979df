"""How near replays come to the ideal wall time, and how fast cases are regenerated.

``python -m benchmarks.replay``: 200 replays over HTTP at 100 ms latency, 20 at once, against the
time that latency alone would take, and against the bare SDK making the same calls; regenerating
1,000 cases; all in this process, the server in another. Plan, run record, cache and all code checks
are part of the replays, as in ``invoke replay``.
"""

import argparse
import asyncio
import contextlib
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from ancrage.config import Config
from ancrage.domain import Answer, Case, CaseInput, Message, Provenance, Question, Study
from ancrage.evaluators import select
from ancrage.llm import LLM, Cache, Tier
from ancrage.replay import Settings, ToolCallingAgent, make_plan, regenerate
from ancrage.replay.session import Session, run_session, start
from ancrage.snapshot import Snapshot, open_snapshot, write_snapshot

TEXT = "Les équipes le disent : « tout est plus clair depuis avril » [R-001, M-0001]."
STUDY = Study(
    id="s",
    title="Étude",
    language="fr",
    questions=(Question(ref="Q1", text="Que pensez-vous de l'outil ?"),),
    messages=tuple(
        Message(
            id=f"M-{n:04d}",
            respondent_id=f"R-{n:03d}",
            text=f"tout est plus clair depuis avril, message {n}, l'équipe {n % 7} le dit aussi",
            question_ref="Q1",
        )
        for n in range(1, 201)
    ),
)
AGENT = ToolCallingAgent("bench", prompt=lambda context: f"Réponds sur {context['study']}. " * 40)


def snapshot(path: Path, cases: int) -> Snapshot:
    """``cases`` cases over one study of 200 messages."""
    made = (
        Case(
            id=f"c{number:04d}",
            study_id="s",
            input=CaseInput(question=f"Question {number} ?", context={"study": "s"}),
            output=Answer(text=TEXT),
            provenance=Provenance(source="bench"),
        )
        for number in range(cases)
    )
    write_snapshot(path, made, {"s": STUDY}.get, source="bench")
    return open_snapshot(path)


@contextlib.contextmanager
def server(latency: float) -> Iterator[str]:
    """A server in a process of its own; gives its URL."""
    command = [sys.executable, "-m", "tests.servers.openai_server"]
    process = subprocess.Popen(
        [*command, "--latency", str(latency), "--text", TEXT],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).resolve().parents[1],
    )
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip()
    finally:
        process.communicate()


async def replay(data: Snapshot, url: str, folder: Path, concurrency: int) -> float:
    """Seconds that a whole replay takes, plan, journals, cache and checks included."""
    tier = Tier(model="m", endpoint=url)
    settings = Settings(tier="standard", model="m", endpoint=url, api="chat")
    began = time.perf_counter()
    plan, tiers = make_plan(data.cases(), AGENT, tier, settings)
    session = Session(data, AGENT, settings, tier, plan, tiers)
    async with LLM({}, concurrency=concurrency, cache=Cache(folder / "cache.sqlite")) as llm:
        folders = start(session, name=folder.name)
        (run,) = await run_session(
            session, folders, select(config=Config(None, {})), llm, concurrency=concurrency
        )
    taken = time.perf_counter() - began
    assert run.counts["ok"] == plan.cases, run.counts
    return taken


async def bare(url: str, replays: int, concurrency: int) -> float:
    """Seconds that the SDK takes for the same calls with nothing around it."""
    from openai import AsyncOpenAI

    waiting = iter(range(replays))
    async with AsyncOpenAI(api_key="none", base_url=url, max_retries=0) as client:

        async def worker() -> None:
            for number in waiting:
                await client.chat.completions.create(
                    model="m",
                    messages=[
                        {"role": "system", "content": AGENT.system_prompt({"study": "s"})},
                        {"role": "user", "content": f"Question {number} ?"},
                    ],
                )

        began = time.perf_counter()
        await asyncio.gather(*(worker() for _ in range(concurrency)))
        return time.perf_counter() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--replays", type=int, default=200)
    parser.add_argument("--latency", type=float, default=0.1)
    parser.add_argument("--concurrency", type=int, default=20)
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()

    with tempfile.TemporaryDirectory() as name, contextlib.chdir(name):
        folder = Path(name)
        data = snapshot(folder / "replays", options.replays)
        ideal = options.replays / options.concurrency * options.latency
        with server(options.latency) as url:
            asyncio.run(replay(data, url, folder / "warm-up", options.concurrency))
            for number in range(options.rounds):
                started = time.process_time()
                taken = asyncio.run(
                    replay(data, url, folder / f"round-{number}", options.concurrency)
                )
                middle = time.process_time()
                alone = asyncio.run(bare(url, options.replays, options.concurrency))
                ours, sdk = middle - started, time.process_time() - middle
                print(
                    f"{options.replays} replays, {options.latency * 1000:g} ms, "
                    f"{options.concurrency} at once: {taken:.3f} s; ideal {ideal:.3f} s; "
                    f"{ideal / taken:.1%} of the ideal (the bare SDK: {ideal / alone:.1%}); "
                    f"CPU a replay {ours / options.replays * 1000:.1f} ms "
                    f"(the bare SDK: {sdk / options.replays * 1000:.1f} ms)"
                )
        data = snapshot(folder / "cases", options.cases)
        for number in range(options.rounds):
            began = time.perf_counter()
            manifest = regenerate(data, AGENT, folder / f"regenerated-{number}")
            taken = time.perf_counter() - began
            assert manifest.counts.kept == options.cases
            print(f"{options.cases} cases regenerated: {taken:.3f} s")


if __name__ == "__main__":
    main()
