"""What a fuzzer calls: one function a reader of foreign bytes, which raises where a promise breaks.

Each takes any bytes at all. ``python -m benchmarks.fuzz NAME`` looks for those that break it; the
few that once did, and one of each shape, stand in ``corpus/NAME`` and are tried by the tests.
"""

import asyncio
import json
import os
import tempfile
from collections.abc import Callable
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Any

from langfuse.api import ObservationV2
from langfuse.api.core.pydantic_utilities import parse_obj_as
from pydantic import ValidationError

from ancrage.checks.base import CodeCheck
from ancrage.citations import UnreadableAnswer, parse
from ancrage.config import Config
from ancrage.domain import Case, Evaluation, ScoreState
from ancrage.errors import UsageError
from ancrage.judges.contract import DefectStatus, read, reply_model, unscored
from ancrage.judges.settle import Settled
from ancrage.langfuse.source import map_trace
from ancrage.langfuse.trace import Trace
from ancrage.llm import parse_json
from ancrage.quotes import canonical, find_passage, normalise
from ancrage.quotes.surface import fold
from ancrage.runs.scoring import evaluate
from ancrage.snapshot import Filters, open_snapshot
from ancrage.snapshot.manifest import PseudonymMode
from ancrage.snapshot.pseudonyms import Pseudonymiser
from ancrage.snapshot.sources import open_source
from ancrage.snapshot.sources.fields import FieldError
from ancrage.snapshot.sources.mapping import AnswerFields
from ancrage.snapshot.take import take_snapshot, writable
from ancrage.verify.model import ContextItem, Verdict
from ancrage.verify.reply import ReplyStatus, read_verdicts
from ancrage.verify.reply import reply_model as verdicts_model
from tests.builders import STUDY, subject

CORPUS = Path(__file__).parent / "corpus"
_SEAL, _MARK = "0123456789abcdef", "abc123|"
_MODES = ["vague", "loud"]
_TEXT = "Les clients sont ravis. L’équipe est « très » contente : 3 % partent.\nIls partent."


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def citations(data: bytes) -> None:
    """An answer read and checked: spans say what they hold, and no check fails."""
    text = _text(data)
    try:
        found = parse(text)
    except UnreadableAnswer:
        found = None
    for citation in found.citations if found else ():
        assert text[citation.start : citation.end] == citation.text
        for token in (*citation.questions, *citation.messages, *citation.others):
            assert fold(text[token.start : token.end]) == fold(token.text)
    last = 0
    for quote in found.quotes if found else ():
        assert 0 <= quote.start <= quote.inner_start <= quote.inner_end <= quote.end <= len(text)
        assert last <= quote.start
        last = quote.start
        assert all(citation in found.citations for citation in quote.citations)  # type: ignore[union-attr]
    if text.strip():
        _checked(text)


def _checked(text: str) -> None:
    entry = asyncio.run(evaluate(subject(text), _checks()))
    for done in entry.evaluations:
        assert not done.faulty, done
        assert Evaluation.model_validate_json(done.model_dump_json()) == done
    if not any(
        score.state is ScoreState.SCORED for done in entry.evaluations for score in done.scores
    ):
        return
    assert entry.anchors is not None
    for quote in entry.anchors.quotes:
        assert text[quote.evidence.start : quote.evidence.end] == quote.evidence.text


@cache
def _checks() -> list[CodeCheck]:
    from ancrage.checks import load_checks

    return load_checks(Config(None, {}))


def normaliser(data: bytes) -> None:
    """The canonical form, its way back to the text, and a passage found where it stands."""
    text = _text(data)
    result = normalise(text)
    assert result.text == canonical(text)
    assert canonical(result.text) == result.text
    assert len(result.starts) == len(result.ends) == len(result.text)
    assert list(result.starts) == sorted(result.starts)
    assert list(result.ends) == sorted(result.ends)
    assert all(
        0 <= start < end <= len(text) for start, end in zip(result.starts, result.ends, strict=True)
    )
    if result.text:
        start, end = result.original(0, len(result.text))
        assert canonical(text[start:end]) == result.text
    needle, _, hay = text.partition("\n")
    match = find_passage(needle, hay)
    assert match is None or 0 <= match.start < match.end <= len(hay)
    if needle.strip() and needle in hay and any(map(str.isalnum, needle)):
        assert match is None or hay[match.start : match.end].strip()


