"""Runs judged by a scripted judge of known error rates, and people who know the truth."""

import asyncio
import json
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ancrage.config import Config
from ancrage.judges import Judge
from ancrage.judges.definition import Definition
from ancrage.llm import Models, Tier
from ancrage.runs import RunFolder, create_run, recorded, run_experiment, score_run
from ancrage.studies import Studies
from tests.builders import case, snapshot
from tests.judges.scripted import Seen, definition, obliging
from tests.servers.openai_server import OpenAIServer

MODE = "vague"
DEFECT = "Tout dépend des cas."


@dataclass(frozen=True)
class World:
    """A judged run, and the truth that its judge errs on."""

    folder: RunFolder
    truth: dict[str, bool]
    judged: dict[str, bool]
    judge: Judge


def answers(n: int, prevalence: float, seed: int = 1) -> tuple[dict[str, str], dict[str, bool]]:
    """Texts of ``n`` answers by case; the judge sees the number, people see the truth."""
    rng = random.Random(seed)
    truth = {f"c{number:04d}": rng.random() < prevalence for number in range(n)}
    return {name: f"Réponse {name}. {DEFECT}" for name in truth}, truth


def verdicts(
    truth: dict[str, bool], sensitivity: float, specificity: float, seed: int = 2
) -> dict[str, bool]:
    """What a judge of these error rates says of each case."""
    rng = random.Random(seed)
    return {
        name: rng.random() < (sensitivity if there else 1 - specificity)
        for name, there in truth.items()
    }


def script(judged: dict[str, bool]) -> OpenAIServer:
    """A server whose judge says what ``judged`` says."""

    def judge(prompt: Seen) -> Sequence[tuple[str, str]]:
        name = prompt.answer.split(".")[0].split()[-1]
        return [(MODE, DEFECT)] if judged[name] else []

    return OpenAIServer(obliging(judge))


def world(
    path: Path,
    *,
    n: int = 200,
    prevalence: float = 0.3,
    sensitivity: float = 0.85,
    specificity: float = 0.9,
    seed: int = 1,
    name: str = "r",
    by: Definition | None = None,
) -> World:
    """A run of ``n`` answers through the real SDK, judged by a scripted judge."""
    texts, truth = answers(n, prevalence, seed)
    judged = verdicts(truth, sensitivity, specificity, seed + 1)
    data = snapshot(path / f"snapshot-{name}", [case(t, id=i) for i, t in texts.items()])
    folder = create_run(data, kind="audit", name=name, root=path / "runs")
    with script(judged) as server:
        judge = Judge(
            by or definition(MODE),
            # The endpoint is part of the version: the port must not be.
            Tier(model="m", endpoint=server.url, retries=0),
            Models(Config(None, {}), cache=None, concurrency=16),
        )
        asyncio.run(
            run_experiment(folder, data.cases(), recorded, [judge], Studies(data), concurrency=16)
        )
    return World(folder, truth, judged, judge)


def judge_again(world: World, judged: dict[str, bool], name: str = "rival") -> None:
    """A second scoring of the same outputs, by another judge."""
    with script(judged) as server:
        judge = Judge(
            definition(MODE, name=name),
            Tier(model="m2", endpoint=server.url, retries=0),
            Models(Config(None, {}), cache=None, concurrency=16),
        )
        data = world.folder.snapshot()
        asyncio.run(score_run(world.folder, [judge], Studies(data), concurrency=16))


def write_labels(
    path: Path, truth: dict[str, bool], cases: Iterable[str], annotator: str = "ana"
) -> Path:
    """A JSONL file of labels that say the truth."""
    with path.open("w", encoding="utf-8") as file:
        for name in cases:
            row = {"case_id": name, "mode": MODE, "label": truth[name], "annotator": annotator}
            file.write(json.dumps(row) + "\n")
    return path
