"""The encoding of a text file: as given, by its byte order mark, UTF-8, or else a guess."""

import codecs
from pathlib import Path

from ancrage.errors import UsageError

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_CANDIDATES = (
    "cp1252", "cp1250", "cp1251", "cp1253", "cp1254", "cp1255", "cp1256", "cp850", "mac_roman",
    "cp932", "euc_jp", "gb18030", "big5", "cp949",
)  # fmt: skip
_SAMPLE = 256 * 1024
"""Bytes of lines that are no UTF-8, from which the encoding is guessed."""


def encoding_of(path: Path, given: str | None, notes: list[str]) -> str:
    """The encoding to read ``path`` in; a guess is told to ``notes``.

    A file most of whose lines beyond ASCII are UTF-8 is in UTF-8, and the others are damaged.

    Raises:
        UsageError: ``given`` is no encoding.
        OSError: the file cannot be read.
    """
    if given:
        try:
            # The mark that Windows puts before UTF-8 is no part of the text.
            return "utf-8-sig" if codecs.lookup(given).name == "utf-8" else given
        except LookupError:
            raise UsageError(
                f"encoding {given!r}: unknown; such as utf-8, cp1252, utf-16"
            ) from None
    sample = bytearray()
    damaged = whole = 0
    with path.open("rb") as file:
        first = file.read(4)
        for mark, name in _MARKS:
            if first.startswith(mark) and (name == "utf-8-sig" or 0 in first):
                return name
        file.seek(0)
        for line in file:
            if line.isascii():
                continue
            try:
                line.decode()
                whole += 1
            except UnicodeDecodeError:
                damaged += 1
                if len(sample) < _SAMPLE:
                    sample += line[:_SAMPLE]
    guess = _guess(bytes(sample)) if damaged > whole else None
    if guess is None:
        return "utf-8"
    note = f"{path.name}: not UTF-8, read as {guess} (a guess; --encoding sets another)"
    if note not in notes:
        notes.append(note)
    return guess


def _guess(sample: bytes) -> str | None:
    """By charset-normalizer; of two readings that differ little, what Windows writes in the West.

    Its scores of a few words hardly tell cp1252 from its neighbours.
    """
    from charset_normalizer import from_bytes

    matches = from_bytes(sample, cp_isolation=list(_CANDIDATES), preemptive_behaviour=False)
    best = matches.best()
    if best is None:
        return None
    for match in matches:
        close = match.chaos <= best.chaos + 0.005 and match.coherence >= best.coherence - 0.1
        if close and "cp1252" in match.could_be_from_charset:
            return "cp1252"
    return best.encoding
