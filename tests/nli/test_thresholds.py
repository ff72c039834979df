"""The rules, against a reference written independently and against what can be proved."""

import itertools
import math
import statistics
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ancrage.nli.thresholds import Decision, Decisions, argmax, classes, fixed, paper, signed

Row = tuple[float, float, float]


def reference(response: list[Row], k: float) -> list[str]:
    """The paper's rule, claim by claim, in plain Python."""
    judged = []
    for entailment, neutral, contradiction in response:
        top = max(entailment, neutral, contradiction)
        if neutral == top:
            judged.append(("N", 0.0))
        elif entailment == top:
            judged.append(("E", entailment))
        else:
            judged.append(("C", -contradiction))
    scores = [score for _, score in judged]
    mean = math.fsum(scores) / len(scores)
    tau = mean + k * math.sqrt(math.fsum((s - mean) ** 2 for s in scores) / len(scores))
    said = []
    for name, score in judged:
        if name == "C" and (score < -tau or math.isclose(score, -tau, abs_tol=1e-12)):
            said.append("CONTRADICTED")
        elif name == "E" and (score > tau or math.isclose(score, tau, abs_tol=1e-12)):
            said.append("SUPPORTED")
        else:
            said.append("UNSUPPORTED" if name == "N" else "UNDECIDED")
    return said


def exact(response: list[Row], k: Fraction) -> list[str]:
    """The same in rational arithmetic: s ≥ µ + kσ without a square root."""
    judged = []
    for row in response:
        e, n, c = map(Fraction, row)
        judged.append(("N", Fraction(0)) if n >= max(e, c) else ("E", e) if e >= c else ("C", -c))
    scores = [score for _, score in judged]
    mean = sum(scores, Fraction(0)) / len(scores)
    variance = sum(((s - mean) ** 2 for s in scores), Fraction(0)) / len(scores)

    def reaches(value: Fraction) -> bool:
        gap = value - mean
        return gap >= 0 and gap**2 >= k**2 * variance

    return [
        "CONTRADICTED" if name == "C" and reaches(-score)
        else "SUPPORTED" if name == "E" and reaches(score)
        else "UNSUPPORTED" if name == "N" else "UNDECIDED"
        for name, score in judged
    ]  # fmt: skip


def names(decisions: Decisions) -> list[str]:
    return [Decision(d).name for d in decisions.decisions]


def batch(responses: list[list[Row]]) -> tuple[np.ndarray, np.ndarray]:
    rows = [row for response in responses for row in response]
    return np.array(rows, dtype=float).reshape(-1, 3), np.array([len(r) for r in responses])


