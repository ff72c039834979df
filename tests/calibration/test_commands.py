"""``label`` and ``calibrate`` as they are typed."""

import os
import re
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path

import pytest

from ancrage.calibration import load_calibrations
from ancrage.config import load
from ancrage.runs import find_run
from tests.calibration.worlds import MODE, World, judge_again, verdicts, world, write_labels
from tests.judges.test_commands import invoke

Typed = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> World:
    """80 answers, in the folder that commands run in, judged by two judges."""
    made = world(tmp_path_factory.mktemp("typed"), n=80)
    judge_again(made, verdicts(made.truth, 0.7, 0.8, seed=5))
    return made


@pytest.fixture
def workplace(judged: World, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = judged.folder.path.parents[1]
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", "200")
    load.cache_clear()
    return folder


@pytest.fixture
def typed(workplace: Path, capfd: pytest.CaptureFixture[str]) -> Typed:
    """Run a command: its status and what it printed."""

    def run(*arguments: str) -> tuple[int, str, str]:
        status = invoke(*arguments)
        captured = capfd.readouterr()
        return status, captured.out, captured.err

    return run


def test_calibrate_prints_and_stores_all_there_is_to_know(
    typed: Typed, judged: World, workplace: Path
) -> None:
    names = sorted(judged.truth)
    ana = write_labels(workplace / "ana.jsonl", judged.truth, names, "ana")
    ben = write_labels(workplace / "ben.jsonl", judged.truth, names[:30], "ben")
    with ben.open("a", encoding="utf-8") as file:
        file.write('{"case_id": "c0001", "mode": "vague", "label": "perhaps"}\n')
    status, out, _ = typed(
        "calibrate", "r", "--labels", str(ana), "--labels", str(ben), "--split", "both",
        "--random-sample", "--versus", "001",
    )  # fmt: skip
    assert status == 0
    assert "ben.jsonl:31: label" in out
    assert "110 labels kept, 1 refused, 0 replaced" in out
    for words in ("TPR", "TNR", "Precision", "κ, judge and people", "α, between people", "PPI++"):
        assert words in out
    assert "80 labelled = 80 compared" in out
    assert "judge A against judge B on 80 answers" in out
    assert "Where people and judge differ" in out
    stored = load_calibrations(workplace / "calibrations")[-1]
    assert stored.modes[0].judge == "rival"
    beside = workplace / "calibrations" / f"{stored.id}.disagreements.jsonl"
    pairs = stored.modes[0].pairs
    assert len(beside.read_text().splitlines()) == sum(p.truth != p.judged for p in pairs)
    status, out, _ = typed("report", "--run", "r")
    assert status == 0
    assert "calibrated on 80 answers" in out
    assert "Judges: raw and corrected rates" in (find_run("r").path / "report.html").read_text()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "give the labels"),
        (("--labels", "ana.jsonl", "--langfuse"), "give the labels"),
        (("--labels", "none.csv"), "none.csv: cannot be read"),
        (("--labels", "ana.jsonl", "--split", "test"), "--split 'test'"),
        (("--labels", "ana.jsonl", "--held-out", "2"), "--held-out 2"),
        (("--labels", "ana.jsonl", "--versus", "009"), "no scoring '009'"),
    ],
)
def test_wrong_use_is_one_line(
    typed: Typed, judged: World, workplace: Path, arguments: tuple[str, ...], words: str
) -> None:
    write_labels(workplace / "ana.jsonl", judged.truth, judged.truth)
    status, _, err = typed("calibrate", "r", *arguments)
    assert status == 2
    assert words in err
    assert "Traceback" not in err


def test_label_serves_a_page_until_it_is_interrupted(workplace: Path, judged: World) -> None:
    program = "from ancrage.cli.app import main; main()"
    process = subprocess.Popen(
        [sys.executable, "-u", "-c", program, "label", "r", "--annotator", "ana", "--limit", "5"],
        cwd=workplace,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "COLUMNS": "200"},
    )
    assert process.stdout
    try:
        url = re.search(r"http://127\.0\.0\.1:\d+/\S+/", process.stdout.readline())
        assert url
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        assert b"Labels" in opener.open(url[0], timeout=10).read()
    finally:
        time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
    assert process.returncode == 0, err
    assert "0 of 5 answers labelled by ana; labels/ana.jsonl" in out
    assert MODE not in err
