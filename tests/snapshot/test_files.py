"""Answers and studies from files: every shape, every fault named by file, line and field."""

import json
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from ancrage.config import Config, load
from ancrage.domain import Answer, Case, OutputState, Study, Turn
from ancrage.errors import UsageError
from ancrage.snapshot.manifest import Reject
from ancrage.snapshot.sources import Window, open_source
from ancrage.snapshot.sources.files import FileSource

Write = Callable[[str, str | bytes], Path]


OFFERED = """
class Nowhere:
    def __init__(self, name, options, root):
        self.label = f"{name} {dict(options)} {root}"

    def close(self):
        pass
"""


def read(root: Path, **options: Any) -> tuple[list[Case], list[Reject]]:
    """All cases and rejects of a file source."""
    with closing(FileSource("test", options, root)) as source:
        items = list(source.cases(Window()))
    cases = [item for item in items if isinstance(item, Case)]
    return cases, [item for item in items if isinstance(item, Reject)]


def study(root: Path, study_id: str, **options: Any) -> tuple[Study | None, list[Reject]]:
    """One study of a file source, and the rows set aside."""
    (root / "none.jsonl").touch()
    rejects: list[Reject] = []
    with closing(FileSource("test", {"answers": "none.jsonl", **options}, root)) as source:
        return source.study(study_id, rejects.append), rejects


def line(**fields: object) -> str:
    return json.dumps({"id": "1", "question": "q", "answer": "a", **fields}) + "\n"


def test_own_shape_needs_no_mapping(tmp_path: Path, write: Write, make_case: Any) -> None:
    case = make_case("a", text="« é » [R1]", time="2026-01-01T00:00:00Z")
    write("a.jsonl", case.model_dump_json() + "\n")
    assert read(tmp_path, answers="a.jsonl") == ([case], [])


def test_dotted_paths_lists_and_json_in_text(tmp_path: Path, write: Write) -> None:
    row = {
        "trace": {"id": 17},
        "input": {"messages": [{"content": "first"}, {"content": "Combien ?"}]},
        "out": json.dumps({"text": "Douze."}),
        "cfg": '{"temperature": 0.2}',
        "ts": 1_767_225_600,
        "a.b": "fr",
    }
    write("a.jsonl", json.dumps(row))
    (case,), rejects = read(
        tmp_path,
        answers=["*.jsonl"],
        study="S9",
        fields={
            "id": "trace.id",
            "question": "input.messages.-1.content",
            "answer": "out.text",
            "parameters": "cfg",
            "time": "ts",
            "metadata": {"locale": "a.b"},
        },
    )
    assert rejects == []
    assert (case.id, case.study_id, case.input.question) == ("17", "S9", "Combien ?")
    assert case.output == Answer(text="Douze.")
    assert case.provenance.parameters == {"temperature": 0.2}
    assert case.provenance.time == datetime(2026, 1, 1, tzinfo=UTC)
    assert case.metadata == {"locale": "fr"}


def test_history_and_tool_calls_of_common_shapes(tmp_path: Path, write: Write) -> None:
    history = [
        {"role": "system", "content": "Be exact."},
        {"role": "human", "content": [{"type": "text", "text": "Bonjour"}]},
        {"role": "ai", "content": None},
        {"role": "user", "content": "q"},
    ]
    calls = [
        {
            "id": "call_1",
            "type": "function",
            "function": {"name": "read", "arguments": '{"ref": "Q1"}'},
            "output": {"n": 3},
        },
        {"name": "count", "arguments": {}, "error": "timeout"},
    ]
    write("a.jsonl", line(history=history, tool_calls=json.dumps(calls)))
    (case,), rejects = read(tmp_path, answers="a.jsonl")
    assert rejects == []
    assert case.input.system_prompt == "Be exact."
    assert case.input.history == (
        Turn(
            role="user",
            content="Bonjour",
            sent={"role": "user", "content": [{"type": "text", "text": "Bonjour"}]},
        ),
        Turn(role="assistant", content=""),
    )
    first, second = case.input.tool_calls
    assert (first.name, first.arguments, first.output) == ("read", {"ref": "Q1"}, {"n": 3})
    assert (first.call_id, second.error) == ("call_1", "timeout")


