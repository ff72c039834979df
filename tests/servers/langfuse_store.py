"""What the Langfuse server of the tests holds, and the rules it refuses by.

Field names are those of the wire. Anything accepted here that the real server would refuse is a
bug of this file.
"""

import base64
import json
import random
import re
import threading
import time
import uuid
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

Row = dict[str, Any]
PROJECT = {
    "id": "project-1",
    "name": "tests",
    "organization": {"id": "organization-1", "name": "tests"},
    "metadata": {},
}
ITEM_LIMIT = 4_500_000
SCORES_LIMIT = 1_000_000
ENVIRONMENT = re.compile(r"(?!langfuse)[a-z0-9_-]{1,40}")


class RefusedError(Exception):
    """An answer other than 2xx."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message


def stamp(moment: datetime | None = None) -> str:
    """An ISO 8601 time in UTC, to the millisecond, as the server writes them."""
    moment = (moment or datetime.now(UTC)).astimezone(UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def moment(text: Any, field: str) -> datetime:
    """The time that ``text`` writes; 400 when it is none or has no offset."""
    try:
        parsed = datetime.fromisoformat(text)
    except (TypeError, ValueError):
        raise RefusedError(400, f"{field}: Invalid ISO datetime") from None
    if parsed.tzinfo is None:
        raise RefusedError(400, f"{field}: Invalid ISO datetime, an offset is required")
    return parsed


def cut(
    rows: Sequence[Row], key: Callable[[Row], list[str]], limit: int, cursor: str | None
) -> Row:
    """A page of ``rows`` (already ordered) after ``cursor``, and the cursor of the next."""
    start = 0
    if cursor:
        try:
            last = json.loads(base64.urlsafe_b64decode(cursor))
        except ValueError:
            raise RefusedError(400, "Invalid cursor format") from None
        start = next((n + 1 for n, row in enumerate(rows) if key(row) == last), len(rows))
    page = rows[start : start + limit]
    meta: Row = {}
    if start + limit < len(rows):
        meta["cursor"] = base64.urlsafe_b64encode(json.dumps(key(page[-1])).encode()).decode()
    return {"data": list(page), "meta": meta}


class Store:
    """All that one project holds."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.lag = 0.0
        """Seconds before a span or a score can be read, each after a time of its own: what was
        sent first is not seen first."""
        self.deletions: list[str] = []
        """Ids of scores whose deletion is queued; the worker gets to it some minutes later."""
        self.configs: dict[str, Row] = {}
        self.queues: dict[str, Row] = {}
        self.queue_items: dict[str, list[Row]] = {}
        self._random = random.Random(0)
        self.datasets: dict[str, Row] = {}
        self.items: dict[str, list[Row]] = {}
        """The versions of each item, oldest first."""
        self.observations: dict[tuple[str, str], Row] = {}
        self.scores: dict[tuple[str, str, str], Row] = {}
        self._last_version = datetime.min.replace(tzinfo=UTC)

    # Datasets

    def put_dataset(self, body: Row) -> Row:
        name = body.get("name")
        if not isinstance(name, str) or not name or len(name) > 255:
            raise RefusedError(400, "name: must be a string of 1 to 255 characters")
        for field in ("inputSchema", "expectedOutputSchema"):
            if body.get(field) is not None and not isinstance(body[field], dict):
                raise RefusedError(400, f"{field}: must be a valid JSON Schema")
        known = self.datasets.get(name)
        row = {
            "id": known["id"] if known else f"dataset-{uuid.uuid4().hex[:12]}",
            "name": name,
            "description": body.get("description"),
            "metadata": jsonb(body.get("metadata")),
            "inputSchema": body.get("inputSchema"),
            "expectedOutputSchema": body.get("expectedOutputSchema"),
            "projectId": PROJECT["id"],
            "createdAt": known["createdAt"] if known else stamp(),
            "updatedAt": stamp(),
        }
        for versions in self.items.values():
            if versions[-1]["datasetName"] == name and versions[-1]["status"] == "ACTIVE":
                _check_item(row, versions[-1])
        self.datasets[name] = row
        return row

    def dataset(self, name: str) -> Row:
        if name not in self.datasets:
            raise RefusedError(404, "Dataset not found")
        return self.datasets[name]

    def put_item(self, body: Row, size: int) -> Row:
        if size > ITEM_LIMIT:
            raise RefusedError(413, "Body exceeded 4.5mb limit")
        dataset = self.dataset(body.get("datasetName") or "")
        identifier = body.get("id") or str(uuid.uuid4())
        if not isinstance(identifier, str) or len(identifier) > 255:
            raise RefusedError(400, "id: must be a string of at most 255 characters")
        if body.get("status") not in (None, "ACTIVE", "ARCHIVED"):
            raise RefusedError(400, "status: must be ACTIVE or ARCHIVED")
        versions = self.items.get(identifier, [])
        if versions and versions[-1]["datasetId"] != dataset["id"]:
            raise RefusedError(409, f"Item {identifier} belongs to another dataset")
        before = versions[-1] if versions else {}
        # Versions are told apart by their time alone.
        now = max(datetime.now(UTC), self._last_version + timedelta(milliseconds=1))
        self._last_version = now
        row: Row = {
            "id": identifier,
            "status": body.get("status") or before.get("status") or "ACTIVE",
            "datasetId": dataset["id"],
            "datasetName": dataset["name"],
            "createdAt": before.get("createdAt") or stamp(now),
            "updatedAt": stamp(now),
            "version": stamp(now),
            "mediaReferences": [],
        }
        for field in (
            "input",
            "expectedOutput",
            "metadata",
            "sourceTraceId",
            "sourceObservationId",
        ):
            value = body.get(field)
            row[field] = before.get(field) if value is None else jsonb(_parsed(value))
        _check_item(dataset, row)
        self.items.setdefault(identifier, []).append(row)
        return row

    def list_items(self, name: str, page: int, limit: int, version: str | None) -> Row:
        dataset = self.dataset(name)
        at = moment(version, "version") if version else None
        rows = []
        for versions in self.items.values():
            seen = [v for v in versions if at is None or moment(v["version"], "version") <= at]
            if seen and seen[-1]["datasetId"] == dataset["id"] and seen[-1]["status"] == "ACTIVE":
                rows.append(seen[-1])
        rows.sort(key=lambda row: (row["createdAt"], row["id"]), reverse=True)
        return _paged(rows, page, limit)

    def list_datasets(self, page: int, limit: int) -> Row:
        return _paged(list(self.datasets.values()), page, limit)

    # Spans

    def ingest(self, request: ExportTraceServiceRequest) -> None:
        for resource in request.resource_spans:
            shared = {a.key: _plain(a.value) for a in resource.resource.attributes}
            for scope in resource.scope_spans:
                for span in scope.spans:
                    row = _observation(span, shared)
                    row["visible"] = self._later()
                    self.observations[row["traceId"], row["id"]] = row

    def visible(self, rows: Iterable[Row]) -> list[Row]:
        now = time.monotonic()
        return [row for row in rows if row.get("visible", 0.0) <= now]

    # Scores

    def put_score(self, body: Any) -> Row:
        score = _checked_score(body)
        now = stamp()
        when = (
            moment(score["timestamp"], "timestamp") if score.get("timestamp") else datetime.now(UTC)
        )
        identifier = score.get("id") or str(uuid.uuid4())
        key = (stamp(when)[:10], score["name"], identifier)
        row = {
            "id": identifier,
            "projectId": PROJECT["id"],
            "name": score["name"],
            "value": bool(score["value"]) if score["dataType"] == "BOOLEAN" else score["value"],
            "dataType": score["dataType"],
            "source": score.get("source") or "API",
            "timestamp": stamp(when),
            "environment": score.get("environment") or "default",
            "createdAt": self.scores[key]["createdAt"] if key in self.scores else now,
            "updatedAt": now,
            "comment": score.get("comment"),
            "configId": score.get("configId"),
            "metadata": score.get("metadata") or {},
            "authorUserId": None,
            "queueId": None,
            "subject": _subject(score),
            "visible": self._later(),
        }
        if config := row["configId"]:
            self._check_config(config, row)
        self.scores[key] = row
        return row

    def _later(self) -> float:
        return time.monotonic() + self.lag * self._random.uniform(0.5, 1.0)

    def _check_config(self, identifier: str, row: Row) -> None:
        config = next((c for c in self.configs.values() if c["id"] == identifier), None)
        if config is None:
            raise RefusedError(404, f"Score config {identifier} not found")
        if config["dataType"] != row["dataType"] or config["name"] != row["name"]:
            raise RefusedError(400, f"{row['name']}: does not match its config")
        if config["minValue"] is not None and row["value"] < config["minValue"]:
            raise RefusedError(400, f"{row['name']}: below the minimum of its config")

    def work_off_deletions(self) -> None:
        """What the worker does some day: what lies under those ids *then* is gone."""
        for key in [key for key in self.scores if key[2] in self.deletions]:
            del self.scores[key]
        self.deletions.clear()

    # Configurations of scores, annotation queues

    def put_config(self, body: Row) -> Row:
        if body.get("dataType") not in ("NUMERIC", "CATEGORICAL", "BOOLEAN"):
            raise RefusedError(400, "dataType: invalid")
        row = {
            "id": f"config-{uuid.uuid4().hex[:8]}",
            "name": body["name"],
            "dataType": body["dataType"],
            "description": body.get("description"),
            "minValue": body.get("minValue"),
            "maxValue": body.get("maxValue"),
            "categories": body.get("categories"),
            "isArchived": False,
            "projectId": PROJECT["id"],
            "createdAt": stamp(),
            "updatedAt": stamp(),
        }
        self.configs[row["id"]] = row
        return row

    def list_configs(self, page: int, limit: int) -> Row:
        return _paged(list(self.configs.values()), page, limit)

    def put_queue(self, body: Row) -> Row:
        configs = body.get("scoreConfigIds")
        if not configs or any(name not in self.configs for name in configs):
            raise RefusedError(400, "scoreConfigIds: at least one, all known")
        if any(queue["name"] == body["name"] for queue in self.queues.values()):
            raise RefusedError(400, f"A queue with name {body['name']!r} already exists")
        row = {
            "id": f"queue-{uuid.uuid4().hex[:8]}",
            "name": body["name"],
            "description": body.get("description"),
            "scoreConfigIds": configs,
            "createdAt": stamp(),
            "updatedAt": stamp(),
        }
        self.queues[row["id"]] = row
        self.queue_items[row["id"]] = []
        return row

    def list_queues(self, page: int, limit: int) -> Row:
        return _paged(list(self.queues.values()), page, limit)

    def put_queue_item(self, queue: str, body: Row) -> Row:
        if queue not in self.queues:
            raise RefusedError(404, "Annotation queue not found")
        if body.get("objectType") not in ("TRACE", "OBSERVATION", "SESSION"):
            raise RefusedError(400, "objectType: invalid")
        row = {
            "id": f"queue-item-{uuid.uuid4().hex[:8]}",
            "queueId": queue,
            "objectId": body["objectId"],
            "objectType": body["objectType"],
            "status": "PENDING",
            "completedAt": None,
            "createdAt": stamp(),
            "updatedAt": stamp(),
        }
        self.queue_items[queue].append(row)
        return row

    def list_queue_items(self, queue: str, page: int, limit: int) -> Row:
        return _paged(self.queue_items[queue], page, limit)

    def scores_of(self, kind: str) -> dict[str, list[Row]]:
        """The scores of every subject of that kind, by its id, without what the store adds."""
        found: dict[str, list[Row]] = {}
        for row in self.visible(self.scores.values()):
            if row["subject"]["kind"] == kind:
                shown = {name: value for name, value in row.items() if name != "visible"}
                found.setdefault(row["subject"]["id"], []).append(shown)
        return found


