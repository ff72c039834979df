"""One answer on the terminal, with every finding in its place and its source beside it."""

from collections.abc import Iterator
from dataclasses import dataclass

from rapidfuzz import process
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from ancrage.citations import Grammar, UnreadableAnswer
from ancrage.domain import Finding, OutputState, Passage, QuoteRecord, ScoreState
from ancrage.errors import UsageError
from ancrage.evaluator import Subject
from ancrage.report.payload import LONGEST_DIFFERENCE, answer_text, passed_quotes
from ancrage.report.terminal import label
from ancrage.report.text import TIERS, difference, line, segments, visible
from ancrage.report.why import why
from ancrage.runs import Item, RunView
from ancrage.studies import IndexedStudy, Studies

WIDE = 110
"""Columns from which a finding and its source stand side by side."""
NEIGHBOUR = 160
"""Characters shown of a neighbouring message."""


@dataclass(frozen=True)
class Shown:
    """An answer to show."""

    item: Item
    findings: tuple[Finding, ...]
    passed: tuple[QuoteRecord, ...]
    source: IndexedStudy | None
    """None when the study cannot be consulted."""
    grammar: Grammar


def find_answer(view: RunView, case: str, mode: str | None = None) -> Shown:
    """The answer to the case whose id is, or begins with, ``case``; findings of ``mode`` only.

    Raises:
        UsageError: no case or several answer to it, or the run did not look for ``mode``.
    """
    modes = [each.name for each in view.modes]
    if mode and mode not in modes:
        raise UsageError(f"this run has no failure mode {mode!r}{_closest(mode, modes)}")
    wanted = _case_id(view, case)
    item = view.item(wanted)
    studies = Studies(view.snapshot)
    return Shown(
        item,
        tuple(each for each in item.findings if mode in (None, each.mode)),
        tuple(passed_quotes(item)),
        studies.of(item.case),
        studies.grammar,
    )


def explain(shown: Shown) -> RenderableType:
    """How the answer was read.

    Raises:
        UsageError: there is no answer to read.
    """
    item = shown.item
    if item.output.answer is None:
        raise UsageError(f"{line(item.case.id)} has no answer to read ({item.output.state.value})")
    try:
        return why(Subject(item.case, item.output, shown.source, shown.grammar), item.findings)
    except UnreadableAnswer as reason:
        raise UsageError(f"{line(item.case.id)}: {reason}") from None


def _case_id(view: RunView, wanted: str) -> str:
    known = [case.id for case in view.snapshot.cases()]
    if wanted in known:
        return wanted
    found = [each for each in known if wanted and each.startswith(wanted)]
    if len(found) == 1:
        return found[0]
    if found:
        some = ", ".join(line(each) for each in found[:4]) + (", …" if len(found) > 4 else "")
        raise UsageError(f"{len(found)} cases begin with {wanted!r}: {some}")
    raise UsageError(f"run {view.folder.path.name} has no case {wanted!r}{_closest(wanted, known)}")


def _closest(wanted: str, known: list[str]) -> str:
    best = process.extractOne(wanted, known, score_cutoff=50)
    return f"; the closest is {line(best[0])!r}" if best else ""


def render(shown: Shown, console: Console) -> RenderableType:
    """The answer, its findings one by one, and the quotes that passed."""
    return Group(*_parts(shown, console.is_terminal, console.width >= WIDE))


def _parts(shown: Shown, coloured: bool, wide: bool) -> Iterator[RenderableType]:
    item = shown.item
    state = item.output.state
    yield Text.assemble(
        (line(item.case.id), "bold"),
        (f"  {line(item.case.study_id)}" if item.case.study_id else "", "dim"),
        (f" · {state.value}", "" if state is OutputState.OK else "yellow"),
    )
    yield Padding(Text(visible(item.case.input.question), "italic"), (0, 0, 1, 2))
    if item.output.reason:
        yield Text(line(f"{state.value}: {item.output.reason}"), "yellow")
    if item.case.source_missing:
        yield Text(f"source missing: {line(item.case.source_missing)}", "yellow")
    text = answer_text(item)
    yield marked(text, shown.findings, coloured) if text else Text("There is no answer.", "dim")
    yield Text()
    if not shown.findings:
        yield Text("No finding.", "green" if state is OutputState.OK else "dim")
    for number, finding in enumerate(shown.findings, start=1):
        yield Rule(style="dim", characters="─")
        yield from _beside(_about(number, finding), _evidence(finding, shown.source), wide)
    if shown.passed:
        yield Rule(style="dim", characters="─")
        yield Text("Quotes that passed", "bold")
        for quote in shown.passed:
            yield from _beside(_about_passed(quote), _evidence(quote, shown.source), wide)
    for score in item.scores.values():
        if score.state is ScoreState.UNSCORED:
            yield Text(f"unscored  {line(score.name)}: {line(score.reason or '')}", "yellow")


