"""Judges whose replies are scripted: they read the prompt as a model would, and reply in JSON."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ancrage.judges import Definition
from tests.servers.openai_server import Call, Reply, Say

Defects = Sequence[tuple[str, str]]
"""Mode and passage of each defect."""


@dataclass(frozen=True)
class Seen:
    """What a model sees of a judge's prompt."""

    seal: str
    mark: str
    modes: tuple[str, ...]
    answer: str
    """The answer, its marks taken away."""
    user: str
    system: str


def seen(call: Call) -> Seen:
    """The parts of the prompt that a call carries."""
    system = "\n".join(m["content"] for m in call.messages if m["role"] == "system")
    user = next(m["content"] for m in call.messages if m["role"] == "user")
    head = re.match(r"Seal: (\S+)\nMark: (\S+)\nMaterial:\n", user)
    assert head, user[:200]
    seal, mark = head[1], head[2]
    modes = tuple(re.findall(r"(?m)^## (\w+)$", system))
    lines = user.splitlines()
    start = len(lines) - 1 - lines[::-1].index("ANSWER:")
    answer = [
        line.removeprefix(f"{mark} ") for line in lines[start + 1 :] if line[: len(mark)] == mark
    ]
    return Seen(seal, mark, modes, "\n".join(answer), user, system)


def reply(
    prompt: Seen, defects: Defects = (), verdicts: Mapping[str, Any] | None = None, **more: Any
) -> str:
    """The JSON of a judge that plays by the rules; ``verdicts`` replaces what follows from it."""
    found = {mode for mode, _ in defects}
    stated = {mode: "present" if mode in found else "absent" for mode in prompt.modes}
    return json.dumps(
        {
            "seal": prompt.seal,
            "defects": [
                {"mode": mode, "passage": passage, "reason": f"because of {mode}"}
                for mode, passage in defects
            ],
            "verdicts": stated if verdicts is None else dict(verdicts),
            **more,
        },
        ensure_ascii=False,
    )


def obliging(judge: Callable[[Seen], Defects]) -> Callable[[Call], Reply]:
    """A script that reports what ``judge`` sees in the answer."""

    def script(call: Call) -> Reply:
        prompt = seen(call)
        return Say(reply(prompt, judge(prompt)))

    return script


def words(**marks: str) -> Callable[[Seen], Defects]:
    """A judge that reports the mode named wherever its words stand in the answer."""

    def judge(prompt: Seen) -> Defects:
        return [
            (mode, passage)
            for mode, passage in marks.items()
            if mode in prompt.modes and passage in prompt.answer
        ]

    return judge


def definition(
    *modes: str, name: str = "tester", context: Sequence[str] = ("question",)
) -> Definition:
    """A small judge with these modes."""
    return Definition.model_validate(
        {
            "name": name,
            "task": "You check.",
            "context": context,
            "modes": [
                {
                    "name": mode,
                    "title": mode,
                    "definition": f"The answer shows {mode}.",
                    "counts": ["it"],
                    "counts_not": ["the rest"],
                    "examples": [
                        {"language": "en", "answer": "Well.", "reason": "Nothing is wrong."}
                    ],
                }
                for mode in modes
            ],
        }
    )
