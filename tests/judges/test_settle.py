"""What code can settle, code settles: figures that tools give, quotes that nobody could turn."""

from typing import Any

import pytest

from ancrage.config import Config
from ancrage.domain import Case, Output, OutputState, ToolCall
from ancrage.evaluator import Subject
from ancrage.ids import IdPolicy
from ancrage.judges import Judge, definitions
from ancrage.llm import Models, Tier
from ancrage.studies import IndexedStudy
from tests.builders import STUDY, case
from tests.judges.scripted import obliging, words
from tests.servers.openai_server import OpenAIServer

ANCHORING = definitions(Config(None, {}))["anchoring"]
LOGIN = ToolCall(
    name="count_theme",
    arguments={"theme": "connexion"},
    output={"count": 8, "base": 52, "share": 0.154},
)


def asked(text: str, *calls: ToolCall) -> Case:
    """A case whose assistant made these calls."""
    one = case(text)
    return one.model_copy(update={"input": one.input.model_copy(update={"tool_calls": calls})})


async def judged(one: Case, study: bool = True, **alleged: str) -> tuple[Any, int]:
    """Scores, findings and details of the shipped judge, which alleges these passages."""
    output = Output(case_id=one.id, state=OutputState.OK, answer=one.output)
    source = IndexedStudy(STUDY, IdPolicy()) if study else None
    with OpenAIServer(obliging(words(**alleged))) as server:
        judge = Judge(
            ANCHORING, Tier(model="m", endpoint=server.url, retries=0), Models(cache=None)
        )
        try:
            return await judge.evaluate(Subject(one, output, source)), len(server.calls)
        finally:
            await judge.aclose()


def score(evaluation: Any, mode: str) -> Any:
    found = next(each for each in evaluation.scores if each.name == mode)
    return found.value if found.value is not None else found.reason


@pytest.mark.parametrize(
    "passage", ["8 personnes sur 52", "15,4 %", "15 %", "8 answers of 52", "15.4%"]
)
async def test_a_figure_that_a_tool_gave_is_no_defect_whatever_the_judge_says(
    passage: str,
) -> None:
    one = asked(f"La connexion gêne {passage}.", LOGIN)
    evaluation, _ = await judged(one, unsupported_figure=passage)
    assert score(evaluation, "unsupported_figure") == 0
    assert evaluation.details["fates"]["overruled"] == 1
    assert evaluation.details["set_aside"][0]["why"].startswith("the tool outputs give")


@pytest.mark.parametrize("passage", ["31 %", "une personne sur trois", "19 personnes"])
async def test_a_figure_that_no_tool_gave_is_left_to_the_judge(passage: str) -> None:
    one = asked(f"La lenteur gêne {passage}.", LOGIN)
    evaluation, _ = await judged(one, unsupported_figure=passage)
    assert score(evaluation, "unsupported_figure") == 1
    evaluation, _ = await judged(one)
    assert score(evaluation, "unsupported_figure") == 0


async def test_a_figure_that_contradicts_a_tool_needs_no_judge() -> None:
    tool = ToolCall(
        name="read",
        output="Le chiffre d'affaires de Nordia a atteint 12,4 millions d'euros en 2025.",
    )
    text = "Le chiffre d'affaires de Nordia a atteint 14,9 millions d'euros en 2025."
    evaluation, _ = await judged(asked(text, tool))
    assert score(evaluation, "unsupported_figure") == 1
    assert evaluation.findings[0].details["settled_by"] == "code"


async def test_a_small_count_may_be_of_what_the_answer_sets_out_and_is_left_to_the_judge() -> None:
    tool = ToolCall(name="read", output="Four respondents speak about mentoring.")
    evaluation, _ = await judged(asked("Two respondents speak about mentoring.", tool))
    assert score(evaluation, "unsupported_figure") == 0


async def test_figures_of_quotes_and_references_are_not_the_answers_own() -> None:
    one = asked("Il est fidèle : « 2 ans que je l'utilise » [R-003, M-0003] [Q1].", LOGIN)
    evaluation, _ = await judged(one, unsupported_figure="2 ans")
    assert score(evaluation, "unsupported_figure") == 0


async def test_an_answer_without_quote_or_figure_needs_no_call() -> None:
    evaluation, calls = await judged(asked("Les avis sont partagés."))
    assert calls == 0
    assert [each.value for each in evaluation.scores] == [0, 0]


async def test_only_a_verbatim_quote_can_be_out_of_context() -> None:
    text = "Ils adorent : « L'appli est rapide, j'adore ! » [R-001, M-0001]\n\nSelon 31 %, non."
    evaluation, _ = await judged(asked(text), quote_out_of_context="L'appli est rapide")
    assert score(evaluation, "quote_out_of_context") == 1
    evaluation, _ = await judged(asked(text), quote_out_of_context="Selon 31 %, non.")
    assert evaluation.details["set_aside"][0]["why"] == "no verbatim quote is near"
    invented = "Ils adorent : « Cette appli est la meilleure » [R-001, M-0001], soit 31 %."
    evaluation, _ = await judged(asked(invented), quote_out_of_context="la meilleure")
    assert score(evaluation, "quote_out_of_context") == 0


async def test_without_the_study_nobody_can_tell_what_a_quote_meant() -> None:
    text = "Ils adorent : « L'appli est rapide, j'adore ! » [R-001, M-0001], soit 31 %."
    evaluation, _ = await judged(asked(text), study=False)
    assert score(evaluation, "quote_out_of_context") == "the study cannot be consulted"


async def test_the_judge_sees_the_source_and_what_stands_around_it() -> None:
    before = STUDY.messages[0].model_copy(update={"id": "M-0000", "text": "Je plaisante toujours."})
    study = STUDY.model_copy(update={"messages": (before, *STUDY.messages)})
    one = asked("Oui : « L'appli est rapide, j'adore ! » [R-001, M-0001]")
    output = Output(case_id=one.id, state=OutputState.OK, answer=one.output)
    judge = Judge(ANCHORING, Tier(model="m"), Models(cache=None))
    user = judge.prompt(Subject(one, output, IndexedStudy(study, IdPolicy()))).messages[1][
        "content"
    ]
    assert "Je plaisante toujours." in user
    assert "le prix n'est pas clair" in user
    assert "the login screen" not in user.lower()
