"""A model whose verdicts are known: it reads the claims of a request and answers from a table."""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

from ancrage.config import Config
from ancrage.llm import Models, Tier
from ancrage.verify import ClaimScorer, claim_scorer
from tests.servers.openai_server import Call, OpenAIServer, Reply, Say

Entries = Callable[[dict[str, str]], object]
"""From the claims of a request, by label, to the entries of the reply."""


def seal(call: Call) -> str:
    """The seal that the last message states."""
    found = re.match(r"Seal: (\w+)", call.messages[1]["content"])
    assert found
    return found[1]


def claims(call: Call) -> dict[str, str]:
    """The statements of a request, by label."""
    lines = call.messages[1]["content"].splitlines()
    found = {}
    for title, line in pairwise(lines):
        if label := re.match(r"CLAIM (C\d+)", title):
            found[label[1]] = line.split("| ", 1)[1]
    return found


def reply(call: Call, entries: object, field: str = "verdicts") -> Say:
    """A sealed reply."""
    return Say(json.dumps({"seal": seal(call), field: entries}, ensure_ascii=False))


def entry(label: str, verdict: Any, passage: Any = None, reason: Any = "parce que") -> Any:
    return {"claim": label, "verdict": verdict, "passage": passage, "reason": reason}


Table = Mapping[str, tuple[str, str | None]]
"""Statement → verdict and passage."""


def table(known: Table) -> Callable[[Call], Reply]:
    """A script that answers each claim from ``known``; claims it lacks get no entry."""

    def script(call: Call) -> Reply:
        return reply(
            call,
            [entry(label, *known[text]) for label, text in claims(call).items() if text in known],
        )

    return script


def models() -> Models:
    """A client without configuration or cache."""
    return Models(Config(None, {}), cache=None)


@contextmanager
def scorer(
    script: Callable[[Call], Reply] | Sequence[Reply], **options: Any
) -> Iterator[tuple[ClaimScorer, OpenAIServer]]:
    """A scorer whose model is a loopback server."""
    with OpenAIServer(script) as server:
        tier = Tier(model="judge", endpoint=server.url, timeout=2, retries=0)
        yield claim_scorer(tier, models=models(), **options), server
