"""Answers already paid for, on disk; a process killed at any moment loses none."""

import hashlib
import json
import sqlite3
from contextlib import suppress
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ancrage.domain import Frozen
from ancrage.errors import IncompleteError, UsageError
from ancrage.llm.request import Completion

_FORMAT = 2


class Exchange(Frozen):
    """One call's answer: as the server sent it, and as it is understood."""

    key: str
    """In the cache; see ``cache_key``."""
    status: int
    content_type: str
    content: str
    completion: Completion


def cache_key(endpoint: str, api: str, sent: dict[str, Any], repeat: int) -> str:
    """SHA-256 over all that decides an answer: endpoint, API, whole body, repeat index.

    The body holds model, parameters, messages, tools and reply schema. Keys, which are headers,
    are no part of it.
    """
    identity = {"v": _FORMAT, "endpoint": endpoint, "api": api, "body": sent, "repeat": repeat}
    text = json.dumps(identity, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


class Cache:
    """A SQLite file of answers by key; several processes may share it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            self._db = sqlite3.connect(path, isolation_level=None, timeout=30)
            self._db.execute("PRAGMA journal_mode=WAL")
            self._db.execute("PRAGMA synchronous=NORMAL")
            self._db.execute(
                "CREATE TABLE IF NOT EXISTS answers (key TEXT PRIMARY KEY, answer TEXT NOT NULL)"
            )
        except sqlite3.Error as error:
            raise UsageError(
                f"{path}: not a usable answer cache ({error}); delete it or pass --no-cache"
            ) from None

    def get(self, key: str) -> Exchange | None:
        """What is stored under ``key``, marked as cached; None when there is nothing."""
        row = self._db.execute("SELECT answer FROM answers WHERE key = ?", (key,)).fetchone()
        if row is None:
            return None
        with suppress(ValidationError):  # written by another version: as good as absent
            found = Exchange.model_validate_json(row[0])
            if found.key != key:  # another request's: the file was changed by something else
                return None
            known = found.completion.model_copy(update={"cached": True})
            return found.model_copy(update={"completion": known})
        return None

    def put(self, exchange: Exchange) -> None:
        """Store an exchange under its key; it is on disk when this returns.

        Raises:
            IncompleteError: it cannot be written, as where the disk is full.
        """
        try:
            self._db.execute(
                "INSERT OR REPLACE INTO answers VALUES (?, ?)",
                (exchange.key, exchange.model_dump_json()),
            )
        except sqlite3.Error as error:
            raise IncompleteError(f"{self._path}: {error}; what was done is kept") from None

    def close(self) -> None:
        self._db.close()
