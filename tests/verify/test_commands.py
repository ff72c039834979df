"""In the commands: an experiment with ``--scorers``, and a file of answers."""

import json
from pathlib import Path
from typing import Any

import pytest
from invoke.program import Program

from ancrage import __version__
from ancrage.cli import namespace
from ancrage.runs import RunView, find_run
from ancrage.verify import Verification
from tests.servers.openai_server import Call, OpenAIServer, Reply
from tests.verify.conftest import answers, configure
from tests.verify.scripted import claims, entry, reply

SOURCE = "L'appli est rapide, j'adore !"


def invoke(*arguments: str) -> int:
    """Run a command in this process; returns its exit status."""
    try:
        Program(namespace=namespace, version=__version__).run(["invoke", *arguments], exit=True)
    except SystemExit as end:
        return int(end.code or 0)
    return 0


def script(call: Call) -> Reply:
    """Supports quotes and the count, contradicts slowness, supports nothing else."""
    entries = []
    for label, text in claims(call).items():
        if "lente." in text:
            entries.append(entry(label, "contradicted", SOURCE, "elle est rapide"))
        elif "Tous" in text or "partent" in text:
            entries.append(entry(label, "unsupported", None, "rien ne le dit"))
        elif "«" in text:
            entries.append(entry(label, "supported", SOURCE))
        else:
            entries.append(entry(label, "supported", "count: 9"))
    return reply(call, entries)


def test_an_experiment_with_the_scorer(workplace: Path, capfd: pytest.CaptureFixture[str]) -> None:
    answers(workplace)
    with OpenAIServer(script) as server:
        configure(workplace, server)
        assert invoke("experiment", "--scorers", "verify", "--run-name", "r") == 3
        calls = len(server.calls)
        assert invoke("score", "r", "--scorers", "verify") == 3
        assert len(server.calls) == calls == 2
    view = RunView(find_run("r"))
    rows = {row.mode.name: row for row in view.summaries() if row.mode.name.endswith("_claim")}
    assert {name: (row.scored, row.failing, row.total) for name, row in rows.items()} == {
        "hallucinated_claim": (2, 1, 2),
        "contradicted_claim": (2, 1, 1),
        "unsupported_claim": (2, 1, 1),
    }
    for row in rows.values():
        assert row.cases == 5 == row.scored + row.unscored
        reasons = " ".join(row.reasons)
        assert "output empty" in reasons
        assert "output missing" in reasons
        assert "nothing to hold claims against" in reasons
    items = {item.case.id: item for item in view.items()}
    found = {f.mode: f for f in items["wrong"].findings if f.mode.endswith("_claim")}
    assert found["contradicted_claim"].evidence.text == "L'appli est lente."
    assert found["contradicted_claim"].source_id == "M-0001"
    assert found["contradicted_claim"].explanation == "elle est rapide"
    assert found["unsupported_claim"].evidence.text == "Tous les clients veulent partir."
    (evaluation,) = (e for e in items["wrong"].evaluations if e.evaluator == "verify")
    assert evaluation.details["score"] == pytest.approx(2 / 3)
    assert evaluation.details["counts"]["claims"] == 3  # type: ignore[index,call-overload]
    assert "contradicted_claim" in capfd.readouterr().out


