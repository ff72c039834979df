"""What a code check is: a function from an answer to its findings."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from ancrage.citations.model import UnreadableAnswer
from ancrage.domain import Evaluation, FailureMode, Finding, Passage, Score
from ancrage.evaluator import Subject

Check = Callable[[Subject], Iterable[Finding]]


class Unscorable(Exception):  # noqa: N818  a state, not a fault
    """Raised by a check that cannot tell; its words become the score's reason."""


@dataclass(frozen=True)
class CodeCheck:
    """A check as an evaluator: its score is the number of its findings."""

    mode: FailureMode
    function: Check
    version: str = ""
    kind: ClassVar[str] = "check"

    @property
    def name(self) -> str:
        """The evaluator's name is that of its one mode."""
        return self.mode.name

    @property
    def modes(self) -> tuple[FailureMode, ...]:
        """The one mode that the check owns."""
        return (self.mode,)

    @cached_property
    def _clean(self) -> Evaluation:
        """What it says of every answer without findings."""
        score = Score(name=self.name, value=0)
        return Evaluation(evaluator=self.name, version=self.version, scores=(score,))

    async def evaluate(self, subject: Subject) -> Evaluation:
        """The findings of the check in ``subject``, and their count."""
        try:
            findings = tuple(self.function(subject))
        except (Unscorable, UnreadableAnswer) as reason:
            score, findings = Score.unscored(self.name, str(reason)), ()
        else:
            if not findings:
                return self._clean
            score = Score(name=self.name, value=len(findings))
        return Evaluation(
            evaluator=self.name, version=self.version, scores=(score,), findings=findings
        )


def check(*, title: str, definition: str) -> Callable[[Check], CodeCheck]:
    """Declare the decorated function as the code check of the failure mode of the same name."""

    def declare(function: Check) -> CodeCheck:
        name = getattr(function, "__name__", "")
        return CodeCheck(FailureMode(name=name, title=title, definition=definition), function)

    return declare


def finding(
    mode: str,
    subject: Subject,
    start: int,
    end: int,
    explanation: str,
    *,
    source_id: str | None = None,
    source_passage: Passage | None = None,
    tier: str | None = None,
    **details: str | None,
) -> Finding:
    """A finding on ``subject.text[start:end]``; details that are None are left out."""
    return Finding(
        mode=mode,
        evidence=Passage.of(subject.text, start, end),
        explanation=explanation,
        source_id=source_id,
        source_passage=source_passage,
        tier=tier,
        details={key: value for key, value in details.items() if value is not None},
    )
