"""Produce the outputs of a replay, one case at a time."""

import asyncio
from datetime import UTC, datetime

from ancrage.domain import Answer, Case, JsonValue, Output, OutputState
from ancrage.errors import AncrageError
from ancrage.llm import LLM, Calls, Tier, add_usage, recording
from ancrage.llm.replies import split_thoughts
from ancrage.redact import bounded, told
from ancrage.replay.assistant import Assistant, Conversation, Reply
from ancrage.replay.frozen import FrozenTools, ToolFailed, UnrecordedCall
from ancrage.replay.plan import Settings, prompt_for, prompt_hash, tier_for


class Replay:
    """A producer for ``run_experiment``: asks the assistant each case's question again."""

    def __init__(
        self,
        assistant: Assistant,
        llm: LLM,
        tier: Tier,
        settings: Settings,
        repeat: int = 0,
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
        calls = Calls(self.llm.gateway, self.tier, self.repeat, frozenset(self.settings.untouched))
        details: dict[str, JsonValue] = {"repeat": self.repeat, "model": self.tier.model}
        try:
            prompt = prompt_for(case, self.assistant, self.settings.prompt)
            calls.tier = tier_for(case, self.tier, self.settings.params)
            details |= {"parameters": calls.tier.stated(), "prompt_hash": prompt_hash(prompt)}
            conversation = Conversation(
                system_prompt=prompt,
                history=case.input.history,
                question=case.input.question,
                context=case.input.context,
                tier=calls.tier,
                llm=self.llm,
                tools=tools,
                repeat=self.repeat,
            )
            with recording(calls):
                reply = await self.assistant.answer(conversation)
        except asyncio.CancelledError:
            raise
        except UnrecordedCall as miss:
            reply = Reply(state=OutputState.UNRECORDED_TOOL_CALL, reason=str(miss))
        except ToolFailed as failure:
            reason = f"a tool failed, as it did in production, and nothing caught it: {failure}"
            reply = Reply(state=OutputState.FAILED, reason=reason)
        except AncrageError as error:
            reply = Reply(state=OutputState.FAILED, reason=str(error))
        except Exception as error:  # noqa: BLE001 - the assistant is the user's own code
            reply = Reply(state=OutputState.FAILED, reason=told(error))
        reply = _truthful(reply, calls)
        details |= calls.details()
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


def _truthful(reply: Reply, calls: Calls) -> Reply:
    """The reply with what its calls of models tell of it, whatever the assistant made of them.

    One that passes on an answer cut short, withheld or never given has not answered, whatever it
    adds to it; one whose calls the budget stopped has not been asked. Reasoning that a server
    left within an answer is no part of it.
    """
    if reply.usage is None and calls.made:
        usage = add_usage(made.completion.usage for made in calls.made)
        reply = reply.model_copy(update={"usage": usage})
    if found := calls.trouble():
        update = {
            "state": found.state,
            "reason": found.reason,
            "finish_reason": found.finish_reason,
        }
        return reply.model_copy(update=update)
    if reply.finish_reason is None and calls.made:
        finish = calls.made[-1].completion.finish_reason
        reply = reply.model_copy(update={"finish_reason": finish})
    return reply.model_copy(update={"text": split_thoughts(reply.text)[0]})


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
        reason=None
        if state is OutputState.OK
        else bounded(reason or f"the assistant reported {state}"),
        tool_calls=tuple(tools.made),
        started=started,
        usage=reply.usage,
        details=details,
    )
