"""Faults of quotes: words that the respondent did not write, and cuts that turn what they meant."""

import random
import re
from collections.abc import Callable
from itertools import pairwise

from ancrage.prove.model import Draft, Kind, fault
from ancrage.prove.words import LANGUAGES, lexicon, swapped

Edit = Callable[[str, str, random.Random], str | None]
"""Other words for the words of a quote in a language; None where it does not apply."""
SHORTEST = 4
"""Words that a quote must have to be cut or rewritten."""


def _altered(name: str, words: str, edit: Edit) -> Kind:
    def plant(draft: Draft, chance: random.Random) -> Draft | None:
        places = list(range(len(draft.units)))
        chance.shuffle(places)
        for at in places:
            unit = draft.units[at]
            new = edit(unit.words, draft.language, chance)
            if new and new != unit.words and not _stands(new, draft, at):
                return draft.with_unit(at, words=new)
        return None

    return Kind(f"altered_{name}", plant, ("non_verbatim_quote", "distorted_quote"), words)


def _stands(words: str, draft: Draft, at: int) -> bool:
    said = words.rstrip(" .!?…").casefold()
    return said in draft.message_text(draft.units[at]).casefold()


def _table(name: str) -> Edit:
    def edit(words: str, language: str, chance: random.Random) -> str | None:
        return swapped(words, name, language, chance)

    return edit


def _digit(words: str, language: str, chance: random.Random) -> str | None:
    places = [at for at, character in enumerate(words) if character.isdigit()]
    if not places:
        return None
    at = chance.choice(places)
    return words[:at] + str((int(words[at]) + chance.randrange(1, 9)) % 10) + words[at + 1 :]


def _sign(words: str, language: str, chance: random.Random) -> str | None:
    found = re.search(r"(?<![\w.,−-])\d", words)
    return words[: found.start()] + "-" + words[found.start() :] if found else None


def _negation(words: str, language: str, chance: random.Random) -> str | None:
    pairs: list[tuple[str, str]] = lexicon(language)["negations"]
    for old, new in pairs:
        if old in words:
            return words.replace(old, new, 1)
    return None


def _name(words: str, language: str, chance: random.Random) -> str | None:
    found = re.search(r"(?<=[a-z,] )[A-Z][a-zà-ÿ]{2,}", words)
    if not found:
        return None
    names: list[str] = lexicon(language)["names"]
    other = chance.choice([name for name in names if name != found.group()])
    return words[: found.start()] + other + words[found.end() :]


def _dropped_word(words: str, language: str, chance: random.Random) -> str | None:
    parts = words.split(" ")
    if len(parts) < SHORTEST + 1:
        return None
    at = chance.randrange(1, len(parts) - 1)
    return " ".join(parts[:at] + parts[at + 1 :])


def _swapped_words(words: str, language: str, chance: random.Random) -> str | None:
    parts = words.split(" ")
    differing = (
        first and second and first.casefold() != second.casefold()
        for first, second in pairwise(parts)
    )
    places = [at for at, differs in enumerate(differing) if differs and at]
    if len(parts) < SHORTEST + 1 or not places:
        return None
    at = chance.choice(places)
    parts[at], parts[at + 1] = parts[at + 1], parts[at]
    return " ".join(parts)


def _paraphrased(words: str, language: str, chance: random.Random) -> str | None:
    """Halves in the other order, with a synonym where there is one."""
    parts = words.rstrip(".!?… ").split(" ")
    if len(parts) < 6 or set(words) & set('«»“”„"'):
        return None
    middle = len(parts) // 2
    turned = " ".join([*parts[middle:], *parts[:middle]])
    return swapped(turned, "synonym", language, chance) or turned


ALTERED = (
    _altered("digit", "One digit is another.", _digit),
    _altered("number_word", "A number in words is another.", _table("number_word")),
    _altered("unit", "A unit or currency is another.", _table("unit")),
    _altered("sign", "A minus before a number.", _sign),
    _altered("negation", "A negation added or taken away.", _negation),
    _altered("name", "A name is another.", _name),
    _altered("hedge", "A hedge or frequency is another.", _table("hedge")),
    _altered("tense", "A verb in another tense.", _table("tense")),
    _altered("synonym", "A word replaced by a synonym.", _table("synonym")),
    _altered("dropped_word", "A word left out without a mark.", _dropped_word),
    _altered("swapped_words", "Two words in the other order.", _swapped_words),
    _altered("paraphrase", "The sentence said otherwise.", _paraphrased),
)
"""The words of the respondent, changed."""


