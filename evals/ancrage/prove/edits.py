"""Edits that change nothing that was said: none of them may raise a finding."""

import random
import re
import unicodedata
from collections.abc import Callable
from dataclasses import replace

from ancrage.prove.model import OTHER_SHAPES, Draft, Kind, harmless
from ancrage.prove.words import lexicon, swapped


def _marks(name: str, opening: str, closing: str) -> Kind:
    def plant(draft: Draft, chance: random.Random) -> Draft | None:
        if any(set(opening + closing) & set(unit.words) - {" "} for unit in draft.units):
            return None
        units = (replace(unit, marks=(opening, closing)) for unit in draft.units)
        return replace(draft, units=tuple(units))

    return Kind(f"marks_{name}", plant, (), f"Quotation marks {opening}…{closing}.")


def _whole(name: str, words: str, change: Callable[[str], str]) -> Kind:
    def plant(draft: Draft, chance: random.Random) -> Draft | None:
        return replace(draft, whole=change)

    return Kind(name, plant, (), words, needs_quotes=False)


def _words(name: str, words: str, change: Callable[[str], str]) -> Kind:
    """A change to the quoted words alone."""

    def plant(draft: Draft, chance: random.Random) -> Draft | None:
        units = tuple(replace(unit, words=change(unit.words)) for unit in draft.units)
        return None if units == draft.units else replace(draft, units=units)

    return Kind(name, plant, (), words)


def _cites(name: str, words: str, change: Callable[[str], str]) -> Kind:
    def plant(draft: Draft, chance: random.Random) -> Draft | None:
        units = tuple(
            replace(unit, cite=change(unit.cite) if unit.cite else None) for unit in draft.units
        )
        return None if units == draft.units else replace(draft, units=units)

    return Kind(name, plant, (), words)


def _nothing(draft: Draft, chance: random.Random) -> Draft | None:
    return draft


def _greeting(draft: Draft, chance: random.Random) -> Draft | None:
    words = lexicon(draft.language)
    return replace(draft, before=words["greeting"], after=words["sign_off"])


def _figures(draft: Draft, chance: random.Random) -> Draft | None:
    """Decimal commas as points, points as commas: ``17,3 %`` and ``17.3%``."""
    text = draft.own_words()
    found = list(re.finditer(r"(?<![\d.,])(\d{1,3})([.,])(\d\d?)(?=\s?%)", text))
    if not found:
        return None
    at = chance.choice(found)
    return draft.replaced(at.start(2), at.end(2), "," if at[2] == "." else ".")


@harmless
def last_sentence_left_out(draft: Draft, chance: random.Random) -> Draft | None:
    """A quote that ends at the end of an earlier sentence of the message."""
    for at, unit in enumerate(draft.units):
        found = list(re.finditer(r"[.!] (?=[A-ZÀ-Ý])", unit.words))
        if found and found[-1].start() > 30:
            return draft.with_unit(at, words=unit.words[: found[-1].start() + 1])
    return None


def _bracket(name: str, words: str, table: str) -> Kind:
    """A word in brackets in the place of another, after the first words of the quote."""

    def plant(draft: Draft, chance: random.Random) -> Draft | None:
        for at, unit in enumerate(draft.units):
            first, space, rest = unit.words.partition(" ")
            new = swapped(rest, table, draft.language, chance, marks="[]")
            if new and len(rest.split()) >= 6 and not set(unit.words) & set("[]…"):
                return draft.with_unit(at, words=first + space + new)
        return None

    return Kind(name, plant, (), words)


@harmless
def bracket_sic(draft: Draft, chance: random.Random) -> Draft | None:
    """A [sic] after a word."""
    parts = draft.units[0].words.split(" ")
    if len(parts) < 4:
        return None
    at = chance.randrange(1, len(parts))
    words = " ".join([*parts[:at], chance.choice(["[sic]", "[sic !]", "(sic)"]), *parts[at:]])
    return draft.with_unit(0, words=words)


