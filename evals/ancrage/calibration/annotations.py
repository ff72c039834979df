"""Labels out of Langfuse: the annotation scores that people gave to a run's traces."""

from collections.abc import Iterable, Sequence
from contextlib import closing

from pydantic import ValidationError

from ancrage.calibration.labels import Label, Labels, hash_of, latest
from ancrage.domain import FailureMode, Output
from ancrage.errors import UsageError, describe
from ancrage.langfuse.configs import make_queue
from ancrage.langfuse.connection import Connection, connect
from ancrage.langfuse.items import item_id
from ancrage.langfuse.reads import scores
from ancrage.langfuse.receipt import published_target
from ancrage.langfuse.target import KEY, Target, place
from ancrage.program import called
from ancrage.runs import RunFolder, RunView


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
    fields = "details,subject,annotation"
    for score in scores(connection, source="ANNOTATION", fields=fields):
        if score.name not in modes or score.trace_id not in answers:
            continue
        case_id, digest = answers[score.trace_id]
        where = f"score {score.id} ({score.name}, {case_id})"
        if not score.author_user_id:
            refused.append(f"{where}: no author: written by a program, not by a person")
            continue
        try:
            labels.append(
                Label.model_validate(
                    {
                        "case_id": case_id,
                        "mode": score.name,
                        "label": score.value,
                        "annotator": score.author_user_id,
                        "note": score.comment,
                        "answer_hash": digest,
                        "time": score.timestamp,
                    }
                )
            )
        except ValidationError as error:
            refused.append(f"{where}: {describe(error)}")
    labels.sort(key=lambda each: str(each.time))
    return latest(labels, tuple(refused))


def queue_answers(
    folder: RunFolder, name: str, modes: Sequence[FailureMode], outputs: Iterable[Output]
) -> int:
    """Put answers of a published run into the annotation queue ``name`` of Langfuse, made where
    there is none; people score each of ``modes`` there. Returns how many were added.

    Raises:
        UsageError: the run is not in Langfuse, or the keys may not make what a queue needs.
        LangfuseError: Langfuse refuses, or cannot be reached.
    """
    target = _target(folder)
    if target is None:
        again = called(f"publish {folder.path.name}")
        raise UsageError(f"run {folder.path.name} is not in Langfuse; publish it first: {again}")
    run = folder.run
    places = [place(target, run, item_id(target.dataset, o.case_id), o) for o in outputs]
    with closing(connect()) as connection:
        return make_queue(connection, name, modes, places)


def _target(folder: RunFolder) -> Target | None:
    made_on = folder.run.details.get(KEY)
    return Target.model_validate(made_on) if made_on else published_target(folder)


def _traces(view: RunView) -> dict[str, tuple[str, str | None]]:
    """Case and answer by the trace that shows it."""
    target = _target(view.folder)
    found: dict[str, tuple[str, str | None]] = {}
    for item in view.items():
        about = item.case.id, hash_of(item.output)
        if view.run.kind == "audit" and item.case.provenance.trace_id:
            found[item.case.provenance.trace_id] = about
        if target:
            where = place(target, view.run, item_id(target.dataset, item.case.id), item.output)
            found[where.trace_id] = about
    return found
