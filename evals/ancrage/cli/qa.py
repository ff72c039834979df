"""Support and abstention: ``qa-check``, ``qa``, ``qa-score`` and ``qa-compare``."""

from typing import TYPE_CHECKING

from ancrage.cli.shell import Amount, Count, Share, Size, command
from ancrage.errors import ExitCode, GateError, UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from ancrage.abstention import AnswerSet, CaseFile, QAEvaluation

_CACHE = ".ancrage/answers.sqlite"
_RULE = "'meaning' (default), or 'lexical': the word \"abstention\" and the expected answer itself."
_VERIFIER = "Who settles what the rule cannot: 'none' (default), 'nli', or a model tier."


@command(help={"cases": "File of cases: JSON or JSON Lines."})
def qa_check(cases: str) -> ExitCode:
    """Validate a file of questions for qa.

    Checks structure and duplicates, and counts each group.

    Exits 2 when a case cannot be used.
    """
    from pathlib import Path

    from ancrage.abstention import check_cases
    from ancrage.abstention.show import print_cases

    file = check_cases(Path(cases))
    print_cases(file)
    return ExitCode.WRONG_USE if file.faults else ExitCode.OK


@command(
    help={
        "cases": "File of cases: JSON or JSON Lines.",
        "tier": "Model tier of the configuration that answers (default: standard).",
        "mock": "JSON file of answers to use instead: a list in order, or id to answer.",
        "prompt": "File with a Jinja template of question and support (default: built in).",
        "rule": _RULE,
        "verifier": _VERIFIER,
        "out": "Folder for answers.jsonl and evaluation.json (default: outputs).",
        "concurrency": "Calls under way at once.",
        "budget-tokens": "Stop before this many tokens are spent (default: no bound).",
        "budget-cost": "Stop before this much money is spent, by [prices] (default: no bound).",
        "no-cache": "Call the model also where an answer to the very same call is on disk.",
        "no-preflight": "Do not ask the endpoint first whether it takes the parameters.",
        "min-score": "Exit 1 when the score is below this (default: no bound).",
    }
)
def qa(
    cases: str,
    tier: str = "standard",
    mock: str = "",
    prompt: str = "",
    rule: str = "meaning",
    verifier: str = "none",
    out: str = "outputs",
    concurrency: Count = 20,
    budget_tokens: Size | None = None,
    budget_cost: Amount | None = None,
    no_cache: bool = False,
    no_preflight: bool = False,
    min_score: Share = 0,
) -> ExitCode:
    """Ask questions; judge answers and abstentions.

    Exits 3 when a case has no answer or a verdict could not be had; both are counted.
    """
    from pathlib import Path

    from ancrage.abstention import read_cases, read_mock
    from ancrage.abstention.answers import PROMPT, render_prompts, write_answers
    from ancrage.abstention.rows import read_text

    if mock and prompt:
        raise UsageError("--mock gives the answers, --prompt is for asking: leave one out")
    file = read_cases(Path(cases))
    _check(rule, verifier)
    template = read_text(Path(prompt)) if prompt else PROMPT
    render_prompts(file.cases, template)
    folder = Path(out)
    if mock:
        answers = read_mock(Path(mock), file)
        folder.mkdir(parents=True, exist_ok=True)
        write_answers(folder, answers)
    else:
        answers = _asked(
            file,
            tier,
            folder,
            template,
            concurrency=concurrency,
            budget=(budget_tokens, budget_cost),
            cached=not no_cache,
            check=not no_preflight,
        )
    evaluation = _judged(file, answers, rule, verifier, concurrency)
    return _finish(evaluation, folder / "evaluation.json", min_score)


@command(
    help={
        "answers": "Folder of an earlier qa, or its answers.jsonl.",
        "cases": "File of cases (default: the one the answers are to).",
        "rule": _RULE,
        "verifier": _VERIFIER,
        "out": "File to write (default: evaluation-RULE.json beside the answers).",
        "concurrency": "Verdicts asked for at once.",
        "min-score": "Exit 1 when the score is below this (default: no bound).",
    }
)
def qa_score(
    answers: str,
    cases: str = "",
    rule: str = "meaning",
    verifier: str = "none",
    out: str = "",
    concurrency: Count = 20,
    min_score: Share = 0,
) -> ExitCode:
    """Judge the answers of qa again by another rule.

    Lists the verdicts that moved.

    Compares with the evaluation.json beside the answers, which stays as it is.
    """
    from pathlib import Path

    from ancrage.abstention import read_answers, read_cases, read_evaluation
    from ancrage.abstention.compare import moved_verdicts
    from ancrage.abstention.show import print_moved

    where = Path(answers)
    info = read_answers(where).info
    file = read_cases(Path(cases or info.cases))
    if file.hash != info.cases_hash:
        raise UsageError(f"{file.path}: not the cases that {where} answers; give --cases")
    _check(rule, verifier)
    folder = where if where.is_dir() else where.parent
    evaluation = _judged(file, read_answers(where, file), rule, verifier, concurrency)
    code = _finish(evaluation, Path(out) if out else folder / f"evaluation-{rule}.json", 0)
    before = folder / "evaluation.json"
    if before.is_file():
        earlier = read_evaluation(before)
        names = (f"{earlier.rule.name} (before)", f"{rule} (now)")
        print_moved(moved_verdicts(earlier, evaluation), *names)
    _gate(evaluation, min_score)
    return code


