"""What may leave this process in words: no secret in it, and never more than a line or two."""

import base64
import html
import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cache
from urllib.parse import parse_qsl, quote, quote_plus, unquote, urlsplit

SHORTEST = 8
"""Characters of a secret that is looked for; shorter ones (``none``, ``local``) are words."""
MOST = 500
"""Characters of a message that is kept."""

_secrets: set[str] = set()
_SECRET_NAME = re.compile(
    r"(?i)(KEY|SECRET|TOKEN|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?|AUTH|DSN)$"
)
_ADDRESS = re.compile(r"(?P<start>[a-zA-Z][\w+.-]*://[^\s/:@'\"]*:)[^\s/'\"]+(?=@)")


def remember(secret: str) -> str:
    """``secret`` without the blanks around it, which ``redact`` takes out from now on; of an
    address, its password alone, and what its query names a secret."""
    secret = secret.strip()
    hidden = {form for form in _hidden(secret) if len(form) >= SHORTEST}
    if not hidden <= _secrets:
        _secrets.update(hidden)
        _pattern.cache_clear()
    return secret


def remember_named(variables: Mapping[str, str | None]) -> None:
    """Remember the variables whose names speak of a secret, and the passwords of addresses."""
    for name, value in variables.items():
        if not value or "PUBLIC" in name or os.path.exists(value):  # noqa: PTH110  pathlib raises
            continue
        if "://" in value or _SECRET_NAME.search(name):
            remember(value)


def _hidden(secret: str) -> Iterator[str]:
    """What must not be seen of a secret: all of it and, as servers repeat part, each line."""
    if "://" in secret:
        with suppress(ValueError):  # no address that anything could read: all of it is hidden
            address = urlsplit(secret)
            secret = address.password or ""
            for name, value in parse_qsl(address.query):
                if _SECRET_NAME.search(name) or name.lower() == "pwd":
                    yield value
        yield unquote(secret)
        # With a bare @ within it, others take what follows that for the host.
        yield from secret.split("@")
    yield secret
    yield from (line.strip() for line in secret.splitlines())


def redact(text: str) -> str:
    """``text`` without the secrets remembered, however they are written (as they are, in Python's
    or JSON's quotes, percent-encoded, in base64), and without passwords in addresses."""
    if "://" in text:
        text = _ADDRESS.sub(r"\g<start>***", text)
    # What a project's own assistant reads, whenever it does, is as secret as what is read here.
    remember_named(os.environ)
    pattern = _pattern()
    return pattern.sub("[secret]", text) if pattern else text


def bounded(text: str, most: int = MOST) -> str:
    """``text`` redacted, and cut to ``most`` characters with a word on how long it was."""
    # A page of megabytes is not searched through: a secret can begin before the cut and end after.
    clean = redact(text[: most + 2_000])
    if len(text) <= most and len(clean) <= most:
        return clean
    return f"{clean[:most].rstrip()}… ({len(text):,} characters)"


def told(error: BaseException, most: int = MOST) -> str:
    """What went wrong, as ``Type: words``, bounded and redacted.

    Of a group, the errors in it, which its own words hide; of an error without words, its cause.
    """
    return bounded("; ".join(dict.fromkeys(_words(each) for each in _leaves(error))), most)


def _leaves(error: BaseException) -> Iterator[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from _leaves(inner)
    else:
        yield error


def _words(error: BaseException) -> str:
    try:
        said = str(error)
    except Exception as broken:  # noqa: BLE001 - the words of an exception are anybody's code
        said = f"(its words cannot be read: {type(broken).__name__})"
    cause = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    if not said.strip() and cause is not None:
        return f"{type(error).__name__}: {_words(cause)}"
    said = said.encode("utf-8", "replace").decode()
    return f"{type(error).__name__}: {said}" if said.strip() else type(error).__name__


@cache
def _pattern() -> re.Pattern[str] | None:
    forms = {form for secret in _secrets for form in _forms(secret)}
    # Longest first: one form may begin like another.
    words = "|".join(re.escape(form) for form in sorted(forms, key=len, reverse=True))
    return re.compile(words) if words else None


def _forms(secret: str) -> Iterator[str]:
    yield secret
    yield repr(secret)[1:-1]
    yield json.dumps(secret)[1:-1]
    yield json.dumps(secret, ensure_ascii=False)[1:-1]
    yield repr(secret.encode())[2:-1]
    yield html.escape(secret)
    yield from (quote(secret), quote(secret, safe=""), quote_plus(secret))
    # Whatever stands before it shifts base64 by 0 to 2 bytes; the ends mix with the neighbours.
    for shift, lead in ((0, 0), (1, 2), (2, 3)):
        data = b"\0" * shift + secret.encode()
        whole = base64.b64encode(data[: len(data) // 3 * 3])[lead:].decode()
        if len(whole) >= SHORTEST:
            yield whole
            yield whole.replace("+", "-").replace("/", "_")
