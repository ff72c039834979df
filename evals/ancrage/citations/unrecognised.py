"""Marks of an answer that look like citations or quotes and were not read as such."""

import re
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


class Unrecognised(NamedTuple):
    """What was not read in one answer or several."""

    shapes: dict[str, int]
    """By shape, such as ``[1]`` or ``« without end``, how often."""
    proposals: dict[str, str]
    """By shape, the line of the table ``[citations]`` that would read it."""
    examples: dict[str, str]


def unrecognised(
    text: str, grammar: Grammar | None = None, found: Citations | None = None
) -> Unrecognised:
    """The shapes of ``text`` that look like citations or quotes and were read as neither.

    ``found`` is what was read in it, where that is known.
    """
    found = found or parse(text, grammar)
    read = sorted((citation.start, citation.end) for citation in found.citations)
    shapes: dict[str, int] = {}
    examples: dict[str, str] = {}
    ids: dict[str, list[str]] = {}
    taken: list[tuple[int, int]] = []
    for shape, sign, pattern in _SHAPES:
        for match in pattern.finditer(text) if sign in text else ():
            span = match.span()
            if _overlaps(span, read) or _overlaps(span, taken):
                continue
            if not re.search(r"\d", match["id"]) or (
                shape == "[…](target)" and not re.search(rf"(?:^|[#/:=]){_ID}$", match["id"])
            ):
                continue
            taken.append(span)
            shapes[shape] = shapes.get(shape, 0) + 1
            examples.setdefault(shape, match[0])
            ids.setdefault(shape, []).append(match["id"])
            if shape == "<tag id=…>":
                ids.setdefault("tag", []).append(match["tag"])
    for at in found.unpaired:
        shape = f"{text[at]} without its partner" if at < len(text) else ""
        shapes[shape] = shapes.get(shape, 0) + 1
        examples.setdefault(shape, text[at : at + 40])
    return Unrecognised(
        shapes, {shape: _line(shape, ids) for shape in ids if shape != "tag"}, examples
    )


def _overlaps(span: tuple[int, int], spans: list[tuple[int, int]]) -> bool:
    return any(start < span[1] and span[0] < end for start, end in spans)


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