@pytest.mark.parametrize(
    ("fields", "state"),
    [
        ({"answer": None}, OutputState.MISSING),
        ({"answer": ""}, OutputState.EMPTY),
        ({"answer": " \n"}, OutputState.EMPTY),
        ({"finish_reason": "length"}, OutputState.TRUNCATED),
        ({"finish_reason": "content_filter"}, OutputState.REFUSED),
        ({"finish_reason": "stop"}, OutputState.OK),
    ],
)
def test_state_of_the_answer(
    fields: dict[str, Any], state: OutputState, tmp_path: Path, write: Write
) -> None:
    write("a.jsonl", line(**fields))
    (case,), _ = read(tmp_path, answers="a.jsonl")
    assert case.state is state
    assert (case.output is None) == (state is OutputState.MISSING)


@pytest.mark.parametrize(
    ("content", "where", "message"),
    [
        ("{oops", "a.jsonl:1", "not JSON"),
        ('{"id": NaN}', "a.jsonl:1", "not JSON"),
        ('{"id": "\\ud83d"}', "a.jsonl:1", "not JSON"),
        (b"\xff\xfe{}", "a.jsonl:1", "not JSON"),
        ("[1]", "a.jsonl:1", "expected an object"),
        ("null", "a.jsonl:1", "expected an object"),
        (line(id=None), "a.jsonl:1 id", "missing"),
        (line(id=""), "a.jsonl:1 id", "missing"),
        (line(id=1.5), "a.jsonl:1 id", "expected an identifier"),
        (line(question=None), "a.jsonl:1 question", "missing"),
        (line(question=5), "a.jsonl:1 question", "expected text, found int"),
        (line(answer={"x": 1}), "a.jsonl:1 answer", "expected text, found dict"),
        (line(time="soon"), "a.jsonl:1 time", "not a date"),
        (line(time=1e300), "a.jsonl:1 time", "not a date"),
        (line(history="{"), "a.jsonl:1 history", "expected a list"),
        (line(history={}), "a.jsonl:1 history", "expected a list"),
        (line(history=[5]), "a.jsonl:1 history.0", "expected an object"),
        (line(history=[{"role": "boss"}]), "a.jsonl:1 history.0", "role"),
        (line(tool_calls=[{}]), "a.jsonl:1 tool_calls.0", "name"),
        (line(tool_calls=[{"name": "f", "arguments": "["}]), "tool_calls.0.arguments", "object"),
        (line(parameters=[1]), "a.jsonl:1 parameters", "expected an object"),
        ('{"id": "1", "input": {}, "provenance": {"source": "x"}}', "input.question", "missing"),
    ],
)
def test_malformed_line_names_file_line_and_field(
    content: str | bytes, where: str, message: str, tmp_path: Path, write: Write
) -> None:
    bad = content if isinstance(content, bytes) else content.encode()
    write("a.jsonl", bad.rstrip(b"\n") + b"\n" + line(id="good").encode())
    cases, rejects = read(tmp_path, answers="a.jsonl")
    assert [case.id for case in cases] == ["good"]
    (reject,) = rejects
    assert where in str(reject)
    assert message.lower() in reject.error.lower()
    assert reject.line == 1
    assert reject.raw


def test_bom_crlf_blank_and_huge_lines(tmp_path: Path, write: Write) -> None:
    huge = "x" * 1_000_000
    content = "\r\n".join([line(id="1").strip(), "", line(id="2", answer=huge).strip(), ""])
    write("a.jsonl", b"\xef\xbb\xbf" + content.encode())
    cases, rejects = read(tmp_path, answers="a.jsonl")
    assert [case.id for case in cases] == ["1", "2"]
    assert cases[1].output == Answer(text=huge)
    assert rejects == []


def test_rejected_line_is_cut(tmp_path: Path, write: Write) -> None:
    write("a.jsonl", '{"id": ' + "x" * 1_000_000)
    _, (reject,) = read(tmp_path, answers="a.jsonl")
    assert reject.raw is not None
    assert len(reject.raw) == 2_000


