"""Abstention within an experiment."""

from typing import Any

import pytest

from ancrage.abstention.evaluator import AbstentionEvaluator
from ancrage.domain import Answer, Evaluation, Output, OutputState
from ancrage.evaluator import Evaluator, Subject
from ancrage.evaluators import select
from tests.builders import case


async def evaluated(text: str, **metadata: Any) -> Evaluation:
    one = case(text).model_copy(update={"metadata": metadata})
    output = Output(case_id=one.id, state=OutputState.OK, answer=Answer(text=text))
    return await AbstentionEvaluator().evaluate(Subject(one, output, None))


@pytest.mark.parametrize(
    ("text", "must_abstain", "values"),
    [
        ("Je ne sais pas.", True, [0, 0]),
        ("Ils aiment le prix.", False, [0, 0]),
        ("Ils aiment le prix.", True, [1, 0]),
        ("Je ne sais pas.", False, [0, 1]),
        ("L'étude ne le dit pas. Désolé, le document ne le précise pas : 40 %.", True, [1, 0]),
    ],
)
async def test_the_fault_is_scored_with_its_evidence(
    text: str, must_abstain: bool, values: list[int]
) -> None:
    evaluation = await evaluated(text, must_abstain=must_abstain)
    assert [score.value for score in evaluation.scores] == values
    assert len(evaluation.findings) == sum(values)
    for finding in evaluation.findings:
        passage = finding.evidence
        assert text[passage.start : passage.end] == passage.text


async def test_a_case_that_does_not_say_is_unscored() -> None:
    for metadata in ({}, {"must_abstain": "yes"}):
        evaluation = await evaluated("Je ne sais pas.", **metadata)
        assert all(score.value is None and score.reason for score in evaluation.scores)
    assert (await evaluated("Bonjour !", must_abstain=True)).scores[0].value is None


def test_it_is_a_scorer_of_experiments() -> None:
    chosen = [each for each in select(scorers="abstention") if each.name == "abstention"]
    assert len(chosen) == 1
    assert isinstance(chosen[0], Evaluator)
