"""Ask each endpoint whether it takes what will be sent, before anything is spent."""

import hashlib
import json
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from ancrage.domain import Frozen, JsonValue, OutputState
from ancrage.errors import UsageError
from ancrage.llm.client import LLM
from ancrage.llm.request import Completion, JsonSchema, Request, Tool
from ancrage.llm.tiers import Tier

TABLE = Path(".ancrage/capabilities.json")
VALID_FOR = timedelta(days=7)


class Check(Frozen):
    """What one endpoint said of one way to call it."""

    model: str
    endpoint: str
    parameters: dict[str, JsonValue]
    accepted: bool
    words: str | None
    """The server's, when it refused."""
    time: datetime
    recorded: bool = False
    """Known from the table; no call was made now."""


async def preflight(
    llm: LLM,
    tiers: Iterable[Tier],
    *,
    tools: Sequence[Tool] = (),
    json_schema: JsonSchema | None = None,
    table: Path | None = TABLE,
) -> list[Check]:
    """One tiny call for each tier, exactly as it will be made: parameters, tools and schema.

    What an endpoint accepted within the last seven days is read from ``table`` instead; refusals
    are always asked again. None asks everything. What the budget no longer allows is not asked,
    and not refused either: the calls that follow will say so.
    """
    known = _read(table)
    checks: list[Check] = []
    for tier in tiers:
        request = Request(
            tier=tier.model_copy(update={"retries": min(tier.retries, 1)}),
            messages=({"role": "user", "content": "Reply with the one word: ok"},),
            tools=tuple(tools),
            json_schema=json_schema,
        )
        identity = _identity(request)
        now = datetime.now(UTC)
        if identity in known and now - known[identity].time < VALID_FOR:
            checks.append(known[identity].model_copy(update={"recorded": True}))
            continue
        try:
            completion = await llm.complete(request, use_cache=False)
        except UsageError as error:  # no key, or no price
            completion = Completion.failed("rejected", str(error))
        accepted = completion.state is not OutputState.FAILED
        check = Check(
            model=tier.model,
            endpoint=tier.endpoint,
            parameters=tier.stated(),
            accepted=accepted,
            words=None if accepted else completion.reason,
            time=now,
        )
        checks.append(check)
        if accepted and completion.state is not OutputState.OVER_BUDGET:
            known[identity] = check
    _write(table, known)
    return checks


def refuse(checks: Iterable[Check]) -> None:
    """Stop when an endpoint did not accept what would be sent.

    Raises:
        UsageError: in the servers' words, one line for each refusal.
    """
    refusals = [
        f"{check.model} at {check.endpoint} with {json.dumps(check.parameters)}: {check.words}"
        for check in checks
        if not check.accepted
    ]
    if refusals:
        raise UsageError("preflight refused, nothing was sent: " + "\n".join(refusals))


def _identity(request: Request) -> str:
    content = request.model_dump_json(exclude={"messages", "repeat"})
    return hashlib.sha256(content.encode()).hexdigest()


_Table = TypeAdapter(dict[str, Check])


def _read(table: Path | None) -> dict[str, Check]:
    if table is None or not table.is_file():
        return {}
    try:
        return _Table.validate_json(table.read_bytes())
    except ValidationError:
        return {}


def _write(table: Path | None, known: dict[str, Check]) -> None:
    if table is None:
        return
    table.parent.mkdir(parents=True, exist_ok=True)
    draft = table.with_suffix(".tmp")
    draft.write_bytes(_Table.dump_json(known, indent=1))
    draft.replace(table)
