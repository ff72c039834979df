"""``calibrate --nli``, then ``verify`` by what it wrote, run as a user runs them."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ancrage.nli import NLISettings
from ancrage.nli.calibrate import read
from ancrage.nli.fitting import calibrate_file
from tests.conftest import ROOT
from tests.nli.test_bench import truthful

pytestmark = pytest.mark.usefixtures("torch")


def ancrage(folder: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    environment = {
        **os.environ, "OMP_NUM_THREADS": "1", "COLUMNS": "160", "PYTHONPATH": str(ROOT / "evals"),
    }  # fmt: skip
    return subprocess.run(
        [sys.executable, "-c", "from ancrage.cli.app import main; main()", *arguments],
        cwd=folder, capture_output=True, text=True, env=environment, check=False, timeout=120,
    )  # fmt: skip


def labelled(folder: Path, count: int = 200) -> Path:
    """Claims whose labels the words tell, in responses of one to three."""
    random = np.random.default_rng(0)
    rows = [
        {
            "response": f"r{number // 2}",
            "claim": f"the cat {'sat ' * int(random.integers(1, 9))}on the mat {number % 7} .",
            "evidence": f"the dog {'was ' * (number % 5)}in {number} .",
            "label": ["SUPPORTS", "REFUTES"][int(random.random() < 0.4)],
        }
        for number in range(count)
    ]
    path = folder / "claims.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    return path


def test_a_calibration_shows_its_worth_and_serves_verify(tmp_path: Path, tiny: Any) -> None:
    folder = str(tiny("bert"))
    (tmp_path / "evals.toml").write_text(f'[nli]\nmodel = "{folder}"\n')
    done = ancrage(tmp_path, "calibrate", str(labelled(tmp_path)), "--nli")
    assert done.returncode == 0, done.stderr
    assert "200 claims" in done.stdout
    assert "On the half not fitted on" in done.stdout
    assert "one cut on 1 − p(entailed), tuned" in done.stdout
    fitted = read(tmp_path / "nli-calibration.json")
    assert fitted.model["model"] == folder
    answers = tmp_path / "a.jsonl"
    answers.write_text('{"answer": "The cat sat on the mat.", "reference": "the dog ."}')
    options = ("--nli", "--rule", "calibrated", "--calibration", "nli-calibration.json")
    done = ancrage(tmp_path, "verify", "a.jsonl", *options)
    assert done.returncode == 0, done.stderr
    result = json.loads((tmp_path / "a.verified.jsonl").read_text())
    assert fitted.digest in result["versions"]["nli"]
    assert folder in result["versions"]["nli"]
    other = ancrage(
        tmp_path, "verify", "a.jsonl", *options, "--model", str(tiny("deberta")), "--out", "b.jsonl"
    )
    assert other.returncode == 2
    assert "the calibration was fitted with model" in other.stderr
    again = ancrage(tmp_path, "verify", "a.jsonl", "--nli", "--resume")
    assert again.returncode == 2
    assert "made by another scorer (nli " in again.stderr


def test_the_stored_threshold_keeps_its_rate_on_the_real_model(
    tmp_path: Path, shared: Path, real_model: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = NLISettings(model=real_model.settings.model, offline=True, dtype="float32")
    rows = (shared / "data" / "fever-symmetric" / "fever_symmetric_test.jsonl").read_text()
    some = tmp_path / "some.jsonl"
    some.write_text("\n".join(rows.splitlines()[:200]))
    out = str(tmp_path / "fitted.json")
    calibrate_file(str(some), out, settings, alpha=0.2, precision=0.8, delta=0.1)
    assert 0 < read(out).threshold < 1
    assert "at most 0.2" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("calibrate", "absent.csv", "--nli"), "absent.csv: no such file"),
        (
            ("calibrate", "TruthfulQA.csv", "--nli", "--alpha", "2"),
            "--alpha 2: give a number from 0 to 1",
        ),
        (("verify", "TruthfulQA.csv", "--nli", "--rule", "magic"), "rule: Input should be"),
        (("verify", "TruthfulQA.csv", "--nli", "--rule", "calibrated"), "needs calibration"),
        (("verify", "TruthfulQA.csv", "--nli", "--model", "/no/ne"), "no folder '/no/ne'"),
    ],
)
def test_wrong_use_is_one_line(tmp_path: Path, arguments: tuple[str, ...], message: str) -> None:
    truthful(tmp_path)
    done = ancrage(tmp_path, *arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
