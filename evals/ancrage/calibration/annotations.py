"""Labels out of Langfuse: the annotation scores that people gave to a run's traces."""

from collections.abc import Iterator
from contextlib import closing
from datetime import datetime
from typing import Any

from pydantic import ValidationError

from ancrage.calibration.labels import Label, Labels, hash_of, latest
from ancrage.errors import describe
from ancrage.langfuse.connection import Connection, connect
from ancrage.langfuse.items import item_id
from ancrage.langfuse.receipt import published_target
from ancrage.langfuse.target import KEY, Target, place
from ancrage.runs import RunView

PAGE = 100


def read_annotations(view: RunView, connection: Connection | None = None) -> Labels:
    """The annotation scores, named as failure modes, on the traces of a run's answers.

    An audit is found by the traces of production that its cases come from, and any run by those
    it was published to. Scores without an author were written by a program: they are refused.

    Raises:
        UsageError: Langfuse is not set up.
        LangfuseError: it cannot be read.
    """
    if connection is None:
        with closing(connect()) as opened:
            return read_annotations(view, opened)
    modes = {mode.name for mode in view.modes}
    answers = _traces(view)
    labels, refused = [], []
    for score in _annotations(connection):
        trace = _trace_of(score)
        if score["name"] not in modes or trace not in answers:
            continue
        case_id, digest = answers[trace]
        where = f"score {score['id']} ({score['name']}, {case_id})"
        author = score.get("authorUserId")
        if not author:
            refused.append(f"{where}: no author: written by a program, not by a person")
            continue
        try:
            labels.append(
                Label(
                    case_id=case_id,
                    mode=score["name"],
                    label=score["value"],
                    annotator=author,
                    note=score.get("comment"),
                    answer_hash=digest,
                    time=datetime.fromisoformat(score["timestamp"]),
                )
            )
        except ValidationError as error:
            refused.append(f"{where}: {describe(error)}")
    labels.sort(key=lambda each: str(each.time))
    return latest(labels, tuple(refused))


def _annotations(connection: Connection) -> Iterator[dict[str, Any]]:
    """Every annotation score of the project, page by page."""
    query = {"limit": PAGE, "source": "ANNOTATION", "fields": "details,subject,annotation"}
    cursor = None
    while True:
        answer = connection.get("/v3/scores", {**query, **({"cursor": cursor} if cursor else {})})
        yield from answer["data"]
        cursor = answer["meta"].get("cursor")
        if not cursor:
            return


def _traces(view: RunView) -> dict[str, tuple[str, str | None]]:
    """Case and answer by the trace that shows it."""
    made_on = view.run.details.get(KEY)
    target = Target.model_validate(made_on) if made_on else published_target(view.folder)
    found: dict[str, tuple[str, str | None]] = {}
    for item in view.items():
        about = item.case.id, hash_of(item.output)
        if view.run.kind == "audit" and item.case.provenance.trace_id:
            found[item.case.provenance.trace_id] = about
        if target:
            where = place(target, view.run, item_id(target.dataset, item.case.id), item.output)
            found[where.trace_id] = about
    return found


def _trace_of(score: dict[str, Any]) -> str | None:
    subject = score.get("subject") or {}
    found = subject.get("id") if subject.get("kind") == "trace" else subject.get("traceId")
    return str(found) if found else None
