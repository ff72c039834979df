"""Judges in the commands: an experiment, judging again, the dry run, the coverage gate."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from invoke.program import Program

from ancrage import __version__
from ancrage.cli import namespace
from ancrage.runs import RunView, find_run
from ancrage.snapshot import Snapshot
from tests.judges.scripted import obliging, reply, seen, words
from tests.servers.openai_server import Call, Fail, OpenAIServer, Refuse, Reply, Say

Configure = Callable[..., None]

JUDGE = words(
    boilerplate_answer="Il faut rester à l'écoute des clients.",
    overgeneralisation="Tous les clients",
    unsupported_figure="31 %",
)


def invoke(*arguments: str) -> int:
    """Run a command in this process; returns its exit status."""
    program = Program(namespace=namespace, version=__version__)
    try:
        program.run(["invoke", *arguments], exit=True)
    except SystemExit as end:
        return int(end.code or 0)
    return 0


def test_an_experiment_adds_three_judges_to_the_checks(
    data: Snapshot, configure: Configure, capfd: pytest.CaptureFixture[str]
) -> None:
    with OpenAIServer(obliging(JUDGE)) as server:
        configure(server)
        assert invoke("experiment", "--judges", "three", "--run-name", "r") == 0
    items = {item.case.id: item for item in RunView(find_run("r")).items()}
    found = {(name, f.mode, f.evidence.text) for name, i in items.items() for f in i.findings}
    assert ("general", "boilerplate_answer", "Il faut rester à l'écoute des clients.") in found
    assert ("everyone", "overgeneralisation", "Tous les clients") in found
    assert ("figure", "unsupported_figure", "31 %") in found
    rows = {row.mode.name: row for row in RunView(find_run("r")).summaries()}
    assert (rows["off_question"].cases, rows["off_question"].scored) == (5, 4)
    assert rows["off_question"].reasons == {
        "output missing: recorded as missing in the snapshot": 1
    }
    out = capfd.readouterr().out
    assert "relevance" in out
    assert "12/12 = 100.0 %" in out


def test_judging_again_makes_a_new_scoring_and_generates_nothing(
    data: Snapshot, configure: Configure
) -> None:
    with OpenAIServer(obliging(JUDGE)) as server:
        configure(server)
        assert invoke("experiment", "--run-name", "r") == 0
        outputs = (find_run("r").path / "outputs.jsonl").read_bytes()
        assert invoke("score", "r", "--judges", "three") == 0
        assert invoke("score", "r", "--judges", "one") == 0
    folder = find_run("r")
    assert (folder.path / "outputs.jsonl").read_bytes() == outputs
    assert [len(each.scoring.evaluators) for each in folder.scorings()] == [7, 10, 8]
    rows = [row for row in RunView(folder).summaries() if row.mode.name == "off_question"]
    assert [row.evaluator for row in rows] == ["single"]
    for row in RunView(folder).summaries():
        assert row.scored + row.unscored == row.cases == 5


def test_a_dry_run_calls_nothing_and_counts_the_calls(
    data: Snapshot, configure: Configure, capfd: pytest.CaptureFixture[str]
) -> None:
    price = '[prices.models."m"]\ninput = 1.0\noutput = 2.0\n'
    with OpenAIServer(obliging(JUDGE)) as server:
        configure(server, more=price)
        assert invoke("experiment", "--judges", "three", "--dry-run") == 0
        assert server.calls == []
        told = capfd.readouterr().out
        assert invoke("experiment", "--judges", "three", "--run-name", "r", "--no-cache") == 0
        made = len(server.calls)
    assert f"{made} calls" in told
    assert "USD" in told
    assert not list(Path("runs").glob("*-audit"))


def test_a_judge_that_refuses_is_unscored_and_the_run_incomplete(
    data: Snapshot, configure: Configure, capfd: pytest.CaptureFixture[str]
) -> None:
    def script(call: Call) -> Reply:
        prompt = seen(call)
        if "overgeneralisation" in prompt.modes:
            return Refuse("I cannot.")
        return Say(reply(prompt))

    with OpenAIServer(script) as server:
        configure(server)
        assert invoke("experiment", "--judges", "three", "--run-name", "r") == 3
    out = capfd.readouterr().out
    assert "synthesis gave 0.0 % of its verdicts" in out
    assert "8 refusal" in out
    rows = {row.mode.name: row for row in RunView(find_run("r")).summaries()}
    assert rows["overgeneralisation"].reasons["refusal"] == 4
    assert rows["off_question"].scored == 4


@pytest.mark.parametrize(("minimum", "status"), [("0.5", 0), ("0.8", 3)])
def test_coverage_is_a_gate(
    data: Snapshot, configure: Configure, minimum: str, status: int
) -> None:
    def script(call: Call) -> Reply:
        prompt = seen(call)
        if "Tous les clients" in prompt.answer:
            return Fail(400, "no")
        return Say(reply(prompt))

    with OpenAIServer(script) as server:
        configure(server, judges=f"min_coverage = {minimum}")
        assert invoke("experiment", "--judges", "relevance") == status


def test_a_budget_leaves_the_rest_unscored(data: Snapshot, configure: Configure) -> None:
    with OpenAIServer(obliging(JUDGE)) as server:
        configure(server, tier="max_output_tokens = 200")
        arguments = ("--judges", "relevance", "--budget-tokens", "4000", "--concurrency", "1")
        assert invoke("experiment", *arguments, "--run-name", "r", "--no-cache") == 3
        assert 1 <= len(server.calls) < 4
    rows = {row.mode.name: row for row in RunView(find_run("r")).summaries()}
    assert rows["off_question"].reasons["budget"] == 4 - rows["off_question"].scored


def test_answers_in_the_cache_are_not_paid_twice(data: Snapshot, configure: Configure) -> None:
    with OpenAIServer(obliging(JUDGE)) as server:
        configure(server)
        assert invoke("experiment", "--judges", "three", "--run-name", "r") == 0
        made = len(server.calls)
        assert invoke("score", "r", "--judges", "three") == 0
        assert len(server.calls) == made
        assert invoke("score", "r", "--judges", "three", "--no-cache") == 0
        assert len(server.calls) == 2 * made


def test_judging_repeatedly_measures_the_judges_noise(
    data: Snapshot, configure: Configure, capfd: pytest.CaptureFixture[str]
) -> None:
    turn = iter(range(1000))

    def script(call: Call) -> Reply:
        prompt = seen(call)
        flips = "Tous les clients" in prompt.answer and next(turn) % 2
        return Say(reply(prompt, [("overgeneralisation", "Tous les clients")] if flips else ()))

    with OpenAIServer(script) as server:
        configure(server)
        arguments = ("--judges", "synthesis", "--judge-repeat", "4", "--concurrency", "1")
        assert invoke("experiment", *arguments, "--run-name", "r") == 0
        assert len(server.calls) == 16
    assert "overgeneralisation: 1 of 4 answers flip" in capfd.readouterr().out
    scoring = find_run("r").scorings()[0]
    lines = (scoring.path / "scores.jsonl").read_text(encoding="utf-8").splitlines()
    entry = next(each for each in map(json.loads, lines) if each["case_id"] == "everyone")
    details = entry["evaluations"][-1]["details"]
    assert sorted(details["repeats"]["overgeneralisation"]) == [0, 0, 1, 1]


@pytest.mark.parametrize("choice", ["four", "relevance,typo", ","])
def test_an_unknown_judge_is_refused_with_the_known_names(
    data: Snapshot, configure: Configure, capfd: pytest.CaptureFixture[str], choice: str
) -> None:
    with OpenAIServer(obliging(JUDGE)) as server:
        configure(server)
        assert invoke("experiment", "--judges", choice) == 2
    assert "anchoring, relevance, synthesis" in capfd.readouterr().err


def test_judges_without_a_tier_say_what_to_add(
    data: Snapshot, capfd: pytest.CaptureFixture[str]
) -> None:
    assert invoke("experiment", "--judges", "three") == 2
    assert "add [tiers.judge]" in capfd.readouterr().err


@pytest.mark.parametrize("command", [["experiment"], ["score", "r"]])
def test_a_server_that_is_not_there_is_said_at_once(
    data: Snapshot, configure: Configure, capfd: pytest.CaptureFixture[str], command: list[str]
) -> None:
    assert invoke("experiment", "--run-name", "r") == 0
    with OpenAIServer(obliging(JUDGE)) as server:
        configure(server)
    assert invoke(*command, "--judges", "three") == 3
    assert "no connection to http://127.0.0.1" in capfd.readouterr().err
    assert len(find_run("r").scorings()) == 1
    assert [path.name for path in Path("runs").iterdir() if path.is_dir()] == ["r"]


def test_answers_on_disk_are_used_where_the_server_is_gone(
    data: Snapshot, configure: Configure, capfd: pytest.CaptureFixture[str]
) -> None:
    with OpenAIServer(obliging(JUDGE)) as server:
        configure(server)
        assert invoke("experiment", "--judges", "three", "--run-name", "r") == 0
    capfd.readouterr()
    assert invoke("score", "r", "--judges", "three") == 0
    assert "with the answers on disk alone" in capfd.readouterr().out
