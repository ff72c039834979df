"""Versions made of source text: they change whenever the code does, and nobody can forget to."""

import hashlib
from functools import cache
from pathlib import Path

_PACKAGE = Path(__file__).parent


@cache
def code_version(*names: str) -> str:
    """12 hexadecimal digits over modules and packages of ``evals``: ``llm/client.py``, ``quotes``.

    Of a package, every module and every table of words counts.
    """
    digest = hashlib.sha256()
    for name in sorted(set(names)):
        path = _PACKAGE / name
        files = sorted({*path.rglob("*.py"), *path.rglob("*.toml")}) if path.is_dir() else [path]
        for file in files:
            digest.update(f"{file.relative_to(_PACKAGE)}\0".encode())
            digest.update(file.read_bytes())
    return digest.hexdigest()[:12]
