"""The commands, run as a user runs them."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.nli.test_bench import truthful

pytestmark = pytest.mark.usefixtures("torch")


def invoke(folder: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "COLUMNS": "160"}
    return subprocess.run(
        [Path(sys.executable).parent / "ancrage", *arguments],
        cwd=folder, capture_output=True, text=True, env=environment, check=False, timeout=120,
    )  # fmt: skip


@pytest.fixture
def model(tiny: Any) -> str:
    return str(tiny("bert"))


def test_verify_keeps_what_is_good_and_names_what_is_not(tmp_path: Path, model: str) -> None:
    lines = [
        json.dumps({"id": "a", "answer": "The cat sat on the mat.", "reference": "The cat sat."}),
        '{"id": "b"}',
        json.dumps({"id": "c", "answer": "The dog is in. The cat was not.", "context": ["A dog."]}),
        json.dumps({"id": "a", "answer": "Again the same id."}),
        json.dumps({"id": "d", "answer": "The cat is big."}),
    ]
    (tmp_path / "answers.jsonl").write_text("\n".join(lines), encoding="utf-8-sig")
    done = invoke(tmp_path, "verify", "answers.jsonl", "--model", model, "--offline")
    assert done.returncode == 3, done.stderr
    out = tmp_path / "answers.verified.jsonl"
    results = [json.loads(line) for line in out.read_text().splitlines()]
    assert [(r["id"], r["counts"]["claims"]) for r in results] == [("a", 1), ("c", 2), ("d", 1)]
    assert "answers.jsonl:2: answer: Field required" in done.stdout
    assert "answers.jsonl:4: id: 'a' occurs twice" in done.stdout
    again = invoke(tmp_path, "verify", "answers.jsonl", "--model", model, "--offline")
    assert again.returncode == 2
    assert "--resume" in again.stderr
    out.write_text("".join(out.read_text().splitlines(keepends=True)[:1]) + '{"id": "torn')
    resumed = invoke(tmp_path, "verify", "answers.jsonl", "--model", model, "--offline", "--resume")
    assert resumed.returncode == 3
    ids = [json.loads(line)["id"] for line in out.read_text().splitlines()]
    assert ids == ["a", "c", "d"]


def test_bench_runs_and_recomputes_without_its_model(tmp_path: Path, model: str) -> None:
    rows = [
        {
            "response": f"r{number}",
            "claim": f"the cat {'sat ' * (number % 9)}.",
            "evidence": f"the dog {'sat ' * (number // 9)}.",
            "label": ["SUPPORTS", "REFUTES"][number % 2],
        }
        for number in range(130)
    ]
    (tmp_path / "claims.jsonl").write_text("\n".join(map(json.dumps, rows)))
    done = invoke(tmp_path, "bench-nli", "--data", "claims.jsonl", "--model", model, "--offline")
    assert done.returncode == 0, done.stderr
    first = (tmp_path / "nli-bench" / "results.json").read_bytes()
    again = invoke(tmp_path, "bench-nli", "--data", "claims.jsonl", "--model", "gone", "--offline")
    assert again.returncode == 0, again.stderr
    assert (tmp_path / "nli-bench" / "results.json").read_bytes() == first
    assert {p.suffix for p in (tmp_path / "nli-bench").iterdir()} == {
        ".html", ".json", ".jsonl", ".md", ".png",
    }  # fmt: skip
    fitted = invoke(
        tmp_path, "calibrate-nli", "claims.jsonl", "--model", model, "--offline", "--alpha", "0.2"
    )
    assert fitted.returncode == 0, fitted.stderr
    stored = json.loads((tmp_path / "nli-calibration.json").read_text())
    assert len(stored["data_hash"]) == 64
    (tmp_path / "a.jsonl").write_text('{"answer": "the cat sat .", "reference": "the dog ."}')
    done = invoke(tmp_path, "verify", "a.jsonl", "--model", model, "--offline",
                  "--rule", "calibrated", "--calibration", "nli-calibration.json")  # fmt: skip
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("verify", "absent.jsonl"), "absent.jsonl: no such file"),
        (("bench-nli",), "give at least one --data FILE"),
        (("bench-nli", "--data", "absent.csv"), "absent.csv: no such file"),
        (("calibrate-nli", "TruthfulQA.csv", "--alpha", "2"), "--alpha 2.0: must lie between"),
        (("verify", "TruthfulQA.csv", "--rule", "magic"), "rule: Input should be"),
        (("verify", "TruthfulQA.csv", "--rule", "calibrated"), "needs calibration"),
        (("verify", "TruthfulQA.csv", "--model", "no/ne", "--offline"), "hf download no/ne"),
    ],
)
def test_wrong_use_is_one_line(tmp_path: Path, arguments: tuple[str, ...], message: str) -> None:
    truthful(tmp_path)
    done = invoke(tmp_path, *arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
