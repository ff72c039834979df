"""An interrupt promises only what is kept, and never shows a traceback."""

import subprocess
import sys

import pytest

from ancrage.cli.shield import perform
from ancrage.program import resume_with


@pytest.mark.parametrize("again", ["experiment --resume a", None])
def test_an_interrupt_says_that_something_is_kept_only_where_it_is(
    again: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    def work() -> None:
        resume_with(again)
        raise KeyboardInterrupt

    assert perform("prove", work) == 3
    told = capsys.readouterr().err
    assert told.startswith("prove: interrupted")
    assert ("is kept" in told) == (again is not None)


def test_an_interrupt_during_imports_is_one_line() -> None:
    program = (
        "import os, signal, sys\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "class Interrupt:\n"
        "    def find_spec(self, name, path, target=None):\n"
        "        if name == 'click':\n"
        "            os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, Interrupt())\n"
        "from ancrage.start import main\n"
        "main()\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (3, "ancrage: interrupted\n")