@command(
    help={
        "first": "Folder of an earlier qa, or an evaluation file.",
        "second": "The other one, on the same cases.",
    }
)
def qa_compare(first: str, second: str) -> ExitCode:
    """Compare two sets of answers of qa."""
    from pathlib import Path

    from ancrage.abstention import read_evaluation
    from ancrage.abstention.compare import compare_answers
    from ancrage.abstention.show import print_comparison

    paired = compare_answers(read_evaluation(Path(first)), read_evaluation(Path(second)))
    print_comparison(paired, first, second)
    return ExitCode.OK


def _check(rule: str, verifier: str) -> None:
    """Refuse an unknown rule, or one that takes no verifier, before anything is spent."""
    from ancrage.abstention import find_rule

    find_rule(rule)
    if rule == "lexical" and verifier != "none":
        raise UsageError("--rule lexical compares words only: leave out --verifier")


def _asked(
    file: "CaseFile",
    tier: str,
    folder: "Path",
    template: str,
    *,
    concurrency: int,
    budget: tuple[int | None, float | None],
    cached: bool,
    check: bool,
) -> "AnswerSet":
    import asyncio
    from pathlib import Path

    from ancrage.abstention import ask
    from ancrage.llm import LLM, Budget, Cache
    from ancrage.llm.preflight import preflight, refuse
    from ancrage.runs.progress import track

    tokens, cost = budget

    async def run() -> "AnswerSet":
        cache = Cache(Path(_CACHE)) if cached else None
        bound = Budget(tokens=tokens, cost=cost)
        async with LLM.configured(concurrency=concurrency, cache=cache, budget=bound) as llm:
            chosen = llm.tier(tier)
            if check:
                refuse(await preflight(llm, [chosen]))
            folder.mkdir(parents=True, exist_ok=True)
            with track("Answering", len(file.cases)) as advance:
                return await ask(file, llm, chosen, folder, template=template, on_item=advance)

    return asyncio.run(run())


def _judged(
    file: "CaseFile", answers: "AnswerSet", rule: str, verifier: str, concurrency: int
) -> "QAEvaluation":
    import asyncio

    from ancrage.abstention import evaluate, find_rule

    async def run() -> "QAEvaluation":
        if verifier == "none":
            return await evaluate(file, answers, find_rule(rule), concurrency=concurrency)
        if verifier == "nli":
            from ancrage.abstention.verifier import NLIVerifier
            from ancrage.config import load
            from ancrage.nli import NLIModel, NLISettings

            model = NLIModel.load(load().table("nli", NLISettings))
            return await evaluate(file, answers, find_rule(rule, NLIVerifier(model)))
        from pathlib import Path

        from ancrage.abstention.verifier import JudgeVerifier
        from ancrage.llm import LLM, Cache

        async with LLM.configured(concurrency=concurrency, cache=Cache(Path(_CACHE))) as llm:
            judge = JudgeVerifier(llm, llm.tier(verifier))
            return await evaluate(file, answers, find_rule(rule, judge), concurrency=concurrency)

    return asyncio.run(run())


def _finish(evaluation: "QAEvaluation", path: "Path", min_score: float) -> ExitCode:
    from ancrage.abstention import write_evaluation
    from ancrage.abstention.show import print_evaluation

    write_evaluation(path, evaluation)
    print_evaluation(evaluation)
    print(path)  # noqa: T201
    if evaluation.complete:
        _gate(evaluation, min_score)
        return ExitCode.OK
    return ExitCode.INCOMPLETE


def _gate(evaluation: "QAEvaluation", min_score: float) -> None:
    if evaluation.score < min_score:
        raise GateError(f"score {evaluation.score:.3f} is below {min_score:g}")


tasks = (qa_check, qa, qa_score, qa_compare)
