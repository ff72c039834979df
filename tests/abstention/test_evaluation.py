"""Rules, figures and comparisons: every case counted, whatever happens to its answer."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ancrage.abstention import (
    Cause,
    LexicalRule,
    MeaningRule,
    QACase,
    QAEvaluation,
    Rule,
    evaluate,
    find_rule,
    read_cases,
    read_mock,
)
from ancrage.abstention.cases import CaseFile
from ancrage.abstention.compare import compare_answers, moved_verdicts
from ancrage.abstention.verifier import Checked, Support
from ancrage.errors import UsageError
from tests.abstention.sense_cases import CASES
from tests.abstention.test_cases import write
from tests.conftest import ROOT

EXAMPLES = ROOT / "docs" / "examples"
REFUSAL = "Je ne sais pas."


def judged(
    tmp_path: Path, cases: Sequence[QACase], answers: Any, rule: Rule | None = None
) -> QAEvaluation:
    file = CaseFile(tmp_path / "cases.json", tuple(cases), (), ())
    mock = read_mock(write(tmp_path / "answers.json", answers), file)
    return asyncio.run(evaluate(file, mock, rule or MeaningRule()))


def case(number: int, *, must_abstain: bool = False, **fields: Any) -> QACase:
    return QACase(
        **{
            "id": number,
            "question": f"En quelle année le pont {number} a-t-il ouvert ?",
            "expected": "1998",
            "support": "Le pont a ouvert en 1998.",
            "must_abstain": must_abstain,
            **fields,
        }
    )


def example(rule: str) -> QAEvaluation:
    file = read_cases(EXAMPLES / "abstention-cases.json")
    mock = read_mock(EXAMPLES / "abstention-responses.json", file)
    return asyncio.run(evaluate(file, mock, find_rule(rule)))


def test_the_ten_cases_under_the_lexical_rule() -> None:
    evaluation = example("lexical")
    assert (evaluation.total, evaluation.faithful, evaluation.score) == (10, 8, 0.8)
    assert evaluation.failed_cases == (7, 10)
    assert [failure.cause for failure in evaluation.failures] == [
        Cause.NOT_GIVEN,
        Cause.FALSE_ANSWER,
    ]
    assert (evaluation.groups["answerable"].total, evaluation.groups["must_abstain"].total) == (
        8,
        2,
    )


def test_the_ten_cases_under_the_default_rule_and_what_moved() -> None:
    by_meaning, by_words = example("meaning"), example("lexical")
    assert by_meaning.failed_cases == ()
    moved = moved_verdicts(by_words, by_meaning)
    assert {(m.id, m.after) for m in moved} >= {(7, "faithful"), (10, "faithful")}


@pytest.mark.parametrize(("question", "expected", "support", "answer", "faithful"), CASES)
async def test_faithful_by_sense(
    question: str, expected: str, support: str, answer: str, faithful: str
) -> None:
    one = case(1, question=question, expected=expected, support=support)
    verdict = await MeaningRule().judge(one, answer)
    assert verdict.faithful is {"yes": True, "no": False, "open": None}[faithful], verdict


@pytest.mark.parametrize("group", [1, 3, 7])
def test_always_and_never_abstaining_are_worth_exactly_one_half(tmp_path: Path, group: int) -> None:
    cases = [case(i, must_abstain=i > group) for i in range(1, group + 6)]
    for answer in (REFUSAL, "1998"):
        figures = judged(tmp_path, cases, [answer] * len(cases)).abstention
        assert figures.balanced_accuracy == 0.5
        assert figures.low is not None
        assert figures.high is not None
        assert figures.low < 0.5 < figures.high
    assert figures.false_answers.count == figures.false_answers.total == 5
    assert figures.false_refusals.count == 0


def test_no_balanced_accuracy_with_one_group_only(tmp_path: Path) -> None:
    evaluation = judged(tmp_path, [case(1)], ["1998"])
    assert evaluation.abstention.balanced_accuracy is None
    assert evaluation.groups["must_abstain"].score.rate is None


@given(
    st.lists(
        st.tuples(st.booleans(), st.sampled_from(["1998", REFUSAL, "1999", "Peut-être", "", None])),
        min_size=1,
        max_size=12,
    )
)
def test_counts_add_up(tmp_path_factory: pytest.TempPathFactory, drawn: list[Any]) -> None:
    cases = [case(i, must_abstain=out) for i, (out, _) in enumerate(drawn, start=1)]
    answers = {str(i): text for i, (_, text) in enumerate(drawn, start=1) if text is not None}
    evaluation = judged(tmp_path_factory.mktemp("qa"), cases, answers)
    assert evaluation.total == len(drawn)
    assert evaluation.total == evaluation.faithful + len(evaluation.failed_cases) + len(
        evaluation.unscored_cases
    )
    assert set(evaluation.missing_cases) <= set(evaluation.failed_cases)
    gone = sum(not (text or "").strip() for _, text in drawn)
    assert len(evaluation.missing_cases) == gone
    assert evaluation.complete is (gone == 0)
    for group in evaluation.groups.values():
        assert group.total == group.faithful + group.failed + group.unscored
    for row in (evaluation.abstention.matrix.answerable, evaluation.abstention.matrix.must_abstain):
        assert row.total == row.answered + row.abstained + row.unread + row.missing


def test_a_missing_answer_is_never_right(tmp_path: Path) -> None:
    evaluation = judged(tmp_path, [case(1), case(2, must_abstain=True)], {})
    assert evaluation.score == 0
    assert {failure.cause for failure in evaluation.failures} == {Cause.MISSING}
    assert evaluation.abstention.balanced_accuracy == 0


class Says:
    """A verifier with one answer."""

    name = "says"

    def __init__(self, verdict: Support | None) -> None:
        self.verdict = verdict
        self.asked: list[tuple[str, str]] = []

    async def check(self, premise: str, hypothesis: str) -> Checked:
        self.asked.append((premise, hypothesis))
        return Checked(verdict=self.verdict, reason="because")


OPEN = case(
    1,
    question="Why did younger voters stay at home?",
    expected="polling stations closed early",
    support="Younger voters stayed at home because polling stations closed early.",
)
PARAPHRASE = "Because the places to vote shut too soon."


@pytest.mark.parametrize(
    ("said", "faithful", "cause"),
    [
        ("supported", True, None),
        ("contradicted", False, Cause.CONTRADICTED),
        ("unsupported", False, Cause.NOT_GIVEN),
        (None, None, Cause.UNVERIFIED),
    ],
)
async def test_a_verifier_settles_what_the_rule_leaves_open(
    said: Support | None, faithful: bool | None, cause: Cause | None
) -> None:
    assert (await MeaningRule().judge(OPEN, PARAPHRASE)).cause is Cause.UNDECIDED
    verdict = await MeaningRule(Says(said)).judge(OPEN, PARAPHRASE)
    assert (verdict.faithful, verdict.cause) == (faithful, cause)


async def test_figures_are_never_left_to_the_verifier() -> None:
    verifier = Says("supported")
    verdict = await MeaningRule(verifier).judge(case(1), "Le pont a ouvert en 1999.")
    assert verdict.cause is Cause.CONTRADICTED
    assert verifier.asked == []


def test_a_failed_verifier_makes_the_evaluation_incomplete(tmp_path: Path) -> None:
    evaluation = judged(tmp_path, [OPEN], [PARAPHRASE], MeaningRule(Says(None)))
    assert evaluation.unscored_cases == (1,)
    assert evaluation.failed_cases == ()
    assert not evaluation.complete


async def test_the_lexical_rule_is_fooled_where_it_must_be() -> None:
    out = case(1, must_abstain=True)
    rule = LexicalRule()
    assert (await rule.judge(out, "Sans abstention : 3 M€")).faithful is True
    assert (await rule.judge(out, REFUSAL)).cause is Cause.FALSE_ANSWER
    assert (await MeaningRule().judge(out, "Sans abstention : 3 M€")).cause is Cause.FALSE_ANSWER
    assert (await MeaningRule().judge(out, REFUSAL)).faithful is True


def test_two_versions_compare_on_the_same_cases(tmp_path: Path) -> None:
    cases = [case(i) for i in range(1, 10)]
    first = judged(tmp_path, cases, ["1998"] * 2 + [REFUSAL] * 7)
    second = judged(tmp_path, cases, [REFUSAL] + ["1998"] * 8)
    paired = compare_answers(first, second)
    assert (paired.both, paired.only_first, paired.only_second, paired.neither) == (1, 1, 7, 0)
    assert paired.compared == 9
    assert paired.difference == pytest.approx(6 / 9)
    assert paired.p_value == pytest.approx(2 * (1 + 8) / 2**8)
    assert [moved.id for moved in paired.lost] == [1]
    assert paired.lost[0].after == "failed: false refusal"


def test_what_is_not_the_same_case_is_not_compared(tmp_path: Path) -> None:
    first = judged(tmp_path, [case(1), case(2), case(3)], ["1998"] * 3)
    second = judged(tmp_path, [case(1), case(2, expected="1997")], ["1998"] * 2)
    assert compare_answers(first, second).unpaired == (2, 3)
    with pytest.raises(UsageError, match="no case is in both"):
        compare_answers(judged(tmp_path, [case(1)], ["1998"]), judged(tmp_path, [case(2)], ["a"]))


def test_different_rules_are_not_compared(tmp_path: Path) -> None:
    cases = [case(1)]
    by_words = judged(tmp_path, cases, ["1998"], LexicalRule())
    with pytest.raises(UsageError, match="different rules"):
        compare_answers(by_words, judged(tmp_path, cases, ["1998"]))
    with pytest.raises(UsageError, match="not the same question and answer"):
        moved_verdicts(by_words, judged(tmp_path, cases, ["En 1998."]))


def test_an_unknown_rule() -> None:
    with pytest.raises(UsageError, match="known rules are meaning, lexical"):
        find_rule("sense")
    with pytest.raises(UsageError, match="leave out --verifier"):
        find_rule("lexical", Says(None))