def test_a_dry_run_counts_the_calls_of_the_scorer_too(
    workplace: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    answers(workplace)
    more = '[verify]\nverifiers = ["llm"]\nextractor = "standard"\n'
    with OpenAIServer(script) as server:
        configure(workplace, server, more)
        assert invoke("experiment", "--scorers", "verify", "--dry-run") == 0
        assert server.calls == []
        told = capfd.readouterr().out
        invoke("experiment", "--scorers", "verify", "--run-name", "r", "--no-cache")
        asked = [call.schema for call in server.calls]
    rows = {line.split()[1]: line.split() for line in told.splitlines() if "verify:" in line}
    assert rows["claims"][3:6] == ["3", "0", "3"]
    assert rows["llm"][3:6] == ["3", "1", "2"], "without a context there is nothing to ask"
    assert sum("verdicts" in (schema or {})["properties"] for schema in asked) == 2
    assert "5 calls" in told


def test_claims_without_a_verdict_are_shown_with_bounds(
    workplace: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    def silent_on_all(call: Call) -> Reply:
        known = {k: v for k, v in claims(call).items() if "Tous" not in v}
        entries = [
            entry(label, "supported", SOURCE) if "«" in text else entry(label, "unsupported", None)
            for label, text in known.items()
        ]
        return reply(call, entries)

    answers(workplace)
    with OpenAIServer(silent_on_all) as server:
        configure(workplace, server)
        assert invoke("experiment", "--scorers", "verify", "--run-name", "r") == 3
    rows = {row.mode.name: row for row in RunView(find_run("r")).summaries()}
    assert rows["hallucinated_claim"].reasons["a claim has no verdict: llm: no verdict"] == 1
    out = " ".join(capfd.readouterr().out.split())
    assert "for want of a context or a verdict: 2." in out
    items = {item.case.id: item for item in RunView(find_run("r")).items()}
    each = [e for i in items.values() for e in i.evaluations if e.evaluator == "verify"]
    known = [e.details for e in each if "best" in e.details]
    low = sum(float(str(d["best"])) for d in known) / len(known)
    high = sum(float(str(d["worst"])) for d in known) / len(known)
    assert low < high
    assert f"The mean score of all {len(known)} lies between {low:.3f} and {high:.3f}" in out


@pytest.mark.parametrize(
    ("table", "arguments", "message"),
    [
        ("", ["--scorers", "verfy"], "known are"),
        ("[verify]\nverifiers = ['llm']\ntier = 'x'", ["--scorers", "verify"], "no tier 'x'"),
        ("[verify]\nscale = 0", ["--scorers", "verify"], "[verify] scale"),
        ("[verify]\nmodel = 'x'", ["--scorers", "verify"], "[verify] model"),
    ],
)
def test_wrong_use_is_one_line(
    workplace: Path,
    capfd: pytest.CaptureFixture[str],
    table: str,
    arguments: list[str],
    message: str,
) -> None:
    answers(workplace)
    with OpenAIServer([]) as server:
        configure(workplace, server, table)
        assert invoke("experiment", *arguments) == 2
    error = capfd.readouterr().err
    assert message in error
    assert "Traceback" not in error


LINES: list[dict[str, Any]] = [
    {"id": "a", "question": "?", "answer": "L'appli est lente.", "context": [SOURCE]},
    {"id": "b", "answer": "", "context": SOURCE},
    {"id": "c", "answer": None, "context": SOURCE},
    {"id": "d", "answer": "Les clients partent."},
    {"id": "e", "answer": "Ils écrivent : « L'appli est rapide, j'adore ! ».", "context": SOURCE},
]


def test_a_file_of_answers(workplace: Path, capfd: pytest.CaptureFixture[str]) -> None:
    good = [json.dumps(line, ensure_ascii=False) for line in LINES]
    bad = ['{"id": "a", "answer": "x"}', '{"id": "f"}', "{", '{"id": "g", "answer": "x", "y": 1}']
    text = "\ufeff" + "\r\n".join([*good, "", *bad]) + "\r\n"
    (workplace / "f.jsonl").write_text(text, encoding="utf-8", newline="")
    with OpenAIServer(script) as server:
        configure(workplace, server)
        assert invoke("verify", "f.jsonl", "--llm") == 3
        assert len(server.calls) == 2
        assert invoke("verify", "f.jsonl", "--llm") == 2
        assert invoke("verify", "f.jsonl", "--llm", "--resume") == 3
        assert invoke("verify", "f.jsonl", "--llm", "--resume", "--scale", "10") == 2
        assert len(server.calls) == 2
    out, error = capfd.readouterr()
    lines = (workplace / "f.verified.jsonl").read_text(encoding="utf-8").splitlines()
    results = [Verification.model_validate_json(line) for line in lines]
    assert {each.run_id: (each.state, each.score) for each in results} == {
        "a": ("scored", 1),
        "b": ("empty", 0),
        "c": ("unscored", None),
        "d": ("unscored", None),
        "e": ("scored", 0),
    }
    assert "Answers: 5 = 2 scored + 2 unscored + 1 empty." in " ".join(out.split())
    assert "The mean score of all 5 lies between 0.200 and 0.600" in " ".join(out.split())
    assert "Lines that could not be read: 4." in out
    for fault in (
        "f.jsonl:7: id: 'a' occurs twice",
        "f.jsonl:8: answer: is missing",
        "f.jsonl:9: value: Invalid JSON",
        "f.jsonl:10: y: is no field",
    ):
        assert fault in out
    assert "f.verified.jsonl exists" in error
    assert "has scale 1: give another --out" in error


def test_code_alone_needs_no_model(workplace: Path) -> None:
    line = {
        "id": "a",
        "answer": "Acme emploie 150 personnes.",
        "context": "Acme emploie 123 personnes.",
    }
    (workplace / "f.jsonl").write_text(json.dumps(line), encoding="utf-8")
    assert invoke("verify", "f.jsonl", "--scale", "10") == 0
    (result,) = (workplace / "f.verified.jsonl").read_text(encoding="utf-8").splitlines()
    assert Verification.model_validate_json(result).score == 10
    assert invoke("verify", "no.jsonl") == 2
    assert invoke("verify", "f.jsonl", "--rule", "paper") == 2


def test_results_of_two_extractors_do_not_mix(
    workplace: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (workplace / "f.jsonl").write_text(json.dumps(LINES[0]), encoding="utf-8")
    assert invoke("verify", "f.jsonl") == 3
    with OpenAIServer([]) as server:
        configure(workplace, server)
        arguments = ("--extractor", "standard", "--resume")
        assert invoke("verify", "f.jsonl", *arguments) == 2
    assert "made by another scorer" in capfd.readouterr().err


def test_a_model_without_its_key_is_one_line(
    workplace: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (workplace / "f.jsonl").write_text(json.dumps(LINES[0]), encoding="utf-8")
    with OpenAIServer(script) as server:
        configure(workplace, server, 'key = "ANCRAGE_TEST_NO_SUCH_KEY"')
        assert invoke("verify", "f.jsonl", "--llm") == 2
    error = capfd.readouterr().err
    assert "set ANCRAGE_TEST_NO_SUCH_KEY" in error
    assert "Traceback" not in error


def test_resuming_refuses_what_is_foreign_or_has_changed_and_leaves_it(
    workplace: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*_: object) -> None:
        raise AssertionError("a model is loaded before the files are known to be usable")

    source, out = workplace / "f.jsonl", workplace / "f.verified.jsonl"
    source.write_text(json.dumps(LINES[0]), encoding="utf-8")
    assert invoke("verify", "f.jsonl") == 3
    mine = out.read_bytes()
    monkeypatch.setattr("ancrage.verify.settings.claim_scorer", never)
    for content, message in (
        (b'{"precious": 1}\n', "not a file of verifications, left as it is"),
        (b"precious, on one line without an end", "not a file of verifications"),
    ):
        out.write_bytes(content)
        assert invoke("verify", "f.jsonl", "--resume") == 2
        assert out.read_bytes() == content
        assert message in capfd.readouterr().err
    out.write_bytes(mine)
    source.write_text(json.dumps({**LINES[0], "answer": "Autre chose."}), encoding="utf-8")
    assert invoke("verify", "f.jsonl", "--resume") == 2
    assert "'a' has changed in f.jsonl" in capfd.readouterr().err
    source.write_text(json.dumps({**LINES[0], "id": "z"}), encoding="utf-8")
    assert invoke("verify", "f.jsonl", "--resume") == 2
    assert "has 'a', which f.jsonl has not" in capfd.readouterr().err
    assert out.read_bytes() == mine


def test_a_torn_last_line_is_done_again(workplace: Path) -> None:
    source, out = workplace / "f.jsonl", workplace / "f.verified.jsonl"
    source.write_text("\n".join(map(json.dumps, LINES[:2])), encoding="utf-8")
    assert invoke("verify", "f.jsonl") == 3
    first, second = out.read_bytes().splitlines(keepends=True)
    for torn in (first + second[:30], first[:40], b""):
        out.write_bytes(torn)
        assert invoke("verify", "f.jsonl", "--resume") == 3
        assert out.read_bytes() == first + second


def test_a_run_is_verified_beside_its_checks(
    workplace: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    answers(workplace)
    assert invoke("experiment", "--run-name", "r") == 0
    before = [row.mode.name for row in RunView(find_run("r")).summaries()]
    capfd.readouterr()
    assert invoke("verify", "r") == 3
    told = " ".join(capfd.readouterr().out.split())
    assert "Answers: 5 = " in told
    assert "No model was asked, so the run gets no scoring" in told
    assert [row.mode.name for row in RunView(find_run("r")).summaries()] == before
    with OpenAIServer(script) as server:
        configure(workplace, server)
        assert invoke("verify", "r", "--llm") == 3
    rows = {row.mode.name: row for row in RunView(find_run("r")).summaries()}
    assert rows["hallucinated_claim"].cases == 5
    assert "Claims: " in capfd.readouterr().out
    assert invoke("verify", "r", "--resume") == 2
    assert "go with a file of answers" in capfd.readouterr().err
