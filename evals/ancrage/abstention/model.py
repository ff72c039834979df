"""What an evaluation holds: figures with their denominators, and every case behind them."""

from datetime import datetime

from ancrage.abstention.cases import CaseId
from ancrage.abstention.verdict import Cause
from ancrage.domain import Frozen, JsonValue, OutputState


class Result(Frozen):
    """One case, its raw answer and the verdict."""

    id: CaseId
    group: str | None
    question: str
    expected: str
    must_abstain: bool
    fingerprint: str
    """Of the case's content; see ``QACase``."""
    state: OutputState
    answer: str
    abstained: bool | None
    """None when there is no answer, or it cannot be read either way."""
    faithful: bool | None
    """None when unscored; a missing answer is false."""
    cause: Cause | None
    reason: str
    evidence: str | None = None


class Failure(Frozen):
    """One failed case and why."""

    id: CaseId
    must_abstain: bool
    cause: Cause
    reason: str


class Rate(Frozen):
    """A count over its denominator, with Wilson's 95 % interval; no rate over nothing."""

    count: int
    total: int
    rate: float | None
    low: float | None
    high: float | None


class Group(Frozen):
    """``total`` = ``faithful`` + ``failed`` + ``unscored``; ``missing`` is part of ``failed``."""

    total: int
    faithful: int
    failed: int
    unscored: int
    missing: int
    score: Rate


class Row(Frozen):
    """One row of the 2×2, with what is in neither column."""

    answered: int
    abstained: int
    unread: int
    """There is an answer, and it neither answers nor abstains."""
    missing: int
    total: int


class Matrix(Frozen):
    """Answerable × abstained."""

    answerable: Row
    must_abstain: Row


class AbstentionFigures(Frozen):
    """How well the assistant knows when to say nothing."""

    matrix: Matrix
    balanced_accuracy: float | None
    """Mean of the share answered among answerable cases and abstained among the others; 0.5 for
    always and for never abstaining. None where one of the groups has no case."""
    low: float | None = None
    high: float | None = None
    """95 %, from both Wilson intervals by the method of variance estimates recovery (Zou &
    Donner, Statistics in Medicine 27, 2008)."""
    false_answers: Rate
    """Answered, of the cases that must abstain."""
    false_refusals: Rate
    """Abstained, of the answerable cases."""


class CasesRef(Frozen):
    path: str
    hash: str


class RuleRef(Frozen):
    name: str
    version: str
    verifier: str | None = None


class QAEvaluation(Frozen):
    """The content of ``evaluation.json``."""

    format: int = 1
    total: int
    faithful: int
    score: float
    """``faithful`` / ``total``."""
    score_low: float
    score_high: float
    """Wilson's 95 % interval of ``score``."""
    failed_cases: tuple[CaseId, ...]
    """In the order of the cases; missing answers among them."""
    unscored_cases: tuple[CaseId, ...]
    missing_cases: tuple[CaseId, ...]
    """Part of ``failed_cases``."""
    failures: tuple[Failure, ...]
    groups: dict[str, Group]
    """``answerable`` and ``must_abstain``."""
    by_group: dict[str, Group] = {}
    """By the cases' own ``group``; ``-`` holds those without."""
    abstention: AbstentionFigures
    model: str
    prompt: str | None
    """The template; None where the answers came from a file."""
    temperature: float | None
    """None when none was sent."""
    parameters: dict[str, JsonValue]
    rule: RuleRef
    cases: CasesRef
    answered: datetime
    created: datetime
    results: tuple[Result, ...]

    @property
    def complete(self) -> bool:
        """Whether every case has an answer and no verifier failed."""
        return not self.missing_cases and not any(r.cause is Cause.UNVERIFIED for r in self.results)
