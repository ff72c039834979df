"""An answer with its markup made plain, character for character, so that offsets stand.

Entities, tags, backslash escapes and ASCII imitations of quotation marks become the character
that a reader sees, padded with characters of no width to the length of what was written.
"""

import re
from html import unescape

PAD = "\u2060"
BLANK = " \t\r\n\u00a0\u202f\u2007\u2009\u200b\ufeff" + PAD
"""What separates and does not show."""
_FOLD = {chr(wide): chr(wide - 0xFEE0) for wide in range(0xFF01, 0xFF5F)}
_FOLD |= dict.fromkeys("‐‑‒–—―−﹣", "-") | {"、": ","}
_FOLD |= dict.fromkeys("\u00a0\u202f\u2007\u2009\u200b\ufeff" + PAD, " ")
_FOLDED = re.compile("[" + "".join(_FOLD) + "]")

_ENTITY = r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,30});"
TAG = r"<(?P<close>/?)(?P<tag>[A-Za-z][A-Za-z0-9-]{0,20})(?P<attributes>(?:\s[^<>]{0,400})?)/?>"
_MARKUP = re.compile(
    rf"(?P<entity>{_ENTITY})|{TAG}|(?P<escape>\\(?=[!-/:-@\[-`{{-~]))|(?P<open><<(?=[^<\n]{{1,2000}}>>))"
    r"|(?P<shut>(?<=[^>\n])>>)|(?P<ticks>``(?=[^`\n]{1,2000}''))|(?P<double>(?<=[^'\n])'')"
)
_INLINE = frozenset(
    {"a", "abbr", "b", "cite", "citation", "code", "del", "em", "font", "i", "ins", "mark"}
    | {"q", "quote", "ref", "reference", "s", "small", "source", "span", "strong", "sub", "sup"}
    | {"tt", "u", "verbatim"}
)
_QUOTING = frozenset({"q", "blockquote", "quote", "verbatim", "citation", "cite"})


def fold(text: str) -> str:
    """``text`` with full-width characters, dashes and spaces made plain, offsets unchanged."""
    return _FOLDED.sub(lambda found: _FOLD[found[0]], text)


def surface(text: str) -> str:
    """``text`` as a reader sees it, of the same length."""
    if not any(sign in text for sign in ("&", "<", "\\", "``")):
        return text
    opened = {"<<": 0, "``": 0}

    def seen(found: re.Match[str]) -> str:
        written = found[0]
        if found["entity"]:
            plain = unescape(written)
            return plain + PAD * (len(written) - len(plain)) if len(plain) == 1 else written
        if found["tag"]:
            inline = found["tag"].lower() in _INLINE
            return (PAD if inline else " ") + PAD * (len(written) - 1)
        if found["open"] or found["ticks"]:
            opened[written] += 1
            return ("«" if found["open"] else "“") + PAD
        if found["shut"] and opened["<<"]:
            opened["<<"] -= 1
            return PAD + "»"
        if found["double"] and opened["``"]:
            opened["``"] -= 1
            return PAD + "”"
        return PAD if found["escape"] else written

    return _MARKUP.sub(seen, text)


def quoting(tag: str) -> bool:
    """Whether an element of this name holds somebody's words."""
    return tag.lower() in _QUOTING
