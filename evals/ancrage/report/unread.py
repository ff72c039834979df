"""Answers in which no citation was read, while marks that look like citations stand in them."""

from collections import Counter
from dataclasses import dataclass, field

from ancrage.citations import Citations, parse
from ancrage.citations.unrecognised import unrecognised
from ancrage.report.text import line
from ancrage.runs import Item

_SAMPLE = 50
"""Answers looked at again for the lines that would read them."""


@dataclass
class Unread:
    """Such answers of a run, counted as they pass."""

    answers: int = 0
    shapes: Counter[str] = field(default_factory=Counter)
    """How often each shape stands in them."""
    examples: dict[str, str] = field(default_factory=dict)
    _proposals: dict[str, str] = field(default_factory=dict)

    def add(self, item: Item) -> None:
        """Count ``item`` if it is one of them."""
        anchors = item.anchors
        if anchors is None or anchors.citations or not anchors.unrecognised:
            return
        self.answers += 1
        self.shapes.update(anchors.unrecognised)
        if self.answers <= _SAMPLE and item.output.answer:
            # Nothing was read by the run's grammar, whatever the default one would read.
            text = item.output.answer.text
            quotes = tuple(quote._replace(citations=()) for quote in parse(text).quotes)
            found = unrecognised(text, found=Citations((), quotes), is_id=lambda written: True)
            self._proposals = found.proposals | self._proposals
            self.examples = found.examples | self.examples

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

    @property
    def configuration(self) -> str:
        """The lines of ``evals.toml`` that would read the commonest shape, and, as comments, the
        others; empty where no line would."""
        ranked = [shape for shape, _ in self.shapes.most_common() if shape in self._proposals]
        if not ranked:
            return ""
        lines = ["[citations]"]
        for rank, shape in enumerate(ranked):
            lines.append(f"# reads {line(self.examples[shape])}")
            mark = "# " if rank else ""
            lines += [f"{mark}{line(part)}" for part in self._proposals[shape].splitlines()]
        return "\n".join(lines)