def test_paper_is_the_reference_on_100_000_random_responses() -> None:
    random = np.random.default_rng(11)
    sizes = random.integers(1, 9, 100_000)
    rows = random.dirichlet([0.6, 0.4, 0.5], int(sizes.sum()))
    rows[: len(rows) // 4] = np.round(rows[: len(rows) // 4], 1)
    got = names(paper(rows, sizes, 0.7))
    starts = np.r_[0, np.cumsum(sizes)]
    table = [tuple(row) for row in rows.tolist()]
    expected = [
        said for low, high in itertools.pairwise(starts) for said in reference(table[low:high], 0.7)
    ]
    assert got == expected


@pytest.mark.parametrize("k", ["0.3", "0.5", "0.7", "1"])
def test_paper_is_exact_arithmetic_on_ties(k: str) -> None:
    random = np.random.default_rng(5)
    responses = [
        [tuple(x / 10 for x in row) for row in random.multinomial(10, [0.4, 0.2, 0.4], size=n)]
        for n in random.integers(1, 6, 1500)
    ]
    rows, sizes = batch(responses)
    tenths = [[tuple(Fraction(round(10 * x), 10) for x in row) for row in r] for r in responses]
    expected = [said for r in tenths for said in exact(r, Fraction(k))]  # type: ignore[arg-type]
    assert names(paper(rows, sizes, float(k))) == expected


probability_rows = st.lists(
    st.tuples(*[st.floats(0.001, 1)] * 3).map(
        lambda row: (row[0] / sum(row), row[1] / sum(row), row[2] / sum(row))
    ),
    min_size=1,
    max_size=12,
)


@given(probability_rows, st.floats(0, 3))
def test_corrections_are_argmax_contradictions(rows: list[Row], k: float) -> None:
    p, sizes = batch([rows])
    corrected = paper(p, sizes, k).decisions == Decision.CONTRADICTED
    assert not (corrected & (argmax(p, sizes).decisions != Decision.CONTRADICTED)).any()


@given(st.floats(0.4, 1), st.integers(0, 30), st.integers(0, 30), st.floats(0.05, 2))
def test_equal_scores_are_corrected_iff_contradictions_are_many(
    a: float, contradicted: int, entailed: int, k: float
) -> None:
    n = contradicted + entailed
    share, bound = contradicted / max(n, 1), k * k / (1 + k * k)
    if contradicted == 0 or entailed == 0 or abs(share - bound) < 1e-6:
        return
    rest = (1 - a) / 2
    rows: list[Row] = [(rest, rest, a)] * contradicted + [(a, rest, rest)] * entailed
    p, sizes = batch([rows])
    corrected = paper(p, sizes, k).decisions[:contradicted] == Decision.CONTRADICTED
    assert corrected.all() == corrected.any() == (share >= bound)


@pytest.mark.parametrize(("n", "caught"), [(2, True), (3, True), (4, False), (12, False)])
def test_a_lone_contradiction_is_missed_from_four_claims_on(n: int, caught: bool) -> None:
    rows: list[Row] = [(0.02, 0.03, 0.95)] + [(0.95, 0.03, 0.02)] * (n - 1)
    p, sizes = batch([rows])
    assert (paper(p, sizes).decisions[0] == Decision.CONTRADICTED) == caught


@given(probability_rows)
def test_at_most_two_thirds_are_accepted_when_scores_spread(rows: list[Row]) -> None:
    p, sizes = batch([rows])
    decided = paper(p, sizes)
    if np.ptp(decided.scores) > 1e-9:
        assert (decided.decisions == Decision.SUPPORTED).mean() <= 1 / (1 + 0.7**2) + 1e-12


@given(st.tuples(*[st.floats(0.001, 1)] * 3), st.floats(0, 5))
def test_one_claim_is_argmax_for_every_k(row: Row, k: float) -> None:
    p = np.array([row]) / sum(row)
    one = np.array([1])
    decided = paper(p, one, k)
    assert decided.flagged(0)[:2] == ("single", "no_spread")
    assert (decided.decisions == argmax(p, one).decisions).all()


def test_degenerate_cases_are_flagged() -> None:
    entailed, neutral, contradicted = (0.9, 0.05, 0.05), (0.1, 0.8, 0.1), (0.05, 0.05, 0.9)
    p, sizes = batch(
        [[entailed] * 3, [contradicted, contradicted, neutral], [entailed, contradicted] * 2]
    )
    decided = paper(p, sizes)
    assert decided.flagged(0) == ("no_spread",)
    assert decided.flagged(1) == ("vacuous",)
    assert decided.flagged(2) == ()
    assert paper(p, sizes, 3).flagged(2) == ("unreachable",)


def test_claims_without_probabilities_are_unscored_and_move_nothing() -> None:
    rows: list[Row] = [(0.9, 0.05, 0.05), (0.1, 0.2, 0.7), (0.2, 0.6, 0.2)]
    p, sizes = batch([rows])
    with_gap = np.insert(p, 1, np.nan, axis=0)
    for rule in (paper, fixed, argmax):
        plain = rule(p, sizes).decisions
        gapped = rule(with_gap, sizes + 1).decisions
        assert gapped[1] == Decision.UNSCORED
        assert (np.delete(gapped, 1) == plain).all()
    nothing = paper(np.full((2, 3), np.nan), np.array([2, 0]))
    assert nothing.flagged(0) == nothing.flagged(1) == ("empty",)
    assert np.isnan(nothing.thresholds).all()


def test_ties_go_to_neutral_then_entailment() -> None:
    p = np.array([[0.4, 0.4, 0.2], [0.4, 0.2, 0.4], [0.2, 0.4, 0.4], [1 / 3] * 3])
    assert classes(p).tolist() == [1, 0, 1, 1]


def test_options_change_scores_and_scope() -> None:
    p = np.array([[0.7, 0.1, 0.2], [0.2, 0.1, 0.7], [0.9, 0.05, 0.05]])
    assert signed(p).tolist() == [0.7, -0.7, 0.9]
    assert signed(p, "difference") == pytest.approx([0.5, -0.5, 0.85])
    sizes = np.array([2, 1])
    pooled = paper(p, sizes, scope="pooled")
    assert (
        pooled.thresholds[0]
        == pooled.thresholds[1]
        == pytest.approx(0.3 + 0.7 * statistics.pstdev([0.7, -0.7, 0.9]))
    )
    assert paper(p, sizes, ddof=1).thresholds[0] == pytest.approx(
        0.7 * statistics.stdev([0.7, -0.7])
    )


def test_fixed_needs_the_probability_and_the_likelier_side() -> None:
    p = np.array([[0.7, 0.2, 0.1], [0.69, 0.2, 0.11], [0.1, 0.2, 0.7], [0.3, 0.3, 0.4]])
    assert names(fixed(p, np.array([4]))) == ["SUPPORTED", "UNDECIDED", "CONTRADICTED", "UNDECIDED"]
