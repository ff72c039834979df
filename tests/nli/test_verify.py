"""The pipeline: isolation, selective correction, rebuilding, figures, retrieval."""

import asyncio
import json
import re
import threading
from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ancrage.claims import extract_claims
from ancrage.errors import UsageError
from ancrage.nli import Judged, NLISettings, Verifier, rule_of
from ancrage.nli.generation import llm_correct, llm_recall
from ancrage.nli.model import Pair
from ancrage.nli.retrieval import BM25
from ancrage.nli.verify import ClaimVerdict, Correction, rebuild

REFERENCE = "Paris is the capital of France. The Seine is a river."
ROWS = {"yes": (0.9, 0.06, 0.04), "no": (0.03, 0.07, 0.9), "open": (0.1, 0.8, 0.1)}


def judge(pairs: Sequence[Pair]) -> Judged:
    """A deterministic stand-in for a model: entailed when the premise holds all the words,
    contradicted when it holds half of them, else open."""
    rows, passages = [], []
    for premise, hypothesis in pairs:
        words = set(re.findall(r"\w+", hypothesis.lower()))
        shared = len(words & set(re.findall(r"\w+", premise.lower()))) / max(len(words), 1)
        rows.append(ROWS["yes" if shared == 1 else "no" if shared >= 0.5 else "open"])
        passages.append(premise)
    return Judged(
        np.array(rows, dtype=float).reshape(-1, 3), np.ones(len(rows), dtype=int), tuple(passages)
    )


ARGMAX = rule_of(NLISettings(rule="argmax"))


def outcomes(verifier: Verifier, answer: str, reference: str | None = REFERENCE) -> list[str]:
    result = asyncio.run(verifier.verify(answer, "What?", reference))
    assert result.counts["claims"] == len(result.verdicts)
    assert sum(n for name, n in result.counts.items() if name != "claims") == len(result.verdicts)
    return [verdict.outcome for verdict in result.verdicts]


def test_each_claim_is_accepted_kept_or_to_be_corrected() -> None:
    answer = "Paris is the capital of France. Lyon is the capital of France. Bananas grow tall."
    assert outcomes(Verifier(judge, ARGMAX), answer) == ["accepted", "correct", "kept"]


@pytest.mark.parametrize("reference", [None, "", "  "])
def test_without_a_reference_claims_are_unscored_not_fine(reference: str | None) -> None:
    result = asyncio.run(Verifier(judge, ARGMAX).verify("Paris is big.", "What?", reference))
    assert [v.outcome for v in result.verdicts] == ["unscored"]
    assert "no reference" in result.verdicts[0].reason


def test_an_answer_without_claims_has_no_verdict() -> None:
    result = asyncio.run(Verifier(judge, ARGMAX).verify("I don't know.", "What?", REFERENCE))
    assert result.verdicts == ()
    assert result.corrected == "I don't know."


async def to_paris(claim: str, question: str, reference: str) -> str | None:
    return claim.replace("Lyon", "Paris")


async def to_nonsense(claim: str, question: str, reference: str) -> str | None:
    return "Rome is nowhere at all."


async def to_nothing(claim: str, question: str, reference: str) -> str | None:
    return None


ANSWER = (
    "# Answer\n\n*  Paris is the capital  of France.\r\n"
    "*  Lyon is the capital of France. [R-1]\n\n\tEnd?"
)


def test_only_contradicted_claims_change_all_else_byte_for_byte() -> None:
    verifier = Verifier(judge, ARGMAX, correct=to_paris)
    result = asyncio.run(verifier.verify(ANSWER, "What?", REFERENCE))
    assert result.corrected == ANSWER.replace("Lyon", "Paris")
    assert [bool(v.correction) for v in result.verdicts] == [False, True]


@pytest.mark.parametrize("corrector", [to_nonsense, to_nothing])
def test_a_correction_that_fails_leaves_the_claim_flagged(corrector: Any) -> None:
    verifier = Verifier(judge, ARGMAX, correct=corrector)
    result = asyncio.run(verifier.verify(ANSWER, "What?", REFERENCE))
    assert result.corrected == ANSWER
    correction = result.verdicts[1].correction
    assert correction is not None
    assert not correction.used
    assert correction.reason
    assert result.verdicts[1].outcome == "correct"


@given(st.text(alphabet="ab. \n\r\t-*é«»", max_size=80), st.data())
def test_rebuilding_touches_only_what_was_corrected(answer: str, data: st.DataObject) -> None:
    verdicts, expected, position = [], "", 0
    for claim in extract_claims(answer):
        used = data.draw(st.booleans())
        verdicts.append(
            ClaimVerdict(
                claim=claim,
                outcome="correct",
                reason="",
                correction=Correction(text="NEW", used=used, reason=""),
            )
        )
        expected += answer[position : claim.start] + ("NEW" if used else claim.text)
        position = claim.end
    assert rebuild(answer, verdicts) == expected + answer[position:]


