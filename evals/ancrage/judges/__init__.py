"""LLM judges: each owns a few failure modes and shows every defect by a passage that stands."""

from ancrage.judges.definition import Definition, Example, Mode, single
from ancrage.judges.judge import Judge
from ancrage.judges.select import Settings, definitions, load_judges

__all__ = [
    "Definition",
    "Example",
    "Judge",
    "Mode",
    "Settings",
    "definitions",
    "load_judges",
    "single",
]
