"""Models for replays over the loopback server: they act out what production did."""

from collections.abc import Iterable

from ancrage.domain import Case
from tests.servers.openai_server import Call, Reply, Say, Script, UseTools


def question_of(call: Call) -> str:
    """The last thing that the user said."""
    return next(
        str(message["content"])
        for message in reversed(call.messages)
        if message.get("role") == "user"
    )


def actor(cases: Iterable[Case], answer: str | None = None) -> Script:
    """A model that makes each case's recorded tool calls at once, then gives its answer.

    ``answer`` replaces every recorded one.
    """
    by_question = {case.input.question: case for case in cases}

    def script(call: Call) -> Reply:
        case = by_question.get(question_of(call))
        if case is None:
            return Say("ok")
        if case.input.tool_calls and not call.tool_results:
            return UseTools([(each.name, each.arguments) for each in case.input.tool_calls])
        return Say(answer or (case.output.text if case.output else "Je ne sais pas."))

    return script
