"""Labels where judges differ first: shorter intervals, unbiased, and what a plan keeps."""

import math
from pathlib import Path

import numpy as np
import pytest

from ancrage.calibration import calibrate, read_labels
from ancrage.calibration.examples import add_examples
from ancrage.calibration.labels import split_of
from ancrage.calibration.measure import corrected
from ancrage.calibration.page import LabelQueue
from ancrage.calibration.pairs import Disagreement
from ancrage.calibration.sampling import (
    AGREED,
    Sample,
    chances_of,
    disagreement,
    plan,
    weighted_rate,
)
from ancrage.config import load
from ancrage.errors import UsageError
from ancrage.judges.definition import SHIPPED, read_definition
from ancrage.runs import RunView
from tests.calibration.worlds import MODE, judge_again, verdicts, world, write_labels

ANSWERS, REPEATS, LABELS, ROUNDS = 600, 5, 100, 150


def simulated(seed: int, chosen: bool) -> tuple[float, float, float, float]:
    """Truth, estimate and interval: a judge that errs on 2 % of easy and 40 % of hard answers."""
    rng = np.random.default_rng(seed)
    truth = rng.random(ANSWERS) < 0.3
    errs = np.where(rng.random(ANSWERS) < 0.2, 0.4, 0.02)
    votes = [np.where(rng.random(ANSWERS) < errs, ~truth, truth) for _ in range(REPEATS)]
    share = np.mean(votes, axis=0)
    differs = np.minimum(share, 1 - share)
    names = [f"c{number}" for number in range(ANSWERS)]
    weights = {
        name: math.sqrt(AGREED + differs[at]) if chosen else 1.0 for at, name in enumerate(names)
    }
    sample = Sample(run=str(seed), weights=weights)
    labelled = sample.order()[:LABELS]
    judged = {name: bool(votes[0][at]) for at, name in enumerate(names)}
    right = dict(zip(names, map(float, truth), strict=True))
    errors = {name: right[name] - judged[name] for name in labelled}
    found = weighted_rate(errors, sample.chances(labelled), judged)
    assert found.rate is not None
    assert found.interval is not None
    return float(truth.mean()), found.rate, *found.interval


def test_a_hundred_chosen_labels_tell_more_than_a_hundred_random_ones() -> None:
    chosen = np.array([simulated(seed, chosen=True) for seed in range(ROUNDS)])
    random = np.array([simulated(seed, chosen=False) for seed in range(ROUNDS)])
    lengths = [(found[:, 3] - found[:, 2]).mean() for found in (chosen, random)]
    assert lengths[0] <= 0.8 * lengths[1]
    covered = (chosen[:, 2] <= chosen[:, 0]) & (chosen[:, 0] <= chosen[:, 3])
    # 93 to 97 %, and two standard errors of 150 rounds on each side.
    assert 0.90 <= covered.mean() <= 0.995
    assert abs((chosen[:, 1] - chosen[:, 0]).mean()) < 0.006


def test_the_plan_comes_from_every_scoring_and_holds_while_labels_are_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    load.cache_clear()
    judged = world(tmp_path, n=80)
    judge_again(judged, verdicts(judged.truth, 0.7, 0.7, seed=9))
    differs = disagreement(judged.folder, {MODE})
    assert set(differs.values()) == {0.0, 0.5}
    labels = tmp_path / "labels.jsonl"
    sample = plan(judged.folder, judged.truth, [MODE], labels)
    order = sample.order()
    head = np.mean([differs[case] for case in order[:20]])
    assert head > np.mean(list(differs.values())), "answers that differ come first"
    write_labels(labels, judged.truth, order[:60])
    assert plan(judged.folder, judged.truth, [MODE], labels) == sample
    chances = chances_of([labels], judged.folder.run.id, order[:60])
    assert len(chances) == 60
    assert all(0 < chance < 1 for chance in chances.values())
    found = read_labels([labels])
    calibration, _ = calibrate(RunView(judged.folder), found, split=None, chances=chances)
    (mode,) = calibration.modes
    shown = {p.case_id: (p.answer, p.judged) for p in mode.pairs}
    every = {case: shown.get(case, ("", judged.judged[case])) for case in judged.truth}
    rate = corrected(mode, every, random_sample=False, chances=calibration.chances)
    assert rate.method == "weighted"
    assert rate.interval is not None
    share = sum(judged.truth.values()) / len(judged.truth)
    assert rate.interval.low <= share <= rate.interval.high
    with pytest.raises(UsageError, match="begun at random"):
        plan(judged.folder, judged.truth, [MODE], write_labels(Path("other.jsonl"), {}, []))
    with pytest.raises(UsageError, match="--disagreements"):
        LabelQueue.of(judged.folder, labels, "ana", ["off_question"])


def test_errors_of_the_training_half_become_examples_and_no_others(tmp_path: Path) -> None:
    shipped = read_definition(SHIPPED / "relevance.toml")
    mode = shipped.modes[0].name

    def error(case: str, truth: bool) -> Disagreement:
        return Disagreement(
            case_id=case,
            mode=mode,
            judge="relevance",
            truth=truth,
            judged=not truth,
            human=(),
            evidence=(),
            question="Que disent-ils ?",
            answer=f"D'abord {case}.\nPuis il faut « rester » à l'écoute, sans plus.\nFin.",
            passages=("il faut « rester » à l'écoute",) if truth else (),
            notes=("C'est une généralité.",),
            alarms=() if truth else ("Puis il faut",),
        )

    path = tmp_path / "mine.toml"
    both = [error(f"c{number}", truth=True) for number in range(20)]
    with pytest.raises(UsageError, match="training half"):
        add_examples(shipped, both, path, most=1, held_out=0.5)
    half = [f"c{number}" for number in range(20) if split_of(f"c{number}") == "train"]
    errors = [error(half[0], truth=True), error(half[1], truth=False)]
    assert add_examples(shipped, errors, path, most=3, held_out=0.5) == 2
    assert add_examples(shipped, errors, path, most=3, held_out=0.5) == 0, "none twice"
    mine = read_definition(path)
    before, after = shipped.modes[0].examples, mine.modes[0].examples
    assert after[: len(before)] == before
    added = after[len(before) :]
    assert [example.passage for example in added] == ["il faut « rester » à l'écoute", None]
    assert mine.modes[1:] == shipped.modes[1:]
