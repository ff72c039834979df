"""Words to put in the place of others, by language: ``lexicon.toml``."""

import random
import re
import tomllib
from functools import cache
from importlib.resources import files
from typing import Any

LANGUAGES = ("fr", "en")


@cache
def _lexicon() -> dict[str, dict[str, Any]]:
    return tomllib.loads(
        files("ancrage.prove").joinpath("lexicon.toml").read_text(encoding="utf-8")
    )


def lexicon(language: str) -> dict[str, Any]:
    """The words of a language; those of English for one that has none."""
    return _lexicon()[language if language in LANGUAGES else "en"]


def swapped(
    words: str, table: str, language: str, chance: random.Random, marks: str = ""
) -> str | None:
    """``words`` with one word replaced by its pair in ``table``; None where none stands there.

    Whole words only; a capital at the beginning is kept. ``marks`` are put around the new word.
    """
    pairs = list(lexicon(language)[table])
    chance.shuffle(pairs)
    for old, new in pairs:
        found = list(
            re.finditer(rf"(?<![\w-]){re.escape(old)}(?!\w|['’]t\b)", words, re.IGNORECASE)
        )
        if found:
            at = chance.choice(found)
            shown = str(new.capitalize() if at.group()[0].isupper() else new)
            return words[: at.start()] + marks[:1] + shown + marks[1:] + words[at.end() :]
    return None