def replies(data: bytes) -> None:
    """What a judge or a verifier replies: each defect has one fate, each claim one opinion."""
    text = _text(data)
    settled = {
        "vague": Settled(objection=lambda passage: "no" if "%" in passage.text else None),
        "loud": Settled(defects=()),
    }
    value, _, fault = parse_json(text, reply_model(_MODES, _SEAL))
    assert (value is None) == (fault is not None)
    if value is None:
        reading = unscored(_MODES, "unparsable", settled)
    else:
        reading = read(value, _MODES, _TEXT, _MARK, settled)
        assert reading.reported == len(value.defects)
    assert sum(reading.fates.values()) == reading.reported
    assert len(reading.set_aside) == reading.reported - reading.fates[DefectStatus.FOUND]
    assert [score.name for score in reading.scores] == _MODES
    for finding in reading.findings:
        assert _TEXT[finding.evidence.start : finding.evidence.end] == finding.evidence.text
    for score in reading.scores:
        found = [finding for finding in reading.findings if finding.mode == score.name]
        scored = score.state is ScoreState.SCORED
        assert score.value == len(found) if scored else score.reason and not found
    done = Evaluation(evaluator="e", version="v", scores=reading.scores, findings=reading.findings)
    assert Evaluation.model_validate_json(done.model_dump_json()) == done

    sealed, _, _ = parse_json(text, verdicts_model("verdicts", _SEAL))
    if sealed is None:
        return
    items = [ContextItem(text=message.text, id=message.id) for message in STUDY.messages]
    opinions, fates = read_verdicts(sealed.entries, 3, items, _MARK, "llm")
    assert fates.total() == len(sealed.entries)
    assert len(opinions) == 3
    for opinion in opinions:
        assert opinion.reason
        if opinion.verdict in (Verdict.SUPPORTED, Verdict.CONTRADICTED):
            assert fates[ReplyStatus.USED]
            assert opinion.evidence is not None
            held = items[opinion.evidence.item].text
            place = opinion.evidence.passage
            assert held[place.start : place.end] == place.text


def traces(data: bytes) -> None:
    """Traces of production, as Langfuse gives them: each a case, or a fault of a named field."""
    try:
        rows = json.loads(data)
    except (ValueError, RecursionError):
        return
    observations = []
    for row in rows if isinstance(rows, list) else [rows]:
        try:
            observations.append(parse_obj_as(ObservationV2, row))
        except (ValidationError, OverflowError, RecursionError):  # the SDK's, before our reading
            continue
    if not observations:
        return
    trace = Trace(observations[0], tuple(observations))
    try:
        case = map_trace(trace, AnswerFields(), "fuzz")
    except FieldError:
        return
    for kept in writable([case]):
        if isinstance(kept, Case):
            assert Case.model_validate_json(kept.model_dump_json()) == kept
        assert kept.model_dump_json()


KINDS = {
    "c": ".csv", "t": ".tsv", "l": ".jsonl", "j": ".json", "x": ".xlsx", "p": ".parquet",
    "s": ".db",
}  # fmt: skip
"""What the first byte of an input says that the others are."""
_FOUR = ("id", "study_id", "question", "answer")


def files(data: bytes) -> None:
    """A damaged file as answers and as messages: set aside row by row, or one error."""
    suffix = KINDS.get(data[:1].decode("latin-1"))
    if suffix is None:
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"f{suffix}")
        path.write_bytes(data[1:])
        try:
            with closing(_source(path)) as source:
                hidden = Pseudonymiser(PseudonymMode.TEXT, key="0123456789abcdef")
                manifest = take_snapshot(source, Path(folder, "s"), Filters(), hidden)
        except UsageError:
            assert sorted(child.name for child in Path(folder).iterdir()) == [path.name]
            return
        taken = open_snapshot(Path(folder, "s"))
        assert sum(1 for _ in taken.cases()) == manifest.counts.kept
        counts = manifest.counts
        aside = counts.rejected + counts.duplicates + counts.study_rows_rejected
        assert sum(1 for _ in taken.rejects()) == aside


def _source(path: Path) -> Any:
    from ancrage.snapshot.sources.sql import SqlSource

    if path.suffix != ".db":
        return open_source(str(path), Config(None, {}), {"messages": [str(path)]})
    os.environ["FUZZ_DATABASE"] = f"sqlite:///{path}"
    tables = {
        "url_env": "FUZZ_DATABASE", "answers": {"table": "t"}, "messages": {"table": "t"},
    }  # fmt: skip
    return SqlSource("fuzz", tables, path.parent)


def scrub(data: bytes) -> None:
    """A text with people hidden: the same twice, and its quote hidden alike."""
    from ancrage.snapshot.rewrite import Rewriter

    text = _text(data)
    hidden = Pseudonymiser(PseudonymMode.TEXT, key="0123456789abcdef", names=("Anne Dupont",))
    rewriter = Rewriter(hidden, STUDY)
    once = rewriter.text(text)
    assert once == rewriter.text(text)
    assert rewriter.text(f"« {text} »") == f"« {once} »"


TARGETS: dict[str, Callable[[bytes], None]] = {
    target.__name__: target for target in (citations, normaliser, replies, traces, files, scrub)
}
