"""The reads of the Langfuse server of the tests: paging, filters, field groups."""

import json
from collections.abc import Callable
from typing import Any

from tests.servers.langfuse_store import RefusedError, Row, Store, cut, flattened, moment, stamp

Query = dict[str, list[str]]

OBSERVATION_FIELDS = {
    "core": ("id", "traceId", "startTime", "endTime", "projectId", "parentObservationId", "type"),
    "basic": (
        "name",
        "level",
        "statusMessage",
        "version",
        "environment",
        "userId",
        "sessionId",
        "isRootObservation",
    ),
    "time": ("createdAt", "updatedAt"),
    "io": ("input", "output"),
    "metadata": ("metadata",),
    "model": ("model", "modelParameters"),
    "usage": ("usageDetails", "costDetails"),
    "prompt": ("promptName", "promptVersion"),
    "metrics": ("latency",),
    "trace_context": ("tags", "release", "traceName"),
}
COLUMNS = {
    "id": "id",
    "type": "type",
    "name": "name",
    "traceId": "traceId",
    "startTime": "startTime",
    "environment": "environment",
    "level": "level",
    "userId": "userId",
    "sessionId": "sessionId",
    "isRootObservation": "isRootObservation",
    "traceName": "traceName",
    "tags": "tags",
    "traceTags": "tags",
    "model": "model",
    "promptName": "promptName",
    "promptVersion": "promptVersion",
    "input": "input",
    "output": "output",
    "metadata": "metadata",
}
OPERATORS_OF = {
    "datetime": {">", "<", ">=", "<="},
    "string": {"=", "contains", "does not contain", "starts with", "ends with", "matches"},
    "number": {"=", ">", "<", ">=", "<="},
    "stringOptions": {"any of", "none of"},
    "categoryOptions": {"any of", "none of"},
    "arrayOptions": {"any of", "none of", "all of"},
    "stringObject": {"=", "contains", "does not contain", "starts with", "ends with", "matches"},
    "numberObject": {"=", ">", "<", ">=", "<="},
    "boolean": {"=", "<>"},
}
KEYED = ("stringObject", "numberObject", "categoryOptions")
OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "=": lambda a, b: a == b,
    "<>": lambda a, b: a != b,
    ">": lambda a, b: a > b,
    "<": lambda a, b: a < b,
    ">=": lambda a, b: a >= b,
    "<=": lambda a, b: a <= b,
    "contains": lambda a, b: b in a,
    "does not contain": lambda a, b: b not in a,
    "starts with": lambda a, b: a.startswith(b),
    "ends with": lambda a, b: a.endswith(b),
    "matches": lambda a, b: b.lower() in a.lower(),
    "any of": lambda a, b: bool(set(a if isinstance(a, list) else [a]) & set(b)),
    "none of": lambda a, b: not set(a if isinstance(a, list) else [a]) & set(b),
    "all of": lambda a, b: set(b) <= set(a),
}


def one(query: Query, name: str) -> str | None:
    """The single value of a parameter; empty counts as absent."""
    return query.get(name, [""])[0] or None


def many(query: Query, name: str) -> list[str]:
    """A comma-separated parameter."""
    return [part for part in (one(query, name) or "").split(",") if part]


def limit(query: Query, maximum: int, default: int = 50) -> int:
    """The page size; 400 when it is out of bounds."""
    try:
        size = int(one(query, "limit") or default)
    except ValueError:
        raise RefusedError(400, "limit: expected number") from None
    if not 1 <= size <= maximum:
        raise RefusedError(400, f"limit: must be between 1 and {maximum}")
    return size


def page(query: Query) -> int:
    """The page number; 400 when it is none."""
    text = one(query, "page") or "1"
    if not text.isdecimal() or int(text) < 1:
        raise RefusedError(400, "page: must be a number of at least 1")
    return int(text)


def groups(query: Query, known: tuple[str, ...], default: str) -> set[str]:
    """The field groups asked for; 400 when one is unknown."""
    asked = many(query, "fields") or default.split(",")
    if unknown := set(asked) - set(known):
        raise RefusedError(400, f"fields: unknown group {min(unknown)!r}")
    return set(asked)


def observations(store: Store, query: Query) -> Row:
    """GET /v2/observations."""
    size = limit(query, 1000)
    fields = groups(query, tuple(OBSERVATION_FIELDS), "core,basic") | {"core"}
    if one(query, "parseIoAsJson") == "true":
        raise RefusedError(400, "parseIoAsJson is no longer supported")
    if not one(query, "fromStartTime"):
        raise RefusedError(400, "fromStartTime: required")
    rows = store.visible(store.observations.values())
    rows = _filtered(rows, text) if (text := one(query, "filter")) else _by_parameters(rows, query)
    rows.sort(key=lambda row: (row["startTime"], row["id"]), reverse=True)
    page = cut(rows, lambda row: [row["startTime"], row["id"]], size, one(query, "cursor"))
    expanded = set(many(query, "expandMetadata"))
    names = [
        name
        for group in OBSERVATION_FIELDS
        if group in fields
        for name in OBSERVATION_FIELDS[group]
    ]
    page["data"] = [_shown(row, names, expanded) for row in page["data"]]
    return page


