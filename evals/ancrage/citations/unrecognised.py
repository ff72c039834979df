"""Marks of an answer that look like citations or quotes and were not read as such."""

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from ancrage.citations.grammar import Grammar
from ancrage.citations.model import Citations
from ancrage.citations.parse import parse

_ID = r"[A-Za-z]{0,12}[-_:.#]?\d[\w-]{0,40}"
_SHAPES: tuple[tuple[str, str, re.Pattern[str]], ...] = (
    (
        "<tag id=…>",
        "<",
        re.compile(
            r"<(?P<tag>[A-Za-z][\w-]{0,20})\s[^<>]{0,200}?=\s?[\"']?(?P<id>[^\"'<>\s]{1,60})"
        ),
    ),
    ("[…](target)", "](", re.compile(r"\]\((?P<id>[^()\s]{1,300})\)")),
    ("[^note]", "[^", re.compile(r"\[\^(?P<id>[\w-]{1,20})\](?!:)")),
    ("【…】", "【", re.compile(r"【(?P<id>[^【】\n]{1,60})】")),
    ("{{…}}", "{{", re.compile(r"\{\{(?P<id>[^{}\n]{1,60})\}\}")),
    ("{…}", "{", re.compile(rf"(?<!\{{)\{{(?P<id>{_ID})\}}(?!\}})")),
    ("[[…]]", "[[", re.compile(r"\[\[(?P<id>[^\[\]\n]{1,60})\]\](?!\()")),
    ("[1]", "[", re.compile(r"(?<!\[)\[(?P<id>\d{1,4}(?:\s?[,;–-]\s?\d{1,4}){0,8})\](?![\](:])")),
    (
        "[id]",
        "[",
        re.compile(
            rf"(?<!\[)\[(?P<id>(?:[A-Za-z]{{1,20}}\.?[ -])?{_ID}(?:\s?[,;]\s?{_ID}){{0,8}})\]"
            r"(?![\](:])"
        ),
    ),
    ("(id)", "(", re.compile(r"\((?P<id>[A-Za-z]{1,20}(?:\.?\s[A-Za-z]{0,12})?[-_.#]?\d{1,12})\)")),
    ("@id", "@", re.compile(r"(?<![\w@.])@(?P<id>[A-Za-z]{1,12}[-_]?\d{1,12})")),
    ("#id", "#", re.compile(r"(?<![\w#&(/])#(?P<id>\d{1,12})\b")),
)

_DIGIT = re.compile(r"\d")
_TARGET = re.compile(rf"(?:^|[#/:=]){_ID}$")
_WRITTEN = re.compile(r"(?<!\w)[^\W\d_]{1,20}\.?[ _.:#-]{0,2}\d[\w-]{0,30}")
_OPENED = re.compile(r"[(\[{<【](?=[^()\[\]{}<>【】]*\Z)")
_BESIDE = 60
"""Characters beside a quote in which an id may be its citation."""


class Unrecognised(NamedTuple):
    """What was not read in one answer or several."""

    shapes: dict[str, int]
    """By shape, such as ``[1]`` or ``« without end``, how often."""
    proposals: dict[str, str]
    """By shape, the line of the table ``[citations]`` that would read it."""
    examples: dict[str, str]


def unrecognised(
    text: str,
    grammar: Grammar | None = None,
    found: Citations | None = None,
    is_id: Callable[[str], bool] | None = None,
) -> Unrecognised:
    """The shapes of ``text`` that look like citations or quotes and were read as neither.

    ``found`` is what was read in it, where that is known. ``is_id`` tells the ids of the study:
    those that stand beside a quote without citation, in whatever form, are told too.
    """
    found = found or parse(text, grammar)
    shapes: dict[str, int] = {}
    examples: dict[str, str] = {}
    ids: dict[str, list[str]] = {}
    covered = bytearray(len(text))
    for citation in found.citations:
        covered[citation.start : citation.end] = b"\1" * (citation.end - citation.start)

    def count(shape: str, start: int, end: int) -> None:
        covered[start:end] = b"\1" * (end - start)
        shapes[shape] = shapes.get(shape, 0) + 1
        examples.setdefault(shape, text[start:end])

    for shape, sign, pattern in _SHAPES:
        for match in pattern.finditer(text) if sign in text else ():
            if covered.find(1, *match.span()) >= 0 or not _DIGIT.search(match["id"]):
                continue
            if shape == "[…](target)" and not _TARGET.search(match["id"]):
                continue
            count(shape, *match.span())
            ids.setdefault(shape, []).append(match["id"])
            if shape == "<tag id=…>":
                ids.setdefault("tag", []).append(match["tag"])
    for start, end in _around_quotes(text, found) if is_id else ():
        for match in _WRITTEN.finditer(text, start, end):
            if covered.find(1, *match.span()) < 0 and is_id and is_id(match[0]):
                opened = _OPENED.search(text, start, match.start())
                shape = f"{opened[0]}… id …" if opened else "id beside a quote"
                count(shape, *match.span())
                ids.setdefault(shape, []).append(match[0])
    for at in found.unpaired:
        if at < len(text):
            shape = f"{text[at]} without its partner"
            shapes[shape] = shapes.get(shape, 0) + 1
            examples.setdefault(shape, text[at : at + 40])
    return Unrecognised(
        shapes, {shape: _line(shape, ids) for shape in ids if shape != "tag"}, examples
    )


def _around_quotes(text: str, found: Citations) -> Iterator[tuple[int, int]]:
    """The rest of the line before and after each quote without citation, up to other quotes."""
    quotes = found.quotes
    for index, quote in enumerate(quotes):
        if quote.citations or quote.mention:
            continue
        before = quotes[index - 1].end if index else 0
        after = quotes[index + 1].start if index + 1 < len(quotes) else len(text)
        start = max(before, quote.start - _BESIDE)
        yield max(start, text.rfind("\n", start, quote.start) + 1), quote.start
        end = min(after, quote.end + _BESIDE)
        newline = text.find("\n", quote.end, end)
        yield quote.end, newline if newline >= 0 else end


def _line(shape: str, ids: dict[str, list[str]]) -> str:
    """The line of configuration that reads ids like those met."""
    first = ids[shape][0]
    if shape == "[^note]":
        return "# footnotes are read where their definition cites: [^1]: R-012, M-0034"
    known = re.search(_ID, first.rpartition("/")[2].rpartition("#")[2])
    written = known[0] if known else first
    letters = re.match(r"[A-Za-z]*", written)
    prefix = letters[0] if letters else ""
    rest = written[len(prefix) :]
    pattern = prefix + ("[-_.:#]?" if rest[:1] in "-_.:#" else "")
    pattern += r"\d+" if rest.lstrip("-_.:#").isdigit() else r"[\w-]+"
    label = re.match(r"[A-Za-z]{1,20}\.?[ ](?=\S)", first)
    if label:
        pattern = f"{label[0].strip()} (?P<id>{pattern})"
    line = f"message = '{pattern}'"
    if shape == "<tag id=…>":
        names = ", ".join(f'"{name}"' for name in dict.fromkeys(ids["tag"]))
        line += f"\ntags = [{names}]"
    if shape in ("{{…}}", "{…}"):
        line += f'\nbrackets = ["[]", "{"{{}}" if shape == "{{…}}" else "{}"}"]'
    return line
