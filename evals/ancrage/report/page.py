"""One HTML file that needs nothing else: its style and script inside, allowed by their digests."""

import base64
import gzip
import hashlib
import json
from collections.abc import Callable
from importlib.resources import files

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

Advance = Callable[[], None]


def packed(value: object) -> Markup:
    """``value`` as JSON, compressed, in letters that can stand in any element."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    content = gzip.compress(text.encode("utf-8", "replace"), compresslevel=6, mtime=0)
    return Markup(base64.b64encode(content).decode())  # noqa: S704  letters and digits


def environment(package: str) -> Environment:
    """Templates of ``package``, which escape whatever they are given."""
    return Environment(
        loader=PackageLoader(package),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def inline(*names: str) -> Markup:
    """Our own styles or scripts, each given as ``package/file`` of its folder ``static``."""
    text = "".join(_read(name) for name in names)
    if "</" in text:
        raise ValueError(f"{', '.join(names)} would close the element that holds it")
    return Markup(text)  # noqa: S704  our own file


def _read(name: str) -> str:
    package, file = name.split("/")
    return (files(package) / "static" / file).read_text(encoding="utf-8")


def policy(style: str, script: str) -> str:
    """A content security policy that lets nothing run, load or be sent but these two."""
    return (
        f"default-src 'none'; style-src {_digest(style)}; script-src {_digest(script)}; "
        "base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
