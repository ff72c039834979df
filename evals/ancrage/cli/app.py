"""The console command ``ancrage``: the same commands as under ``invoke``, in any folder."""

import os
import shutil
import sys
from collections.abc import Sequence
from difflib import get_close_matches

import click

from ancrage import __version__
from ancrage.cli import GROUPS, MODULES, find_command
from ancrage.cli.project import enter_project
from ancrage.cli.shell import Command, explain
from ancrage.cli.shield import (
    perform,
    prepare_streams,
    say,
    stop_at_once_when_asked_twice,
    take_no_more_interrupts,
)
from ancrage.errors import ExitCode, UsageError
from ancrage.program import under_ancrage

_HELP = ("-h", "--help")
_LEAST_WIDTH, _MOST_WIDTH = 40, 100


def main() -> None:
    """Run the command line; modules that the configuration names may lie in this very folder."""
    under_ancrage()
    prepare_streams()
    stop_at_once_when_asked_twice()
    if "" not in sys.path:
        sys.path.append("")
    code = run(sys.argv[1:])
    take_no_more_interrupts()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError as error:
            # Nobody can be told when it is standard error that takes nothing any more.
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
            if stream is sys.stdout and code == ExitCode.OK:
                say(f"standard output: {error.strerror}")
                code = code or ExitCode.INCOMPLETE
    sys.exit(code)


def run(arguments: Sequence[str]) -> int:
    """Run one command line, given without the program's name.

    Returns:
        The exit status.
    """
    name, rest = (arguments[0], arguments[1:]) if arguments else ("", ())
    if name == "help":
        name, rest = (rest[0], ("--help",)) if rest else ("", ())
    if name in ("", "-l", "--list", *_HELP):
        name, rest = (rest[0], ("--help",)) if rest and name in _HELP else ("", ())
        if not name:
            return perform("ancrage", _overview)
    if name in ("-V", "--version"):
        return perform("ancrage", lambda: click.echo(f"ancrage {__version__}"))
    if name not in MODULES:
        return perform("ancrage", lambda: _unknown(name))
    command: Command | None = None

    def load() -> None:
        nonlocal command
        command = find_command(name)

    if failed := perform(name, load):
        return failed
    return _run(command, rest if name == "init" else enter_project(rest))  # type: ignore[arg-type]


def _unknown(name: str) -> None:
    what = "option" if name.startswith("-") else "command"
    close = get_close_matches(name, MODULES, n=2, cutoff=0.6)
    hint = f"; did you mean {' or '.join(close)}?" if close else ""
    raise UsageError(f"no {what} {name!r}{hint} (see: ancrage --help)")


def _run(command: Command, arguments: Sequence[str]) -> int:
    try:
        code = entry(command).main(
            list(arguments), f"ancrage {command.name}", standalone_mode=False
        )
    except click.ClickException as error:
        say(f"{command.name}: {explain(error)} (see: ancrage {command.name} --help)")
        return ExitCode.WRONG_USE
    except click.Abort:
        return ExitCode.INCOMPLETE
    return int(code or 0)


class _Entry(click.Command):
    """A command's options and help, as click sees them."""

    def __init__(self, command: Command, width: int) -> None:
        super().__init__(
            command.name,
            params=list(command.parameters),
            help=command.words,
            callback=lambda **values: command.run(values),
            context_settings={
                "help_option_names": list(_HELP),
                "terminal_width": width,
                "max_content_width": _MOST_WIDTH,
            },
            add_help_option=True,
        )
        self._command = command

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        arguments = [
            (each.make_metavar(ctx), self._command.help.get(str(each.name).replace("_", "-"), ""))
            for each in self.params
            if isinstance(each, click.Argument)
        ]
        if arguments:
            with formatter.section("Arguments"):
                formatter.write_dl(arguments)
        super().format_options(ctx, formatter)
        with formatter.section("Example"):
            formatter.write_text(f"ancrage {self._command.example}")


def entry(command: Command, width: int | None = None) -> click.Command:
    """The command as click reads it; its help is ``width`` wide (default: as the terminal is)."""
    return _Entry(command, width or _width())


def _overview() -> None:
    formatter = click.HelpFormatter(width=_width())
    formatter.write_usage("ancrage", "COMMAND [ARGUMENTS] [OPTIONS]")
    for title, commands in GROUPS.items():
        with formatter.section(title):
            formatter.write_dl([(name, find_command(name).summary) for name in commands])
    formatter.write_paragraph()
    formatter.write_text("ancrage COMMAND --help shows a command's options and an example.")
    click.echo(formatter.getvalue(), nl=False)


def _width() -> int:
    columns = shutil.get_terminal_size().columns
    return min(max(columns, _LEAST_WIDTH), _MOST_WIDTH)
