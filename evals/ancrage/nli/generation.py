"""What a language model writes for the pipeline: recalled references and corrections.

The recall is isolated: it takes the question and nothing else, so the answer under test cannot
leak into the reference that it is checked against.
"""

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from ancrage.llm import LLM

_RECALL = (
    "State what you know that bears on the question, as short factual sentences in the question's "
    "language. State only facts that you are sure of; write NOTHING if there are none.\n\n"
    "Question: {question}"
)
_CORRECT = (
    "A statement is contradicted by a reference. Rewrite the statement so that it agrees with the "
    "reference; change only what is wrong, keep its language, tone and length. Reply with the "
    "rewritten statement alone.\n\nQuestion: {question}\nReference: {reference}\n"
    "Statement: {claim}"
)


class Recall(Protocol):
    """Recalls a reference for a question; None when there is none."""

    async def __call__(self, question: str) -> str | None: ...


class Correct(Protocol):
    """Rewrites one contradicted claim; None when it cannot."""

    async def __call__(self, claim: str, question: str, reference: str) -> str | None: ...


def llm_recall(llm: "LLM", tier: str) -> Recall:
    """A recall through the tier of that name."""

    async def recall(question: str) -> str | None:
        text = await _ask(llm, tier, _RECALL.format(question=question))
        return None if text is None or text.strip(" .").upper() == "NOTHING" else text

    return recall


def llm_correct(llm: "LLM", tier: str) -> Correct:
    """A corrector through the tier of that name."""

    async def correct(claim: str, question: str, reference: str) -> str | None:
        prompt = _CORRECT.format(claim=claim, question=question, reference=reference)
        return await _ask(llm, tier, prompt)

    return correct


async def _ask(llm: "LLM", tier: str, prompt: str) -> str | None:
    from ancrage.llm import Request

    request = Request(tier=llm.tier(tier), messages=({"role": "user", "content": prompt},))
    completion = await llm.complete(request)
    return completion.text.strip() or None if completion.ok else None
