"""The worked example of the page gives what the page says."""

import re
import subprocess
import sys
from pathlib import Path

from tests.conftest import ROOT


def test_the_first_example_runs_offline_and_prints_what_is_shown(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "verify.md").read_text(encoding="utf-8")
    found = re.search(r"```python\n(.*?)```\n\n```text\n(.*?)```", page, re.DOTALL)
    assert found
    done = subprocess.run(
        [sys.executable, "-c", found[1]],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == found[2]
