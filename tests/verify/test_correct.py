"""Recalled references, passages looked up, corrections and rebuilding."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ancrage.claims import extract_claims
from ancrage.config import Config
from ancrage.errors import UsageError
from ancrage.llm import Models, Tier
from ancrage.verify import ClaimScorer, Correction, State, Verdict, claim_scorer, make_run
from ancrage.verify.correct import rebuild
from ancrage.verify.llm import llm_correct, llm_recall
from ancrage.verify.lookup import BM25
from ancrage.verify.model import ClaimVerdict
from tests.servers.openai_server import Call, OpenAIServer, Reply, Say
from tests.verify.scripted import claims, entry, models, reply

REFERENCE = "Paris is the capital of France. The Seine is a river."
ANSWER = (
    "# Answer\n\n*  Paris is the capital  of France.\r\n"
    "*  Lyon is the capital of France. [R-1]\n\n\tEnd?"
)


def scorer(server: OpenAIServer) -> ClaimScorer:
    """A scorer that asks ``server`` for verdicts, recalls and corrections."""
    given: dict[str, Any] = {"model": "m", "endpoint": server.url, "retries": 0}
    known = Models(Config(None, {"tiers": {"t": given}}), cache=None)
    tier = Tier(**given)
    return replace(
        claim_scorer(tier, models=known, context=[REFERENCE]),
        correct=llm_correct(known, "t"),
        recall=llm_recall(known, "t"),
    )


def script(written: str) -> Callable[[Call], Reply]:
    """Contradicts what says Lyon, supports the rest; rewrites into ``written``."""

    def say(call: Call) -> Reply:
        if call.schema is None:
            return Say(written)
        entries = [
            entry(label, "contradicted" if "Lyon" in text else "supported", REFERENCE[:31])
            for label, text in claims(call).items()
        ]
        return reply(call, entries)

    return say


async def test_only_contradicted_claims_change_all_else_byte_for_byte() -> None:
    with OpenAIServer(script("Paris is the capital of France.")) as server:
        result = await scorer(server).score(make_run("What?", ANSWER))
        asked = [call for call in server.calls if call.schema is None]
    assert result.corrected == ANSWER.replace("Lyon is", "Paris is")
    assert [bool(v.correction) for v in result.verdicts] == [False, True]
    assert len(asked) == 1


@pytest.mark.parametrize("written", ["Lyon is the capital, in France.", ""])
async def test_a_correction_that_fails_leaves_the_claim_as_it_was(written: str) -> None:
    with OpenAIServer(script(written)) as server:
        result = await scorer(server).score(make_run("What?", ANSWER))
    assert result.corrected is None
    correction = result.verdicts[1].correction
    assert correction is not None
    assert not correction.used
    assert result.verdicts[1].verdict is Verdict.CONTRADICTED


@given(st.text(alphabet="ab. \n\r\t-*é«»", max_size=80), st.data())
def test_rebuilding_touches_only_what_was_corrected(answer: str, data: st.DataObject) -> None:
    found = extract_claims(answer)
    verdicts, expected, position = [], "", 0
    for claim in found:
        used = data.draw(st.booleans())
        correction = Correction(text="NEW", used=used, reason="")
        verdict = ClaimVerdict(statement="", verdict=Verdict.CONTRADICTED, reason="")
        verdicts.append(verdict.model_copy(update={"correction": correction}))
        expected += answer[position : claim.start] + ("NEW" if used else claim.text)
        position = claim.end
    assert rebuild(answer, found, verdicts) == expected + answer[position:]


async def test_the_recall_cannot_see_the_answer() -> None:
    with OpenAIServer(script(REFERENCE)) as server:
        alone = replace(scorer(server), context=(), correct=None)
        for secret in ("xylophone", "marzipan"):
            result = await alone.score(make_run("Which capital?", f"The {secret} is the capital."))
            assert [item.text for item in result.context] == [REFERENCE]
        recalls = [call.text for call in server.calls if call.schema is None]
    assert recalls[0] == recalls[1]
    assert "Which capital?" in recalls[0]
    assert "xylophone" not in recalls[0]


async def test_a_recall_that_knows_nothing_leaves_claims_unscored() -> None:
    with OpenAIServer(script("NOTHING.")) as server:
        alone = replace(scorer(server), context=(), correct=None)
        result = await alone.score(make_run("Which?", "Paris is big."))
    assert result.state is State.UNSCORED


async def test_passages_are_looked_up_for_each_claim() -> None:
    documents = BM25(["Trains run late.\n\nBananas grow on tall plants.", "Cats sleep a lot."])
    alone = claim_scorer(None, models=models(), context=[REFERENCE], retriever=documents)
    result = await alone.score(make_run("?", "Trains run late. Moons shine."))
    assert [v.verdict for v in result.verdicts] == [Verdict.SUPPORTED, Verdict.UNSCORED]
    assert [item.text for item in result.context] == [REFERENCE, "Trains run late."]


def test_search_shows_only_what_shares_a_word_best_first() -> None:
    documents = BM25(["The red cat.\n\nThe red red dog.\n\nA bird."])
    assert list(documents.search("red cat", 5)) == ["The red cat.", "The red red dog."]
    assert list(documents.search("zebra", 5)) == []
    with pytest.raises(UsageError, match="nothing to search"):
        BM25(["  \n\n  "])
