"""Where a text may be cut without changing what its words say."""

import re
import unicodedata

from ancrage.quotes.normalise import INVISIBLE

_SPOKEN = re.compile(r"[^\W_]")
_JOINER = "\u200d"
_SPACES = " \u00a0\u202f\u2009"
_HYPHENS = "-‐‑–"
_INCLUSIVE = "·•‧⋅"
"""Points inside one word: ``ami·e·s``."""
_ENDING = re.compile(r"\([A-Za-zÀ-ÿ]{1,4}\)(?!\s*\()")
_PER = ("%", "‰")
_GROUP_BEFORE = re.compile(r"(?<!\d)\d{1,3}\Z")
_GROUP_AFTER = re.compile(r"\d{3}(?!\d)")
# Scripts written without spaces between words: any place is a fair cut.
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]"
)


def has_content(text: str) -> bool:
    """Whether ``text`` says anything: a letter, a digit, a symbol such as an emoji."""
    return _SPOKEN.search(text) is not None or any(
        unicodedata.category(character).startswith("S") for character in text
    )


def cuts_word(text: str, at: int) -> bool:
    """Whether a cut before ``text[at]`` falls inside a word, a number or a character.

    ``content`` must not be quoted out of ``mécontent``, ``payé`` out of ``non-payé``, ``12`` out
    of ``12,5`` or ``112``, ``5`` out of ``−5`` or ``5 %``, ``can`` out of ``can't``, ``10`` out of
    ``10²`` or ``10+``.
    """
    if at <= 0 or at >= len(text):
        return False
    before, after = text[at - 1], text[at]
    if (before == " " and after.isalpha()) or (after == " " and before.isalpha()):
        return False  # what nearly every cut is
    left, right = at, at
    while left > 0 and text[left - 1] in INVISIBLE:
        left -= 1
    while right < len(text) and text[right] in INVISIBLE:
        right += 1
    if left == 0 or right == len(text):
        return False
    before, after = text[left - 1], text[right]
    if before.isalnum():
        if after.isalnum():
            return not (_UNSPACED.match(before) or _UNSPACED.match(after))
        return _continues(text, left, right)
    if before in _INCLUSIVE and after.isalpha() and text[max(0, left - 2) : left - 1].isalpha():
        return True
    if before in _HYPHENS and after.isalnum() and text[max(0, left - 2) : left - 1].isalnum():
        return True
    if after.isdecimal():
        return _begins_earlier(text, left, right)
    return (
        (after == "=" and before in "<>!=")
        or unicodedata.category(after).startswith("M")
        or "\U0001f3fb" <= after <= "\U0001f3ff"
        or _halves_a_flag(text, left, right)
        or _JOINER in text[left:right]
    )


def _continues(text: str, left: int, right: int) -> bool:
    """Whether the word or number that ends at ``left`` goes on at ``right``, a non-letter."""
    before, after, beyond = text[left - 1], text[right], text[right + 1 : right + 2]
    if after in _INCLUSIVE and before.isalpha():
        return beyond.isalpha()
    if after == "(" and before.isalpha():
        return _ENDING.match(text, right) is not None
    if after in "'’":
        return before in "nN" and beyond in ("t", "T")
    if after in _HYPHENS:
        return beyond.isalnum()
    if before.isdecimal():
        if after in ".,:/⁄":
            return beyond.isdecimal()
        if after in _SPACES:
            return beyond in _PER or _groups(text, left, right + 1)
        if after in _PER:
            return True
    if after == "+":
        return not beyond.isalnum()
    return after in "^⁺⁻" or unicodedata.category(after).startswith("M")


def _halves_a_flag(text: str, left: int, right: int) -> bool:
    """Whether a cut parts the two letters of one flag: an odd number of them stands before it."""
    if not (_is_flag_letter(text[left - 1]) and _is_flag_letter(text[right])):
        return False
    start = left
    while start > 0 and left - start < 64 and _is_flag_letter(text[start - 1]):
        start -= 1
    return (left - start) % 2 == 1


def _is_flag_letter(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"


def _begins_earlier(text: str, left: int, right: int) -> bool:
    """Whether the number that starts at ``right`` goes on before ``left``, after a non-letter."""
    before, beyond = text[left - 1], text[max(0, left - 2) : left - 1]
    if before in ".,:/⁄":
        return beyond.isdecimal()
    if before in _SPACES:
        return _groups(text, left - 1, right)
    return before == "^" or (before in "-−–+±" and not beyond.isalnum() and beyond != ")")


def _groups(text: str, end: int, start: int) -> bool:
    """Whether ``1`` before ``end`` and ``234`` from ``start`` are groups of one number."""
    return (
        _GROUP_BEFORE.search(text, max(0, end - 4), end) is not None
        and _GROUP_AFTER.match(text, start) is not None
    )


def find_whole(needle: str, text: str, start: int = 0) -> int:
    """The first place from ``start`` where ``needle`` stands without being cut out, or -1; nothing
    stands nowhere."""
    at = text.find(needle, start) if needle else -1
    while at >= 0 and (cuts_word(text, at) or cuts_word(text, at + len(needle))):
        at = text.find(needle, at + 1)
    return at
