"""Quotes that say something else than their message, and harmless cuts, made from real messages.

Made by token and by grammar of the message alone: nothing here reads the code under test.
"""

import random
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

_SENTENCE = re.compile(r"[^.!?\n]+[.!?]?")
_PLANTS = {
    "after a negated verb": (
        r"\b(?:do not|don't|does not|doesn't|did not|didn't|would not|wouldn't|will not|won't"
        r"|can not|cannot|can't|am not|is not|isn't|are not|aren't) (?:\w+ ){0,2}(?:that|to) |"
        r"\b(?:ne|n')\s?\w+ (?:pas|jamais|plus) (?:\w+ ){0,1}(?:que |qu'|de |à )"
    ),
    "after a hedge": r"\b(?:maybe|perhaps|probably|possibly|i guess|i suppose|peut-être que"
    r"|il est possible que|sans doute que) ",
    "after a quantity": r"\b(?:some|few|not all|most|only a few|certains|quelques|peu de"
    r"|la plupart des"
    r"|seuls quelques) (?=[a-zé])",
    "after a number's bound": r"(?:less than|more than|about|at least|up to|almost|moins de"
    r"|plus de|environ|au moins|jusqu'à|presque|près de) (?=\d)",
}
_CUTS = {
    "negation cut out": r" (?:not|never|pas|jamais|aucunement|guère) ",
    "hedge cut out": r" (?:maybe|perhaps|probably|possibly|peut-être|probablement|sometimes"
    r"|parfois|rarely|rarement) ",
}
_BEFORE = {
    "before a condition": r",? (?:if|unless|provided that|as long as|except|only if|si|sauf"
    r"|à condition|à moins|pourvu que|tant que) ",
}
_SWAPS = {
    "not": "really",
    "pas": "vraiment",
    "never": "often",
    "jamais": "souvent",
    "all": "few",
    "tous": "peu",
    "more": "less",
    "plus": "moins",
    "always": "rarely",
    "toujours": "rarement",
    "some": "all",
    "many": "no",
    "most": "few",
    "beaucoup": "peu",
    "two": "nine",
    "deux": "neuf",
    "three": "ten",
    "trois": "dix",
}
_TRIGGERS = re.compile(
    r"\b(?:not|no|never|none|nothing|nobody|without|hardly|cannot|\w+n['’]?t|if|unless|maybe|perhaps|might"
    r"|probably|possibly|only|some|few|most|all|less|more|about|almost|doubt|except|rather|instead|until"
    r"|pas|ne|n['’]\w+|jamais|rien|aucune?|sans|si|sauf|peut-être|probablement|seulement|plus|moins"
    r"|environ|ni|personne|guère|que|qu['’]\w+|contre|against|guess|suppose|sure|should|would|wish)\b",
    re.IGNORECASE,
)


class Made(NamedTuple):
    """A quote made from a message."""

    kind: str
    quote: str
    message: str


def sentences(message: str) -> Iterator[str]:
    for found in _SENTENCE.finditer(message):
        if len(found[0].split()) >= 5:
            yield found[0].strip()


def reversals(messages: Sequence[str], limit: int, seed: int) -> list[Made]:
    """At most ``limit`` quotes of each kind whose cut or bracket reverses or changes the sense."""
    rng = random.Random(seed)
    by_kind: dict[str, list[Made]] = {}
    for message in messages:
        for made in _reversals(message, rng):
            if len(made.quote.split()) >= 4 and made.quote[:1].isalnum() | (made.quote[:1] == "["):
                by_kind.setdefault(made.kind, []).append(made)
    return [
        made
        for kind in sorted(by_kind)
        for made in rng.sample(by_kind[kind], min(limit, len(by_kind[kind])))
    ]


