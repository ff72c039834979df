"""Seeded edits that change what a quote says, and variants of its typography that do not."""

import json
import random
import re
import unicodedata
from collections.abc import Callable, Iterator
from pathlib import Path

DATA = Path(__file__).parent / "data"
Generated = tuple[str, str, str]
"""Kind, the quote made, the message it was made from."""


def messages() -> list[str]:
    """Messages as respondents write them, in French and in English."""
    return [entry["text"] for entry in _lines("messages.jsonl")] + [
        row[language] for row in parallel() for language in ("fr", "en")
    ]


def parallel() -> list[dict[str, str]]:
    """The same sentences in French, English, German and Spanish."""
    return _lines("parallel.jsonl")


def _lines(name: str) -> list[dict[str, str]]:
    return [json.loads(line) for line in (DATA / name).read_text("utf-8").splitlines()]


def _window(text: str, rng: random.Random) -> str:
    """All of ``text`` or a run of its words, five at least; a number keeps its per cent sign."""
    text = text.strip()
    words = re.split(r"(?<=\S)(?=\s)(?!(?<=\d)\s(?:\d{3}\b|[%‰]))", text)
    if len(words) < 8 or rng.random() < 0.3:
        return text
    length = rng.randint(5, min(len(words), 25))
    start = rng.randint(0, len(words) - length)
    return "".join(words[start : start + length]).strip()


# --- Edits that change the sense -------------------------------------------------------------

Editor = Callable[[str, random.Random], str | None]

_NAMES = re.compile(
    r"\b(Karim|Nadia|Lyon|Marc|Mark|Toulouse|Lefèvre|Hugo|Axel|Alex|Sofia|SNCF|Marseille|Julie|"
    r"Nantes|Dublin|Leeds|Boston|Whitfield|Reading|Bristol|Paul)\b"
)
_OTHER_NAMES = ("Olivier", "Claire", "Denver", "Rennes", "Okonkwo", "Müller", "Karin", "Maria")
_DENIAL = re.compile(r" (?:pas|jamais|not|never|plus|rien|aucune?|no|nobody|personne)(?= \w)")
_ELIDED_DENIAL = re.compile(r"(?<=\w)n['’]t\b| n(?:['’]|e )(?=\w)")
_HIDDEN_DENIAL = re.compile(
    r"\b(?:est|était|sont|is|was|were|are|did|does|a été|ai|has|have) (?=\w)"
)
_EXPONENT = re.compile(r"(?<=\w)[²³½]")
_OPERATOR = re.compile(r"[≥−](?= ?\d)|(?<=\d)[ \u00a0]?[%€](?= \w)")


def _digit(quote: str, rng: random.Random) -> str | None:
    places = [i for i, character in enumerate(quote) if character.isdecimal()]
    if not places:
        return None
    i = rng.choice(places)
    other = rng.choice([digit for digit in "0123456789" if digit != quote[i]])
    return rng.choice(
        (
            quote[:i] + other + quote[i + 1 :],
            quote[:i] + quote[i + 1 :] if quote[i - 1 : i].isdecimal() else quote[:i] + other,
            quote[: i + 1] + other + quote[i + 1 :],
        )
    )


def _number_mark(quote: str, rng: random.Random) -> str | None:
    """Another or no decimal mark inside a number."""
    places = [found.start() for found in re.finditer(r"(?<=\d)[.,:/](?=\d)", quote)]
    if not places:
        return None
    i = rng.choice(places)
    new = rng.choice([mark for mark in ("", ".", ",", "-") if mark != quote[i]])
    return quote[:i] + new + quote[i + 1 :]


def _sub(pattern: re.Pattern[str], new: Callable[[str, random.Random], str]) -> Editor:
    def edit(quote: str, rng: random.Random) -> str | None:
        places = list(pattern.finditer(quote))
        if not places:
            return None
        found = rng.choice(places)
        return quote[: found.start()] + new(found[0], rng) + quote[found.end() :]

    return edit


def _insert_denial(found: str, rng: random.Random) -> str:
    french = found.strip() in {"est", "était", "sont", "a été", "ai"}
    return found + (rng.choice(("pas ", "jamais ")) if french else rng.choice(("not ", "never ")))


