"""The word lists of ``lexicon.toml``."""

import tomllib
from importlib.resources import files
from typing import Any

LEXICON: dict[str, Any] = tomllib.loads(
    files("ancrage.claims").joinpath("lexicon.toml").read_text(encoding="utf-8")
)
