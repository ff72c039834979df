"""Labels out of Langfuse: what people annotated, on the traces of these very answers."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ancrage.calibration.annotations import read_annotations
from ancrage.config import load
from ancrage.domain import Case
from ancrage.langfuse.connection import Connection, Credentials, Settings
from ancrage.runs import RunView
from tests.builders import case, snapshot
from tests.calibration.worlds import MODE
from tests.judges.scripted import definition, obliging
from tests.servers.langfuse_server import LangfuseServer
from tests.servers.openai_server import OpenAIServer


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LangfuseServer]:
    monkeypatch.chdir(tmp_path)
    load.cache_clear()
    monkeypatch.setenv("NO_PROXY", "127.0.0.1,localhost")
    with LangfuseServer() as server:
        yield server


@pytest.fixture
def connection(server: LangfuseServer) -> Iterator[Connection]:
    keys = Credentials(server.public_key, server.secret_key, server.url)
    opened = Connection(keys, Settings())
    yield opened
    opened.close()


def view(path: Path) -> RunView:
    """An audit of three answers of production, judged."""
    import asyncio

    from ancrage.config import Config
    from ancrage.judges import Judge
    from ancrage.llm import Models, Tier
    from ancrage.runs import create_run, recorded, run_experiment
    from ancrage.studies import Studies

    def traced(number: int) -> Case:
        one = case(f"Réponse {number}.", id=f"c{number}")
        provenance = one.provenance.model_copy(update={"trace_id": f"trace{number}"})
        return one.model_copy(update={"provenance": provenance})

    data = snapshot(path / "snap", [traced(number) for number in range(3)])
    folder = create_run(data, kind="audit", name="r")
    with OpenAIServer(obliging(lambda _: [])) as server:
        judge = Judge(
            definition(MODE),
            Tier(model="m", endpoint=server.url),
            Models(Config(None, {}), cache=None),
        )
        asyncio.run(run_experiment(folder, data.cases(), recorded, [judge], Studies(data)))
    return RunView(folder)


def annotate(server: LangfuseServer, author: str | None = "ana", **fields: Any) -> None:
    """An annotation as a person leaves it in the interface."""
    number = len(server.store.scores)
    row = {
        "id": f"s{number}",
        "name": MODE,
        "value": 1,
        "dataType": "NUMERIC",
        "source": "ANNOTATION",
        "traceId": "trace0",
        "timestamp": f"2026-05-{1 + number:02d}T10:00:00.000Z",
        **fields,
    }
    server.store.put_score(row)["authorUserId"] = author


def test_annotations_become_labels_of_their_answers(
    server: LangfuseServer, connection: Connection, tmp_path: Path
) -> None:
    run = view(tmp_path)
    annotate(server, comment="trop vague")
    annotate(server, traceId="trace1", value=0, dataType="BOOLEAN", author="ben")
    annotate(server, traceId="trace2", value="no", dataType="CATEGORICAL")
    annotate(server, traceId="trace2", value="yes", dataType="CATEGORICAL")
    annotate(server, traceId="elsewhere")
    annotate(server, name="helpfulness")
    annotate(server, source="API")
    annotate(server, author=None)
    annotate(server, traceId="trace1", value=0.4)
    found = read_annotations(run, connection)
    assert {(each.case_id, each.annotator, each.label) for each in found.labels} == {
        ("c0", "ana", True),
        ("c1", "ben", False),
        ("c2", "ana", True),
    }
    assert found.replaced == 1
    assert all(each.answer_hash for each in found.labels)
    assert {each.note for each in found.labels} == {"trop vague", None}
    assert len(found.refused) == 2
    assert any("no author" in fault for fault in found.refused)
    assert any("is not a label" in fault for fault in found.refused)