@fault("non_verbatim_quote")
def foreign(draft: Draft, chance: random.Random) -> Draft | None:
    """Words in another language, as a translation would stand there."""
    at = chance.randrange(len(draft.units))
    others = [
        message.text
        for message in draft.source.study.messages
        if message.language not in (None, draft.language)
        and message.id != draft.units[at].message
        and 4 <= len(message.text.split()) <= 40
    ]
    return draft.with_unit(at, words=chance.choice(others).replace("\n", " ")) if others else None


@fault("non_verbatim_quote")
def stitched(draft: Draft, chance: random.Random) -> Draft | None:
    """The beginning of one message joined to the end of another."""
    at = chance.randrange(len(draft.units))
    start = draft.units[at].words.split(" ")
    others = [
        message.text.replace("\n", " ").split(" ")
        for message in draft.source.study.messages
        if message.id != draft.units[at].message and len(message.text.split()) >= SHORTEST
    ]
    if len(start) < SHORTEST or not others:
        return None
    end = chance.choice(others)
    words = " ".join([*start[: len(start) // 2 + 1], *end[len(end) // 2 :]])
    return None if _stands(words, draft, at) else draft.with_unit(at, words=words)


_CONCEDES = r"(?<!even )(?<!même )"
"""Who says « even if » concedes and conditions nothing."""


@fault("distorted_quote", "non_verbatim_quote")
def cut_that_turns(draft: Draft, chance: random.Random) -> Draft | None:
    """A quote that begins after the words which deny, doubt or condition it."""
    for at, unit in enumerate(draft.units):
        text = draft.message_text(unit)
        for denial in lexicon(draft.language)["denials"]:
            found = re.search(rf"(?<!\w){_CONCEDES}{re.escape(denial)}", text, re.IGNORECASE)
            if not found:
                continue
            rest = re.split(r"[.!?;\n]", text[found.end() :])[0].strip()
            if len(rest.split()) >= SHORTEST:
                return draft.with_unit(at, words=rest)
    return None


@fault("distorted_quote", "non_verbatim_quote")
def negation_cut_out(draft: Draft, chance: random.Random) -> Draft | None:
    """A marked cut that leaves the negation out."""
    for at, unit in enumerate(draft.units):
        found = re.search(
            r" (pas|not|jamais|never|n[o’']t) (?!only|seulement)(?=\w+ \w+)", unit.words
        )
        if found and found.start() > 12 and len(unit.words) - found.end() > 12:
            new = f"{unit.words[: found.start()]} […] {unit.words[found.end() :]}"
            return draft.with_unit(at, words=new)
    return None


@fault("distorted_quote", "non_verbatim_quote")
def bracket_that_turns(draft: Draft, chance: random.Random) -> Draft | None:
    """A word replaced, in brackets, by its opposite."""
    for at, unit in enumerate(draft.units):
        if len(unit.words.split()) < 6:
            continue
        for old, new in lexicon(draft.language)["opposite"]:
            found = re.search(rf"(?<= ){re.escape(old)}(?= )", unit.words)
            if found:
                words = f"{unit.words[: found.start()]}[{new}]{unit.words[found.end() :]}"
                return draft.with_unit(at, words=words)
    return None


@fault("distorted_quote", "non_verbatim_quote")
def bracket_of_other_words(draft: Draft, chance: random.Random) -> Draft | None:
    """A word of six letters or more that points to nothing, replaced in brackets by any other."""
    general = {word for language in LANGUAGES for word in lexicon(language)["general"]}

    def long(text: str) -> list[re.Match[str]]:
        found = re.finditer(r"(?<= )[a-zà-ÿ]{6,}(?= )", text)
        return [word for word in found if word.group() not in general]

    new_words = [word.group() for word in long(chance.choice(draft.source.study.messages).text)]
    for at, unit in enumerate(draft.units):
        found = long(unit.words)
        if len(unit.words.split()) < 6 or not (found and new_words):
            continue
        old, new = chance.choice(found), chance.choice(new_words)
        if new[:4] != old.group()[:4]:
            words = f"{unit.words[: old.start()]}[{new}]{unit.words[old.end() :]}"
            return draft.with_unit(at, words=words)
    return None


@fault("distorted_quote", "non_verbatim_quote")
def question_made_statement(draft: Draft, chance: random.Random) -> Draft | None:
    """A question of the respondent's, quoted as a statement."""
    for at, unit in enumerate(draft.units):
        text = draft.message_text(unit)
        for found in re.finditer(r"(?:^|(?<=[.!?] ))([^.!?\n]{15,120}?)\s*\?", text):
            return draft.with_unit(at, words=found.group(1).strip() + ".")
    return None


FAULTS: tuple[Kind, ...] = (
    *ALTERED,
    foreign,
    stitched,
    cut_that_turns,
    negation_cut_out,
    bracket_that_turns,
    bracket_of_other_words,
    question_made_statement,
)
