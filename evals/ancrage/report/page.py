"""The HTML application: one file that shows one run, or several side by side.

It needs no server, no network and no other file: its style and script stand inside, allowed by
their digests, and its cases in compressed blocks. Whoever has something to show extends the
template ``page.html.j2``.
"""

import base64
import gzip
import hashlib
import json
from collections.abc import Callable, Iterable, Iterator
from importlib.resources import files
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from ancrage.report.text import line

Advance = Callable[[], None]
Packed = Iterable[tuple[str, Markup]]
"""Compressed parts of the page, each with its kind: ``block`` or ``index``."""


def stream(
    package: str, template: str, filters: dict[str, Any], *, packed: Packed = (), **values: Any
) -> Iterator[str]:
    """The HTML, piece by piece, of a template of ``package``; it escapes whatever it is given."""
    environment = Environment(
        loader=ChoiceLoader([PackageLoader(package), PackageLoader("ancrage.report")]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"line": line, **filters}
    style, script = _own("page.css"), _own("page.js")
    yield from environment.get_template(template).generate(
        style=style,
        script=script,
        policy=(
            f"default-src 'none'; style-src {_digest(style)}; script-src {_digest(script)}; "
            "base-uri 'none'; form-action 'none'"
        ),
        packed=packed,
        **values,
    )


def packed(value: object) -> Markup:
    """``value`` as JSON, compressed, in letters that can stand in any element."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    content = gzip.compress(text.encode("utf-8", "replace"), compresslevel=6, mtime=0)
    return Markup(base64.b64encode(content).decode())  # noqa: S704  letters and digits


def _own(name: str) -> Markup:
    text = (files("ancrage.report") / "static" / name).read_text(encoding="utf-8")
    if "</" in text:
        raise ValueError(f"{name} would close the element that holds it")
    return Markup(text)  # noqa: S704  our own file


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


class Scale:
    """Places of values from ``low`` to ``high`` on a drawing; what lies beyond is cut."""

    _edge = 5

    def __init__(self, low: float, high: float, width: int = 150) -> None:
        self.low, self.high, self.width = low, high, width

    def at(self, value: float) -> str:
        """The abscissa of ``value``."""
        share = min(1.0, max(0.0, (value - self.low) / (self.high - self.low)))
        return f"{self._edge + (self.width - 2 * self._edge) * share:.1f}"


def reach(values: Iterable[float]) -> float:
    """The end of a scale that holds the fractions ``values``: .05, .1, .25, .5 or 1."""
    highest = max(values, default=1.0)
    return next((end for end in (0.05, 0.1, 0.25, 0.5) if highest <= end), 1.0)
