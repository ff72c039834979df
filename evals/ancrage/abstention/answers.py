"""The answers to the cases: asked of a model or read from a file, kept apart from any verdict."""

import asyncio
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import ValidationError

from ancrage.abstention.cases import CaseFile, CaseId, QACase
from ancrage.abstention.rows import DoubtfulError, parse, read_text
from ancrage.domain import Frozen, JsonValue, OutputState, Usage
from ancrage.errors import UsageError, describe
from ancrage.runs.journal import Journal

if TYPE_CHECKING:
    from ancrage.llm import LLM, Tier

ANSWERS = "answers.jsonl"
PROMPT = """\
Answer the question from the text alone, briefly and in the language of the question. \
If the text does not hold the answer, say so and give none.

Text:
{{ support }}

Question: {{ question }}
"""


class AnswersInfo(Frozen):
    """The first line of a file of answers: what was asked of whom, and how."""

    format: int = 1
    cases: str
    """Path of the file of cases."""
    cases_hash: str
    count: int
    model: str
    endpoint: str | None = None
    parameters: dict[str, JsonValue] = {}
    """As sent; a parameter that is not here was not sent."""
    prompt: str | None
    """The template; None where the answers came from a file."""
    created: datetime


class QAAnswer(Frozen):
    """One answer, or why there is none."""

    case_id: CaseId
    state: OutputState
    text: str = ""
    reason: str | None = None
    """Set whenever ``state`` is not ``ok``."""
    prompt: str | None = None
    """As sent."""
    usage: Usage | None = None


class AnswerSet(Frozen):
    """The answers to a file of cases, one a case, in the order of the cases."""

    info: AnswersInfo
    answers: tuple[QAAnswer, ...]


def render_prompts(cases: Sequence[QACase], template: str) -> list[str]:
    """The prompt of each case: its own, or ``template`` (Jinja) with its question and support.

    Raises:
        UsageError: the template cannot be rendered.
    """
    from jinja2 import StrictUndefined, TemplateError
    from jinja2.sandbox import SandboxedEnvironment

    environment = SandboxedEnvironment(undefined=StrictUndefined, autoescape=False)
    try:
        compiled = environment.from_string(template)
        return [
            case.prompt
            or compiled.render(
                id=case.id, question=case.question, support=case.support, metadata=case.metadata
            )
            for case in cases
        ]
    except TemplateError as error:
        raise UsageError(f"prompt: {type(error).__name__}: {error}") from None


async def ask(
    file: CaseFile,
    llm: "LLM",
    tier: "Tier",
    folder: Path,
    *,
    template: str = PROMPT,
    on_item: Callable[[], None] = lambda: None,
) -> AnswerSet:
    """Ask the model every case and write ``answers.jsonl``; whatever happens, one line a case.

    Each answer is on disk, in ``answers.partial.jsonl``, as soon as it is there.

    Raises:
        UsageError: a prompt cannot be rendered, or the model cannot be called at all.
    """
    from ancrage.llm import Request

    prompts = render_prompts(file.cases, template)
    partial = folder / "answers.partial.jsonl"
    partial.unlink(missing_ok=True)
    with Journal[QAAnswer](partial) as journal:

        async def one(case: QACase, prompt: str) -> QAAnswer:
            messages: tuple[dict[str, JsonValue], ...] = ({"role": "user", "content": prompt},)
            completion = await llm.complete(Request(tier=tier, messages=messages))
            answer = QAAnswer(
                case_id=case.id,
                state=completion.state,
                text=completion.text,
                reason=completion.reason,
                prompt=prompt,
                usage=completion.usage,
            )
            journal.append(answer)
            on_item()
            return answer

        try:
            async with asyncio.TaskGroup() as group:
                tasks = [
                    group.create_task(one(case, prompt))
                    for case, prompt in zip(file.cases, prompts, strict=True)
                ]
        except ExceptionGroup as errors:
            raise errors.exceptions[0] from None
    answers = AnswerSet(
        info=_info(file, tier.model, template, endpoint=tier.endpoint, parameters=tier.stated()),
        answers=tuple(task.result() for task in tasks),
    )
    write_answers(folder, answers)
    partial.unlink()
    return answers


