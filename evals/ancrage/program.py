"""How this program was called, so that messages name its commands the way the reader types them."""

import sys
from pathlib import Path

_prefix = "ancrage "
_resume: str | None = None


def called(words: str) -> str:
    """The command line for ``words``: ``called("show q1")`` is ``ancrage show q1``.

    Under Invoke it is ``invoke show q1``, or ``invoke evals.show q1`` where a project's own
    collection holds our commands as ``evals``. A positional that may be left out is an option to
    Invoke: write ``report --run ID``, which becomes ``ancrage report ID``.
    """
    return _prefix + (words if _prefix != "ancrage " else words.replace(" --run ", " "))


def under_ancrage() -> None:
    """From now on, name commands as the console command does."""
    global _prefix
    _prefix = "ancrage "


def under_invoke(command: str) -> None:
    """From now on, name commands as Invoke does; ``command`` is the one under way."""
    global _prefix
    typed = next((word for word in sys.argv[1:] if word.endswith("." + command)), command)
    program = Path(sys.argv[0]).name
    _prefix = f"{program if program in {'inv', 'invoke'} else 'invoke'} {typed[: -len(command)]}"


def resume_with(words: str | None) -> None:
    """Remember how to go on, should what is under way be interrupted; None forgets it."""
    global _resume
    _resume = words


def how_to_resume() -> str | None:
    """The command line that continues what is under way, where there is one."""
    return called(_resume) if _resume else None
