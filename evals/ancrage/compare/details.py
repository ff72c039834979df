"""The answers and findings behind outcomes, read only for the cases to be shown."""

from collections.abc import Iterable
from dataclasses import dataclass

from ancrage.compare.results import Results
from ancrage.domain import Case, Finding


@dataclass(frozen=True)
class Detail:
    """One case as one run has it."""

    case: Case
    text: str
    """The answer; empty when there is none."""
    reason: str | None
    """Why there is no usable answer."""
    findings: tuple[Finding, ...]


def read_details(results: Results, cases: Iterable[str]) -> dict[str, Detail]:
    """What ``results`` has of each of ``cases``; empty for a baseline, which keeps no text."""
    if results.view is None:
        return {}
    found = {}
    for case in cases:
        if case in results.position:
            item = results.view.item(case)
            found[case] = Detail(
                case=item.case,
                text=item.output.answer.text if item.output.answer else "",
                reason=item.output.reason,
                findings=item.findings,
            )
    return found
