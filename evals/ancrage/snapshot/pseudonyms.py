"""The key of a snapshot's pseudonyms, what they hide, and how they are drawn.

A pseudonym is an HMAC of the id: the same everywhere in a snapshot, unlinkable without the key
(RFC 2104).
"""

import hmac
import secrets
from collections import Counter
from pathlib import Path

from ancrage.config import Config, secret
from ancrage.domain import Frozen
from ancrage.errors import UsageError
from ancrage.files import write_atomic
from ancrage.snapshot.manifest import Pseudonymisation, PseudonymMode
from ancrage.snapshot.scrub import Terms

KEY_VARIABLE = "ANCRAGE_PSEUDONYM_KEY"
KEY_FILE = Path(".ancrage", "pseudonyms.key")
"""Beside the configuration, readable by its owner alone, in a folder that git passes over."""


def create_key(root: Path) -> Path:
    """The file of a key that gives the same pseudonyms in every snapshot; made if there is none.

    Returns:
        Its path under ``root``.
    """
    path = root / KEY_FILE
    if not path.exists():
        write_atomic(path.with_name(".gitignore"), "*\n")
        write_atomic(path, secrets.token_urlsafe(32) + "\n", private=True)
    return path


class PseudonymOptions(Frozen):
    """The table ``[pseudonyms]`` of the configuration."""

    names: tuple[str, ...] = ()
    """Names to replace in texts, with ``--pseudonymise text``."""
    names_file: str | None = None
    """A file with one name a line, beside the configuration."""
    prefixes: tuple[str, ...] = ("R",)
    """What respondent ids begin with, for answers whose study is gone."""


class Pseudonymiser:
    """One key, and with it the same pseudonym for the same id throughout a snapshot."""

    def __init__(
        self,
        mode: PseudonymMode,
        key: str | None = None,
        names: tuple[str, ...] = (),
        prefixes: tuple[str, ...] = ("R",),
        origin: str = "environment",
    ) -> None:
        self.mode = mode
        self.names = Terms(names)
        self.prefixes = prefixes
        self.replaced: Counter[str] = Counter()
        self._origin = origin if key is not None else "random"
        self._key = key.encode() if key is not None else secrets.token_bytes(32)

    @classmethod
    def configured(cls, mode: PseudonymMode, config: Config) -> "Pseudonymiser":
        """With the key of the environment or the key file, if any, and the configured names.

        Raises:
            UsageError: the key is too short, or the file of names cannot be read.
        """
        options = config.table("pseudonyms", PseudonymOptions)
        key, origin = secret(KEY_VARIABLE), "environment"
        if key is None and (path := config.root / KEY_FILE).is_file():
            key, origin = _text(path).strip(), "file"
        if key is not None and len(key) < 16:
            where = KEY_VARIABLE if origin == "environment" else path
            raise UsageError(f"{where}: at least 16 characters, or whoever tries finds it")
        names = options.names
        if options.names_file:
            names += tuple(_text(config.root / options.names_file).splitlines())
        names = tuple(name.strip() for name in names)
        return cls(mode, key, names, options.prefixes, origin)

    def summary(self) -> Pseudonymisation:
        """For the manifest."""
        if self.mode is PseudonymMode.NONE:
            return Pseudonymisation()
        return Pseudonymisation(
            mode=self.mode,
            key=self._origin,
            replaced=dict(sorted(self.replaced.items())),
        )

    def draw(self, kind: str, key: str, alphabets: list[str], attempt: int = 0) -> str:
        """A text with one character of each alphabet, drawn by the keyed hash of ``key``."""
        message = f"{kind}\0{attempt}\0{key}".encode()
        number = int.from_bytes(hmac.digest(self._key, message, "sha512"))
        drawn: list[str] = []
        for alphabet in alphabets:
            number, rank = divmod(number, len(alphabet))
            drawn.append(alphabet[rank])
        return "".join(drawn)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: cannot be read: {error}") from None
