"""Formats that tools really produce, each read by the configuration that the docs give for it."""

import tomllib
from pathlib import Path

import pytest

from ancrage.checks import load_checks
from ancrage.citations import CitationsConfig, Grammar, compile_grammar, parse
from ancrage.citations.unrecognised import unrecognised
from ancrage.config import Config
from ancrage.domain import Answer as Reply
from ancrage.domain import Case, CaseInput, Message, Output, OutputState, Provenance, Study
from ancrage.evaluator import Subject
from ancrage.ids import IdPolicy
from ancrage.studies import IndexedStudy

DOCS = Path(__file__).parents[2] / "docs" / "checks.md"


def documented() -> dict[str, str]:
    """The configurations of the table of formats in the docs, by name."""
    found: dict[str, str] = {}
    for block in DOCS.read_text(encoding="utf-8").split("```toml")[1:]:
        code = block.split("```")[0]
        if code.lstrip().startswith("# format: "):
            found[code.lstrip().splitlines()[0].removeprefix("# format: ").strip()] = code
    return found


def grammar(name: str) -> Grammar:
    table = tomllib.loads(documented()[name])["citations"]
    return compile_grammar(CitationsConfig.model_validate(table))


ANSWERS = {
    "numbers": ("« très cher » [34]", "34"),
    "words before the number": ("« très cher » (msg 34)", "34"),
    "file search": ("“too dear”【4:34†survey.json】.", "4:34"),
    "source lists": ("“too dear” [citation:34]", "34"),
    "tags": ('<cite id="msg_34">too dear</cite>', "msg_34"),
    "links": ("« très cher » [voir](https://example.org/messages/34)", "34"),
    "double braces": ("« très cher » {{34}}", "34"),
    "uuids": (
        "« très cher » [0b9d8f4e-6f0f-4c3b-9c2e-1d2f3a4b5c6d]",
        "0b9d8f4e-6f0f-4c3b-9c2e-1d2f3a4b5c6d",
    ),
}


def test_the_docs_give_eight_formats_and_one_of_more_kinds() -> None:
    assert set(documented()) == {*ANSWERS, "documents"}


@pytest.mark.parametrize("name", ANSWERS)
def test_a_documented_format(name: str) -> None:
    text, message = ANSWERS[name]
    parsed = parse(text, grammar(name))
    (quote,) = parsed.quotes
    assert quote.text in ("très cher", "too dear")
    assert [token.text for citation in quote.citations for token in citation.messages] == [message]
    assert all(citation.fault is None for citation in parsed.citations)


def test_more_kinds_than_three_are_looked_up() -> None:
    one = Case(
        id="c",
        study_id="s",
        input=CaseInput(question="?"),
        output=Reply(text="D'après [doc 3, p. 12], rien ; voir aussi [doc 9, § 4]."),
        provenance=Provenance(source="test"),
    )
    study = Study(id="s", messages=(Message(id="M-1", respondent_id="R-1", text="a"),))
    subject = Subject(
        one,
        Output(case_id="c", state=OutputState.OK, answer=one.output),
        IndexedStudy(study, IdPolicy()),
        grammar("documents"),
    )
    found = [token.kind for cited in subject.citations.citations for token in cited.others]
    assert found == ["document", "page", "document", "paragraph"]
    (check,) = [check for check in load_checks(Config(None, {})) if check.name == "unknown_ref"]
    findings = tuple(check.function(subject))
    assert [finding.explanation for finding in findings] == ["There is no document 9."]


def even(identifier: str, study: Study) -> bool:
    """A look-up of one's own."""
    return int(identifier) % 2 == 0


def test_a_kind_can_have_a_lookup_of_its_own() -> None:
    config = CitationsConfig.model_validate(
        {"kinds": {"page": {"pattern": r"p\d+", "lookup": f"{__name__}:even"}}}
    )
    assert compile_grammar(config).lookups["page"]("4", None)


@pytest.mark.parametrize(
    ("text", "shape", "line"),
    [
        ("Très cher [12] et lent [3, 4].", "[1]", r"message = '\d+'"),
        ('Cher <src ref="M-0034">.', "<tag id=…>", r"message = 'M[-_.:#]?\d+'"),
        ("Cher {{msg-34}}.", "{{…}}", r"message = 'msg[-_.:#]?\d+'"),
        ("Cher (msg 34).", "(id)", r"message = 'msg (?P<id>\d+)'"),
        ("Cher [doc_7].", "[id]", r"message = 'doc[-_.:#]?\d+'"),
    ],
)
def test_what_is_not_recognised_is_said_with_the_line_that_reads_it(
    text: str, shape: str, line: str
) -> None:
    found = unrecognised(text)
    assert found.shapes.get(shape, 0) >= 1
    assert found.proposals[shape].splitlines()[0] == line
    table = tomllib.loads(found.proposals[shape])
    read = parse(text, compile_grammar(CitationsConfig.model_validate(table)))
    assert any(citation.messages for citation in read.citations)


def test_an_unclosed_mark_is_not_silent() -> None:
    assert unrecognised("Il dit « c'est trop cher pour nous.").shapes == {
        "« without its partner": 1
    }


@pytest.mark.parametrize(
    ("text", "shape", "line"),
    [
        ("Il dit « très cher » — verbatim 12, hier.", "id beside a quote",
         r"message = 'verbatim (?P<id>\d+)'"),
        ("Il dit « très cher » (voir client-7, verbatim_12 du lot).", "(… id …",
         r"message = 'verbatim[-_.:#]?\d+'"),
        ("Selon verbatim_12 : c'est, dit-il, « très cher ».", "id beside a quote",
         r"message = 'verbatim[-_.:#]?\d+'"),
    ],
)  # fmt: skip
def test_an_id_beside_a_quote_is_told_whatever_its_form(text: str, shape: str, line: str) -> None:
    found = unrecognised(text, is_id=lambda written: written.startswith("verbatim"))
    assert found.shapes == {shape: 1}
    assert found.proposals[shape] == line
    assert unrecognised(text).shapes == unrecognised(text, is_id=lambda written: False).shapes == {}


def test_ids_in_a_parenthesis_that_nothing_closes_are_told_as_such() -> None:
    table = {"message": r"verbatim_\d+", "respondent": r"client-\d+"}
    grammar = compile_grammar(CitationsConfig.model_validate(table))
    (quote,) = parse("« très cher » (client-10, verbatim_19 et puis non.", grammar).quotes
    (cited,) = quote.citations
    assert (cited.text, cited.fault) == ("(client-10, verbatim_19", "the bracket is not closed")


@pytest.mark.parametrize("label", ["1", "[1]", "†", "¹"])
def test_the_label_of_an_element_that_cites_is_no_quote(label: str) -> None:
    (quote,) = parse(f'« très cher » <cite id="M-0034">{label}</cite>').quotes
    assert quote.text == "très cher"
    assert [token.text for cited in quote.citations for token in cited.messages] == ["M-0034"]


def test_what_is_read_is_not_unrecognised() -> None:
    assert unrecognised("« très cher » [R-1, M-1], voir [Q3] et “lent” (R-2, M-2).").shapes == {}
