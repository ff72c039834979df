"""Makes the links of the pages that lie above ``docs/`` hold within the site."""

import re
from typing import Any

_PAGES = {
    "ARCHITECTURE.md": "architecture.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "README.md": "index.md",
}
_LINK = re.compile(r"\[([^\]]*)\]\((?!https?:|#)([^)#\s]+)(#[^)\s]*)?\)")


def on_page_markdown(markdown: str, **_: Any) -> str:
    """The page with what it includes, and its links as they are in the site."""
    text = re.sub(r'--8<-- "([A-Z]+\.md)"', lambda found: _read(found[1]), markdown)
    return _LINK.sub(_within, text)


def _read(name: str) -> str:
    from pathlib import Path

    return (Path(__file__).resolve().parents[1] / name).read_text(encoding="utf-8")


def _within(found: re.Match[str]) -> str:
    words, target, anchor = found[1], found[2], found[3] or ""
    target = target.removeprefix("../").removeprefix("docs/")
    target = _PAGES.get(target, target)
    if target.endswith((".md", ".png", ".json")):
        return f"[{words}]({target}{anchor})"
    return words
