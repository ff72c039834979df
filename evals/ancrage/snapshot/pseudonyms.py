"""The key of a snapshot's pseudonyms, what they hide, and how they are drawn.

A pseudonym is an HMAC of the id: the same everywhere in a snapshot, unlinkable without the key
(RFC 2104).
"""

import hmac
import secrets
from collections import Counter

from ancrage.config import Config, secret
from ancrage.domain import Frozen
from ancrage.errors import UsageError
from ancrage.snapshot.manifest import Pseudonymisation, PseudonymMode
from ancrage.snapshot.scrub import Terms

KEY_VARIABLE = "ANCRAGE_PSEUDONYM_KEY"


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
    ) -> None:
        self.mode = mode
        self.names = Terms(names)
        self.prefixes = prefixes
        self.replaced: Counter[str] = Counter()
        self._from_environment = key is not None
        self._key = key.encode() if key is not None else secrets.token_bytes(32)

    @classmethod
    def configured(cls, mode: PseudonymMode, config: Config) -> "Pseudonymiser":
        """With the key of the environment, if there is one, and the configured names.

        Raises:
            UsageError: the key is too short, or the file of names cannot be read.
        """
        options = config.table("pseudonyms", PseudonymOptions)
        key = secret(KEY_VARIABLE)
        if key is not None and len(key) < 16:
            raise UsageError(f"{KEY_VARIABLE}: at least 16 characters, or whoever tries finds it")
        names = options.names
        if options.names_file:
            path = config.root / options.names_file
            try:
                names += tuple(path.read_text(encoding="utf-8-sig").splitlines())
            except (OSError, UnicodeDecodeError) as error:
                raise UsageError(f"{path}: cannot be read: {error}") from None
        return cls(mode, key, tuple(name.strip() for name in names), options.prefixes)

    def summary(self) -> Pseudonymisation:
        """For the manifest."""
        if self.mode is PseudonymMode.NONE:
            return Pseudonymisation()
        return Pseudonymisation(
            mode=self.mode,
            key="environment" if self._from_environment else "random",
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