def _beside(left: RenderableType, right: RenderableType | None, wide: bool) -> list[RenderableType]:
    if right is None:
        return [left]
    if not wide:
        return [left, Padding(right, (0, 0, 0, 4))]
    grid = Table.grid(padding=(0, 4, 0, 0), expand=True)
    grid.add_column(ratio=1)
    grid.add_column(ratio=1)
    grid.add_row(left, right)
    return [grid]


def marked(text: str, findings: tuple[Finding, ...], coloured: bool) -> Text:
    """The answer with each finding underlined and numbered: ``⟦1 passage 1⟧`` without colours."""
    spans = [(each.evidence.start, each.evidence.end) for each in findings]
    parts = segments(text, spans)
    shown = Text()
    before: tuple[int, ...] = ()
    for at, part in enumerate(parts):
        after = parts[at + 1].spans if at + 1 < len(parts) else ()
        if not coloured:
            for span in (each for each in part.spans if each not in before):
                shown.append(f"⟦{span + 1}\N{NO-BREAK SPACE}")
        style = "red underline" if part.spans else ""
        shown.append(visible(part.text), "bold " + style if len(part.spans) > 1 else style)
        for span in (each for each in part.spans if each not in after):
            shown.append(f" {span + 1} " if coloured else f"\N{NO-BREAK SPACE}{span + 1}⟧", _NUMBER)
        before = part.spans
    return shown


_NUMBER = "bold white on red"


def _about(number: int, finding: Finding) -> RenderableType:
    heading = Text.assemble((f" {number} ", _NUMBER), "  ", label(finding))
    parts: list[RenderableType] = [heading]
    passage = line(finding.evidence.text)
    parts.append(Text(f"“{passage}”" if passage else "the answer as a whole", "dim"))
    parts.append(Text(visible(finding.explanation)))
    cited = finding.details.get("cited")
    if isinstance(cited, str) and cited != finding.source_id:
        parts.append(Text(f"cited: {line(cited)}", "dim"))
    if finding.source_passage and finding.tier == "T4":
        source, quoted = finding.source_passage.text, finding.evidence.text
        if max(len(source), len(quoted)) <= LONGEST_DIFFERENCE:
            parts.append(_difference(source, quoted))
    return Group(*parts)


def _difference(source: str, quoted: str) -> Text:
    shown = Text("source → answer: ", "dim")
    styles = {"same": "", "removed": "strike dim", "added": "bold red underline"}
    marks = {"same": ("", ""), "removed": ("[-", "-]"), "added": ("{+", "+}")}
    for kind, text in difference(source, quoted):
        before, after = marks[kind]
        shown.append(before + visible(text) + after, styles[kind] or "not dim")
    return shown


def _about_passed(quote: QuoteRecord) -> RenderableType:
    tier = quote.tier or ""
    return Group(
        Text.assemble((" ✓ ", "bold green"), (f"{tier} {TIERS[tier]}", "green")),
        Text(f"“{line(quote.evidence.text)}”", "dim"),
    )


def _evidence(found: Finding | QuoteRecord, source: IndexedStudy | None) -> RenderableType | None:
    if found.source_id is None:
        return None
    return _source(found.source_id, found.source_passage, source)


def _source(source_id: str, passage: Passage | None, source: IndexedStudy | None) -> RenderableType:
    """The source message, its passage underlined, between its respondent's neighbouring ones."""
    message = source.message(source_id) if source else None
    if source is None or message is None:
        return Text(f"{line(source_id)} cannot be shown: it is not in the study", "yellow")
    before, after = source.neighbours(message)
    asked = f" · {line(message.question_ref)}" if message.question_ref else ""
    heading = Text.assemble(
        (f"{line(message.respondent_id)}, {line(message.id)}", "bold cyan"), (asked, "dim")
    )
    text = Text()
    spans = [(passage.start, passage.end)] if passage else []
    for part in segments(message.text, spans):
        text.append(visible(part.text), "underline" if part.spans else "")
    parts: list[RenderableType] = [heading]
    if before:
        parts.append(_neighbour("before", before.id, before.text))
    parts.append(text)
    if after:
        parts.append(_neighbour("after", after.id, after.text))
    return Group(*parts)


def _neighbour(where: str, message_id: str, text: str) -> Text:
    shown = line(text)
    cut = shown if len(shown) <= NEIGHBOUR else shown[:NEIGHBOUR] + " …"
    return Text(f"{where} ({line(message_id)}): {cut}", "dim")
