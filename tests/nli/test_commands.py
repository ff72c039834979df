"""The commands, run as a user runs them."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ancrage.errors import ExitCode, UsageError
from ancrage.nli import NLISettings
from ancrage.nli.batch import bench_files, calibrate_file, verify_file
from tests.nli.test_bench import truthful

pytestmark = pytest.mark.usefixtures("torch")


def invoke(folder: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "COLUMNS": "160"}
    return subprocess.run(
        [Path(sys.executable).parent / "ancrage", *arguments],
        cwd=folder, capture_output=True, text=True, env=environment, check=False, timeout=120,
    )  # fmt: skip


@pytest.fixture
def settings(tiny: Any) -> NLISettings:
    return NLISettings(model=str(tiny("bert")), offline=True)


def verified(file: Path, settings: NLISettings, *, resume: bool = False) -> ExitCode:
    return verify_file(str(file), "", settings, recall=False, correct=False, resume=resume)


def test_verify_keeps_what_is_good_and_names_what_is_not(
    tmp_path: Path, settings: NLISettings, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = [
        json.dumps({"id": "a", "answer": "The cat sat on the mat.", "reference": "The cat sat."}),
        '{"id": "b"}',
        json.dumps({"id": "c", "answer": "The dog is in. The cat was not.", "context": ["A dog."]}),
        json.dumps({"id": "a", "answer": "Again the same id."}),
        json.dumps({"id": "d", "answer": "The cat is big."}),
    ]
    file = tmp_path / "answers.jsonl"
    file.write_text("\n".join(lines), encoding="utf-8-sig")
    assert verified(file, settings) is ExitCode.INCOMPLETE
    said = capsys.readouterr().out.replace("\n", "")
    assert "answers.jsonl:2: answer: Field required" in said
    assert "answers.jsonl:4: id: 'a' occurs twice" in said
    out = tmp_path / "answers.verified.jsonl"
    results = [json.loads(line) for line in out.read_text().splitlines()]
    assert [(r["id"], r["counts"]["claims"]) for r in results] == [("a", 1), ("c", 2), ("d", 1)]
    assert results[2]["counts"] == {"claims": 1, "unscored": 1}
    with pytest.raises(UsageError, match="--resume"):
        verified(file, settings)
    out.write_text("".join(out.read_text().splitlines(keepends=True)[:1]) + '{"id": "torn')
    assert verified(file, settings, resume=True) is ExitCode.INCOMPLETE
    assert [json.loads(line)["id"] for line in out.read_text().splitlines()] == ["a", "c", "d"]


def test_resuming_keeps_all_that_is_whole_and_reads_any_bytes(
    tmp_path: Path, settings: NLISettings, capsys: pytest.CaptureFixture[str]
) -> None:
    file, out = tmp_path / "answers.jsonl", tmp_path / "answers.verified.jsonl"
    lines = [
        json.dumps({"id": name, "answer": f"The cat{mark}sat.", "reference": "The cat sat."})
        for name, mark in (("a", " "), ("b", "\u2028"), ("c", "\x85"), ("d", " "))
    ]
    file.write_bytes("\n".join(lines).encode() + b'\n{"id": "e", "answer": "caf\xe9"}\n')
    assert verified(file, settings) is ExitCode.INCOMPLETE
    assert "answers.jsonl:5" in capsys.readouterr().out.replace("\n", "")
    kept = out.read_bytes().split(b"\n")
    out.write_bytes(b"\n".join([kept[0][:40] + b"\xc3", *kept[1:]]))
    assert verified(file, settings, resume=True) is ExitCode.INCOMPLETE
    # Nothing but the torn line was done again: the others keep the seconds they took.
    assert out.read_bytes().split(b"\n")[:3] == kept[1:4]
    assert json.loads(out.read_bytes().split(b"\n")[3])["id"] == "a"


def test_bench_recomputes_without_its_model_and_calibration_serves_verify(
    tmp_path: Path, settings: NLISettings
) -> None:
    rows = [
        {
            "response": f"r{number}",
            "claim": f"the cat {'sat ' * (number % 9)}.",
            "evidence": f"the dog {'sat ' * (number // 9)}.",
            "label": ["SUPPORTS", "REFUTES"][number % 2],
        }
        for number in range(130)
    ]
    claims, out = tmp_path / "claims.jsonl", tmp_path / "bench"
    claims.write_text("\n".join(map(json.dumps, rows)))
    bench_files([str(claims)], str(out), settings, None, "", "")
    first = (out / "results.json").read_bytes()
    gone = NLISettings(model="gone", offline=True)
    bench_files([str(claims)], str(out), gone, None, "", "")
    assert (out / "results.json").read_bytes() == first
    assert {p.suffix for p in out.iterdir()} == {".html", ".json", ".jsonl", ".md", ".png"}
    stored = tmp_path / "calibration.json"
    calibrate_file(str(claims), str(stored), settings, 0.2, 0.8, 0.1)
    assert len(json.loads(stored.read_text())["data_hash"]) == 64
    answers = tmp_path / "a.jsonl"
    answers.write_text('{"answer": "the cat sat .", "reference": "the dog ."}')
    ruled = settings.model_copy(update={"rule": "calibrated", "calibration": str(stored)})
    assert verified(answers, ruled) is ExitCode.OK


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
