"""Compare identifiers modulo presentation: models rewrite ``R-012`` as ``R12`` or ``r-12``."""

import re
from collections import defaultdict
from collections.abc import Iterable

from ancrage.domain import Frozen

_CODED = re.compile(
    r"(?i)(?<![0-9a-f])(?=[0-9a-f]*[a-f][0-9a-f]*[0-9]|[0-9]+[a-f]+[0-9])[0-9a-f]{6,}\Z"
)
"""Hexadecimal: zeros in it are digits like others."""
_RUNS = re.compile(r"\d+|[^\W\d_]+")


class IdPolicy(Frozen):
    """What counts as presentation; the table ``[ids]`` of the configuration."""

    ignore_case: bool = True
    ignore_padding: bool = True
    """Separators between letters and digits, and zeros before a number."""
    ignore_prefix: bool = True
    """Letters before the number, where only one side writes them."""


class IdIndex:
    """Finds the identifier that a written one means, or none.

    An identifier written exactly always means itself. A loose form that two identifiers share
    means neither: presentation is then part of the name.
    """

    def __init__(self, ids: Iterable[str], policy: IdPolicy) -> None:
        self._policy = policy
        self._exact = set(ids)
        self._loose: dict[str, set[str]] = defaultdict(set)
        self._bare: dict[tuple[bool, str], set[str]] = defaultdict(set)
        for known in self._exact:
            self._loose[self._key(known)].add(known)
            if policy.ignore_prefix:
                self._bare[_split(self._key(known))].add(known)

    def find(self, written: str) -> str | None:
        """The identifier meant by ``written``; None when there is none or it is ambiguous."""
        written = written.strip()
        if written in self._exact:
            return written
        key = self._key(written)
        found = self._loose.get(key)
        if not found and self._policy.ignore_prefix:
            prefixed, number = _split(key)
            found = self._bare.get((not prefixed, number))
        return next(iter(found)) if found and len(found) == 1 else None

    def _key(self, written: str) -> str:
        if self._policy.ignore_case:
            written = written.casefold()
        if not self._policy.ignore_padding:
            return written
        if _CODED.search(written):
            return "".join(_RUNS.findall(written))
        key: list[str] = []
        for run in _RUNS.findall(written):
            digits = run[0].isdigit()
            if digits and key and key[-1][-1].isdigit():
                key.append("-")
            key.append((run.lstrip("0") or "0") if digits else run)
        return "".join(key)


def _split(key: str) -> tuple[bool, str]:
    """Whether a key begins with letters, and what follows them."""
    number = key.lstrip("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ").lstrip("-_")
    return number != key, number