def _drop_word(quote: str, rng: random.Random) -> str | None:
    words = quote.split(" ")
    inner = [i for i in range(1, len(words) - 1) if len(words[i]) > 3]
    if len(words) < 4 or not inner:
        return None
    i = rng.choice(inner)
    return " ".join(words[:i] + words[i + 1 :])


def _cut_word(quote: str, rng: random.Random) -> str | None:
    """The first word without its beginning: ``mécontent`` becomes ``content``."""
    first = re.match(r"[A-Za-zÀ-ÿ]{5,}", quote)
    return quote[rng.randint(1, first.end() - 2) :] if first else None


def _editors() -> dict[str, Editor]:
    return {
        "digit": _digit,
        "number mark": _number_mark,
        "negation removed": _sub(_DENIAL, lambda _, __: ""),
        "negation clipped": _sub(_ELIDED_DENIAL, lambda found, _: " " if found[0] == " " else ""),
        "negation added": _sub(_HIDDEN_DENIAL, _insert_denial),
        "exponent": _sub(
            _EXPONENT,
            lambda found, rng: rng.choice(
                [new for new in ("2", "", "³", "^2", "3", "1⁄2") if new != found]
            ),
        ),
        "operator": _sub(
            _OPERATOR,
            lambda found, rng: rng.choice(
                ("", "≤", "+") if found in "≥−" else ("", " ¥", " ‰", " points")
            ),
        ),
        "name": _sub(_NAMES, lambda _, rng: rng.choice(_OTHER_NAMES)),
        "word dropped": _drop_word,
        "word cut": _cut_word,
    }


def _stitched(source: str, others: list[str], rng: random.Random) -> str | None:
    """Words of ``source`` that run on, unmarked, into another message or a far part of it."""
    words = source.split()
    if len(words) < 12 or rng.random() < 0.5:
        tail = rng.choice(others).split()[-rng.randint(3, 6) :]
        quote = " ".join([*words[: rng.randint(3, 6)], *tail])
    else:
        quote = " ".join([*words[: rng.randint(3, 5)], *words[-rng.randint(3, 5) :]])
    return None if "…" in quote or "..." in quote else quote


def _elided_wrongly(source: str, others: list[str], rng: random.Random) -> str | None:
    """A marked cut between words of two messages, or of one message in the wrong order."""
    words = source.split()
    if len(words) < 16:
        return None
    half = len(words) // 2
    head, tail = " ".join(words[:half]), " ".join(words[half:])
    if rng.random() < 0.5:
        return f"{tail} […] {head}"
    other = rng.choice([text for text in others if text != source])
    return f"{head} […] {' '.join(other.split()[-6:])}"


def _plain(text: str) -> str:
    return " ".join(re.sub(r"[^\w\s'’-]+(?=\s|$)", "", text).split())


def _stands(quote: str, source: str) -> bool:
    """Whether the words of ``quote`` happen to follow each other in ``source`` all the same."""
    return f" {_plain(quote)} " in f" {_plain(source)} "


def edits(sources: list[str], count: int, seed: int) -> Iterator[Generated]:
    """``count`` quotes that do not say what their message says, of each kind in turn."""
    rng = random.Random(seed)
    makers: dict[str, Callable[[str], str | None]] = {
        "stitched": lambda source: _stitched(source, sources, rng),
        "elided wrongly": lambda source: _elided_wrongly(source, sources, rng),
    }
    for kind, editor in _editors().items():
        makers[kind] = lambda source, editor=editor: editor(_window(source, rng), rng)  # type: ignore[misc]
    made = 0
    while made < count:
        for kind, make in makers.items():
            for _ in range(40):
                source = rng.choice(sources)
                quote = make(source)
                if quote and len(quote) > 3 and not _stands(quote, source):
                    yield kind, quote, source
                    made += 1
                    break


# --- Variants of typography ------------------------------------------------------------------

_SPACES = "\u00a0\u202f\u2009\u2007\t\n"


def _swap(characters: str, news: str) -> Callable[[str, random.Random], str]:
    def variant(quote: str, rng: random.Random) -> str:
        new = rng.choice(news)
        return "".join(new if character in characters else character for character in quote)

    return variant


def _spaces(quote: str, rng: random.Random) -> str:
    return "".join(rng.choice(_SPACES) if c == " " and rng.random() < 0.4 else c for c in quote)


def _wide_spaces(quote: str, rng: random.Random) -> str:
    return quote.replace(" ", rng.choice(("  ", " \u00a0", "\r\n")))