def test_duplicates_across_files_name_the_later_line(tmp_path: Path, write: Write) -> None:
    write("a.jsonl", line(id="1") + line(id="2"))
    write("b.jsonl", line(id="3") + line(id="1"))
    cases, (reject,) = read(tmp_path, answers="*.jsonl")
    assert [case.id for case in cases] == ["1", "2", "3"]
    assert str(reject) == "b.jsonl:2 id: duplicate id '1'"
    assert reject.duplicate


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.json", "[" + line(id="1") + "," + line(id="2") + "]"),
        ("a.json", line(id="1") + line(id="2")),
        ("a.ndjson", line(id="1") + line(id="2")),
        ("a.csv", "id,question,answer\n1,q,a\n2,q,a\n"),
        ("a.csv", "\ufeffid;question;answer\r\n1;q;a\r\n2;q;a\r\n"),
        ("a.tsv", "id\tquestion\tanswer\n1\tq\ta\n2\tq\ta\n"),
    ],
)
def test_kinds_of_files(name: str, content: str, tmp_path: Path, write: Write) -> None:
    write(name, content)
    cases, rejects = read(tmp_path, answers=name)
    assert [case.id for case in cases] == ["1", "2"]
    assert rejects == []


def test_csv_faults_name_their_line(tmp_path: Path, write: Write) -> None:
    rows = [b"id,question,answer", '1,"two\nlines",été'.encode(), b"2,q", b"3,q,caf\xe9", b"4,q,a"]
    write("a.csv", b"\n".join(rows))
    cases, rejects = read(tmp_path, answers="a.csv")
    assert [case.id for case in cases] == ["1", "4"]
    assert [str(reject) for reject in rejects] == [
        "a.csv:4 2 columns where the header has 3",
        "a.csv:5 answer: not valid text in the encoding of the file",
    ]


def test_studies_from_whole_documents(tmp_path: Path, write: Write, study: Study) -> None:
    write("studies/s.json", study.model_dump_json())
    write("studies/t.json", '[{"id": "T", "title": "Vide"}, {"title": "sans id"}]')
    options = {"answers": "studies/s.json", "studies": "studies/*.json"}
    rejects: list[Reject] = []
    with closing(FileSource("test", options, tmp_path)) as source:
        found, empty = source.study("S", rejects.append), source.study("T", rejects.append)
        assert found is not None
        assert found == study.model_copy(update={"missing": found.missing})
        assert found.missing == {"questions": "the study has no list of questions"}
        assert empty is not None
        assert (empty.title, sorted(empty.missing)) == (
            "Vide",
            ["messages", "questions", "respondents"],
        )
        assert source.study("U", rejects.append) is None
    assert [str(reject) for reject in rejects] == [
        "studies/t.json:2 id: missing: no column 'id' among title"
    ]


def test_studies_keep_every_good_row(tmp_path: Path, write: Write) -> None:
    write(
        "m.csv",
        "etude,no,qui,mots,q\nS,M1,R1,bon,Q1\nS,M2,,sans auteur,Q1\nS,M1,R2,double,Q1\n"
        ",M4,R4,sans étude,Q1\nT,M1,R1,autre,\n",
    )
    write("q.jsonl", '{"study_id": "S", "ref": "Q1", "text": "Alors ?"}\n{"study_id": "S"}\n')
    fields = {
        "study_id": "etude", "id": "no", "respondent_id": "qui", "text": "mots",
        "question_ref": "q",
    }  # fmt: skip
    found, rejects = study(
        tmp_path,
        "S",
        messages={"files": "m.csv", "fields": fields},
        questions={"files": "q.jsonl"},
    )
    assert found is not None
    assert [message.text for message in found.messages] == ["bon"]
    assert [question.ref for question in found.questions] == ["Q1"]
    assert sorted(str(reject) for reject in rejects) == [
        "m.csv:3 qui: missing",
        "m.csv:4 no: duplicate 'M1' in study 'S'",
        "m.csv:5 etude: missing",
        "q.jsonl:2 ref: missing: no column 'ref' among study_id",
    ]
    assert all(reject.study for reject in rejects)


def test_real_survey_reads_as_one_study(tmp_path: Path, shared: Path) -> None:
    folder = shared / "data" / "survey"
    found, rejects = study(
        tmp_path,
        "gd",
        study="gd",
        messages={
            "files": str(folder / "messages.csv"),
            "fields": {"id": "message_id", "question_ref": "question_id"},
        },
        questions={"files": str(folder / "*.json"), "fields": {"ref": "question_id"}},
    )
    assert found is not None
    assert rejects == []
    assert (len(found.messages), len(found.questions)) == (3_598, 3)


