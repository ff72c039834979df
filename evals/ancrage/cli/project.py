"""The project that a command is called in: the folder itself, or the nearest one above."""

import os
import tomllib
from collections.abc import Sequence
from pathlib import Path

_OUTPUTS = {"--out", "--html", "--json", "--markdown", "--junit", "--plot"}
"""Options that name a file to be written, which need not exist yet."""


def enter_project(arguments: Sequence[str]) -> list[str]:
    """Go to the folder of the project that the current folder lies in.

    Returns:
        The arguments; those that name files, seen from there.
    """
    here = Path.cwd()
    root = _project(here)
    if root is None or root == here:
        return list(arguments)
    os.chdir(root)
    moved = []
    for before, argument in zip(["", *arguments], arguments, strict=False):
        option, equals, value = argument.partition("=")
        if argument.startswith("-") and equals:
            moved.append(f"{option}={_seen_from(root, here, value, option in _OUTPUTS)}")
        else:
            moved.append(_seen_from(root, here, argument, before in _OUTPUTS))
    return moved


def _seen_from(root: Path, here: Path, argument: str, output: bool) -> str:
    if not argument or argument == "-" or Path(argument).is_absolute():
        return argument
    if output or (not argument.startswith("-") and (here / argument).exists()):
        return os.path.relpath(here / argument, root)
    return argument


def _project(here: Path) -> Path | None:
    for folder in (here, *here.parents):
        if (folder / "evals.toml").is_file():
            return folder
        try:
            with (folder / "pyproject.toml").open("rb") as file:
                if "ancrage" in tomllib.load(file).get("tool", {}):
                    return folder
        except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError):
            continue
    return None
