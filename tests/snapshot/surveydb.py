"""A database of the real survey, with answers written over it whose defects are known.

``build(engine, survey)`` fills an empty database and returns what is true of every answer.
``TABLES`` is the ``[sources.NAME]`` table that reads it, ``QUERIES`` one that does so by query.
"""

import csv
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import Column, DateTime, Engine, MetaData, Table, Text, insert

STUDY = "global-dialogues-1"
GONE = "global-dialogues-0"
"""A study that answers speak of and the database no longer holds."""
NEWEST = datetime(2026, 3, 1, 12, tzinfo=UTC)
ANSWERS = 60

_FIELDS = {
    "id": "answer_id",
    "question": "question",
    "answer": "reply",
    "time": "asked_at",
    "study_id": "survey",
    "trace_id": "trace",
    "parameters": "settings",
    "metadata": {"locale": "details.user.locale"},
}
TABLES: dict[str, Any] = {
    "type": "sql",
    "url_env": "SURVEY_URL",
    "answers": {"table": "answers", "fields": _FIELDS},
    "messages": {
        "table": "messages",
        "fields": {"id": "message_id", "question_ref": "question_id", "study_id": "survey"},
    },
    "questions": {"table": "questions", "fields": {"ref": "question_id", "study_id": "survey"}},
    "studies": {"table": "surveys"},
}
QUERIES: dict[str, Any] = {
    "type": "sql",
    "url_env": "SURVEY_URL",
    "answers": {
        "query": "SELECT answer_id AS id, question, reply AS answer, asked_at AS time, "
        "survey AS study_id, model, settings AS parameters, tool_calls, history, trace AS trace_id "
        "FROM answers WHERE asked_at >= :since AND asked_at < :until ORDER BY answer_id DESC"
    },
    "messages": {
        "query": "SELECT message_id AS id, respondent_id, text, question_id AS question_ref "
        "FROM messages WHERE survey = :study_id ORDER BY message_id"
    },
    "questions": {
        "query": "SELECT question_id AS ref, text FROM questions WHERE survey = :study_id"
    },
}


@dataclass(frozen=True)
class Quoted:
    """One quote of an answer and what is true of it."""

    text: str
    message_id: str
    respondent_id: str
    defect: str | None
    """None, or the failure mode that an audit must report for it."""


@dataclass(frozen=True)
class Expected:
    """What is true of the database: facts to compare a snapshot or an audit with."""

    quotes: dict[str, tuple[Quoted, ...]]
    """By answer id, in the order written; empty where the answer quotes nobody."""
    without_source: frozenset[str]
    without_answer: frozenset[str]
    respondents: frozenset[str]
    messages: int

    def defects(self, mode: str) -> frozenset[str]:
        """The answers in which an audit must report ``mode``."""
        return frozenset(
            answer
            for answer, quotes in self.quotes.items()
            if any(quote.defect == mode for quote in quotes)
        )


def build(engine: Engine, survey: Path) -> Expected:
    """Fill the empty database of ``engine`` from the folder of the real survey.

    Of every six answers: one quotes truly twice, one alters a quote, one names another
    respondent, one invents a message id, one speaks of a study that is gone, one is missing.
    """
    tables = _tables()
    with (survey / "messages.csv").open(encoding="utf-8", newline="") as file:
        messages = list(csv.DictReader(file))
    questions = json.loads((survey / "questions.json").read_text(encoding="utf-8"))
    answers, expected = _answers(messages, questions)
    tables.create_all(engine)
    with engine.begin() as connection:
        for name, rows in (
            ("surveys", [{"id": STUDY, "title": "Global Dialogues", "language": "en"}]),
            (
                "questions",
                [
                    {"survey": STUDY, "question_id": each["question_id"], "text": each["text"]}
                    for each in questions
                ],
            ),
            ("messages", [{"survey": STUDY, **message} for message in messages]),
            ("answers", answers),
        ):
            connection.execute(insert(tables.tables[name]), rows)
    return expected