def test_contradicting_figures_prevail_over_the_model() -> None:
    answer = "The Seine is 500 km long."
    reference = "The river Seine is about 500 km long."
    assert outcomes(Verifier(judge, ARGMAX), answer, reference) == ["accepted"]
    reference = "The Seine is 777 km long. The Loire river had 500 boats."
    result = asyncio.run(Verifier(judge, ARGMAX).verify(answer, "", reference))
    assert result.verdicts[0].outcome == "correct"
    assert "777 km" in result.verdicts[0].reason
    assert outcomes(Verifier(judge, ARGMAX, figures=False), answer, reference) == ["accepted"]


def test_open_claims_are_looked_up() -> None:
    documents = BM25(["Bananas grow on tall plants.\n\nTrains run late.", "Cats sleep a lot."])
    verifier = Verifier(judge, ARGMAX, retriever=documents)
    result = asyncio.run(verifier.verify("Trains run late. Moons shine.", "", REFERENCE))
    assert [v.outcome for v in result.verdicts] == ["accepted", "kept"]
    assert [v.retrieved for v in result.verdicts] == [True, False]
    assert result.verdicts[0].passage is not None
    assert "Trains run late." in result.verdicts[0].passage


def test_search_shows_only_what_shares_a_word_best_first() -> None:
    documents = BM25(["The red cat.\n\nThe red red dog.\n\nA bird."])
    assert list(documents.search("red cat", 5)) == ["The red cat.", "The red red dog."]
    assert list(documents.search("zebra", 5)) == []
    with pytest.raises(UsageError, match="nothing to search"):
        BM25(["  \n\n  "])


class Endpoint(ThreadingHTTPServer):
    """An OpenAI-compatible endpoint that keeps what it was sent."""

    daemon_threads = True

    def __init__(self, reply: str) -> None:
        bodies: list[str] = []
        self.bodies = bodies

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                bodies.append(self.rfile.read(int(self.headers["Content-Length"])).decode())
                choice = {
                    "index": 0,
                    "finish_reason": "stop",
                    "message": {"role": "assistant", "content": reply},
                }
                usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
                sent = {"id": "1", "object": "chat.completion", "created": 1, "model": "m",
                        "choices": [choice], "usage": usage}  # fmt: skip
                body = json.dumps(sent).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *arguments: Any) -> None:
                return

        super().__init__(("127.0.0.1", 0), Handler)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"


@pytest.fixture
def endpoint(request: pytest.FixtureRequest) -> Iterator[Endpoint]:
    server = Endpoint(getattr(request, "param", REFERENCE))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


def client(endpoint: Endpoint) -> Any:
    from ancrage.llm import LLM, Tier

    return LLM({"standard": Tier(model="m", endpoint=endpoint.url)})


async def test_the_recall_cannot_see_the_answer(endpoint: Endpoint) -> None:
    async with client(endpoint) as llm:
        verifier = Verifier(judge, ARGMAX, recall=llm_recall(llm, "standard"))
        for secret in ("xylophone", "marzipan"):
            result = await verifier.verify(
                f"The {secret} is the capital of France.", "Which is the capital?"
            )
            assert result.reference == REFERENCE
    assert len(endpoint.bodies) == 2
    assert endpoint.bodies[0] == endpoint.bodies[1]
    assert "Which is the capital?" in endpoint.bodies[0]
    assert not re.search("xylophone|marzipan", " ".join(endpoint.bodies))


@pytest.mark.parametrize("endpoint", ["NOTHING.", ""], indirect=True)
async def test_a_recall_that_knows_nothing_leaves_claims_unscored(endpoint: Endpoint) -> None:
    async with client(endpoint) as llm:
        verifier = Verifier(judge, ARGMAX, recall=llm_recall(llm, "standard"))
        result = await verifier.verify("Paris is big.", "What?")
    assert result.counts == {"claims": 1, "unscored": 1}


@pytest.mark.parametrize("endpoint", ["Paris is the capital of France."], indirect=True)
async def test_corrections_are_asked_for_contradicted_claims_alone(endpoint: Endpoint) -> None:
    answer = "The Seine is a river. Lyon is the capital of France. Bananas grow tall."
    async with client(endpoint) as llm:
        verifier = Verifier(judge, ARGMAX, correct=llm_correct(llm, "standard"))
        result = await verifier.verify(answer, "What?", REFERENCE)
    assert result.corrected == answer.replace("Lyon", "Paris")
    assert len(endpoint.bodies) == 1
    assert "Bananas" not in endpoint.bodies[0]
