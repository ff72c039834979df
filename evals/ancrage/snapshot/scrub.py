"""Find what identifies a person in free text: addresses, telephone and account numbers, names.

Every pattern is bounded, so that its time is linear in the text. What is found is a function
of the passage alone, never of its place: a quote and the message it copies are treated alike.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

_GAP = r"[ \u00a0\u202f.\-\u2010\u2011]?"
_BLANK = r"[ \u00a0\u202f]?"
_START = re.compile(r"(?<![^\W_])\S")
"""Where a listed term can begin: not inside a word or a number."""


class Found(NamedTuple):
    """A passage to replace; passages with equal ``kind`` and ``key`` mean the same thing."""

    start: int
    end: int
    kind: str
    key: str


class Terms:
    """A list of terms, found in one pass however many there are; case is ignored."""

    def __init__(self, terms: Iterable[str]) -> None:
        self._terms = {term.lower(): term for term in terms if term.strip()}
        self._lengths = sorted({len(term) for term in self._terms.values()}, reverse=True)

    def find(self, text: str) -> Iterator[tuple[int, int, str]]:
        """Start, end and the listed term of each occurrence that is a whole word or words."""
        if not self._terms:
            return
        for match in _START.finditer(text):
            start = match.start()
            for length in self._lengths:
                end = start + length
                term = self._terms.get(text[start:end].lower())
                if term is not None and (end >= len(text) or not text[end].isalnum()):
                    yield start, end, term
                    break


def find_personal(text: str, names: Terms) -> Iterator[Found]:
    """E-mail and web addresses, telephone, bank, card and social security numbers, names."""
    for kind, pattern, key_of in _KINDS:
        for match in pattern.finditer(text):
            key = key_of(match.group())
            if key is not None:
                yield Found(match.start(), match.end(), kind, key)
    for start, end, name in names.find(text):
        yield Found(start, end, "name", name.lower())


def _alphanumerics(found: str) -> str:
    return "".join(filter(str.isalnum, found)).upper()


def _email(found: str) -> str:
    return found.lower()


def _url(found: str) -> str | None:
    """Only addresses that can carry a secret: credentials, a query, a fragment, a long code."""
    _, _, rest = found.partition("//")
    secretive = "@" in rest or "?" in rest or "#" in rest
    long_code = any(len(part) >= 20 and any(map(str.isdigit, part)) for part in rest.split("/")[1:])
    return found if secretive or long_code else None


def _phone(found: str) -> str:
    digits = _alphanumerics(found.replace("(0)", ""))
    if found.startswith("+"):
        digits = "00" + digits
    return "0" + digits[4:] if digits.startswith("0033") else digits


def _iban(found: str) -> str | None:
    """ISO 13616: the rearranged number is 1 modulo 97."""
    number = _alphanumerics(found)
    valid = int("".join(str(int(char, 36)) for char in number[4:] + number[:4])) % 97 == 1
    return number if valid else None


def _card(found: str) -> str | None:
    """ISO/IEC 7812: the Luhn sum is a multiple of 10."""
    number = _alphanumerics(found)
    doubled = [int(digit) * (2 if rank % 2 else 1) for rank, digit in enumerate(reversed(number))]
    valid = sum(digit - 9 if digit > 9 else digit for digit in doubled) % 10 == 0
    return number if valid else None


def _nir(found: str) -> str | None:
    """The French social security number; its key, when written, is 97 less the rest by 97."""
    number = _alphanumerics(found)
    body = number[:13].replace("2A", "19").replace("2B", "18")
    valid = len(number) == 13 or int(number[13:]) == 97 - int(body) % 97
    return number[:13] if valid else None


_KINDS: tuple[tuple[str, re.Pattern[str], Callable[[str], str | None]], ...] = (
    (
        "url",
        re.compile(r"(?<!\w)https?://[^\s<>«»“”\"'\[\]]{1,2000}(?<![.,;:!?)’…])", re.IGNORECASE),
        _url,
    ),
    (
        "email",
        re.compile(r"(?<![\w.+\-])[\w.+\-]{1,64}@[\w\-]{1,63}(?:\.[\w\-]{1,63}){1,8}"),
        _email,
    ),
    (
        "iban",
        re.compile(
            rf"(?<!\w)[A-Z]{{2}}[0-9]{{2}}(?:{_BLANK}[A-Z0-9]{{4}}){{2,7}}"
            rf"(?:{_BLANK}[A-Z0-9]{{1,3}})?(?!\w)"
        ),
        _iban,
    ),
    (
        "nir",
        re.compile(
            rf"(?<!\w)[12]{_GAP}[0-9]{{2}}{_GAP}(?:0[1-9]|1[0-2]|[2-9][0-9]){_GAP}"
            rf"(?:[0-9]{{2}}|2[AB]){_GAP}[0-9]{{3}}{_GAP}[0-9]{{3}}(?:{_GAP}[0-9]{{2}})?(?!\w)"
        ),
        _nir,
    ),
    ("card", re.compile(rf"(?<!\w)[0-9](?:{_GAP}[0-9]){{12,18}}(?!\w)"), _card),
    (
        "phone",
        re.compile(rf"(?<![\w+])(?:(?:\+|00)33{_GAP}(?:\(0\){_GAP})?|0)[1-9](?:{_GAP}[0-9]{{2}}){{4}}(?!\w)"),
        _phone,
    ),
    (
        "phone",
        re.compile(rf"(?<![\w+])(?:\+|00)[1-9](?:{_GAP}[(]?[0-9][)]?){{8,14}}(?!\w)"),
        _phone,
    ),
    (
        "phone",
        re.compile(
            r"(?<![\w+])(?:\([2-9][0-9]{2}\) ?|[2-9][0-9]{2}[.\-])[0-9]{3}[.\-][0-9]{4}(?!\w)"
        ),
        _phone,
    ),
)  # fmt: skip
