"""The reference pages of the documentation: commands, configuration and its JSON schema.

``python -m ancrage.cli.reference docs`` writes ``commands.md``, ``configuration.md`` and
``evals.schema.json`` into that folder.
"""

import json
import sys
from pathlib import Path

import click

from ancrage.cli import GROUPS, find_command
from ancrage.cli.app import entry


def commands() -> str:
    """The help of every command as a page."""
    lines = ["# Commands", "", "`ancrage COMMAND --help` shows the same on the terminal."]
    for title, group in GROUPS.items():
        lines += ["", f"## {title}"]
        for name in group:
            command = entry(find_command(name), width=88)
            context = click.Context(command, info_name=f"ancrage {name}", terminal_width=88)
            lines += ["", f"### {name}", "", "```text", command.get_help(context), "```"]
    return "\n".join(lines) + "\n"


def main(folder: Path) -> None:
    """Write the three files."""
    from ancrage.setup.reference import markdown, schema

    (folder / "commands.md").write_text(commands(), encoding="utf-8")
    (folder / "configuration.md").write_text(markdown(), encoding="utf-8")
    text = json.dumps(schema(), ensure_ascii=False, indent=1) + "\n"
    (folder / "evals.schema.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "docs"))
