"""The contract between the project and whatever judges an answer."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from ancrage.domain import Case, Evaluation, FailureMode, Output

if TYPE_CHECKING:
    from ancrage.anchors import QuoteReading
    from ancrage.citations import Citations, Grammar
    from ancrage.studies import IndexedStudy


@dataclass(frozen=True)
class Subject:
    """One output to evaluate, beside the case it answers and the source it must be anchored in."""

    case: Case
    output: Output
    source: "IndexedStudy | None"
    """The study, indexed; None when the case has none or it no longer exists."""
    grammar: "Grammar | None" = None
    """How the answer cites; None for the default grammar."""

    @property
    def text(self) -> str:
        """The answer's text; empty when the output has none."""
        return self.output.answer.text if self.output.answer else ""

    @cached_property
    def citations(self) -> "Citations":
        """The references and quotes of the answer, parsed once for all evaluators."""
        from ancrage.citations import parse

        return parse(self.text, self.grammar)

    @cached_property
    def readings(self) -> "tuple[QuoteReading, ...]":
        """The quotes of the answer held against what they cite, once for all evaluators."""
        from ancrage.anchors import read

        return read(self)


@runtime_checkable
class Evaluator(Protocol):
    """Scores one output for the failure modes that it owns.

    ``evaluate`` is called only for outputs whose state is ``ok``; it returns one score for each
    mode of ``modes``, ``unscored`` with a reason where it cannot tell. An exception it raises is
    recorded as unscored with the exception's words; it never stops the run.
    """

    @property
    def name(self) -> str: ...

    @property
    def version(self) -> str: ...

    @property
    def modes(self) -> tuple[FailureMode, ...]: ...

    async def evaluate(self, subject: Subject) -> Evaluation: ...
