"""Produce the outputs of a replay, one case at a time."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime

from ancrage.domain import Answer, Case, JsonValue, Output, OutputState
from ancrage.errors import AncrageError
from ancrage.llm import LLM, Completion, Tier, add_usage
from ancrage.replay.assistant import Assistant, Conversation, Reply
from ancrage.replay.frozen import FrozenTools, OffWorld, ToolFailed
from ancrage.replay.plan import Settings, prompt_for, prompt_hash, tier_for


class Replay:
    """A producer for ``run_experiment``: asks the assistant each case's question again."""

    def __init__(
        self, assistant: Assistant, llm: LLM, tier: Tier, settings: Settings, repeat: int = 0
    ) -> None:
        self.assistant = assistant
        self.llm = llm
        self.tier = tier
        self.settings = settings
        self.repeat = repeat

    async def __call__(self, case: Case) -> Output:
        """The output of one case; whatever happens is one of its states."""
        started = datetime.now(UTC)
        tools = FrozenTools(
            case.input.tool_calls,
            self.assistant.tools,
            self.settings.tools,
            self.settings.key_arguments,
        )
        llm = self.llm.conversation(self.repeat)
        details: dict[str, JsonValue] = {"repeat": self.repeat, "model": self.tier.model}
        try:
            prompt = prompt_for(case, self.assistant, self.settings.prompt)
            tier = tier_for(case, self.tier, self.settings.params)
            details |= {"parameters": tier.stated(), "prompt_hash": prompt_hash(prompt)}
            reply = await self.assistant.answer(
                Conversation(
                    system_prompt=prompt,
                    history=case.input.history,
                    question=case.input.question,
                    context=case.input.context,
                    tier=tier,
                    llm=llm,
                    tools=tools,
                    repeat=self.repeat,
                )
            )
        except asyncio.CancelledError:
            raise
        except OffWorld as miss:
            reply = Reply(state=OutputState.UNRECORDED_TOOL_CALL, reason=str(miss))
        except ToolFailed as failure:
            reason = f"a tool failed, as it did in production, and nothing caught it: {failure}"
            reply = Reply(state=OutputState.FAILED, reason=reason)
        except AncrageError as error:
            reply = Reply(state=OutputState.FAILED, reason=str(error))
        except Exception as error:  # noqa: BLE001 - the assistant is the user's own code
            reply = Reply(state=OutputState.FAILED, reason=f"{type(error).__name__}: {error}")
        reply = _truthful(reply, llm.completions)
        if tools.misses:
            # Also when the assistant went on as if nothing had happened: what it then says
            # rests on a world that was not recorded.
            reply = reply.model_copy(
                update={"state": OutputState.UNRECORDED_TOOL_CALL, "reason": tools.misses[0]}
            )
            details["misses"] = list(tools.misses)
        if tools.near:
            details["near"] = [near.model_dump(mode="json") for near in tools.near]
        return _output(case, reply, tools, started, details)


def _truthful(reply: Reply, completions: Sequence[Completion]) -> Reply:
    """The reply with what its calls of models tell of it, where the assistant told less.

    An assistant that passes on the text of an answer cut short or withheld has not answered, and
    one whose calls the budget stopped has not been asked.
    """
    if not completions:
        return reply
    if reply.usage is None:
        usage = add_usage(completion.usage for completion in completions)
        reply = reply.model_copy(update={"usage": usage})
    stopped = [each for each in completions if each.state is OutputState.OVER_BUDGET]
    last = stopped[0] if stopped else completions[-1]
    passed_on = reply.state in (OutputState.OK, OutputState.EMPTY) and reply.text == last.text
    if stopped or (passed_on and not last.ok):
        update = {
            "state": last.state,
            "reason": last.reason,
            "finish_reason": last.finish_reason,
        }
        reply = reply.model_copy(update=update)
    return reply


def _output(
    case: Case,
    reply: Reply,
    tools: FrozenTools,
    started: datetime,
    details: dict[str, JsonValue],
) -> Output:
    answer = None
    if reply.text:
        answer = Answer(text=reply.text, finish_reason=reply.finish_reason, usage=reply.usage)
    state, reason = reply.state, reply.reason
    if state is OutputState.OK and not reply.text.strip():
        state, reason = OutputState.EMPTY, "the answer has no content"
    return Output(
        case_id=case.id,
        state=state,
        answer=answer,
        reason=None if state is OutputState.OK else reason or f"the assistant reported {state}",
        tool_calls=tuple(tools.made),
        started=started,
        usage=reply.usage,
        details=details,
    )
