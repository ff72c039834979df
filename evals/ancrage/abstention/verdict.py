"""What a rule says of one answer, and the interface of a rule."""

from enum import StrEnum
from typing import Protocol, Self

from pydantic import model_validator

from ancrage.abstention.cases import QACase
from ancrage.domain import Frozen


class Cause(StrEnum):
    """Why an answer is not counted as faithful."""

    MISSING = "missing"
    """There is no answer: never given, failed, cut short or empty."""
    FALSE_ANSWER = "false answer"
    """It answers where it must abstain."""
    FALSE_REFUSAL = "false refusal"
    """It abstains where the support holds the answer."""
    NOT_GIVEN = "expected answer not given"
    CONTRADICTED = "contradicted"
    """By the expected answer or by the support."""
    UNSUPPORTED = "added statement not supported"
    UNDECIDED = "undecided"
    """Unscored: the rule cannot tell, and there is no verifier to ask or it cannot tell either."""
    UNVERIFIED = "verifier failed"
    """Unscored: the verifier gave no verdict."""


UNSCORED = (Cause.UNDECIDED, Cause.UNVERIFIED)


class Verdict(Frozen):
    """What a rule says of one answer."""

    abstained: bool | None
    """None when the answer cannot be read either way."""
    faithful: bool | None
    """None when unscored."""
    cause: Cause | None = None
    """Set whenever ``faithful`` is not true."""
    reason: str
    evidence: str | None = None
    """The words of the answer that decided."""

    @model_validator(mode="after")
    def _agrees_with_its_cause(self) -> Self:
        if (self.cause is None) != (self.faithful is True):
            raise ValueError("a cause is given exactly when the answer is not faithful")
        if (self.faithful is None) != (self.cause in UNSCORED):
            raise ValueError("undecided and unverified are unscored, other causes are not")
        return self


class Rule(Protocol):
    """Decides whether an answer abstains and whether it is faithful."""

    @property
    def name(self) -> str: ...

    @property
    def version(self) -> str: ...

    @property
    def verifier_name(self) -> str | None: ...

    async def judge(self, case: QACase, answer: str) -> Verdict: ...
