"""The server of the tests keeps the contract of the SDK and refuses what the real one refuses."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest
from langfuse import Evaluation, Langfuse
from langfuse.api import CreateScoreRequest, ScoreDataType
from langfuse.api.core import ApiError
from langfuse.api.core.pydantic_utilities import parse_obj_as
from langfuse.api.scores import CreateScoreBatchResults
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from ancrage.langfuse.connection import Connection, Credentials
from ancrage.langfuse.reads import scores
from ancrage.langfuse.scores import ScoreBody
from tests.servers.langfuse_server import LangfuseServer

LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)
SINCE = "fromStartTime=2020-01-01T00:00:00Z"


def condition(kind: str, column: str, operator: str, value: Any) -> str:
    """A read of observations with one condition."""
    conditions = [{"type": kind, "column": column, "operator": operator, "value": value}]
    return f"/v2/observations?{SINCE}&filter={quote(json.dumps(conditions))}"


@pytest.fixture
def sdk(server: LangfuseServer) -> Iterator[Langfuse]:
    client = Langfuse(
        public_key=server.public_key,
        secret_key=server.secret_key,
        base_url=server.url,
        tracer_provider=None,
    )
    yield client
    client.shutdown()


def test_every_read_parses_with_the_response_models_of_the_sdk(
    server: LangfuseServer, sdk: Langfuse
) -> None:
    sdk.create_dataset(name="folder/name", input_schema={"type": "object"})
    for number in range(3):
        sdk.create_dataset_item(dataset_name="folder/name", id=f"i{number}", input={"q": number})
    dataset = sdk.get_dataset("folder/name", version=datetime.now(UTC))

    def task(*, item: Any, **_: Any) -> dict[str, str]:
        with sdk.start_as_current_observation(name="inner", as_type="generation", model="m"):
            return {"answer": "yes"}

    def evaluator(**_: Any) -> Evaluation:
        return Evaluation(name="anchored", value=1.0, comment="because")

    result = dataset.run_experiment(
        name="run",
        run_name="run",
        task=task,
        evaluators=[evaluator],
        run_evaluators=[lambda **_: Evaluation(name="rate", value=0.5)],
        metadata={"model": "m"},
    )
    assert len(result.item_results) == 3
    assert sdk.api.health.health().version == "4.59.0"
    assert sdk.api.projects.get().data[0].id == "project-1"
    rows = sdk.api.experiments.list(
        from_start_time=LONG_AGO, fields="core,metadata,scores", name="run"
    ).data
    assert [row.item_count for row in rows] == [3]
    assert rows[0].id == result.experiment_id
    assert rows[0].metadata == {"model": "m"}
    assert rows[0].scores is not None
    assert [score.name for score in rows[0].scores] == ["rate"]
    first = sdk.api.experiments.list_items(
        from_start_time=LONG_AGO,
        experiment_id=result.experiment_id,
        limit=2,
        fields="core,dataset,io,metadata,itemMetadata,experimentMetadata,scores",
    )
    rest = sdk.api.experiments.list_items(
        from_start_time=LONG_AGO, experiment_id=result.experiment_id, cursor=first.meta.cursor
    )
    items = [*first.data, *rest.data]
    assert {item.experiment_item_id for item in items} == {"i0", "i1", "i2"}
    assert all(item.environment == "sdk-experiment" for item in items)
    assert first.data[0].scores is not None
    assert first.data[0].scores[0].name == "anchored"
    scores = sdk.api.scores.get_many(
        trace_id=",".join(item.trace_id for item in items), fields="details,subject"
    ).data
    assert {score.subject.id for score in scores if score.subject} == {item.id for item in items}
    found = sdk.api.observations.get_many(
        from_start_time=LONG_AGO, fields="core,basic,io,model", limit=1000
    ).data
    inner = [row for row in found if row.name == "inner"]
    assert len(inner) == 3
    assert {row.model for row in inner} == {"m"}


def test_our_own_models_of_the_wire_agree_with_the_sdk(
    server: LangfuseServer, sdk: Langfuse
) -> None:
    mine = ScoreBody(
        id="s",
        trace_id="t",
        observation_id="o",
        name="anchored",
        value=0.25,
        comment="« é »",
        metadata={"findings": "1"},
        environment="sdk-experiment",
        timestamp=datetime(2026, 1, 1, tzinfo=UTC),
    )
    theirs = parse_obj_as(CreateScoreRequest, json.loads(mine.json_bytes))
    assert theirs.trace_id == "t"
    assert theirs.observation_id == "o"
    assert theirs.data_type is ScoreDataType.NUMERIC
    sdk.api.scores.create(request=[theirs])
    stored = sdk.api.scores.get_many(trace_id="t", fields="details,subject").data[0]
    link = Connection(Credentials(server.public_key, server.secret_key, server.url))
    (read,) = scores(link, traceId="t")
    link.close()
    assert (read.id, read.number, read.comment, read.metadata) == (
        stored.id,
        stored.value,
        stored.comment,
        stored.metadata,
    )


def test_items_have_versions_and_merge(server: LangfuseServer, sdk: Langfuse) -> None:
    sdk.create_dataset(name="d")
    first = sdk.create_dataset_item(dataset_name="d", id="a", input={"n": 1}, metadata={"k": 1})
    second = sdk.create_dataset_item(dataset_name="d", id="a", input={"n": 2})
    assert second.metadata == {"k": 1}
    assert first.version is not None
    assert sdk.get_dataset("d", version=first.version).items[0].input == {"n": 1}
    assert sdk.get_dataset("d").items[0].input == {"n": 2}
    assert sdk.get_dataset("d", version=first.version - timedelta(seconds=1)).items == []
    assert (
        sdk.create_dataset_item(dataset_name="d", id="b", expected_output="4").expected_output == 4
    )


def score(**changes: Any) -> CreateScoreRequest:
    fields: dict[str, Any] = {
        "id": "s",
        "trace_id": "t",
        "name": "anchored",
        "value": 1.0,
        "data_type": ScoreDataType.NUMERIC,
        "timestamp": datetime(2026, 1, 1, tzinfo=UTC),
    }
    return CreateScoreRequest(**{**fields, **changes})


def test_a_score_is_told_by_day_name_and_id(server: LangfuseServer, sdk: Langfuse) -> None:
    sdk.api.scores.create(request=[score(), score(value=0.0)])
    assert [each.value for each in sdk.api.scores.get_many(trace_id="t").data] == [0.0]
    sdk.api.scores.create(request=[score(timestamp=datetime(2026, 1, 2, tzinfo=UTC))])
    assert len(sdk.api.scores.get_many(trace_id="t").data) == 2


@pytest.mark.parametrize(
    "bad",
    [
        {"name": ""},
        {"value": "NaN"},
        {"trace_id": None},
        {"trace_id": None, "observation_id": "o", "session_id": "s"},
        {"session_id": "s"},
        {"environment": "langfuse-x"},
        {"environment": "Prod"},
        {"data_type": ScoreDataType.BOOLEAN, "value": 0.5},
        {"data_type": ScoreDataType.CATEGORICAL},
    ],
)
def test_a_bad_score_is_rejected_inside_a_207(
    server: LangfuseServer, sdk: Langfuse, bad: dict[str, Any]
) -> None:
    answer = sdk.api.scores.create(request=[score(), score(**bad)])
    assert isinstance(answer, CreateScoreBatchResults)
    assert (answer.accepted, answer.rejected) == (1, 1)


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("GET", "/experiments", None, 400),
        ("GET", "/experiments?fromStartTime=2020-01-01T00:00:00Z&limit=101", None, 400),
        ("GET", "/experiments?fromStartTime=2020-01-01T00:00:00", None, 400),
        ("GET", "/experiment-items", None, 400),
        ("GET", "/experiment-items?fromStartTime=2020-01-01T00:00:00Z&fields=nope", None, 400),
        ("GET", "/v3/scores?limit=101", None, 400),
        ("GET", "/v3/scores?observationId=o", None, 400),
        ("GET", "/v3/scores?traceId=t&experimentId=e", None, 400),
        ("GET", f"/v2/observations?limit=1001&{SINCE}", None, 400),
        ("GET", "/v2/observations", None, 400),
        ("GET", f"/v2/observations?{SINCE}&parseIoAsJson=true", None, 400),
        ("GET", condition("string", "traceId", "any of", ["t"]), None, 400),
        ("GET", condition("stringOptions", "environment", "=", "default"), None, 400),
        ("GET", condition("stringObject", "metadata", "=", "v"), None, 400),
        ("GET", condition("string", "input", "contains", "x"), None, 400),
        ("GET", condition("string", "name", "matches", "x"), None, 400),
        ("GET", condition("string", "traceId", "=", "t"), None, 200),
        ("GET", "/v2/datasets?page=0", None, 400),
        ("GET", "/dataset-items?datasetName=d&limit=101", None, 400),
        ("GET", "/scores", None, 404),
        ("POST", "/ingestion", {}, 404),
        ("GET", "/traces", None, 404),
        ("GET", "/v2/datasets/none", None, 404),
        ("GET", "/dataset-items?datasetName=none", None, 404),
        ("POST", "/v2/datasets", {"name": ""}, 400),
        ("POST", "/dataset-items", {"datasetName": "none"}, 404),
        ("POST", "/dataset-items", {"datasetName": "d", "id": "x" * 256}, 400),
        ("POST", "/dataset-items", {"datasetName": "other", "id": "a"}, 409),
        ("POST", "/dataset-items", {"datasetName": "strict", "input": {"n": "one"}}, 400),
        ("POST", "/dataset-items", {"datasetName": "d", "input": {"q": "x" * 4_600_000}}, 413),
        ("POST", "/scores", {"name": "n"}, 400),
        ("POST", "/otel/v1/traces", {}, 400),
        ("POST", "/dataset-run-items", {}, 200),
    ],
)
def test_it_refuses_what_the_real_server_refuses(
    server: LangfuseServer, sdk: Langfuse, method: str, path: str, body: Any, status: int
) -> None:
    for name in ("d", "other"):
        sdk.create_dataset(name=name)
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}}
    sdk.create_dataset(name="strict", input_schema=schema)
    sdk.create_dataset_item(dataset_name="d", id="a", input={})
    answer = httpx.request(
        method,
        f"{server.url}/api/public{path}",
        json=body,
        auth=(server.public_key, server.secret_key),
    )
    assert answer.status_code == status


@pytest.mark.parametrize(("version", "seen"), [({}, 0), ({"x-langfuse-ingestion-version": "4"}, 1)])
def test_spans_without_the_header_of_version_4_are_seen_nowhere(
    server: LangfuseServer, version: dict[str, str], seen: int
) -> None:
    request = ExportTraceServiceRequest()
    span = request.resource_spans.add().scope_spans.add().spans.add(name="n")
    span.trace_id, span.span_id = b"t" * 16, b"s" * 8
    answer = httpx.post(
        f"{server.url}/api/public/otel/v1/traces",
        content=request.SerializeToString(),
        headers={"Content-Type": "application/x-protobuf", **version},
        auth=(server.public_key, server.secret_key),
    )
    assert (answer.status_code, len(server.store.observations)) == (200, seen)


def test_wrong_keys_and_old_servers(server: LangfuseServer, sdk: Langfuse) -> None:
    url = f"{server.url}/api/public/projects"
    assert httpx.get(url, auth=(server.public_key, "wrong")).status_code == 401
    server.version = "4.16.0"
    with pytest.raises(ApiError) as refused:
        sdk.api.scores.create(request=[score()])
    assert refused.value.status_code == 400
    server.version = "3.150.0"
    with pytest.raises(ApiError) as absent:
        sdk.api.experiments.list(from_start_time=LONG_AGO)
    assert absent.value.status_code == 404


def test_faults_come_when_switched_on_and_go(server: LangfuseServer, sdk: Langfuse) -> None:
    server.fail("/projects", 503, times=1, after=1)
    statuses = [
        httpx.get(
            f"{server.url}/api/public/projects", auth=(server.public_key, server.secret_key)
        ).status_code
        for _ in range(3)
    ]
    assert statuses == [200, 503, 200]
    server.faults.down = True
    with pytest.raises(httpx.HTTPError):
        httpx.get(f"{server.url}/api/public/health")


def test_exported_traces_are_served_as_observations(
    server: LangfuseServer, sdk: Langfuse, shared: Path
) -> None:
    for path in sorted((shared / "data" / "langfuse-traces").glob("*.json")):
        server.add_trace(json.loads(path.read_text(encoding="utf-8")))
    roots = sdk.api.observations.get_many(
        from_start_time=LONG_AGO,
        is_root_observation=True,
        fields="core,basic,io,metadata,trace_context",
        limit=3,
    )
    assert len(roots.data) == 3
    more = sdk.api.observations.get_many(
        from_start_time=LONG_AGO, is_root_observation=True, limit=3, cursor=roots.meta.cursor
    )
    assert len(more.data) == 1
    assert all(isinstance(row.input, str) for row in roots.data if row.input is not None)
    cut = [v for row in roots.data for v in (row.metadata or {}).values()]
    assert all(len(value) <= 200 for value in cut)


@pytest.mark.parametrize("version", ["4.16.0", "4.59.0"])
def test_it_hides_flattens_and_reorders_as_the_real_one(
    server: LangfuseServer, sdk: Langfuse, version: str
) -> None:
    sdk.create_dataset(name="d")
    sdk.create_dataset_item(dataset_name="d", id="i", input={"question": "?", "state": 1})
    assert list(server.store.items["i"][-1]["input"]) == ["state", "question"]
    sdk.get_dataset("d").run_experiment(
        name="r",
        run_name="r",
        task=lambda **_: "yes",
        evaluators=[lambda **_: Evaluation(name="e", value=1.0, comment="why")],
        metadata={"a": {"b": 1}},
    )
    sdk.flush()
    server.version = version
    api = sdk.api.experiments
    (row,) = api.list(from_start_time=LONG_AGO, fields="core,metadata").data
    assert row.metadata == ({"a.b": 1} if version == "4.16.0" else {"a": {"b": 1}})
    (item,) = api.list_items(from_start_time=LONG_AGO, experiment_id=row.id, fields="scores").data
    assert item.scores is not None
    (inline,) = item.scores
    assert (inline.name, getattr(inline, "comment", None)) == ("e", None)
    (whole,) = sdk.api.scores.get_many(trace_id=item.trace_id, fields="details").data
    assert whole.comment == "why"
    sdk.api.scores.delete(whole.id)
    assert len(server.store.scores) == 1
    server.store.work_off_deletions()
    assert not server.store.scores
