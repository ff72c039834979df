"""A live, very small model: its poor and malformed replies are all accounted for."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from ancrage.verify import Verification
from tests.nli.test_bench import truthful
from tests.servers.live_model import live_model
from tests.verify.test_commands import invoke


def configure(folder: Path, url: str) -> None:
    (folder / "evals.toml").write_text(
        f"[tiers.standard]\nmodel = 'smollm2'\nendpoint = '{url}'\nmax_output_tokens = 120\n"
        "timeout = 100\n"
    )


def test_every_claim_has_a_verdict_or_a_reason(workplace: Path) -> None:
    lines = [
        {"id": "a", "answer": "Paris is in France. Rome is small.", "context": "Paris is big."},
        {"id": "b", "answer": "The cat sleeps.", "context": "The cat is asleep."},
    ]
    (workplace / "f.jsonl").write_text("\n".join(map(json.dumps, lines)))
    with live_model() as url:
        configure(workplace, url)
        assert invoke("verify", "f.jsonl", "--llm") in (0, 3)
    written = (workplace / "f.verified.jsonl").read_text(encoding="utf-8").splitlines()
    results = {r.run_id: r for r in map(Verification.model_validate_json, written)}
    assert [len(results[name].claims) for name in ("a", "b")] == [2, 1]
    for result in results.values():
        assert sum(result.counts.values()) == 2 * len(result.claims)
        assert all(verdict.reason for verdict in result.verdicts)
        assert result.usage is not None


def test_self_check_and_sampling_run_end_to_end(
    workplace: Path, real_model: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from benchmarks.nli.__main__ import main

    questions = truthful(workplace)
    model = real_model.settings.model
    with live_model() as url:
        configure(workplace, url)
        monkeypatch.setattr(
            sys, "argv", ["nli", str(questions), "--model", model, "--tier", "standard"]
        )
        main()
    (result,) = json.loads((workplace / "nli-bench" / "results.json").read_text())
    rows = {row["method"]: row for row in result["rows"]}
    for name in ("self-check", "sampling (SelfCheckGPT-style)"):
        assert rows[name]["missing"] is None
        assert rows[name]["measures"]["accuracy"]["value"] is not None