def read_mock(path: Path, file: CaseFile) -> AnswerSet:
    """Answers from a file: a list in the order of the cases, or an object from id to answer.

    A list must hold one text a case. An object may leave a case out: it is then missing, and
    counted as such.

    Raises:
        UsageError: a wrong number, an unknown id, a null or anything but a text, an id twice.
    """
    try:
        value = parse(read_text(path))
    except DoubtfulError as error:
        raise UsageError(f"{path}: {error}") from None
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path}: not valid JSON: {error}") from None
    if isinstance(value, list):
        if len(value) != len(file.cases):
            raise UsageError(f"{path}: {len(value)} answers for {len(file.cases)} cases")
        given = dict(zip((str(case.id) for case in file.cases), value, strict=True))
    elif isinstance(value, dict):
        given = value
    else:
        raise UsageError(f"{path}: expected a list of answers, or an object from id to answer")
    known = {str(case.id) for case in file.cases}
    for name, text in given.items():
        if name not in known:
            raise UsageError(f"{path}: {name!r} is the id of no case in {file.path}")
        if not isinstance(text, str):
            kind = "null" if text is None else type(text).__name__
            raise UsageError(f"{path}: answer to case {name}: expected a text, not {kind}")
    answers = tuple(_given(case, given.get(str(case.id))) for case in file.cases)
    return AnswerSet(info=_info(file, f"mock {path.name}", None), answers=answers)


def _given(case: QACase, text: str | None) -> QAAnswer:
    if text is None:
        reason = "the file has no answer to this case"
        return QAAnswer(case_id=case.id, state=OutputState.MISSING, reason=reason)
    if not text.strip():
        return QAAnswer(
            case_id=case.id, state=OutputState.EMPTY, text=text, reason="the answer is empty"
        )
    return QAAnswer(case_id=case.id, state=OutputState.OK, text=text)


def write_answers(folder: Path, answers: AnswerSet) -> Path:
    """Write ``answers.jsonl`` in one step: what was asked, then one line an answer."""
    path = folder / ANSWERS
    draft = path.with_suffix(".tmp")
    lines = [answers.info, *answers.answers]
    draft.write_text("".join(line.model_dump_json() + "\n" for line in lines), encoding="utf-8")
    draft.replace(path)
    return path


def read_answers(folder: Path, file: CaseFile | None = None) -> AnswerSet:
    """The answers of a folder; those of ``file``'s cases, in their order, where it is given.

    A case of ``file`` without an answer is missing, and counted as such.

    Raises:
        UsageError: they cannot be read, or one answers no case, or a case twice.
    """
    path = folder / ANSWERS if folder.is_dir() else folder
    lines = read_text(path).rstrip("\n").split("\n")
    try:
        info = AnswersInfo.model_validate_json(lines[0])
    except ValidationError as error:
        raise UsageError(f"{path}:1: {describe(error)}") from None
    answers: dict[str, QAAnswer] = {}
    for number, line in enumerate(lines[1:], start=2):
        try:
            answer = QAAnswer.model_validate_json(line)
        except ValidationError as error:
            raise UsageError(f"{path}:{number}: {describe(error)}") from None
        if str(answer.case_id) in answers:
            raise UsageError(f"{path}:{number}: case {answer.case_id} is answered twice")
        answers[str(answer.case_id)] = answer
    if file is None:
        return AnswerSet(info=info, answers=tuple(answers.values()))
    known = {str(case.id) for case in file.cases}
    strange = next((name for name in answers if name not in known), None)
    if strange is not None:
        raise UsageError(f"{path}: {strange!r} is the id of no case in {file.path}")
    ordered = tuple(
        answers.get(str(case.id))
        or QAAnswer(
            case_id=case.id, state=OutputState.MISSING, reason="no answer to this case on file"
        )
        for case in file.cases
    )
    return AnswerSet(info=info, answers=ordered)


def _info(
    file: CaseFile,
    model: str,
    prompt: str | None,
    *,
    endpoint: str | None = None,
    parameters: dict[str, JsonValue] | None = None,
) -> AnswersInfo:
    return AnswersInfo(
        cases=str(file.path),
        cases_hash=file.hash,
        count=len(file.cases),
        model=model,
        endpoint=endpoint,
        parameters=parameters or {},
        prompt=prompt,
        created=datetime.now(UTC),
    )
