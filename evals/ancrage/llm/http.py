"""An HTTP client through which any assistant's calls of models pass, as it is::

    client = AsyncOpenAI(http_client=ancrage.llm.http_client())

In production it is the plain client that it derives from. While a case is replayed, a call of
Chat Completions or Responses goes through the replay's limiter, budget, cache and retries, with
the model and parameters under test, and how it ends is in the record.
"""

import asyncio
import json
from functools import cache
from types import ModuleType
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from ancrage.errors import UsageError
from ancrage.llm.cache import Exchange
from ancrage.llm.calls import Calls, calls_of
from ancrage.llm.gateway import APIS, Api

if TYPE_CHECKING:
    import httpx2

_OWN = ("host", "content-length", "content-type", "connection", "accept-encoding", "accept")


def http_client(using: ModuleType | None = None, **options: Any) -> "httpx2.AsyncClient":
    """An asynchronous client; ``options`` are those of ``httpx2.AsyncClient``.

    Args:
        using: ``httpx`` for libraries that still take one of its clients.
    """
    client: httpx2.AsyncClient = _classes(using)[0](**_usual(options))
    return client


def sync_http_client(using: ModuleType | None = None, **options: Any) -> "httpx2.Client":
    """The same for blocking code: an assistant that is a plain function runs in a thread."""
    client: httpx2.Client = _classes(using)[1](**_usual(options))
    return client


def _usual(options: dict[str, Any]) -> dict[str, Any]:
    """The OpenAI SDK's own defaults, which a client given to it replaces."""
    return {"timeout": 600.0, "follow_redirects": True, **options}


@cache
def _classes(using: ModuleType | None) -> tuple[Any, Any]:
    if using is None:
        import httpx2

        using = httpx2
    library: Any = using

    class AsyncClient(library.AsyncClient):  # type: ignore[misc]
        async def send(self, request: Any, **options: Any) -> Any:
            calls, api = calls_of(), _api(request)
            if calls is None or api is None:
                return await super().send(request, **options)
            await request.aread()
            exchange = await _pass(calls, api, request)
            return _response(library, request, exchange)

    class Client(library.Client):  # type: ignore[misc]
        def send(self, request: Any, **options: Any) -> Any:
            calls, api = calls_of(), _api(request)
            if calls is None or api is None:
                return super().send(request, **options)
            if _in_loop(calls):
                raise UsageError(
                    "a blocking client inside an async function holds up every other case: use "
                    "AsyncOpenAI with http_client(), or make the assistant a plain function"
                )
            request.read()
            passing = asyncio.run_coroutine_threadsafe(_pass(calls, api, request), calls.loop)
            return _response(library, request, passing.result())

    return AsyncClient, Client


def _api(request: Any) -> Api | None:
    if request.method != "POST":
        return None
    path = urlsplit(str(request.url)).path
    return next((api for api, module in APIS.items() if path.endswith(module.PATH)), None)


def _in_loop(calls: Calls) -> bool:
    try:
        return asyncio.get_running_loop() is calls.loop
    except RuntimeError:
        return False


async def _pass(calls: Calls, api: Api, request: Any) -> Exchange:
    headers = {
        name: value
        for name, value in request.headers.items()
        if name not in _OWN and not name.startswith("x-stainless")
    }
    body = json.loads(request.content)
    return await calls.send(calls.restated(api, str(request.url), body, headers))


def _response(library: Any, request: Any, exchange: Exchange) -> Any:
    return library.Response(
        exchange.status,
        headers={
            "content-type": exchange.content_type,
            # All retries that make sense were made.
            "x-should-retry": "false",
        },
        content=exchange.content.encode(),
        request=request,
    )
