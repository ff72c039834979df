"""Where context comes from, and who gives verdicts."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from ancrage.claims import Claim
from ancrage.domain import Output, OutputState, ToolCall
from ancrage.errors import UsageError
from ancrage.evaluator import Subject
from ancrage.llm import Tier
from ancrage.verify import (
    ContextItem,
    LLMVerifier,
    Opinion,
    Opinions,
    State,
    Verdict,
    claim_scorer,
    make_run,
    tool_context,
    verify_by_code,
)
from tests.servers.openai_server import Call, Reply
from tests.verify.scripted import claims, entry, models, reply, scorer, table

CLAIM, SENTENCE = "Acme is based in Lyon.", "The head office of Acme is in Lyon."


async def test_get_context_prevails_and_receives_the_run() -> None:
    seen: list[Subject] = []

    def sync(run: Subject) -> list[str]:
        seen.append(run)
        return [SENTENCE]

    async def later(run: Subject) -> list[ContextItem]:
        await asyncio.sleep(0)
        return [ContextItem(text=f"{run.case.input.question}. {SENTENCE}", id="doc-7")]

    for find in (sync, later):
        with scorer(
            table({CLAIM: ("supported", SENTENCE)}), context=["Static."], get_context=find
        ) as (judge, server):
            result = await judge.score(make_run("Où ?", CLAIM, id="r1"))
        assert (result.run_id, result.score) == ("r1", 0)
        assert "Static." not in server.calls[0].text
    assert (seen[0].case.input.question, seen[0].text) == ("Où ?", CLAIM)
    shown = result.verdicts[0].passage
    assert shown is not None
    assert (shown.source_id, shown.passage.text) == ("doc-7", SENTENCE)


@pytest.mark.parametrize("found", [[], None, [" "], "one text", [3]])
async def test_get_context_that_finds_nothing_does_not_fall_back_or_pass(found: Any) -> None:
    with scorer([], context=[SENTENCE], get_context=lambda _: found) as (judge, server):
        result = await judge.score(make_run("?", CLAIM))
    assert (result.state, result.score) == (State.UNSCORED, None)
    assert "get_context" in result.reason
    assert not server.calls


async def test_get_context_that_raises_is_shown() -> None:
    def broken(run: Subject) -> list[str]:
        raise KeyError("index")

    with scorer([], get_context=broken) as (judge, _):
        result = await judge.score(make_run("?", CLAIM))
    assert result.state is State.UNSCORED
    assert "get_context raised KeyError: 'index'" in result.reason


async def test_tool_results_as_context() -> None:
    calls = (
        ToolCall(name="search", output=[{"city": "Lyon", "staff": 123}, SENTENCE]),
        ToolCall(name="search", output=None, error="timeout"),
        ToolCall(name="read", output='{"text": "Anne Roy."}'),
    )
    run = make_run("?", "Acme has 140 staff.", tool_calls=calls)
    found = tool_context(run)
    assert [each.id for each in found] == ["search #1", "read #3"]
    assert "city: Lyon" in found[0].text
    assert SENTENCE in found[0].text
    with scorer(table({CLAIM: ("supported", SENTENCE)}), get_context=tool_context) as (judge, _):
        result = await judge.score(make_run("?", CLAIM, tool_calls=calls))
    assert result.score == 0


async def test_what_a_tool_was_asked_is_shown_and_is_no_evidence() -> None:
    asked = ToolCall(
        name="count_theme",
        arguments={"theme": "customers hate Acme"},
        output={"count": 9, "base": 52, "share": 0.173},
    )
    claim, count = "Customers hate Acme.", "Nine customers speak of hate, of 52."
    said = {claim: ("supported", "customers hate Acme"), count: ("supported", "count: 9")}
    with scorer(table(said), get_context=tool_context) as (judge, server):
        result = await judge.score(make_run("?", f"{claim} {count}", tool_calls=(asked,)))
    assert "theme customers hate Acme" in server.calls[0].text
    assert [each.verdict for each in result.verdicts] == [N, S], result.reason
    assert "not in the context" in result.verdicts[0].reason


async def test_a_finding_names_the_tool_in_its_details() -> None:
    text = "Acme employs 150 people."
    call = ToolCall(name="search", arguments={"q": "staff"}, output="Acme employs 123 people.")
    judge = claim_scorer(None, get_context=tool_context, models=models())
    evaluation = await judge.evaluate(make_run("?", text, tool_calls=(call,)))
    (finding,) = evaluation.findings
    assert (finding.mode, finding.evidence.text, finding.source_id) == (
        "contradicted_claim",
        text,
        None,
    )
    assert finding.details["source"] == "search #1"
    assert finding.details["passage"] == "Acme employs 123 people."


@pytest.mark.parametrize("state", [s for s in OutputState if s not in ("ok", "empty")])
async def test_an_output_that_is_not_there_is_unscored(state: OutputState) -> None:
    output = Output(case_id="c", state=state, reason="because")
    with scorer([], context=[SENTENCE]) as (judge, _):
        result = await judge.score(make_run("?", output))
    assert (result.state, result.score, result.worst) == (State.UNSCORED, None, 1)
    assert f"output {state}: because" in result.reason


async def test_what_is_returned_names_its_prompts_and_versions() -> None:
    with scorer(table({CLAIM: ("supported", SENTENCE)}), context=[SENTENCE]) as (judge, server):
        result = await judge.score(make_run("?", CLAIM))
    (prompt,) = result.prompts
    assert [m["content"] for m in prompt.messages] == [
        m["content"] for m in server.calls[0].messages
    ]
    assert set(result.versions) == {"extractor", "decision", "judge"}
    assert prompt.version in result.versions["judge"]
    assert result.usage is not None
    assert result.usage.calls == 1
    with pytest.raises(ValueError, match="reason does not follow"):
        type(result).model_validate({**result.model_dump(), "reason": "All wrong."})
    with pytest.raises(ValueError, match="score does not follow"):
        type(result).model_validate({**result.model_dump(), "score": 1.0})


@pytest.mark.parametrize(
    "change", [{"model": "n"}, {"temperature": 0.5}, {"endpoint": "http://127.0.0.1:1/v1"}]
)
def test_model_parameters_and_endpoint_are_in_the_versions(change: dict[str, Any]) -> None:
    base = Tier(model="m")
    other = base.model_copy(update=change)
    one, two = (
        claim_scorer(LLMVerifier(each, models()), extractor=each, models=models()).versions
        for each in (base, other)
    )
    assert {name for name in one if one[name] != two[name]} == {"llm", "extractor"}


class Says:
    """A verifier of known opinions."""

    version = "1"

    def __init__(self, name: str, *verdicts: Verdict, fail: bool = False) -> None:
        self.name, self.verdicts, self.fail = name, verdicts, fail

    async def verify(self, run: Any, claims: Any, context: Any) -> Opinions:
        if self.fail:
            raise RuntimeError("out of memory")
        return Opinions(
            tuple(Opinion(verifier=self.name, verdict=v, reason=f"{v}!") for v in self.verdicts)
        )


S, C, U, N = Verdict.SUPPORTED, Verdict.CONTRADICTED, Verdict.UNSUPPORTED, Verdict.UNSCORED


@pytest.mark.parametrize(
    ("first", "second", "verdict", "by", "disagree"),
    [
        (S, S, S, "a", False),
        (S, C, S, "a", True),
        (U, S, U, "a", True),
        (N, C, C, "b", False),
        (S, N, S, "a", False),
        (N, N, N, None, False),
    ],
)
async def test_two_verifiers_and_their_disagreement(
    first: Verdict, second: Verdict, verdict: Verdict, by: str | None, disagree: bool
) -> None:
    judge = claim_scorer([Says("a", first), Says("b", second)], context=[SENTENCE], models=models())
    (found,) = (await judge.score(make_run("?", CLAIM))).verdicts
    assert (found.verdict, found.decided_by, found.disagreement) == (verdict, by, disagree)
    assert [each.verdict for each in found.opinions] == [first, second]
    assert (f"b says {second}" in found.reason) is (disagree or (first is S and second is N))


async def test_a_verifier_that_fails_or_miscounts_leaves_claims_unscored() -> None:
    for bad in (Says("a", fail=True), Says("a"), Says("a", S, S)):
        judge = claim_scorer(bad, context=[SENTENCE], models=models())
        result = await judge.score(make_run("?", CLAIM))
        assert result.state is State.UNSCORED
        judge = claim_scorer([bad, Says("b", U)], context=[SENTENCE], models=models())
        assert (await judge.score(make_run("?", CLAIM))).score == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"model": "large"}, "no tier 'large'"),
        ({"model": []}, "no model given"),
        ({"model": [Says("a"), Says("a")]}, "same name"),
        ({"model": None, "scale": 0}, "scale 0"),
        ({"model": None, "scale": float("nan")}, "scale nan"),
        ({"model": None, "context": "one text"}, "must be a list"),
        ({"model": None, "context": [3]}, "context holds a int"),
        ({"model": None, "extractor": "large"}, "no tier 'large'"),
    ],
)
def test_wrong_use_is_refused_in_words(options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        claim_scorer(options.pop("model"), models=models(), **options)


OUTPUT = "Acme is based in Lyon and it employs 123 people. Anne Roy runs it. Thanks for asking!"


def _extracting(entries: Any) -> Any:
    def script(call: Call) -> Reply:
        if not claims(call):
            return reply(call, entries, "claims")
        return reply(call, [entry(label, "unsupported") for label in claims(call)])

    return script


async def test_a_model_lists_the_claims_and_leaves_none_out() -> None:
    entries = [
        {"passage": "Acme is based in Lyon", "statement": "Acme is based in Lyon."},
        {"passage": "it employs 123 people", "statement": "Acme employs 123 people."},
        {"passage": "it employs 123 people", "statement": "Acme employs 123 people."},
        {"passage": "Acme is bankrupt", "statement": "Acme is bankrupt."},
        {"passage": None},
        "Anne Roy",
    ]
    with scorer(_extracting(entries), context=[SENTENCE]) as (judge, server):
        (verifier,) = judge.verifiers
        assert isinstance(verifier, LLMVerifier)
        judge = claim_scorer(
            verifier, context=[SENTENCE], extractor=verifier.tier, models=verifier.models
        )
        result = await judge.score(make_run("?", OUTPUT))
    assert [each.statement for each in result.claims] == [
        "Acme is based in Lyon.",
        "Acme employs 123 people.",
        "Anne Roy runs it.",
    ]
    assert [OUTPUT[each.start : each.end] for each in result.claims] == [
        each.text for each in result.claims
    ]
    assert [each.step for each in result.prompts] == ["extract", "verdicts"]
    assert result.versions["extractor"].startswith("judge:")
    assert result.notes == (
        "2 of 6 claims of the model unreadable",
        "1 of 6 claims of the model left out: their passage is not in the output",
        "1 of 6 claims of the model repeated",
        "1 claims left out by the model, kept as the rules cut them",
    )
    assert len(server.calls) == 2


async def test_without_a_list_the_rules_step_in_and_it_is_said() -> None:
    def script(call: Call) -> Reply:
        listed = reply(call, 3, "claims")
        return reply(call, []) if claims(call) else listed

    with scorer(script, context=[SENTENCE]) as (judge, _):
        (verifier,) = judge.verifiers
        assert isinstance(verifier, LLMVerifier)
        judge = claim_scorer(
            verifier, context=[SENTENCE], extractor=verifier.tier, models=verifier.models
        )
        result = await judge.score(make_run("?", OUTPUT))
    assert len(result.claims) == 2
    assert result.versions["extractor"].endswith(" (rules alone)")
    assert "claims by rules, since the model gave none: unparsable" in result.notes[0]


class Scholar:
    """Supports what a text of the context states in these words, and remembers what it was asked;
    contradicts Rome, and is sure of it only where told so."""

    name, version = "scholar", "1"

    def __init__(self, *, sure: bool = True) -> None:
        self.asked: list[tuple[list[str], int]] = []
        self.sure = sure

    def verify(
        self, run: Subject, claims: Sequence[Claim], context: Sequence[ContextItem]
    ) -> Opinions:
        self.asked.append(([claim.statement for claim in claims], len(context)))
        return Opinions(tuple(self._one(claim.statement, context) for claim in claims))

    def _one(self, statement: str, context: Sequence[ContextItem]) -> Opinion:
        known = any(statement.rstrip(".").lower() in item.text.lower() for item in context)
        verdict = Verdict.SUPPORTED if known else Verdict.UNSUPPORTED
        if "Rome" in statement and not known:
            verdict = Verdict.CONTRADICTED
        return Opinion(verifier=self.name, verdict=verdict, reason="read", correctable=self.sure)


class Shelf:
    """Has a passage for every claim but those about cats."""

    def search(self, claim: str, count: int) -> list[str]:
        return [] if "cat" in claim else [f"It is known that {claim.rstrip('.').lower()} indeed."]


@pytest.mark.parametrize(("sure", "again"), [(True, 1), (False, 2)])
async def test_passages_are_looked_up_only_for_what_the_context_does_not_settle(
    sure: bool, again: int
) -> None:
    scholar = Scholar(sure=sure)
    context = ["We read that anne runs a firm there."]
    known = claim_scorer(scholar, context=context, retriever=Shelf(), models=models())
    texts = ["Anne runs a firm.", "Bob is a cook.", "The cat is old.", "The office is in Rome."]
    result = await known.score(make_run("?", " ".join(texts)))
    assert scholar.asked[0] == (texts, 1)
    assert scholar.asked[1] == (texts[1:] if not sure else texts[1:3], 1 + again)
    assert len(scholar.asked) == 2
    verdicts = [verdict.verdict for verdict in result.verdicts]
    last = Verdict.CONTRADICTED if sure else Verdict.SUPPORTED
    assert verdicts == [Verdict.SUPPORTED, Verdict.SUPPORTED, Verdict.UNSUPPORTED, last]
    assert [item.id for item in result.context] == [None, *["looked up"] * again]
    nothing = claim_scorer(Scholar(), retriever=Shelf(), models=models())
    alone = await nothing.score(make_run("?", "The cat is old."))
    assert alone.problem == "the context is empty: nothing to hold claims against"


def test_code_alone_is_a_plain_function() -> None:
    answer = "Acme emploie 150 personnes. Acme est à Lyon. Acme vend des vélos."
    context = ["Acme emploie 123 personnes.", "Acme est à Lyon."]
    result = verify_by_code(answer, context)
    assert [verdict.verdict for verdict in result.verdicts] == [
        Verdict.CONTRADICTED, Verdict.SUPPORTED, Verdict.UNSCORED,
    ]  # fmt: skip
    assert verify_by_code(answer, []).problem
    assert verify_by_code("", context).state is State.EMPTY
    assert verify_by_code(None, context).state is State.UNSCORED
    with pytest.raises(UsageError, match="not one text"):
        verify_by_code(answer, "one text")