def test_files_that_are_not_there(tmp_path: Path, write: Write) -> None:
    with pytest.raises(UsageError, match=r"nothing-\*.jsonl: no such file"):
        read(tmp_path, answers="nothing-*.jsonl")
    write("a.docx", b"PK")
    with pytest.raises(UsageError, match="unknown kind of file"):
        read(tmp_path, answers="a.docx")


def test_sources_of_the_configuration(tmp_path: Path, write: Write) -> None:
    write("data/a.jsonl", line())
    write("evals.toml", '[sources.prod]\ntype = "jsonl"\nanswers = "data/*.jsonl"\n')
    config = load(tmp_path)
    with closing(open_source(None, config)) as source:
        assert source.label == "prod (files)"
        assert len(list(source.cases(Window()))) == 1
    with pytest.raises(UsageError, match="no source 'other'"):
        open_source("other", config)


def test_another_package_can_offer_a_source(
    tmp_path: Path, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("offer/offer.py", OFFERED)
    write("offer/offer-1.dist-info/METADATA", "Metadata-Version: 2.1\nName: offer\nVersion: 1\n")
    write(
        "offer/offer-1.dist-info/entry_points.txt", "[ancrage.sources]\nnowhere = offer:Nowhere\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path / "offer"))
    write("evals.toml", '[sources.prod]\ntype = "nowhere"\ncolour = "blue"\n')
    with closing(open_source(None, load(tmp_path))) as source:
        assert source.label == f"prod {{'colour': 'blue'}} {tmp_path}"
    write("other/evals.toml", '[sources.prod]\ntype = "excel"\n')
    with pytest.raises(UsageError, match="known: jsonl, sql, langfuse, qa, nowhere"):
        open_source(None, load(tmp_path / "other"))


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("[sources.p]\nanswers = 'a.jsonl'", r"\[sources.p\] type: missing"),
        ("[sources.p]\ntype = 'excel'", r"\[sources.p\] type: unknown 'excel'; known: jsonl, sql"),
        ("[sources.p]\ntype = 'jsonl'", r"\[sources.p\] answers: is missing"),
        ("[sources.p]\ntype = 'jsonl'\nanswers = 'a'\nfeilds = 1", r"\[sources.p\] feilds"),
        ("[sources.p]\n[sources.q]\n", r"name a source .*p, q"),
        ("", r"name a source .*none is configured"),
    ],
)
def test_wrong_tables_say_what_to_change(
    table: str, message: str, tmp_path: Path, write: Write
) -> None:
    write("evals.toml", table)
    with pytest.raises(UsageError, match=message):
        open_source(None, load(tmp_path))


def test_a_class_of_the_project_can_be_a_source(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = (Path(__file__).parents[2] / "docs" / "snapshot.md").read_text(encoding="utf-8")
    example = page.partition("```python\n")[2].partition("```")[0]
    (tmp_path / "lines_of_mine.py").write_text(example, encoding="utf-8")
    (tmp_path / "qa.tsv").write_text("Combien ?\tTrois.\nPourquoi ?\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    table = {"type": "lines_of_mine:Lines", "file": "qa.tsv"}
    source = open_source(None, Config(tmp_path / "evals.toml", {"sources": {"mine": table}}))
    first, second = source.cases(Window())
    assert isinstance(first, Case)
    assert isinstance(second, Case)
    assert (first.id, first.output and first.output.text) == ("line-1", "Trois.")
    assert second.output is None
    source.close()


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("def __init__(self, name): pass", "cannot be made: TypeError"),
        (
            "__init__ = lambda *_: None\n    def cases(self, window): yield 3",
            "neither a Case",
        ),
    ],
)
def test_a_source_that_is_wrong_is_told_as_such(
    body: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = f"wrong_{abs(hash(words))}"
    (tmp_path / f"{name}.py").write_text(f"class Wrong:\n    {body}\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    config = Config(None, {"sources": {"mine": {"type": f"{name}:Wrong"}}})
    with pytest.raises(UsageError, match=words):
        list(open_source(None, config).cases(Window()))
