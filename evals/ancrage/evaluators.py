"""Which evaluators an experiment runs: the code checks always, the rest when asked for."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ancrage.checks import load_checks
from ancrage.config import Config, load
from ancrage.errors import UsageError
from ancrage.evaluator import Evaluator

if TYPE_CHECKING:
    from ancrage.llm import Models


def select(
    judges: str = "none",
    scorers: str = "",
    config: Config | None = None,
    *,
    models: "Models | None" = None,
    judge_repeat: int = 1,
) -> list[Evaluator]:
    """The evaluators that the options name, each failure mode owned by exactly one.

    ``judges`` is ``none``, ``three``, ``one`` or names of judges; they call through ``models``.
    ``scorers`` are names with commas between: ``abstention``, ``support``, ``lexical``, ``verify``.

    Raises:
        UsageError: a name is not known, or two evaluators own the same mode.
    """
    config = config or load()
    chosen: list[Evaluator] = list(load_checks(config))
    if judges != "none":
        from ancrage.judges import load_judges
        from ancrage.llm import Models

        chosen += load_judges(judges, models or Models(config), config, repeats=judge_repeat)
    for name in dict.fromkeys(each.strip() for each in scorers.split(",") if each.strip()):
        chosen.append(_scorer(name, config, models))
    refuse_shared_modes(chosen)
    return chosen


def _scorer(name: str, config: Config, models: "Models | None") -> Evaluator:
    if name == "verify":
        from ancrage.verify import claim_evaluator

        return claim_evaluator(config, models)
    if name in ("abstention", "support", "lexical"):
        from ancrage.abstention.evaluator import question_evaluator

        return question_evaluator(name, config, models)
    raise UsageError(
        f"--scorers {name!r}: known are abstention, lexical, support and verify, commas between"
    )


def refuse_shared_modes(evaluators: Sequence[Evaluator]) -> None:
    owner: dict[str, str] = {}
    for evaluator in evaluators:
        for mode in evaluator.modes:
            if mode.name in owner:
                raise UsageError(
                    f"{evaluator.name} and {owner[mode.name]} both own the mode {mode.name!r}"
                )
            owner[mode.name] = evaluator.name