def _paged(rows: list[Row], page: int, limit: int) -> Row:
    total = len(rows)
    return {
        "data": rows[(page - 1) * limit : page * limit],
        "meta": {
            "page": page,
            "limit": limit,
            "totalItems": total,
            "totalPages": -(-total // limit),
        },
    }


def jsonb(value: Any) -> Any:
    """As PostgreSQL keeps JSON: the keys of objects by length, then by their bytes."""
    if isinstance(value, dict):
        ordered = sorted(value, key=lambda key: (len(key.encode()), key.encode()))
        return {key: jsonb(value[key]) for key in ordered}
    return [jsonb(part) for part in value] if isinstance(value, list) else value


def flattened(value: Row, prefix: str = "") -> Row:
    """Metadata as 4.16 gives it back: ``{"a": {"b": 1}}`` has become ``{"a.b": 1}``."""
    flat: Row = {}
    for key, part in value.items():
        if isinstance(part, dict) and part:
            flat |= flattened(part, f"{prefix}{key}.")
        else:
            flat[prefix + key] = part
    return flat


def _parsed(value: Any) -> Any:
    """Top-level strings are read as JSON where they can be: "4" becomes 4."""
    if isinstance(value, str):
        try:
            return json.loads(value)
        except ValueError:
            return value
    return value


def _check_item(dataset: Row, item: Row) -> None:
    for field, schema in (("input", "inputSchema"), ("expectedOutput", "expectedOutputSchema")):
        rules, value = dataset[schema], item[field]
        if rules is None or (field == "expectedOutput" and value is None):
            continue
        for fault in violations(rules, value, rules):
            raise RefusedError(400, f"{item['id']}: {field} {fault}")


_TYPES: dict[str, type | tuple[type, ...]] = {
    "object": dict,
    "array": list,
    "string": str,
    "number": (int, float),
    "integer": int,
    "boolean": bool,
    "null": type(None),
}


def violations(schema: Row, value: Any, root: Row, path: str = "") -> Iterable[str]:
    """Where ``value`` breaks the keywords of JSON Schema that pydantic writes for our models."""
    if "$ref" in schema:
        schema = root["$defs"][schema["$ref"].rsplit("/", 1)[1]]
    if "anyOf" in schema:
        faults = [list(violations(each, value, root, path)) for each in schema["anyOf"]]
        if all(faults):
            yield faults[0][0]
        return
    kind = schema.get("type")
    wrong_bool = isinstance(value, bool) and kind in ("number", "integer")
    if kind and (not isinstance(value, _TYPES[kind]) or wrong_bool):
        yield f"{path or '/'} must be {kind}"
        return
    if "enum" in schema and value not in schema["enum"]:
        yield f"{path or '/'} must be one of {schema['enum']}"
    if isinstance(value, str) and len(value) < schema.get("minLength", 0):
        yield f"{path} must have {schema['minLength']} characters"
    if isinstance(value, dict):
        for name in schema.get("required", ()):
            if name not in value:
                yield f"{path} must have required property '{name}'"
        known = schema.get("properties", {})
        extra = schema.get("additionalProperties", True)
        for name, each in value.items():
            if name in known:
                yield from violations(known[name], each, root, f"{path}/{name}")
            elif extra is False:
                yield f"{path} must not have additional property '{name}'"
            elif isinstance(extra, dict):
                yield from violations(extra, each, root, f"{path}/{name}")
    if isinstance(value, list) and "items" in schema:
        for number, each in enumerate(value):
            yield from violations(schema["items"], each, root, f"{path}/{number}")


def _plain(value: Any) -> Any:
    kind = value.WhichOneof("value")
    if kind == "array_value":
        return [_plain(each) for each in value.array_value.values]
    return getattr(value, kind) if kind else None


def _observation(span: Any, resource: Row) -> Row:
    attributes = {a.key: _plain(a.value) for a in span.attributes}
    own = "langfuse.observation."
    experiment = {
        key.removeprefix("langfuse.experiment."): value
        for key, value in attributes.items()
        if key.startswith("langfuse.experiment.")
    }
    metadata = {
        key.removeprefix(f"{own}metadata."): value
        for key, value in attributes.items()
        if key.startswith(f"{own}metadata.")
    }
    parent = span.parent_span_id.hex() or None
    start, end = (
        datetime.fromtimestamp(ns / 1e9, UTC)
        for ns in (span.start_time_unix_nano, span.end_time_unix_nano)
    )
    return {
        "id": span.span_id.hex(),
        "traceId": span.trace_id.hex(),
        "startTime": stamp(start),
        "endTime": stamp(end),
        "projectId": PROJECT["id"],
        "parentObservationId": parent,
        "type": str(attributes.get(f"{own}type", "span")).upper(),
        "name": span.name,
        "level": attributes.get(f"{own}level", "DEFAULT"),
        "statusMessage": attributes.get(f"{own}status_message"),
        "version": attributes.get("langfuse.version"),
        "environment": attributes.get("langfuse.environment")
        or resource.get("langfuse.environment")
        or "default",
        "userId": attributes.get("user.id"),
        "sessionId": attributes.get("session.id"),
        "isRootObservation": parent is None
        or attributes.get("langfuse.internal.is_app_root") is True,
        "createdAt": stamp(),
        "updatedAt": stamp(),
        "input": attributes.get(f"{own}input"),
        "output": attributes.get(f"{own}output"),
        "metadata": metadata,
        "model": attributes.get(f"{own}model.name"),
        "modelParameters": attributes.get(f"{own}model.parameters"),
        "usageDetails": json.loads(attributes.get(f"{own}usage_details") or "{}"),
        "costDetails": json.loads(attributes.get(f"{own}cost_details") or "{}"),
        "promptName": attributes.get(f"{own}prompt.name"),
        "promptVersion": attributes.get(f"{own}prompt.version"),
        "latency": (end - start).total_seconds(),
        "traceName": attributes.get("langfuse.trace.name"),
        "tags": attributes.get("langfuse.trace.tags") or [],
        "release": attributes.get("langfuse.release") or resource.get("langfuse.release"),
        "experiment": experiment,
    }


def _checked_score(body: Any) -> Row:
    if not isinstance(body, dict):
        raise RefusedError(400, "Invalid input: expected object")
    name, value = body.get("name"), body.get("value")
    if not isinstance(name, str) or not name:
        raise RefusedError(400, "name: expected a non-empty string")
    for field in ("id", "traceId", "sessionId", "observationId", "datasetRunId", "comment"):
        if body.get(field) is not None and not isinstance(body[field], str):
            raise RefusedError(400, f"{name}: {field}: expected string")
    subjects = [field for field in ("traceId", "sessionId", "datasetRunId") if body.get(field)]
    if len(subjects) != 1 or (body.get("observationId") and not body.get("traceId")):
        raise RefusedError(
            400,
            f"{name}: provide exactly one of traceId (with optional observationId), "
            "sessionId or datasetRunId",
        )
    number = isinstance(value, int | float) and not isinstance(value, bool)
    # Without a data type one is inferred, which is how a "NaN" becomes a category.
    kind = body.get("dataType") or ("NUMERIC" if number else "CATEGORICAL")
    fits = {
        "NUMERIC": number,
        "BOOLEAN": number and value in (0, 1),
        "CATEGORICAL": isinstance(value, str),
        "TEXT": isinstance(value, str) and 1 <= len(value) <= 500,
    }
    if not fits.get(kind, False):
        raise RefusedError(400, f"{name}: {value!r} is no value for data type {kind}")
    if body.get("source") not in (None, "API", "ANNOTATION"):
        raise RefusedError(400, f"{name}: source: expected API or ANNOTATION")
    if body.get("environment") is not None and not ENVIRONMENT.fullmatch(str(body["environment"])):
        raise RefusedError(
            400,
            f"{name}: environment: lowercase letters, digits, - and _, not beginning with langfuse",
        )
    if body.get("timestamp") is not None:
        moment(body["timestamp"], "timestamp")
    return {**body, "dataType": kind}


def _subject(score: Row) -> Row:
    if score.get("observationId"):
        return {"kind": "observation", "id": score["observationId"], "traceId": score["traceId"]}
    for field, kind in (
        ("traceId", "trace"),
        ("sessionId", "session"),
        ("datasetRunId", "experiment"),
    ):
        if score.get(field):
            return {"kind": kind, "id": score[field]}
    raise AssertionError("checked before")
