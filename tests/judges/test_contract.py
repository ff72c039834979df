"""What a judge may reply: each way to be wrong is a state of its own, and counts add up."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ancrage.domain import Evaluation, Output, OutputState, ScoreState
from ancrage.evaluator import Subject
from ancrage.ids import IdPolicy
from ancrage.judges import Judge
from ancrage.judges.definition import Definition
from ancrage.llm import Models, Tier
from ancrage.runs.scoring import evaluate
from ancrage.studies import IndexedStudy
from tests.builders import STUDY, case
from tests.judges.scripted import Defects, Seen, definition, reply, seen
from tests.servers.openai_server import (
    Call,
    Drop,
    Empty,
    Fail,
    Hang,
    OpenAIServer,
    Raw,
    Refuse,
    Reply,
    Say,
)

TEXT = "Les clients sont ravis. L’équipe est « très » contente : 3 % partent.\nLes clients partent."
Respond = Callable[[Seen], Reply | str]


async def judged(
    respond: Respond | list[Reply],
    *,
    text: str = TEXT,
    by: Definition | None = None,
    tier: dict[str, Any] | None = None,
    json_schema: bool = True,
) -> tuple[Evaluation, list[Call]]:
    """What becomes of an answer that a scripted server judges, and the calls it took."""

    def script(call: Call) -> Reply:
        if isinstance(respond, list):
            return respond[call.index]
        said = respond(seen(call))
        return Say(said) if isinstance(said, str) else said

    with OpenAIServer(script, json_schema=json_schema) as server:
        settings = {"model": "m", "endpoint": server.url, "retries": 0, **(tier or {})}
        judge = Judge(by or definition("vague", "loud"), Tier(**settings), Models(cache=None))
        one = case(text)
        output = Output(case_id=one.id, state=OutputState.OK, answer=one.output)
        subject = Subject(one, output, IndexedStudy(STUDY, IdPolicy()))
        try:
            entry = await evaluate(subject, [judge])
        finally:
            await judge.aclose()
        evaluation = entry.evaluations[0]
        check(evaluation, text)
        return evaluation, list(server.calls)


def check(evaluation: Evaluation, text: str) -> None:
    """What holds of every evaluation by a judge."""
    details: Any = evaluation.details
    fates = details.get("fates", {})
    assert sum(fates.values()) == details.get("reported", 0)
    aside = len(details.get("set_aside", []))
    assert aside == details.get("reported", 0) - fates.get("found", 0)
    by_code = [each for each in evaluation.findings if each.details.get("settled_by") == "code"]
    assert len(evaluation.findings) - len(by_code) == fates.get("found", 0)
    for each in evaluation.findings:
        assert text[each.evidence.start : each.evidence.end] == each.evidence.text
    for score in evaluation.scores:
        found = [each for each in evaluation.findings if each.mode == score.name]
        if score.state is ScoreState.SCORED:
            assert score.value == len(found)
        else:
            assert not found
            assert score.reason


def scores(evaluation: Evaluation) -> dict[str, float | str | None]:
    """By mode the value, or the reason why there is none."""
    return {
        each.name: each.value if each.state is ScoreState.SCORED else each.reason
        for each in evaluation.scores
    }


async def test_a_defect_with_its_passage_is_a_finding_at_that_place() -> None:
    evaluation, calls = await judged(lambda p: reply(p, [("vague", "3 % partent")]))
    assert scores(evaluation) == {"vague": 1, "loud": 0}
    (found,) = evaluation.findings
    assert found.evidence.start == TEXT.index("3 % partent")
    assert calls[0].schema is not None
    assert len(calls) == 1


@pytest.mark.parametrize(
    "written",
    [
        "L'équipe est « très » contente",  # another apostrophe
        "L'équipe est \u00ab\u00a0très\u00a0\u00bb contente",  # non-breaking spaces
        "les clients sont ravis",  # initial case, final point
        "Les clients sont ravis. […] est « très » contente",  # marked elision
    ],
)
async def test_a_passage_may_differ_by_typography_alone(written: str) -> None:
    evaluation, _ = await judged(lambda p: reply(p, [("vague", written)]))
    assert scores(evaluation)["vague"] == 1


@pytest.mark.parametrize(
    ("written", "value"),
    [("e", None), ("nt", None), ("«", None), ("3", None), ("3 %", 1), ("sont", 1)],
)
async def test_a_letter_inside_a_word_is_no_evidence(written: str, value: int | None) -> None:
    evaluation, _ = await judged(lambda p: reply(p, [("vague", written)]))
    assert evaluation.scores[0].value == value


async def test_a_passage_that_leaves_out_marks_of_emphasis_is_found() -> None:
    text = "Les clients sont **très ravis** de `l'appli`."
    written = [("vague", "sont très ravis de l'appli")]
    evaluation, _ = await judged(lambda p: reply(p, written), text=text)
    assert [each.evidence.text for each in evaluation.findings] == [
        "sont **très ravis** de `l'appli"
    ]


async def test_a_short_passage_is_found_where_it_stands_alone() -> None:
    text = "Sur 19 clients, 9 partent."
    evaluation, _ = await judged(lambda p: reply(p, [("vague", "9")]), text=text)
    (found,) = evaluation.findings
    assert found.evidence.start == text.index("9 partent")


async def test_a_passage_over_several_lines_may_carry_the_marks() -> None:
    def respond(prompt: Seen) -> str:
        return reply(prompt, [("vague", f"3 % partent.\n{prompt.mark} Les clients partent.")])

    evaluation, _ = await judged(respond)
    assert scores(evaluation)["vague"] == 1


@pytest.mark.parametrize(
    "written",
    ["Les clients sont furieux.", "The customers are delighted.", "4 % partent", "", "…", "ravi"],
)
async def test_a_passage_that_does_not_stand_is_set_aside_and_never_scored(written: str) -> None:
    evaluation, _ = await judged(lambda p: reply(p, [("vague", written)]))
    assert scores(evaluation) == {
        "vague": "its evidence does not stand in the answer",
        "loud": 0,
    }
    details: Any = evaluation.details
    assert details["fates"]["unverified"] == 1
    assert details["set_aside"][0]["passage"] == written


async def test_unverified_evidence_beside_verified_is_counted_apart() -> None:
    defects = [("vague", "Les clients sont ravis"), ("vague", "never said")]
    evaluation, _ = await judged(lambda p: reply(p, defects))
    assert scores(evaluation)["vague"] == 1
    details: Any = evaluation.details
    assert details["fates"] == {
        "found": 1,
        "unverified": 1,
        "foreign": 0,
        "duplicate": 0,
        "overruled": 0,
        "withheld": 0,
    }


async def test_a_foreign_mode_is_refused_and_counted() -> None:
    evaluation, _ = await judged(lambda p: reply(p, [("invented", "Les clients sont ravis")]))
    assert scores(evaluation) == {"vague": 0, "loud": 0}
    details: Any = evaluation.details
    assert details["fates"]["foreign"] == 1


async def test_the_same_words_twice_mean_two_places_and_a_third_time_is_a_duplicate() -> None:
    defects = [("vague", "Les clients")] * 3
    evaluation, _ = await judged(lambda p: reply(p, defects))
    assert [each.evidence.start for each in evaluation.findings] == [0, TEXT.rindex("Les clients")]
    details: Any = evaluation.details
    assert details["fates"]["duplicate"] == 1


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [
        ({"vague": "absent"}, "the judge gave no verdict on it"),
        ({"vague": "absent", "loud": None}, "the judge's verdict on it is null"),
        ({"vague": "absent", "loud": "cannot_tell"}, "the judge cannot tell"),
        ({"vague": "absent", "loud": -0.2}, "the judge's verdict on it cannot be read"),
        ({"vague": "absent", "loud": float("nan")}, "the judge's verdict on it cannot be read"),
        ({"vague": "absent", "loud": "present"}, "said to be present without any passage"),
        ({"vague": "absent", "loud": "no."}, 0),
        ({"vague": "absent", "loud": "No"}, 0),
        ({"vague": "absent", "loud": False}, 0),
        ({"vague": "absent", "loud": " Non "}, 0),
    ],
)
async def test_verdicts_are_read_as_they_are_and_never_guessed(
    verdicts: dict[str, Any], expected: float | str
) -> None:
    evaluation, _ = await judged(lambda p: reply(p, verdicts=verdicts))
    assert scores(evaluation) == {"vague": 0, "loud": expected}


async def test_one_verdict_does_not_stand_for_the_others() -> None:
    evaluation, _ = await judged(lambda p: reply(p, verdicts={"all": "absent"}))
    assert set(scores(evaluation).values()) == {"the judge gave no verdict on it"}
    details: Any = evaluation.details
    assert details["odd"] == ["verdicts.all"]


async def test_a_defect_beside_absent_is_no_clean_answer_and_no_finding() -> None:
    def respond(prompt: Seen) -> str:
        verdicts = {"vague": "absent", "loud": "absent"}
        return reply(prompt, [("vague", "Les clients sont ravis")], verdicts)

    evaluation, _ = await judged(respond)
    assert scores(evaluation)["vague"] == "said to be absent beside a defect of that mode"
    details: Any = evaluation.details
    assert details["fates"]["withheld"] == 1


DEFECT: Defects = [("vague", "L’équipe est « très » contente")]


def fenced(prompt: Seen) -> str:
    return f"Voici :\n```json\n{reply(prompt, DEFECT)}\n```\nJ'espère que cela aide. ```{{}}```"


def fence_inside(prompt: Seen) -> str:
    said = json.loads(reply(prompt, DEFECT))
    said["defects"][0]["reason"] = 'the answer has ```json {"a": 1} ``` and a } and a {'
    return f"```json\n{json.dumps(said)}\n```"


def raw_newlines(prompt: Seen) -> str:
    return reply(prompt, DEFECT).replace("because of", "because\nof").replace("{", "{ // so\n", 1)


def trailing_comma(prompt: Seen) -> str:
    return reply(prompt, DEFECT)[:-1] + ",}"


def draft_first(prompt: Seen) -> str:
    return f"Draft: {reply(prompt)}\nOn reflection, final answer: {reply(prompt, DEFECT)}"


@pytest.mark.parametrize("respond", [fenced, fence_inside, raw_newlines, trailing_comma])
async def test_json_is_found_wherever_it_stands(respond: Respond) -> None:
    evaluation, calls = await judged(respond)
    assert scores(evaluation) == {"vague": 1, "loud": 0}
    assert evaluation.details["read"] == "tolerant"
    assert len(calls) == 1


def draft_unclosed(prompt: Seen) -> str:
    return f"Draft: {reply(prompt)}\nFinal: {reply(prompt, DEFECT)[:-9]}"


@pytest.mark.parametrize("respond", [draft_first, draft_unclosed])
async def test_of_two_objects_neither_is_believed(respond: Respond) -> None:
    evaluation, calls = await judged(respond)
    assert scores(evaluation) == {"vague": "unparsable", "loud": "unparsable"}
    assert len(calls) == 2, "asked again, once"
    assert "Draft: " in str(evaluation.details["reply"])


@pytest.mark.parametrize("offer", ["json_schema", "json_object", "none"])
async def test_endpoints_without_structured_output_get_the_schema_in_the_prompt(
    offer: str,
) -> None:
    evaluation, calls = await judged(
        lambda p: reply(p, DEFECT), tier={"structured": offer}, json_schema=False
    )
    assert scores(evaluation) == {"vague": 1, "loud": 0}
    assert '"verdicts"' in calls[-1].text


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        (Refuse("I can't help with that."), "refusal"),
        (Say('{"seal": "', finish="length"), "truncated"),
        (Empty(finish="length", reasoning_tokens=900), "truncated"),
        (Empty(), "empty"),
        (Say("   \n"), "empty"),
        (Say("", finish="content_filter"), "refusal"),
        (Fail(400, "bad"), "rejected"),
        (Fail(500), "server"),
        (Drop(), "connection"),
        (Raw("{}"), "malformed"),
        (Hang(3.0), "timeout"),
    ],
)
async def test_no_usable_reply_is_unscored_with_its_reason(said: Reply, reason: str) -> None:
    evaluation, _ = await judged([said] * 3, tier={"timeout": 0.5})
    assert scores(evaluation) == {"vague": reason, "loud": reason}
    assert not evaluation.findings


@pytest.mark.parametrize(
    "text",
    [
        "Clean!",
        "[]",
        "null",
        "{}",
        '{"score": 1.0}',
        '{"defects": [], "verdicts": {"vague": "absent", "loud": "absent"}}',
        '{"seal": "0123456789abcdef", "defects": [], "verdicts": {}}',
        '{"seal": "x", "defects": [{"mode": "vague"}], "verdicts": {}}',
        "{" * 5000,
    ],
)
async def test_an_unreadable_reply_gets_one_repair_turn_then_is_unscored(text: str) -> None:
    evaluation, calls = await judged([Say(text), Say(text)])
    assert scores(evaluation) == {"vague": "unparsable", "loud": "unparsable"}
    assert len(calls) == 2
    assert evaluation.details["turns"] == 2
    assert evaluation.usage is not None
    assert evaluation.usage.calls == 2


async def test_a_repair_turn_can_succeed() -> None:
    replies = iter(["not JSON", None])

    def respond(prompt: Seen) -> str:
        return next(replies) or reply(prompt, DEFECT)

    evaluation, calls = await judged(respond)
    assert scores(evaluation) == {"vague": 1, "loud": 0}
    assert "could not be read" in calls[1].text


async def test_null_in_a_defect_is_unreadable_not_dropped() -> None:
    def respond(prompt: Seen) -> str:
        said = json.loads(reply(prompt, DEFECT))
        said["defects"].append(None)
        return json.dumps(said)

    evaluation, calls = await judged(respond)
    assert scores(evaluation)["vague"] == "unparsable"
    assert len(calls) == 2


async def test_a_material_that_is_too_long_is_unscored_not_cut() -> None:
    judge = Judge(definition("vague"), Tier(model="m"), Models(cache=None), max_material=2_000)
    one = case("mot " * 2_000)
    output = Output(case_id=one.id, state=OutputState.OK, answer=one.output)
    evaluation = await judge.evaluate(Subject(one, output, None))
    assert scores(evaluation) == {"vague": "the material is longer than 2000 characters"}


async def test_parts_that_nothing_asked_for_are_named() -> None:
    evaluation, _ = await judged(lambda p: reply(p, DEFECT, score=0.9))
    assert scores(evaluation)["vague"] == 1
    assert evaluation.details["odd"] == ["score"]


@pytest.mark.parametrize("repeats", [1, 3])
async def test_repeats_never_share_an_answer_of_the_cache(tmp_path: Path, repeats: int) -> None:
    with OpenAIServer(lambda call: Say(reply(seen(call)))) as server:
        tier = Tier(model="m", endpoint=server.url)
        models = Models(cache=tmp_path / "c.sqlite")
        judge = Judge(definition("vague"), tier, models, repeats)
        one = case(TEXT)
        output = Output(case_id=one.id, state=OutputState.OK, answer=one.output)
        for _ in range(2):
            await judge.evaluate(Subject(one, output, None))
        assert len(server.calls) == repeats
        await judge.aclose()
