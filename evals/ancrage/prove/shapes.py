"""The shapes that an answer is written in, so that faults and shapes are crossed."""

from collections.abc import Callable, Iterable

from ancrage.prove.model import Draft, Unit
from ancrage.prove.words import lexicon

Shape = Callable[[Draft], str]


def write(draft: Draft, shape: str) -> str:
    """The answer that ``draft`` makes in the shape of that name."""
    text = f"{draft.before}{SHAPES[shape](draft)}{draft.after}"
    return draft.whole(text) if draft.whole else text


def as_is(draft: Draft) -> str:
    """The answer as it was, its quotes and brackets changed in place."""
    edits: list[tuple[int, int, str]] = []
    for unit, place in zip(draft.units, draft.places, strict=True):
        edits.append((*place.quote, unit.quoted))
        start, end = place.cite
        if unit.cite is None and draft.text[start - 1 : start] == " ":
            start -= 1
        edits.append((start, end, unit.cite or ""))
    text, last = "", 0
    for start, end, new in sorted(edits):
        text += draft.text[last:start] + new
        last = end
    return text + draft.text[last:]


def sentences(draft: Draft) -> str:
    """One sentence a quote, in a row."""
    form = lexicon(draft.language)["says"]
    written = (
        form.format(respondent=unit.respondent, quote=unit.quoted, cite=_cite(unit))
        for unit in draft.units
    )
    return " ".join(text.replace(" .", ".") for text in written)


def bullets(draft: Draft) -> str:
    """Bullets, the citation last."""
    return _lines(f"- {_joined(unit.quoted, _cite(unit))}" for unit in draft.units)


def bullets_first(draft: Draft) -> str:
    """Bullets, the citation first."""
    return _lines(f"- {_cite(unit)}: {unit.quoted}".replace("- : ", "- ") for unit in draft.units)


def bold_first(draft: Draft) -> str:
    """Bullets, the citation first and bold."""
    return _lines(
        f"- **{unit.cite}** : {unit.quoted}" if unit.cite else f"- {unit.quoted}"
        for unit in draft.units
    )


def numbered(draft: Draft) -> str:
    """A numbered list, the citation last."""
    return _lines(
        f"{number}. {_joined(unit.quoted, _cite(unit))}"
        for number, unit in enumerate(draft.units, start=1)
    )


def table(draft: Draft) -> str:
    """A table, the citation in a column of its own."""
    words = lexicon(draft.language)
    rows = (f"| {unit.quoted} | {_cite(unit)} |" for unit in draft.units)
    return _lines([f"| {words['verbatim']} | {words['source']} |", "|---|---|", *rows])


def block_quotes(draft: Draft) -> str:
    """Block quotes, the citation on a line of its own below."""
    return "\n\n".join(
        f"> {unit.words}\n>\n> — {unit.cite}" if unit.cite else f"> {unit.words}"
        for unit in draft.units
    )


def footnotes(draft: Draft) -> str:
    """Markers in the text, the citations below."""
    marked = [unit for unit in draft.units if unit.cite]
    numbers = {id(unit): number for number, unit in enumerate(marked, start=1)}
    text = _lines(
        f"- {unit.quoted}" + (f" [^{numbers[id(unit)]}]" if unit.cite else "")
        for unit in draft.units
    )
    notes = _lines(f"[^{numbers[id(unit)]}]: {unit.cite}" for unit in marked)
    return f"{text}\n\n{notes}" if notes else text


SHAPES: dict[str, Shape] = {
    shape.__name__: shape
    for shape in (
        as_is,
        sentences,
        bullets,
        bullets_first,
        bold_first,
        numbered,
        table,
        block_quotes,
        footnotes,
    )
}


def _cite(unit: Unit) -> str:
    return unit.cite or ""


def _joined(*parts: str) -> str:
    return " ".join(part for part in parts if part)


def _lines(rows: Iterable[str]) -> str:
    return "\n".join(rows)
