"""The two steps of a case, answer and score; whatever goes wrong in one is the item's state."""

from collections.abc import Awaitable, Callable, Sequence

from ancrage.domain import Case, Output, OutputState, Scored
from ancrage.errors import IncompleteError
from ancrage.evaluator import Evaluator
from ancrage.redact import told
from ancrage.runs.journal import line_of
from ancrage.runs.scoring import evaluate, unscored
from ancrage.runs.shield import shielded
from ancrage.studies import Studies

Producer = Callable[[Case], Awaitable[Output]]
"""Gives the output of a case. Known failures are states of the output; what it raises is
recorded as ``failed`` with the exception's words."""


async def recorded(case: Case) -> Output:
    """The producer of an audit: production's own answer, as it was captured."""
    state = case.state
    if state is OutputState.OK and case.output is None:
        state = OutputState.MISSING
    if state is OutputState.OK and case.output and not case.output.text.strip():
        state = OutputState.EMPTY
    # What production said of its failure, where the source keeps it.
    why = f": {case.metadata['error']}" if case.metadata.get("error") else ""
    reason = f"recorded as {state} in the snapshot{why}"
    return Output(
        case_id=case.id,
        state=state,
        answer=case.output,
        reason=None if state is OutputState.OK else reason,
        usage=case.output.usage if case.output else None,
    )


async def produce_output(produce: Producer, case: Case, seconds: float) -> tuple[Output, bytes]:
    """The output of a case, whatever its assistant does, and its line for the record."""

    async def call() -> Output:
        output = await produce(case)
        if not isinstance(output, Output) or output.case_id != case.id:
            raise TypeError(f"the assistant gave {type(output).__name__}, not the case's Output")
        return output

    output = await shielded(call(), lambda error: _failed(case, told(error)), seconds)
    try:
        return output, line_of(output)
    except ValueError as error:
        output = _failed(case, f"its output cannot be written: {told(error)}")
        return output, line_of(output)


async def score_output(
    studies: Studies,
    case: Case,
    output: Output,
    evaluators: Sequence[Evaluator],
    seconds: float,
) -> tuple[Scored, bytes]:
    """The scores of an output, whatever its evaluators do, and their line for the record."""
    try:
        subject = studies.subject(case, output)
        entry = await evaluate(subject, evaluators, seconds)
        return entry, line_of(entry)
    except IncompleteError:
        raise
    except Exception as error:  # noqa: BLE001  a study that cannot be read costs its cases alone
        entry = unscored(output, evaluators, told(error))
        return entry, line_of(entry)


def _failed(case: Case, reason: str) -> Output:
    return Output(case_id=case.id, state=OutputState.FAILED, reason=reason)
