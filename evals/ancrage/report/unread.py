"""Answers in which no citation was read, while marks that look like citations stand in them."""

from collections import Counter
from dataclasses import dataclass, field

from ancrage.report.text import line
from ancrage.runs import Item
from ancrage.setup.citing import propose
from ancrage.snapshot import Snapshot

_SAMPLE = 50
"""Answers looked at again for the lines that would read them."""


@dataclass
class Unread:
    """Such answers of a run, counted as they pass."""

    answers: int = 0
    shapes: Counter[str] = field(default_factory=Counter)
    """How often each shape stands in them."""
    _texts: list[str] = field(default_factory=list)
    _studies: set[str] = field(default_factory=set)

    def add(self, item: Item) -> None:
        """Count ``item`` if it is one of them."""
        anchors = item.anchors
        if anchors is None or anchors.citations or not anchors.unrecognised:
            return
        self.answers += 1
        self.shapes.update(anchors.unrecognised)
        if self.answers <= _SAMPLE and item.output.answer:
            self._texts.append(item.output.answer.text)
            if item.case.study_id:
                self._studies.add(item.case.study_id)

    @property
    def sentence(self) -> str:
        """How many answers, which shapes, how often; empty where there are none."""
        if not self.answers:
            return ""
        shapes = ", ".join(f"{shape} ({count})" for shape, count in self.shapes.most_common())
        noun = "answer" if self.answers == 1 else "answers"
        return (
            f"no citation was read in {self.answers} {noun}, while marks that look like citations "
            f"or quotes stand there: {shapes}."
        )

    def configuration(self, snapshot: Snapshot) -> str:
        """The lines of ``evals.toml`` that would read most of them, by the ids of their studies;
        empty where no line would."""
        if not self._texts:
            return ""
        ids: dict[str, list[str]] = {"message": [], "respondent": [], "question": []}
        for study in filter(None, map(snapshot.study, sorted(self._studies))):
            ids["message"] += [message.id for message in study.messages]
            ids["respondent"] += [m.respondent_id for m in study.messages if m.respondent_id]
            ids["question"] += [question.ref for question in study.questions]
        found = propose(self._texts, ids)
        if not found.lines or not found.read:
            return ""
        reads = f"# Citations are read in {found.read} of {found.of} of these answers with:"
        return "\n".join([reads, "[citations]", *map(line, found.lines.splitlines())])
