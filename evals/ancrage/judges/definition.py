"""What a judge is: one TOML file that names the modes it owns and the context it needs."""

import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, Self

from pydantic import Field, ValidationError, model_validator

from ancrage.domain import FailureMode, Frozen
from ancrage.errors import UsageError, describe

Context = Literal["question", "history", "study", "sources", "tools"]
"""``question``: what was asked. ``history``: the turns before it. ``study``: its title and
questions. ``sources``: the messages behind the verbatim quotes, with what the same respondent
wrote just before and after. ``tools``: what the tools gave back."""

SHIPPED = Path(__file__).parent / "definitions"
SINGLE = "single"


class Example(Frozen):
    """An answer (or a part of one) with the defect it carries, or none."""

    language: Literal["fr", "en"]
    situation: str = ""
    """What the judge needs to know to follow: the question, a tool's output, a message."""
    answer: str = Field(min_length=1)
    passage: str | None = None
    """The defect's passage in ``answer``; left out where the answer is right."""
    reason: str = Field(min_length=1)

    @model_validator(mode="after")
    def _quotes_its_answer(self) -> Self:
        if self.passage is not None and (not self.passage or self.passage not in self.answer):
            raise ValueError("the passage must stand in the example's answer, word for word")
        return self


class Mode(FailureMode):
    """A failure mode as a judge is told of it."""

    counts: tuple[str, ...] = Field(min_length=1)
    """What counts as this defect."""
    counts_not: tuple[str, ...] = Field(min_length=1)
    """What does not, however much it looks like it."""
    examples: tuple[Example, ...] = Field(min_length=1)
    settled_by: Literal["figures", "quotes"] | None = None
    """The code that settles what code can settle; see ``ancrage.judges.settle``."""

    @property
    def plain(self) -> FailureMode:
        """The mode as reports and records know it."""
        return FailureMode(name=self.name, title=self.title, definition=self.definition)


class Definition(Frozen):
    """One judge."""

    name: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    task: str = Field(min_length=1)
    """What the judge looks at, in one or two sentences addressed to it."""
    context: tuple[Context, ...]
    tier: str = "judge"
    """The entry of ``[tiers]`` that it calls."""
    modes: tuple[Mode, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _names_each_mode_once(self) -> Self:
        names = [mode.name for mode in self.modes]
        if len(set(names)) != len(names):
            raise ValueError("two modes have the same name")
        return self


def read_definition(path: Path) -> Definition:
    """The judge that a TOML file defines.

    Raises:
        UsageError: the file cannot be read, or a field is unknown, missing or wrong.
    """
    try:
        return Definition.model_validate(tomllib.loads(path.read_text(encoding="utf-8-sig")))
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: not valid TOML: {error}") from None
    except ValidationError as error:
        raise UsageError(f"{path}: {describe(error)}") from None


def single(judges: Sequence[Definition]) -> Definition:
    """One judge with all the modes of ``judges``, to be compared with them."""
    return Definition(
        name=SINGLE,
        task=" ".join(judge.task for judge in judges),
        context=tuple(dict.fromkeys(part for judge in judges for part in judge.context)),
        tier=judges[0].tier,
        modes=tuple(mode for judge in judges for mode in judge.modes),
    )