@harmless
def bracket_capital(draft: Draft, chance: random.Random) -> Draft | None:
    """A capital, or a small letter, in brackets."""
    first = draft.units[0].words[:1]
    if not (first.isalpha() and draft.units[0].words[1:2].isalpha()):
        return None
    return draft.with_unit(0, words=f"[{first.swapcase()}]{draft.units[0].words[1:]}")


def _entities(text: str) -> str:
    for character, entity in (
        ("«", "&laquo;"),
        ("»", "&raquo;"),
        ("’", "&rsquo;"),
        ("é", "&eacute;"),
    ):
        text = text.replace(character, entity)
    return text.replace("\u00a0", "&nbsp;")


def _initial(words: str) -> str:
    if len(words) > 1 and words[0].isupper() and words[1].islower():
        return words[0].lower() + words[1:]
    return words


def _decomposed(words: str) -> str:
    return unicodedata.normalize("NFD", words)


def _full_stop(words: str) -> str:
    return words if words[-1] in ".!?…" else f"{words}."


def _no_hyphens(cite: str) -> str:
    return re.sub(r"(?<=[A-Z])-(?=\d)", "", cite)


def _message_first(cite: str) -> str:
    return re.sub(r"^\[([^,\]]+), ([^,\]]+)\]$", r"[\2, \1]", cite)


def _non_breaking(text: str) -> str:
    return text.replace("« ", "«\u00a0").replace(" »", "\u00a0»").replace(" !", "\u202f!")


HARMLESS: tuple[Kind, ...] = (
    Kind("nothing", _nothing, (), "The shape alone.", needs_quotes=False),
    Kind("greeting_and_sign_off", _greeting, (), "A greeting, a polite close.", needs_quotes=False),
    Kind("decimals", _figures, (), "A decimal comma as a point, or back.", OTHER_SHAPES, False),
    last_sentence_left_out,
    _bracket("bracket_clarifies", "A pronoun resolved in brackets.", "clarified"),
    _bracket("bracket_adapts", "Another person or tense in brackets.", "adapted"),
    _bracket("bracket_tense", "A verb in another tense in brackets.", "tense"),
    bracket_sic,
    bracket_capital,
    _marks("guillemets", "« ", " »"),
    _marks("guillemets_tight", "«", "»"),
    _marks("guillemets_nbsp", "«\u00a0", "\u00a0»"),
    _marks("curly", "“", "”"),
    _marks("straight", '"', '"'),
    _marks("german", "„", "“"),
    _marks("bold", "**« ", " »**"),
    _marks("italic", "*“", "”*"),
    _words("apostrophes", "Typographic apostrophes.", lambda words: words.replace("'", "’")),
    _words("straight_apostrophes", "Straight apostrophes.", lambda words: words.replace("’", "'")),
    _words("dots", "Three dots for an ellipsis.", lambda words: words.replace("…", "...")),
    _words("ellipsis", "An ellipsis for three dots.", lambda words: words.replace("...", "…")),
    _words("decomposed", "Accents as combining characters.", _decomposed),
    _words("wide_spaces", "Double spaces.", lambda words: words.replace(" ", "  ")),
    _words("initial_case", "A small initial.", _initial),
    _words("no_full_stop", "Without the final full stop.", lambda words: words.removesuffix(".")),
    _words("full_stop", "With a final full stop.", _full_stop),
    _cites("no_space", "No space in the bracket.", lambda cite: cite.replace(", ", ",")),
    _cites("no_hyphens", "Ids without their hyphen.", _no_hyphens),
    _cites("semicolon", "A semicolon between the ids.", lambda cite: cite.replace(", ", "; ")),
    _cites("message_first", "The message before the respondent.", _message_first),
    _cites("small_letters", "Ids in small letters.", str.lower),
    _whole("entities", "HTML entities.", _entities),
    _whole("crlf", "Line breaks of Windows.", lambda text: text.replace("\n", "\r\n")),
    _whole("non_breaking", "French spaces that do not break.", _non_breaking),
    _whole("stars", "Stars for bullets.", lambda text: re.sub(r"(?m)^- ", "* ", text)),
)  # fmt: skip
