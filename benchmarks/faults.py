"""The table of faults: what becomes of each, for our own client and for the OpenAI SDK's.

``python -m benchmarks.faults`` replays one case for each fault of ``tests/servers/faults.py``, once
with the agent of this project and once with an assistant on the OpenAI SDK, and prints the state of
the answer, the calls that arrived, the words on record and the command's exit status.
"""

import asyncio
from typing import Any

from openai import AsyncOpenAI

from ancrage.domain import Case, CaseInput, Output, OutputState, Provenance
from ancrage.llm import LLM, Tier, http_client
from ancrage.replay import FunctionAssistant, Replay, Settings, ToolCallingAgent
from tests.servers.faults import Fault, every
from tests.servers.openai_server import OpenAIServer

CASE = Case(id="c", input=CaseInput(question="Que disent-ils ?"), provenance=Provenance(source="b"))
OURS = ToolCallingAgent("ours", prompt=lambda _: "")


def theirs(server: OpenAIServer) -> FunctionAssistant:
    """An assistant that adds a footer, whatever came back."""
    client = AsyncOpenAI(api_key="sk", base_url=server.url, http_client=http_client())

    async def answer(messages: list[Any], conversation: Any) -> str:
        if conversation.tier.api == "responses":
            said = await client.responses.create(model="x", input=messages)
            return f"{said.output_text}\n\nWith care."
        reply = await client.chat.completions.create(model="x", messages=messages)
        return f"{reply.choices[0].message.content}\n\nWith care."

    return FunctionAssistant(answer)


async def replay(fault: Fault, sdk: bool) -> tuple[Output, int]:
    """The output, and how many calls arrived."""
    with OpenAIServer(fault.script) as server:
        tier = Tier.model_validate(
            {"model": "m", "endpoint": server.url, "api": fault.api, "retries": 1, "timeout": 0.5}
        )
        settings = Settings(tier="t", model="m", endpoint=server.url, api=fault.api)
        async with LLM({}) as llm:
            produce = Replay(theirs(server) if sdk else OURS, llm, tier, settings)
            return await produce(CASE), len(server.calls)


async def main() -> None:
    """Print the table in Markdown."""
    print("| fault | state | tries | exit | words |\n|---|---|---|---|---|")
    differ = 0
    for fault in every():
        ours, tries = await replay(fault, sdk=False)
        other, more = await replay(fault, sdk=True)
        same = (ours.state, ours.reason, tries) == (other.state, other.reason, more)
        differ += not same
        code = 0 if ours.state is OutputState.OK else 3
        words = (ours.reason or "").replace("|", "/")[:90]
        note = "" if same else f" (SDK: {other.state}, {more} tries, {other.reason})"
        print(f"| {fault.name} | {ours.state} | {tries} | {code} | {words}{note} |")
    print(f"\n{len(every())} faults; {differ} differ between our own agent and one on the SDK.")


if __name__ == "__main__":
    asyncio.run(main())