def _high_punctuation(quote: str, rng: random.Random) -> str:
    new = rng.choice(("", " ", "\u00a0", "\u202f"))
    return re.sub(r"(?<=[^\W_])\s*([!?;]|:(?=\s))", rf"{new}\1", quote)


def _hidden(quote: str, rng: random.Random) -> str:
    i = rng.choice([found.start() for found in re.finditer(r"(?<!\*)\b(?!\*)", quote)] or [0])
    return quote[:i] + rng.choice("\u00ad\u200b\u2060\ufeff\u200f\u200e") + quote[i:]


def _quotation_marks(quote: str, rng: random.Random) -> str:
    opening, closing = rng.choice((("“", "”"), ("«\u00a0", "\u00a0»"), ('"', '"'), ("„", "“")))
    quote = re.sub(r"«\s*|“|(?<![\w\d])\"(?=\w)", opening, quote)
    return re.sub(r"\s*»|”|(?<=[^\W\d])\"(?!\w)", closing, quote)


def _initial(quote: str, rng: random.Random) -> str:
    other = quote[0].swapcase()
    return other + quote[1:] if len(other) == 1 else quote


def _final(quote: str, rng: random.Random) -> str:
    return quote.rstrip(" .!?…,;:") + rng.choice((".", "", "…", "...", " !", ","))


def _dashes(quote: str, rng: random.Random) -> str:
    spaced = rng.choice((" – ", " — ", " - ", "—", "\u00a0– "))
    return re.sub(r" [—–-] |(?<=\w)—(?=\w)", spaced, quote)


def _emphasis(quote: str, rng: random.Random) -> str:
    mark = rng.choice(("*", "**", "_"))
    words = quote.split(" ")
    i = rng.randrange(len(words))
    if not re.fullmatch(r"[^\W\d_]+", words[i]):
        return f"{mark}{quote}{mark}"
    return " ".join([*words[:i], f"{mark}{words[i]}{mark}", *words[i + 1 :]])


def _elision(quote: str, rng: random.Random) -> str:
    """A marked cut of a few words in the middle, both sides long enough."""
    words = quote.split(" ")
    if len(words) < 14 or "…" in quote or "..." in quote:
        return quote
    third = len(words) // 3
    head, tail = " ".join(words[:third]), " ".join(words[-third:])
    mark = rng.choice(("[…]", "(…)", "…", "[...]", "(...)", "[… ]"))
    return f"{head} {mark} {tail}" if min(len(head), len(tail)) > 20 else quote


_VARIANTS: dict[str, Callable[[str, random.Random], str]] = {
    "apostrophe": _swap("'’", "'’ʼ‘"),
    "hyphen": _swap("-\u2011", "-\u2010\u2011"),
    "minus": lambda quote, _: quote.replace("−", "-"),
    "comparison": lambda quote, _: quote.replace("≥", ">="),
    "spaces": _spaces,
    "wide spaces": _wide_spaces,
    "high punctuation": _high_punctuation,
    "hidden character": _hidden,
    "quotation marks": _quotation_marks,
    "ellipsis": lambda quote, _: (
        quote.replace("...", "…") if "..." in quote else quote.replace("…", "...")
    ),
    "dashes": _dashes,
    "decomposed": lambda quote, _: unicodedata.normalize("NFD", quote),
    "ligature": lambda quote, _: quote.replace("œ", "oe").replace("fi", "ﬁ"),
    "thousands": lambda quote, rng: re.sub(
        r"(?<=\d) (?=\d{3}\b)", lambda _: rng.choice(("", "\u00a0", "\u202f")), quote
    ),
    "initial case": _initial,
    "final punctuation": _final,
    "elision": _elision,
    "emphasis": _emphasis,
}


def variants(sources: list[str], count: int, seed: int) -> Iterator[Generated]:
    """``count`` quotes, each in another typography than its message, one to three changes each."""
    rng = random.Random(seed)
    made = 0
    while made < count:
        source = rng.choice(sources)
        original = quote = _window(source, rng)
        kinds = sorted(rng.sample([*_VARIANTS], rng.randint(1, 3)), key=[*_VARIANTS].index)
        for kind in kinds:
            quote = _VARIANTS[kind](quote, rng)
        if quote != original:
            yield "+".join(kinds), quote, source
            made += 1