def _tables() -> MetaData:
    metadata = MetaData()
    columns = {
        "surveys": ("id", "title", "language"),
        "questions": ("survey", "question_id", "text"),
        "messages": ("survey", "message_id", "question_id", "respondent_id", "text"),
        "answers": (
            "answer_id", "survey", "question", "reply", "model",
            "settings", "tool_calls", "history", "details", "trace",
        ),
    }  # fmt: skip
    for name, names in columns.items():
        Table(name, metadata, *(Column(each, Text) for each in names))
    metadata.tables["answers"].append_column(Column("asked_at", DateTime(timezone=True)))
    return metadata


def _answers(
    messages: list[dict[str, str]], questions: list[dict[str, Any]]
) -> tuple[list[dict[str, Any]], Expected]:
    rows: list[dict[str, Any]] = []
    quotes: dict[str, tuple[Quoted, ...]] = {}
    gone, missing = set(), set()
    passages = _passages(messages)
    for rank in range(ANSWERS):
        answer_id = f"answer-{rank:03}"
        message, passage = next(passages)
        other, second = next(passages)
        kind = rank % 6
        written = _written(kind, message, passage, other, second)
        text = f"Several people agree, see [{message['question_id']}]. " + " ".join(
            f"One wrote “{each.text}” [{each.respondent_id}, {each.message_id}]."
            for each in written
        )
        if kind == 4:
            gone.add(answer_id)
        if kind == 5:
            missing.add(answer_id)
        quotes[answer_id] = () if kind == 5 else written
        rows.append(
            {
                "answer_id": answer_id,
                "survey": GONE if kind == 4 else STUDY,
                "question": questions[rank % len(questions)]["text"],
                "reply": None if kind == 5 else text,
                "model": "gpt-5-mini",
                "settings": json.dumps({"reasoning_effort": "low"}),
                "tool_calls": json.dumps(
                    [
                        {
                            "name": "read",
                            "arguments": {"id": message["message_id"]},
                            "output": message,
                        }
                    ]
                ),
                "history": json.dumps([{"role": "user", "content": "Hello"}]),
                "details": json.dumps({"user": {"locale": "en-GB"}}),
                "trace": f"trace-{rank}",
                "asked_at": NEWEST - timedelta(days=rank),
            }
        )
    return rows, Expected(
        quotes=quotes,
        without_source=frozenset(gone),
        without_answer=frozenset(missing),
        respondents=frozenset(message["respondent_id"] for message in messages),
        messages=len(messages),
    )


def _written(
    kind: int, message: dict[str, str], passage: str, other: dict[str, str], second: str
) -> tuple[Quoted, ...]:
    true = Quoted(passage, message["message_id"], message["respondent_id"], None)
    if kind == 1:
        words = passage.split(" ")
        altered = " ".join([*words[:4], "absolutely never", *words[5:]])
        return (
            true,
            Quoted(altered, true.message_id, true.respondent_id, "non_verbatim_quote"),
        )
    if kind == 2:
        return (Quoted(passage, true.message_id, other["respondent_id"], "wrong_respondent_id"),)
    if kind == 3:
        return (Quoted(passage, "M9-9999", true.respondent_id, "unknown_message_id"),)
    if kind == 4:
        return (true,)
    return (true, Quoted(second, other["message_id"], other["respondent_id"], None))


def _passages(messages: list[dict[str, str]]) -> Iterator[tuple[dict[str, str], str]]:
    """Messages and a passage of each: plain words that no one else wrote, in message order."""
    for message in messages[::7]:
        # Cut between words only: half of "low-priority" would not be anyone's words.
        found = re.search(r"(?<!\S)(?:[A-Za-z']+ ){8,12}[A-Za-z]+(?![^\s.,;!?])", message["text"])
        if found and sum(found.group() in each["text"] for each in messages) == 1:
            yield message, found.group()
