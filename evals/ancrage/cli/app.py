"""The console command ``ancrage``: the same tasks as ``invoke``, in any folder."""

import sys
from typing import NoReturn

from invoke.exceptions import ParseError
from invoke.program import Program

from ancrage import __version__
from ancrage.cli import namespace
from ancrage.errors import ExitCode


class _Ancrage(Program):
    """Invoke's program, but wrong use exits 2 where Invoke's own exits 1."""

    def parse_core(self, argv: list[str] | None) -> None:
        try:
            super().parse_core(argv)
        except ParseError as error:
            _refuse(error)

    def parse_tasks(self) -> None:
        try:
            super().parse_tasks()
        except ParseError as error:
            _refuse(error)


def _refuse(error: ParseError) -> NoReturn:
    sys.stderr.write(f"{error} (see: ancrage --list)\n")
    sys.exit(ExitCode.WRONG_USE)


def main() -> None:
    """Run the command line; modules that the configuration names may lie in this very folder."""
    sys.path.append("")
    _Ancrage(name="ancrage", binary="ancrage", namespace=namespace, version=__version__).run()
