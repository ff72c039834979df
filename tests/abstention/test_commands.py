"""The commands as a user meets them: real processes, a real server on loopback."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from ancrage.cli.app import main
from tests.abstention.test_cases import write
from tests.cli.test_commands import run
from tests.conftest import ROOT
from tests.servers.openai_server import Call, Fail, OpenAIServer, Reply, Say

CASES = str(ROOT / "docs" / "examples" / "abstention-cases.json")
MOCK = str(ROOT / "docs" / "examples" / "abstention-responses.json")


def inside(monkeypatch: pytest.MonkeyPatch, folder: Path, *arguments: str) -> int:
    """The exit code of the command, run in this very process."""
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "argv", ["ancrage", *arguments])
    monkeypatch.setattr(sys, "path", sys.path[:])
    try:
        main()
    except SystemExit as end:
        return int(end.code or 0)
    return 0


def config(folder: Path, server: OpenAIServer, **fields: Any) -> None:
    lines = [f'endpoint = "{server.url}"', 'model = "m"']
    lines += [f"{name} = {json.dumps(value)}" for name, value in fields.items()]
    write(folder / "evals.toml", "[tiers.standard]\n" + "\n".join(lines) + "\n")


def evaluation(folder: Path, name: str = "outputs/evaluation.json") -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((folder / name).read_text(encoding="utf-8"))
    return loaded


def test_check_the_example_then_a_broken_file(tmp_path: Path) -> None:
    good = run("qa-check", CASES, cwd=tmp_path)
    assert good.returncode == 0
    assert "10 usable cases" in good.stdout
    assert "out of context   0" in good.stdout
    broken = write(tmp_path / "c.json", [{"question": "a", "must_abstain": 1}, 3])
    bad = run("qa-check", str(broken), cwd=tmp_path)
    assert bad.returncode == 2
    assert "1: expected: missing" in bad.stdout.replace("\n", " ")
    assert "2: expected an object" in bad.stdout.replace("\n", " ")


def test_the_tutorial_from_end_to_end(tmp_path: Path) -> None:
    done = run("qa", CASES, "--mock", MOCK, "--rule", "lexical", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("total=10 faithful=8 score=0.80 failed_cases=[7, 10]\n")
    written = evaluation(tmp_path)
    assert written["failed_cases"] == [7, 10]
    assert written["score"] == 0.8
    assert written["rule"]["name"] == "lexical"
    assert written["model"] == "mock abstention-responses.json"
    raw = json.loads(Path(MOCK).read_text(encoding="utf-8"))
    assert [result["answer"] for result in written["results"]] == raw
    answers = (tmp_path / "outputs/answers.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(answers) == 11
    assert "faithful" not in "".join(answers)

    again = run("qa-score", "outputs", cwd=tmp_path)
    assert again.returncode == 0, again.stderr
    assert "verdicts moved" in again.stdout
    assert "failed: false answer" in again.stdout
    assert evaluation(tmp_path) == written
    assert evaluation(tmp_path, "outputs/evaluation-meaning.json")["failed_cases"] == []

    mixed = run("qa-compare", "outputs", "outputs/evaluation-meaning.json", cwd=tmp_path)
    assert mixed.returncode == 2
    assert "judged by different rules" in mixed.stderr


def test_a_model_answers_each_case_with_its_own_prompt(tmp_path: Path) -> None:
    def script(call: Call) -> Reply:
        return Say("Je ne sais pas." if "salariés" in call.text else "1987")

    cases = json.loads(Path(CASES).read_text(encoding="utf-8"))["cases"][:1]
    own = {**cases[0], "question": "Combien de salariés ?", "prompt": "Les salariés {{ ? }}"}
    path = str(write(tmp_path / "c.json", [*cases, {**own, "must_abstain": True}]))
    with OpenAIServer(script) as server:
        config(tmp_path, server, temperature=0.5)
        template = write(tmp_path / "p.txt", "Texte : {{ support }} // {{ question }}")
        done = run("qa", path, "--prompt", str(template), "--out", "v1", cwd=tmp_path)
        assert done.returncode == 0, done.stderr + done.stdout
        asked = {call.messages[-1]["content"] for call in server.calls[1:]}
    support, question = cases[0]["support"], cases[0]["question"]
    assert asked == {f"Texte : {support} // {question}", "Les salariés {{ ? }}"}
    written = evaluation(tmp_path, "v1/evaluation.json")
    assert (written["model"], written["temperature"]) == ("m", 0.5)
    assert written["prompt"].startswith("Texte : {{ support }}")
    assert written["score"] == 1.0
    same = run("qa-compare", "v1", "v1", cwd=tmp_path)
    assert same.returncode == 0
    assert "faithful in both         2" in same.stdout


def test_a_call_that_fails_stays_in_the_denominator(tmp_path: Path) -> None:
    def script(call: Call) -> Reply:
        return Fail(500, "down") if "Ada" in call.text else Say("Le texte ne le dit pas.")

    with OpenAIServer(script) as server:
        config(tmp_path, server, retries=0)
        done = run("qa", CASES, "--no-preflight", cwd=tmp_path)
    assert done.returncode == 3
    assert done.stdout.startswith("total=10 faithful=1 score=0.10")
    assert "INCOMPLETE: 3 of 10 cases have no answer; they count" in done.stdout
    written = evaluation(tmp_path)
    assert written["missing_cases"] == [3, 4, 10]
    assert {f["cause"] for f in written["failures"]} == {"missing", "false refusal"}
    assert "500" in written["failures"][2]["reason"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--mock", "short.json"], "1 answers for 10 cases"),
        (["--mock", "none.json"], "No such file"),
        (["--mock", MOCK, "--rule", "best"], "known rules are"),
        (["--mock", MOCK, "--rule", "lexical", "--verifier", "nli"], "leave out --verifier"),
        (["--mock", MOCK, "--prompt", "p.txt"], "leave one out"),
        (["--prompt", "p.txt"], "prompt: UndefinedError"),
        (["--tier", "none"], "no tier 'none'"),
    ],
)
def test_wrong_use_is_one_line_and_nothing_is_written(
    tmp_path: Path,
    arguments: list[str],
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    write(tmp_path / "short.json", ["a"])
    write(tmp_path / "p.txt", "{{ contexte }}")
    assert inside(monkeypatch, tmp_path, "qa", CASES, *arguments) == 2
    stderr = capsys.readouterr().err
    assert said in stderr
    assert len(stderr.strip().splitlines()) == 1
    assert not (tmp_path / "outputs").exists()


def test_a_score_below_its_bound(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    low = ("qa", CASES, "--mock", MOCK, "--rule", "lexical", "--min-score", "0.9")
    assert inside(monkeypatch, tmp_path, *low) == 1
    assert "score 0.800 is below 0.9" in capsys.readouterr().err
    assert evaluation(tmp_path)["faithful"] == 8


def test_answers_to_other_cases_are_not_judged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "cases.json"
    path.write_bytes(Path(CASES).read_bytes())
    assert inside(monkeypatch, tmp_path, "qa", str(path), "--mock", MOCK) == 0
    path.write_text(path.read_text(encoding="utf-8").replace("1987", "1986"), encoding="utf-8")
    assert inside(monkeypatch, tmp_path, "qa-score", "outputs") == 2
    assert "not the cases that outputs answers" in capsys.readouterr().err
