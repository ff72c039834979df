"""The record of a run as a state machine: filled, killed at any byte, resumed, scored, read."""

import asyncio
import tempfile
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from ancrage.domain import Evaluation, FailureMode, OutputState, RunState, Score
from ancrage.evaluator import Subject
from ancrage.runs import RunView, create_run, recorded, run_experiment, score_run
from ancrage.studies import Studies
from tests.builders import case, snapshot

CASES = 5


class Length:
    """Scores the length of an answer plus its own version, so that versions never look alike."""

    name = "length"
    modes = (FailureMode(name="length", title="Length", definition="How long."),)

    def __init__(self, version: int) -> None:
        self.version = str(version)

    async def evaluate(self, subject: Subject) -> Evaluation:
        value = len(subject.text) + 1_000.0 * int(self.version)
        score = Score(name="length", value=value)
        return Evaluation(evaluator=self.name, version=self.version, scores=(score,))


class Record(RuleBasedStateMachine):
    """Whatever the order of events, counts add up, versions never mix, and nothing is lost."""

    @initialize()
    def begin(self) -> None:
        self._folder = tempfile.TemporaryDirectory()
        root = Path(self._folder.name)
        texts = [f"réponse {'x' * n}" for n in range(CASES - 1)]
        cases = [case(text, f"c{n}") for n, text in enumerate([*texts, None])]
        self.data = snapshot(root / "snap", cases)
        self.run = create_run(self.data, kind="audit", name="r", root=root / "runs")
        self.version = 1
        self.outputs: set[str] = set()
        self.fill()

    def teardown(self) -> None:
        self._folder.cleanup()

    @rule()
    def fill(self) -> None:
        """The run begun, or taken up."""
        work = run_experiment(
            self.run, self.data.cases(), recorded, [Length(self.version)], Studies(self.data)
        )
        assert asyncio.run(work).state is RunState.COMPLETE
        self.outputs = {f"c{n}" for n in range(CASES)}

    @rule(version=st.integers(1, 3))
    def score_again(self, version: int) -> None:
        """Every output scored anew, by another version or the same."""
        self.version = version
        asyncio.run(score_run(self.run, [Length(version)], Studies(self.data)))

    @rule(share=st.floats(0, 1), behind=st.integers(0, CASES))
    def die_filling(self, share: float, behind: int) -> None:
        """A kill as the journals grew: outputs end at any byte, scores at an earlier case."""
        (scoring, *later) = reversed(self.run.scorings())
        if later:
            return
        outputs, scores = self.run.path / "outputs.jsonl", scoring.path / "scores.jsonl"
        outputs.write_bytes(outputs.read_bytes()[: round(share * outputs.stat().st_size)])
        whole = outputs.read_bytes().count(b"\n")
        lines = scores.read_bytes().splitlines(keepends=True)[: max(0, whole - behind)]
        scores.write_bytes(b"".join(lines) + (b'{"case_id":"c' if behind else b""))
        running = {"state": RunState.RUNNING, "finished": None}
        self.run.save(self.run.run.model_copy(update=running))
        scoring.save(scoring.scoring.model_copy(update=running))
        self.outputs = {f"c{n}" for n in range(whole)}

    @rule(share=st.floats(0, 1))
    def die_scoring(self, share: float) -> None:
        """A kill in the middle of a second scoring."""
        if len(self.run.scorings()) < 2:
            return
        scoring = self.run.scorings()[-1]
        scores = scoring.path / "scores.jsonl"
        scores.write_bytes(scores.read_bytes()[: round(share * scores.stat().st_size)])
        state = {"state": RunState.RUNNING, "finished": None}
        scoring.save(scoring.scoring.model_copy(update=state))

    @invariant()
    def counts_add_up(self) -> None:
        view = RunView(self.run)
        items = list(view.items())
        assert [item.case.id for item in items] == [f"c{n}" for n in range(CASES)]
        for item in items:
            absent = item.output.state is OutputState.NOT_RUN
            assert absent == (item.case.id not in self.outputs)
        (row,) = view.summaries()
        assert row.cases == CASES
        assert row.scored + sum(row.reasons.values()) == CASES

    @invariant()
    def versions_never_mix(self) -> None:
        view = RunView(self.run)
        info, _ = view.evaluators["length"]
        for item in view.items():
            for done in item.evaluations:
                assert done.version == info.version
                (score,) = done.scores
                if score.value is not None:
                    text = item.output.answer.text if item.output.answer else ""
                    assert score.value == len(text) + 1_000 * int(info.version)

    @invariant()
    def a_complete_scoring_is_whole(self) -> None:
        for folder in self.run.scorings():
            if folder.scoring.state is RunState.COMPLETE:
                assert {entry.case_id for entry in folder.scored()} >= self.outputs


TestRecord = Record.TestCase
TestRecord.settings = settings(max_examples=20, stateful_step_count=15, deadline=None)


def test_a_scoring_of_what_there_was_hides_nothing_that_came_later() -> None:
    record = Record()
    record.begin()
    record.die_filling(share=0.5, behind=0)
    record.score_again(version=2)
    record.version = 1
    record.fill()
    record.a_complete_scoring_is_whole()
    (row,) = RunView(record.run).summaries()
    assert row.scored == CASES - 1
    record.teardown()
