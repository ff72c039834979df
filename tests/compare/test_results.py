"""Reading outcomes from the run record: nothing lost, each mode from its newest scoring."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ancrage.compare.baseline import read_baseline, write_baseline
from ancrage.compare.paired import compare
from ancrage.compare.results import find_group, read_results
from ancrage.domain import OutputState, RunState, Scored
from ancrage.errors import UsageError
from ancrage.runs import NOT_RUN
from tests.compare.runs import Scripted, evaluation, mode, results, world, write_run


def test_every_case_has_an_outcome_or_a_reason(tmp_path: Path) -> None:
    data = world(tmp_path / "snap", 6)
    folder = write_run(
        tmp_path / "runs", data, "a", {"x": [0, 2, None, "judge refused", 0, 0]}, reached=5
    )
    found = read_results(folder)
    assert found.cases == tuple(f"c{at:03d}" for at in range(6))
    assert found.studies == ("s0", "s1", "s2", "s3", "s4", "s5")
    failures = found.failures("x")
    assert failures[:2].tolist() == [0, 1]
    assert np.isnan(failures[[2, 3, 5]]).all()
    assert found.reasons["x"] == {
        "c002": "no verdict",
        "c003": "judge refused",
        "c005": NOT_RUN,
    }
    assert found.states[5] is OutputState.NOT_RUN
    assert np.isnan(found.failures("never_looked_for")).all()


def test_an_interrupted_scoring_does_not_hide_the_complete_one_before_it(tmp_path: Path) -> None:
    data = world(tmp_path / "snap", 3)
    folder = write_run(tmp_path / "runs", data, "a", {"x": [1, 1, 1]})
    again = folder.new_scoring([Scripted("check_x", "2", (mode("x"),))])
    with again.journal() as scores:
        scores.append(Scored(case_id="c000", evaluations=(evaluation("x", 0.0, "t", "2"),)))
    found = read_results(folder)
    assert found.modes["x"].version == "1"
    assert found.values["x"].tolist() == [1, 1, 1]


def test_the_newest_scoring_of_a_mode_wins_and_versions_do_not_mix(tmp_path: Path) -> None:
    data = world(tmp_path / "snap", 3)
    folder = write_run(tmp_path / "runs", data, "a", {"x": [1, 1, 1], "y": [1, 0, 0]})
    again = folder.new_scoring([Scripted("check_x", "2", (mode("x"),))])
    with again.journal() as scores:
        for at in range(2):
            scores.append(
                Scored(case_id=f"c{at:03d}", evaluations=(evaluation("x", 0.0, "t", "2"),))
            )
    again.save(again.scoring.model_copy(update={"state": RunState.COMPLETE}))
    found = read_results(folder)
    assert found.modes["x"].version == "2"
    assert found.modes["y"].version == "1"
    assert found.values["x"][:2].tolist() == [0, 0]
    assert np.isnan(found.values["x"][2])
    assert found.values["y"].tolist() == [1, 0, 0]


def test_a_damaged_journal_is_wrong_use_not_a_clean_run(tmp_path: Path) -> None:
    data = world(tmp_path / "snap", 2)
    folder = write_run(tmp_path / "runs", data, "a", {"x": [0, 0]})
    path = folder.scorings()[0].path / "scores.jsonl"
    path.write_text('{"case_id": "c000", "evaluations": 3}\n', encoding="utf-8")
    with pytest.raises(UsageError, match=r"scores\.jsonl"):
        read_results(folder)


def test_a_group_is_found_by_its_name_in_the_order_of_repeats(tmp_path: Path) -> None:
    data = world(tmp_path / "snap", 2)
    root = tmp_path / "runs"
    for repeat in (2, 0, 1):
        write_run(root, data, f"r{repeat}", {"x": [0, repeat]}, group="exp", repeat=repeat)
    assert [run.origin.id for run in find_group("exp", root)] == ["r0", "r1", "r2"]
    assert [run.origin.id for run in find_group("r1", root)] == ["r1"]
    with pytest.raises(UsageError, match="no run answers to"):
        find_group("other", root)


def test_a_baseline_keeps_outcomes_and_no_text(tmp_path: Path) -> None:
    data = world(tmp_path / "snap", 4)
    folder = write_run(
        tmp_path / "runs", data, "a", {"x": [0, 2, "secret reason", 0], "y": [0, 0, 0, 1]}
    )
    before = read_results(folder)
    path = write_baseline("main", (before,), tmp_path)
    assert path == tmp_path / "baselines" / "main.json"
    text = path.read_text(encoding="utf-8")
    assert "secret" not in text
    assert "Réponse" not in text
    (after,) = read_baseline("main", tmp_path)
    assert after.origin == before.origin
    assert after.modes == before.modes
    at = [after.cases.index(case) for case in before.cases]
    for name, values in before.values.items():
        assert np.array_equal(after.values[name][at], values, equal_nan=True)
    assert [after.studies[i] for i in at] == list(before.studies)


@pytest.mark.parametrize("name", ["", "../main", "a/b", ".hidden"])
def test_a_baseline_s_name_is_a_plain_file_name(name: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot name a baseline"):
        write_baseline(name, (results({"x": [0]}),), tmp_path)


def test_baselines_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="gate RUN --save main"):
        read_baseline("main", tmp_path)
    (tmp_path / "baselines").mkdir()
    (tmp_path / "baselines" / "main.json").write_text('{"runs": []}', encoding="utf-8")
    with pytest.raises(UsageError, match=r"main\.json: recorded"):
        read_baseline("main", tmp_path)
    with pytest.raises(UsageError, match="no case"):
        write_baseline("main", (results({}),), tmp_path)


def test_repeated_verdicts_of_a_judge_are_read(tmp_path: Path) -> None:
    data = world(tmp_path / "snap", 1)
    folder = write_run(tmp_path / "runs", data, "a", {"x": [1]})
    said = evaluation("x", 1.0, "text", "1").model_copy(
        update={"details": {"repeats": {"x": [2, None, 0]}, "model": "m"}}
    )
    with folder.scorings()[0].journal() as scores:
        scores.append(Scored(case_id="c000", evaluations=(said,)))
    first, second, third = read_results(folder).verdicts["x"]["c000"]
    assert (first, third) == (1.0, 0.0)
    assert np.isnan(second)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda b: b["runs"][0]["failing"]["x"].update(stranger=1.0), "'stranger' is in no study"),
        (lambda b: b["runs"][0]["unscored"].update(x=["gone"]), "'gone' is in no study"),
        (lambda b: b["runs"][0]["failing"].update(typo={"c000": 1.0}), "'typo' is not among"),
        (lambda b: b["runs"][0]["failing"]["x"].update(c000=0.0), "greater than 0"),
        (lambda b: b["studies"].update(again=["c000"]), "listed twice"),
        (lambda b: b.update(runs=[]), "at least 1"),
        (lambda b: b.update(format=2), "format"),
    ],
)
def test_a_baseline_edited_by_hand_is_wrong_use(
    change: Callable[[dict[str, Any]], None], words: str, tmp_path: Path
) -> None:
    path = write_baseline("main", (results({"x": [0, 1, None]}),), tmp_path)
    held = json.loads(path.read_text(encoding="utf-8"))
    change(held)
    path.write_text(json.dumps(held), encoding="utf-8")
    with pytest.raises(UsageError, match=rf"main\.json: .*{words}"):
        read_baseline("main", tmp_path)


def test_two_experiments_of_one_name_are_not_taken_for_repeats(tmp_path: Path) -> None:
    data = world(tmp_path / "snap", 2)
    root = tmp_path / "runs"
    write_run(root, data, "exp", {"x": [0, 0]}, group="exp", repeat=0)
    write_run(root, data, "exp-1", {"x": [1, 1]}, group="exp", repeat=0)
    with pytest.raises(UsageError, match="names two experiments: exp and exp-1"):
        find_group("exp", root)
    assert len(find_group(str(root / "exp"), root)) == 1


def test_scores_of_another_tool_are_no_counts_of_defects(tmp_path: Path) -> None:
    """A share of correct answers that rises is not a rate of failure that rises."""
    data = world(tmp_path / "snap", 40)
    folders = [
        write_run(tmp_path / "runs", data, name, {"x": [0] * 40, "correct": values})
        for name, values in (("before", [0] * 30 + [1] * 10), ("after", [0] * 2 + [1] * 38))
    ]
    for folder in folders:
        scoring = folder.scorings()[0]
        infos = tuple(
            info.model_copy(update={"kind": "external"}) if info.name == "check_correct" else info
            for info in scoring.scoring.evaluators
        )
        scoring.save(scoring.scoring.model_copy(update={"evaluators": infos}))
    before, after = (read_results(folder) for folder in folders)
    assert set(after.modes) == {"x"}
    assert after.foreign == ("correct",)
    found = compare((before,), (after,))
    assert [mode.mode for mode in found.modes] == ["x"]
    assert any("not compared: correct" in note.text for note in found.notes)
