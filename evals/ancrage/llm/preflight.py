"""Ask each endpoint whether it takes what will be sent, before anything is spent."""

import asyncio
import hashlib
import json
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from ancrage.domain import Frozen, JsonValue, OutputState
from ancrage.errors import IncompleteError, UsageError
from ancrage.files import write_atomic
from ancrage.llm.client import LLM
from ancrage.llm.request import Completion, JsonSchema, Request, Tool
from ancrage.llm.tiers import Tier, headers_of
from ancrage.redact import told

TABLE = Path(".ancrage/capabilities.json")
VALID_FOR = timedelta(days=7)
AT_ONCE = 8
CONNECT_SECONDS = 5.0


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
    """One tiny call for each way to call a model: parameters, tools and schema as they will be.

    Tiers that differ only in how much of a number they state (a seed, a limit) are one way, tried
    with the largest; at most eight are tried at once, and none after the first refusal. What an
    endpoint accepted within the last seven days is read from ``table`` instead; refusals are
    always asked again. None asks everything. What the budget no longer allows is not asked, and
    not refused either: the calls that follow will say so.
    """
    known = _read(table)
    gate = asyncio.Semaphore(AT_ONCE)
    refused = False

    async def check(tier: Tier) -> Check | None:
        nonlocal refused
        request = Request(
            tier=tier.model_copy(update={"retries": min(tier.retries, 1)}),
            messages=({"role": "user", "content": "Reply with the one word: ok"},),
            tools=tuple(tools),
            json_schema=json_schema,
        )
        identity = _identity(request)
        async with gate:
            now = datetime.now(UTC)
            if identity in known and now - known[identity].time < VALID_FOR:
                return known[identity].model_copy(update={"recorded": True})
            if refused:
                return None
            try:
                completion = await llm.complete(request, use_cache=False)
            except UsageError as error:  # no key, or no price
                completion = Completion.failed("rejected", str(error))
        accepted = completion.state is not OutputState.FAILED
        refused = refused or not accepted
        made = Check(
            model=tier.model,
            endpoint=tier.endpoint,
            parameters=tier.stated(),
            accepted=accepted,
            words=None if accepted else completion.reason,
            time=now,
        )
        if accepted and completion.state is not OutputState.OVER_BUDGET:
            known[identity] = made
        return made

    found = await asyncio.gather(*(check(tier) for tier in ways(tiers)))
    _write(table, known)
    return [answered for answered in found if answered]


def require_reachable(tiers: Iterable[Tier]) -> None:
    """Stop before any work where an endpoint does not answer at all; costs no token.

    Any answer will do, a refusal too: what a server says of a call is that call's own state.

    Raises:
        UsageError: a tier's key is not set.
        IncompleteError: no connection to an endpoint; names it.
    """
    import httpx2

    endpoints = {tier.endpoint: headers_of(tier) for tier in tiers}
    with httpx2.Client(timeout=CONNECT_SECONDS) as http:
        for endpoint, headers in endpoints.items():
            try:
                http.get(f"{endpoint}/models", headers=headers)
            except (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.ProxyError) as error:
                raise IncompleteError(f"no connection to {endpoint} ({told(error)})") from None
            except httpx2.HTTPError:
                continue


def ways(tiers: Iterable[Tier]) -> list[Tier]:
    """One tier for each way to call a model that an endpoint could refuse."""
    found: dict[str, Tier] = {}
    for tier in tiers:
        stated = tier.stated()
        numbers = {
            name: value
            for name, value in stated.items()
            if isinstance(value, int | float) and not isinstance(value, bool)
        }
        # 1 is the default temperature, which reasoning models take, and no other.
        names = [name if value != 1 else f"{name}=1" for name, value in numbers.items()]
        rest = {name: value for name, value in stated.items() if name not in numbers}
        way = json.dumps([tier.identity() | {"parameters": rest}, sorted(names)], sort_keys=True)
        other = found.get(way)
        most = {name: max(value, getattr(other or tier, name)) for name, value in numbers.items()}
        found[way] = tier.model_copy(update=most)
    return list(found.values())


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
    write_atomic(table, _Table.dump_json(known, indent=1).decode())