def _reversals(message: str, rng: random.Random) -> Iterator[Made]:
    for sentence in sentences(message):
        for kind, pattern in _PLANTS.items():
            if found := re.search(pattern, sentence, re.IGNORECASE):
                rest = re.split(r"[,;:]", sentence[found.end() :])[0].strip(" .!?\"'")
                yield Made(kind, rest, message)
        for kind, pattern in _CUTS.items():
            if found := re.search(pattern, sentence, re.IGNORECASE):
                before, after = sentence[: found.start()], sentence[found.end() :]
                if len(before) >= 12 and len(after) >= 12:
                    yield Made(kind, f"{before} […] {after}".strip(" .!?"), message)
        for kind, pattern in _BEFORE.items():
            found = re.search(pattern, sentence, re.IGNORECASE)
            if found and not re.search(
                r"(?:as|even|même|comme|ask|know|see|wonder|sure)\Z", sentence[: found.start()]
            ):
                yield Made(kind, sentence[: found.start()].strip(), message)
        words = sentence.split()
        for at, word in enumerate(words[1:-1], start=1):
            swap = _SWAPS.get(word.lower())
            if (
                swap
                and rng.random() < 0.5
                and max(len(" ".join(words[:at])), len(" ".join(words[at + 1 :]))) >= 14
            ):
                quote = " ".join([*words[:at], f"[{swap}]", *words[at + 1 :]])
                yield Made("bracket that changes a word", quote.strip(" .!?"), message)
            if re.fullmatch(r"\d+", word) and len(" ".join(words[:at])) >= 14:
                other = f"[{int(word) * 2 + 1}]"
                quote = " ".join([*words[:at], other, *words[at + 1 :]])
                yield Made("bracket that changes a number", quote.strip(" .!?"), message)
            named = re.fullmatch(r"[A-Z][a-z]{3,}", word) and words[at - 1].islower()
            if named and len(" ".join(words[:at])) >= 14:
                quote = " ".join([*words[:at], "[Zanzibar]", *words[at + 1 :]])
                yield Made("bracket that changes a name", quote.strip(" .!?"), message)
        if sentence.endswith("?"):
            yield Made("question made a statement", sentence[:-1].strip() + ".", message)


def harmless(messages: Sequence[str], limit: int, seed: int) -> list[Made]:
    """At most ``limit`` cuts of each kind that leave the sense of the words they quote."""
    rng = random.Random(seed)
    by_kind: dict[str, list[Made]] = {}
    for message in messages:
        for made in _harmless(message):
            if len(made.quote.split()) >= 4:
                by_kind.setdefault(made.kind, []).append(made)
    return [
        made
        for kind in sorted(by_kind)
        for made in rng.sample(by_kind[kind], min(limit, len(by_kind[kind])))
    ]


def _harmless(message: str) -> Iterator[Made]:
    if len(message.split()) <= 60:
        yield Made("the whole message", message, message)
    held = list(sentences(message))
    for sentence in held:
        yield Made("a whole sentence", sentence, message)
        if sentence.endswith("."):
            yield Made("without its full stop", sentence[:-1], message)
        yield Made("initial in brackets", f"[{sentence[0].swapcase()}]{sentence[1:]}", message)
        # Two clauses joined by a conjunction: each stands alone, whatever the other says, unless
        # the sentence opens with a condition.
        found = re.search(r",? (?:but|because|and|mais|parce que|car) (?=\w)", sentence)
        if found and not sentence.endswith("?"):
            left, right = sentence[: found.start()], sentence[found.end() :].strip(" .!")
            if not re.match(r"(?:if|si|unless|when|even)\b", sentence, re.IGNORECASE):
                if not re.match(r"(?:not|only|pas|if|never|seulement|si)\b", right, re.IGNORECASE):
                    yield Made("the first of two clauses", left, message)
                if re.match(
                    r"(?:i|it|they|we|you|he|she|the|this|there|my|je|il|elle|on|nous|ils|le|la|les|c'est)\b",
                    right,
                    re.IGNORECASE,
                ):
                    yield Made("the second of two clauses", right, message)
        parts = sentence.split(", ")
        aside = len(parts) >= 3 and min(len(parts[0]), len(parts[2])) >= 14
        plain = aside and not _TRIGGERS.search(parts[1] + " " + parts[0].split()[0])
        if plain and not sentence.endswith("?"):
            cut = f"{parts[0]} […] {', '.join(parts[2:])}"
            yield Made("an aside cut out", cut.strip(" .!?"), message)
        words = sentence.split()
        if len(words) >= 8 and not _TRIGGERS.search(sentence) and not sentence.endswith("?"):
            yield Made(
                "the first words", " ".join(words[: len(words) // 2 + 1]).rstrip(",;:"), message
            )
            yield Made("the last words", " ".join(words[len(words) // 2 :]).strip(" .!"), message)
            middle = " ".join([*words[: len(words) // 2], "[…]", *words[len(words) // 2 + 2 :]])
            yield Made("words cut out", middle.strip(" .!"), message)
        if found := re.search(r"(?<=\w) (it|they|this|elle|il|ils) (?=\w)", sentence):
            quote = f"{sentence[: found.start()]} [the assistant] {sentence[found.end() :]}"
            if (
                len(sentence) - found.end() >= 14
                and found.start() >= 14
                and not sentence.endswith("?")
            ):
                yield Made("a pronoun explained", quote.strip(" .!"), message)
    if len(held) >= 3:
        yield Made("a sentence cut out", f"{held[0]} […] {held[2]}", message)
