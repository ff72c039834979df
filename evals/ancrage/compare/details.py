"""The answers and findings behind outcomes, read only for the cases to be shown."""

from collections.abc import Collection
from dataclasses import dataclass

from pydantic import BaseModel

from ancrage.compare.results import Results
from ancrage.domain import Answer, Case, Finding
from ancrage.runs import RunView
from ancrage.runs.journal import read


@dataclass(frozen=True)
class Detail:
    """One case as one run has it."""

    text: str
    """The answer; empty when there is none."""
    reason: str | None
    """Why there is no usable answer."""
    findings: tuple[Finding, ...]


class _Output(BaseModel):
    case_id: str
    answer: Answer | None = None
    reason: str | None = None


class _Evaluation(BaseModel):
    evaluator: str
    findings: tuple[Finding, ...] = ()


class _Scored(BaseModel):
    case_id: str
    evaluations: tuple[_Evaluation, ...]


def read_details(results: Results, cases: Collection[str]) -> dict[str, Detail]:
    """What ``results`` has of each of ``cases``; empty for a baseline, which keeps no text."""
    if results.folder is None or not cases:
        return {}
    wanted = set(cases)
    outputs = {
        entry.case_id: entry
        for entry in read(results.folder.path / "outputs.jsonl", _Output)
        if entry.case_id in wanted
    }
    view = RunView(results.folder)
    findings: dict[tuple[str, str], tuple[Finding, ...]] = {}
    for folder in view.scorings:
        newest = {name for name, (_, home) in view.evaluators.items() if home == folder}
        for scored in read(folder.path / "scores.jsonl", _Scored) if newest else ():
            if scored.case_id in wanted:
                for evaluation in scored.evaluations:
                    if evaluation.evaluator in newest:
                        findings[scored.case_id, evaluation.evaluator] = evaluation.findings
    return {
        case: Detail(
            text=output.answer.text if output.answer else "",
            reason=output.reason,
            findings=tuple(
                finding for name in view.evaluators for finding in findings.get((case, name), ())
            ),
        )
        for case, output in outputs.items()
    }


def read_cases(results: Results, cases: Collection[str]) -> dict[str, Case]:
    """The cases themselves, from the snapshot that the run read."""
    if results.folder is None or not cases:
        return {}
    wanted = set(cases)
    return {case.id: case for case in results.folder.snapshot().cases() if case.id in wanted}