def _shown(row: Row, names: list[str], expanded: set[str]) -> Row:
    shown = {name: row.get(name) for name in names}
    if "metadata" in shown:
        values = {
            key: value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            for key, value in (shown["metadata"] or {}).items()
        }
        shown["metadata"] = {k: v if k in expanded else v[:200] for k, v in values.items()}
    return shown


def _by_parameters(rows: list[Row], query: Query) -> list[Row]:
    for parameter in ("name", "userId", "sessionId", "type", "traceId", "level", "version"):
        if value := one(query, parameter):
            rows = [row for row in rows if row.get(parameter) == value]
    if environments := query.get("environment"):
        rows = [row for row in rows if row["environment"] in environments]
    if value := one(query, "isRootObservation"):
        rows = [row for row in rows if row["isRootObservation"] is (value == "true")]
    if value := one(query, "fromStartTime"):
        start = stamp(moment(value, "fromStartTime"))
        rows = [row for row in rows if row["startTime"] >= start]
    if value := one(query, "toStartTime"):
        end = stamp(moment(value, "toStartTime"))
        rows = [row for row in rows if row["startTime"] < end]
    return rows


def _filtered(rows: list[Row], text: str) -> list[Row]:
    try:
        conditions = json.loads(text)
    except ValueError:
        raise RefusedError(400, "Invalid JSON in filter parameter") from None
    texts = [c for c in conditions if c.get("column") in ("input", "output")]
    if texts and not any(c.get("operator") in ("=", "matches") for c in texts):
        raise RefusedError(400, "input and output need an = or a matches filter")
    for condition in conditions:
        column, operator = condition.get("column"), condition.get("operator")
        if (
            column not in COLUMNS
            or operator not in OPERATORS_OF.get(condition.get("type"), ())
            or "value" not in condition
            or (condition["type"] in KEYED and not condition.get("key"))
            or (operator == "matches" and column not in ("input", "output", "metadata"))
        ):
            raise RefusedError(400, f"Invalid filter on column {column!r}")
        test, wanted = OPERATORS[operator], condition.get("value")
        if condition["type"] == "datetime":
            wanted = stamp(moment(wanted, column))
        kept = []
        for row in rows:
            value = row.get(COLUMNS[column])
            if column == "metadata":
                value = (value or {}).get(condition.get("key"))
                value = value if isinstance(value, str | None) else json.dumps(value)
            if value is not None and test(value, wanted):
                kept.append(row)
        rows = kept
    return rows


def _roots(store: Store) -> list[Row]:
    """The root observation of each experiment item that has arrived."""
    return [
        row
        for row in store.visible(store.observations.values())
        if row.get("experiment", {}).get("item.root_observation_id") == row["id"]
        and row["experiment"].get("id")
    ]


def _experiment_metadata(experiment: Row, flat: bool) -> Any:
    found = json.loads(experiment.get("metadata") or "null")
    return flattened(found) if flat and isinstance(found, dict) else found


def _core(scores: list[Row]) -> list[Row]:
    """Scores inside another listing: no comment, no metadata, and no more than 50."""
    hidden = ("comment", "metadata", "configId", "authorUserId", "queueId")
    return [{k: v for k, v in score.items() if k not in hidden} for score in scores[:50]]


def experiments(store: Store, query: Query, *, flat: bool) -> Row:
    """GET /experiments."""
    size = limit(query, 100)
    fields = groups(query, ("core", "metadata", "scores"), "core")
    grouped: dict[str, list[Row]] = {}
    for row in _window(_roots(store), query, required=True):
        grouped.setdefault(row["experiment"]["id"], []).append(row)
    found = []
    for identifier, rows in grouped.items():
        first = rows[0]["experiment"]
        experiment = {
            "id": identifier,
            "name": first["name"],
            "description": first.get("description"),
            "startTime": min(row["startTime"] for row in rows),
            "endTime": max(row["endTime"] for row in rows),
            "itemCount": len(rows),
            "datasetId": first.get("dataset.id"),
        }
        if "metadata" in fields:
            experiment["metadata"] = _experiment_metadata(first, flat)
        if "scores" in fields:
            own = store.scores_of("experiment").get(identifier, [])
            experiment["scores"] = _core(own)
        found.append(experiment)
    for parameter in ("id", "name", "datasetId"):
        if wanted := many(query, parameter):
            found = [each for each in found if each[parameter] in wanted]
    found.sort(key=lambda each: (each["endTime"], each["id"]), reverse=True)
    return cut(found, lambda each: [each["endTime"], each["id"]], size, one(query, "cursor"))


