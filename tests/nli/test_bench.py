"""Data sets, frozen probabilities and the benchmark's tables."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ancrage.errors import UsageError
from ancrage.nli import NLIModel, NLISettings
from ancrage.nli.calibrate import best_cut
from ancrage.nli.labelled import Item, read_dataset
from benchmarks.nli import bench, plots
from benchmarks.nli.bench import Inputs, kind, run
from benchmarks.nli.freeze import freeze, read_frozen
from benchmarks.nli.generations import read_generations, samples_against
from benchmarks.nli.methods import METHODS, SWEEP, Parts, Prediction, calibrated_with, f1
from benchmarks.nli.page import compact, markdown
from benchmarks.nli.truthfulqa import read

HEADER = (
    "Type,Category,Question,Best Answer,Best Incorrect Answer,Correct Answers,"
    "Incorrect Answers,Source\n"
)


def truthful(folder: Path) -> Path:
    path = folder / "TruthfulQA.csv"
    rows = [
        'A,Law,"Is it so?",Yes it is,x,"Yes it is; It is so","No; It is not",u',
        'A,Law,"is it so",Yes,x,Yes,No,u',
        'A,Law,"Is it empty?",,x,Yes,No,u',
        'A,Food,"Do cats fly?",No they walk,x,"Cats walk; Cats walk.","Cats fly; Birds are cats",u',
    ]
    path.write_text("\ufeff" + HEADER + "\r\n".join(rows) + "\r\n", encoding="utf-8")
    return path


def test_truthfulqa_drops_and_counts(tmp_path: Path) -> None:
    data = read(truthful(tmp_path))
    assert [(i.response, i.claim, i.wrong) for i in data.items] == [
        ("Is it so?", "It is so", False),
        ("Is it so?", "No", True),
        ("Is it so?", "It is not", True),
        ("Do cats fly?", "Cats walk", False),
        ("Do cats fly?", "Cats fly", True),
        ("Do cats fly?", "Birds are cats", True),
    ]
    assert data.items[0].premise == "Is it so? Yes it is"
    assert data.dropped == {
        "incomplete row": 1,
        "duplicate question": 1,
        "claim that repeats the reference or another claim": 2,
    }


def test_fever_style_rows(tmp_path: Path) -> None:
    path = tmp_path / "dev.jsonl"
    rows = [
        {"claim": "A.", "evidence": "B.", "label": "SUPPORTS"},
        {"claim": "A.", "evidence": "B.", "label": "SUPPORTS"},
        {"claim": "C.", "evidence": [{"text": "D."}, "E."], "gold_label": "REFUTES"},
        {"claim": "F.", "evidence": "", "label": "REFUTES"},
        {"claim": "G.", "evidence": "H.", "label": "DISPUTED"},
        {"claim": "I.", "evidence": [[[1, 2, "Page", 3]]], "label": "SUPPORTS"},
        {"claim": "J.", "evidence": [[[1, None, None, None]]], "label": "NOT ENOUGH INFO"},
        {"claim": "K.", "evidence": ["L.", "M."], "label": "not_supported"},
        {"claim": "N.", "evidence": ["O."], "label": "partially_supported"},
    ]
    path.write_text("\n".join(map(json.dumps, rows)))
    data = read_dataset(path)
    assert {(i.premise, i.claim, i.wrong) for i in data.items} == {
        ("B.", "A.", False),
        ("D. E.", "C.", True),
        ("L. M.", "K.", True),
        ("O.", "N.", True),
    }
    assert data.dropped == {
        "repeated": 1,
        "without the text of their evidence": 3,
        "labelled 'disputed', neither right nor wrong": 1,
    }
    assert "left out: 3 without the text of their evidence" in data.told()
    assert len({i.response for i in data.items}) == 4
    assert "at random" in read(path).grouping
    assert len({i.response for i in read(path).items}) == 1


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("x.jsonl", "{", r"x\.jsonl:1: not JSON"),
        ("x.jsonl", '{"label": "SUPPORTS"}', r"x\.jsonl:1: claim: missing"),
        ("x.csv", "a,b\n1,2\n", r"x\.csv:1: claim: missing"),
        ("x.jsonl", "", "no usable row"),
        ("x.jsonl", '{"claim": "A.", "evidence": "B.", "label": "SUPPORTS"}', "none of the other"),
        ("x.pdf", "", "expected .jsonl"),
    ],
)
def test_files_that_cannot_be_used(tmp_path: Path, name: str, content: str, message: str) -> None:
    path = tmp_path / name
    path.write_text(content)
    with pytest.raises(UsageError, match=message):
        read_dataset(path)
    with pytest.raises(UsageError, match="no such file"):
        read_dataset(tmp_path / "absent.csv")


PAIRS = [("the cat sat .", f"the {'big ' * n}cat .") for n in range(20)]


def test_freezing_resumes_and_needs_no_model_when_complete(tiny: Any, tmp_path: Path) -> None:
    settings = NLISettings(model=str(tiny("bert")), offline=True)
    path = tmp_path / "frozen.jsonl"
    first = freeze(path, PAIRS[:5], settings)
    path.write_text(path.read_text() + '{"key": "torn')
    whole = freeze(path, PAIRS, settings)
    assert whole.facts == first.facts
    again = freeze(path, PAIRS, settings)
    direct = NLIModel.load(settings).judge(PAIRS)
    assert again.of(PAIRS)[0] == pytest.approx(direct.probabilities, abs=1e-5)
    assert read_frozen(tmp_path / "absent").rows == {}
    with pytest.raises(UsageError, match="1 of 1 pairs are not frozen"):
        again.of([("x", "y")])
    other = NLISettings(model=str(tiny("deberta")), offline=True)
    with pytest.raises(UsageError, match="use another --out"):
        freeze(path, PAIRS, other)


def inputs(responses: int = 120, seed: int = 0) -> Inputs:
    """A made-up data set on which a model is right four times out of five."""
    random = np.random.default_rng(seed)
    items: list[Item] = []
    rows: list[np.ndarray] = []
    for response in range(responses):
        for _ in range(int(random.integers(1, 5))):
            wrong = bool(random.random() < 0.4)
            seems = wrong if random.random() < 0.8 else not wrong
            items.append(
                Item(
                    response=f"r{response}",
                    question="Q?",
                    premise="Acme sold 40 bikes.",
                    claim=f"Acme sold {random.integers(30, 50)} bikes number {len(items)}.",
                    wrong=wrong,
                    label="",
                )
            )
            rows.append(random.dirichlet([1, 1, 6] if seems else [6, 1, 1]))
    from ancrage.nli.labelled import Dataset

    data = Dataset("made/up", tuple(items), {}, "made up")
    return Inputs(data, np.array(rows), np.ones(len(rows), dtype=int))


def test_every_method_sees_the_same_claims_and_the_counts_add_up() -> None:
    given = inputs()
    splits = bench.split(given)
    tuning, test = splits.tuning, splits.test
    assert len(tuning.items) + len(test.items) == len(given.data.items)
    assert not {i.response for i in tuning.items} & {i.response for i in test.items}
    assert len(tuning.data.sizes) == 24
    result = run(given)
    assert result.claims == len(test.items)
    assert [row.method for row in result.rows] == list(METHODS)
    missing = {row.method for row in result.rows if row.missing}
    assert missing == {"self-check", "sampling (SelfCheckGPT-style)"}
    missing = {row.method for row in result.ablation if row.missing}
    assert missing == {
        "paper + passages looked up for weak contradictions",
        *(f"answers cut into claims, {rule}" for rule in ("argmax", "paper", "one cut")),
    }
    for row in result.rows:
        for figure in row.measures.values():
            if figure.value is not None:
                assert figure.low is not None
                assert figure.high is not None
                assert figure.low - 1e-9 <= figure.value <= figure.high + 1e-9


def test_answers_are_responses_and_are_told_by_their_claims(tmp_path: Path) -> None:
    """A wrong answer has one contradicted claim among entailed ones; the whole hides it."""
    rows = [
        {"answer": f"Answer {n}.", "context": [f"Text {n}."], "hallucinated": n % 3 == 0}
        for n in range(150)
    ]
    path = tmp_path / "answers.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    data = read_dataset(path)
    assert len({item.response for item in data.items}) == 150
    random = np.random.default_rng(0)
    whole = random.dirichlet([5, 3, 1], 150)
    claims: list[np.ndarray] = []
    for item in data.items:
        claims += [random.dirichlet([20, 1, 1]) for _ in range(2)]
        claims.append(np.array([0.1, 0.1, 0.8]) if item.wrong else random.dirichlet([20, 1, 1]))
    parts = Parts(np.array(claims), np.full(150, 3))
    looked_up = np.where(whole.argmax(axis=1)[:, None] == 2, [0.1, 0.2, 0.7], np.nan)
    given = Inputs(data, whole, np.ones(150, dtype=int), looked_up=looked_up, parts=parts)
    result = run(given)
    rows_of = {row.method: row for row in result.ablation}
    for rule in ("argmax", "one cut"):
        row = rows_of[f"answers cut into claims, {rule}"]
        assert row.auc == 1
        assert row.measures["f1"].value == 1
    # One contradiction at .8 beside two entailments at about .91: the paper's dead zone.
    assert rows_of["answers cut into claims, paper"].measures["f1"].value == 0
    assert "looked up" in rows_of["paper + passages looked up for weak contradictions"].note


def test_k_is_chosen_on_the_tuning_split_and_a_miss_can_cost_more() -> None:
    splits = bench.split(inputs())
    tuned = METHODS["paper, k tuned"](splits.tuning, splits.test)
    assert tuned
    k = tuned.note.split()[2].rstrip(",")
    same = SWEEP[k](splits.tuning, splits.test)
    assert same
    assert (tuned.positive == same.positive).all()
    best = max(
        f1(said.positive, splits.tuning.data.wrong)
        for method in SWEEP.values()
        if (said := method(splits.tuning, splits.tuning))
    )
    own = SWEEP[k](splits.tuning, splits.tuning)
    assert own
    assert f1(own.positive, splits.tuning.data.wrong) == best
    even, dear = (
        calibrated_with(0.1, penalty=penalty)(splits.tuning, splits.test) for penalty in (1, 5)
    )
    assert even
    assert dear
    assert even.positive.sum() < dear.positive.sum()
    wrong = splits.test.data.wrong
    cost = {said.note: 5 * (wrong & ~said.positive).sum() + (~wrong & said.positive).sum()
            for said in (even, dear)}  # fmt: skip
    assert cost[dear.note] < cost[even.note]


def test_corrections_that_are_not_due_are_counted() -> None:
    splits = bench.split(inputs())
    said = METHODS["argmax"](splits.tuning, splits.test)
    assert said
    found = bench.errors(said, splits.test)
    assert sum(found["correction not due"].values()) == int(
        (said.positive & ~splits.test.data.wrong).sum()
    )
    assert "correction not due" not in bench.errors(
        Prediction(said.positive, said.undecided), splits.test
    )


def test_a_method_that_cannot_be_fitted_says_so_and_stops_no_other() -> None:
    result = run(inputs(responses=30))
    rows = {row.method: row for row in result.rows}
    assert "needs 20 responses" in (rows["calibrated, FNR ≤ 0.1"].missing or "")
    assert rows["argmax"].missing is None


def test_unscored_claims_are_counted_apart() -> None:
    given = inputs()
    given.probabilities[:7] = np.nan
    assert run(given).unscored == 7


def test_measures_are_the_textbook_ones() -> None:
    splits = bench.split(inputs())
    wrong = splits.test.data.wrong
    perfect = bench.measures(Prediction(wrong, ~wrong), splits.test)
    assert {name: figure.value for name, figure in perfect.items()} == {
        "accuracy": 1, "precision": 1, "recall": 1, "f1": 1, "hallucination_rate": 0,
        "responses": 1, "responses_left": 0,
    }  # fmt: skip
    data = splits.test.data
    left = np.bincount(data.owner, weights=wrong) > 0
    assert bench.measures(Prediction(~wrong, wrong), splits.test)["responses_left"].value == (
        pytest.approx(left.mean())
    )
    nothing = bench.measures(Prediction(wrong & False, ~wrong), splits.test)
    assert nothing["precision"].value is None
    assert nothing["recall"].value == 0
    assert nothing["hallucination_rate"].value == pytest.approx(wrong.mean())


def test_the_best_cut_is_the_best() -> None:
    random = np.random.default_rng(0)
    for _ in range(50):
        scores = random.integers(0, 6, 30) / 5
        wrong = random.random(30) < 0.4
        if wrong.any():
            best = max(f1(scores >= cut, wrong) for cut in np.unique(scores))
            assert f1(scores >= best_cut(scores, wrong), wrong) == pytest.approx(best)


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        ("Acme opened in 1998.", "temporal"),
        ("Acme sold 40 bikes.", "numeric"),
        ("The head of Acme is Paul.", "substitution"),
        ("The bikes are red.", "rare fact"),
    ],
)
def test_kinds_of_claims(claim: str, expected: str) -> None:
    item = Item(response="r", premise="Acme is led by Anna.", claim=claim, wrong=True, label="")
    assert kind(item) == expected


def test_the_area_under_the_curve_is_the_share_of_pairs_in_order() -> None:
    random = np.random.default_rng(1)
    scores, wrong = random.integers(0, 5, 40) / 4, random.random(40) < 0.4
    pairs = [(a > b) + (a == b) / 2 for a in scores[wrong] for b in scores[~wrong]]
    assert bench.auc(scores, wrong) == pytest.approx(np.mean(pairs))
    assert bench.auc(None, wrong) is None


def test_tables_and_plots_are_written(tmp_path: Path) -> None:
    result = run(inputs())
    assert "not run" in markdown(result)
    assert plots.dead_zone(tmp_path / "dead.png").stat().st_size > 1000
    assert plots.sweep([result], tmp_path / "s.png").stat().st_size > 1000
    assert plots.f1_bars(result, tmp_path / "f.png").stat().st_size > 1000
    assert plots.kinds(result, tmp_path / "k.png").stat().st_size > 1000
    stages = {"claims": [0.1, 0.2], "network": [30.0, 50.0]}
    assert plots.latency(stages, tmp_path / "l.png").stat().st_size > 1000
    lines = compact([result]).splitlines()
    assert [line.split(" | ")[1] for line in lines[2:4]] == ["always wrong", "word overlap"]


def test_generations_are_read(tmp_path: Path) -> None:
    data = read(truthful(tmp_path))
    path = tmp_path / "generations.jsonl"
    lines: list[dict[str, Any]] = [
        {"response": i.response, "claim": i.claim, "wrong": i.wrong} for i in data.items
    ]
    path.write_text("\n".join(map(json.dumps, lines)) + '\n{"resp')
    spoken = read_generations(path)
    checked = spoken.self_check(data)
    assert checked is not None
    assert checked.tolist() == [item.wrong for item in data.items]
    del spoken.checks["Is it so?", "No"]
    assert spoken.self_check(data) is None
    path.write_text('{"x": 1}\n{"response": "r", "samples": []}\n')
    with pytest.raises(UsageError, match=r"generations\.jsonl:1"):
        read_generations(path)
    assert "a" not in samples_against(("a", "b", "a", "c"), "a")