def experiment_items(store: Store, query: Query, *, flat: bool) -> Row:
    """GET /experiment-items."""
    known = ("core", "dataset", "io", "metadata", "itemMetadata", "experimentMetadata", "scores")
    size, fields = limit(query, 100), groups(query, known, "core,dataset")
    found = _window(_roots(store), query, required=True)
    for parameter, name in (
        ("experimentId", "id"),
        ("experimentName", "name"),
        ("experimentItemId", "item.id"),
        ("datasetId", "dataset.id"),
    ):
        if wanted := many(query, parameter):
            found = [row for row in found if row["experiment"].get(name) in wanted]
    found.sort(key=lambda row: (row["startTime"], row["id"]), reverse=True)
    page = cut(found, lambda row: [row["startTime"], row["id"]], size, one(query, "cursor"))
    own, whole = store.scores_of("observation"), store.scores_of("trace")
    page["data"] = [
        _experiment_item(row, fields, own.get(row["id"], []) + whole.get(row["traceId"], []), flat)
        for row in page["data"]
    ]
    return page


def _experiment_item(row: Row, fields: set[str], scores: list[Row], flat: bool) -> Row:
    experiment = row["experiment"]
    item = {
        **{
            name: row[name]
            for name in ("id", "traceId", "startTime", "endTime", "level", "environment")
        },
        "experimentId": experiment["id"],
        "experimentName": experiment["name"],
        "experimentItemId": experiment["item.id"],
    }
    if "dataset" in fields:
        item["experimentDatasetId"] = experiment.get("dataset.id")
        item["experimentItemVersion"] = experiment.get("item.version")
    if "io" in fields:
        item["input"], item["output"] = row["input"], row["output"]
        item["expectedOutput"] = experiment.get("item.expected_output")
    if "metadata" in fields:
        item["metadata"] = row["metadata"]
    if "itemMetadata" in fields:
        item["experimentItemMetadata"] = json.loads(experiment.get("item.metadata") or "null")
    if "experimentMetadata" in fields:
        item["experimentMetadata"] = _experiment_metadata(experiment, flat)
        item["experimentDescription"] = experiment.get("description")
    if "scores" in fields:
        item["scores"] = _core(scores)
    return item


def _window(rows: list[Row], query: Query, *, required: bool) -> list[Row]:
    if required and not one(query, "fromStartTime"):
        raise RefusedError(400, "fromStartTime: required")
    start = stamp(moment(one(query, "fromStartTime"), "fromStartTime"))
    rows = [row for row in rows if row["startTime"] >= start]
    if value := one(query, "toStartTime"):
        end = stamp(moment(value, "toStartTime"))
        rows = [row for row in rows if row["startTime"] < end]
    return rows


def scores(store: Store, query: Query) -> Row:
    """GET /v3/scores."""
    size = limit(query, 100)
    fields = (
        groups(query, ("details", "subject", "annotation"), "details")
        if one(query, "fields")
        else set()
    )
    asked = [name for name in ("traceId", "sessionId", "experimentId") if one(query, name)]
    if len(asked) > 1:
        raise RefusedError(400, f"{asked[0]} and {asked[1]} are mutually exclusive")
    if one(query, "observationId") and not one(query, "traceId"):
        raise RefusedError(400, "observationId requires traceId")
    rows = store.visible(store.scores.values())
    if wanted := many(query, "traceId"):
        rows = [
            r
            for r in rows
            if r["subject"].get("traceId", r["subject"]["id"]) in wanted
            and r["subject"]["kind"] in ("trace", "observation")
        ]
    for parameter, kind in (
        ("observationId", "observation"),
        ("experimentId", "experiment"),
        ("sessionId", "session"),
    ):
        if wanted := many(query, parameter):
            rows = [
                r for r in rows if r["subject"]["kind"] == kind and r["subject"]["id"] in wanted
            ]
    for parameter in ("id", "name", "environment"):
        if wanted := many(query, parameter):
            rows = [r for r in rows if r[parameter] in wanted]
    for parameter in ("source", "dataType"):
        if wanted := [each.upper() for each in many(query, parameter)]:
            rows = [r for r in rows if r[parameter] in wanted]
    if value := one(query, "fromTimestamp"):
        start = stamp(moment(value, "fromTimestamp"))
        rows = [r for r in rows if r["timestamp"] >= start]
    rows.sort(key=lambda r: (r["timestamp"], r["id"], r["name"]), reverse=True)
    page = cut(rows, lambda r: [r["timestamp"], r["id"], r["name"]], size, one(query, "cursor"))
    hidden = {"visible"}
    hidden |= set() if "details" in fields else {"comment", "configId", "metadata"}
    hidden |= set() if "subject" in fields else {"subject"}
    hidden |= set() if "annotation" in fields else {"authorUserId", "queueId"}
    page["data"] = [{k: v for k, v in row.items() if k not in hidden} for row in page["data"]]
    page["meta"]["limit"] = size
    return page
