"""The commands as they are typed, in processes of their own where that matters."""

import json
import random
import re
import sqlite3
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from ancrage.domain import Case, OutputState, RunState
from ancrage.runs import RunFolder, find_run, list_runs
from ancrage.snapshot import Snapshot, open_snapshot
from tests.builders import snapshot as build
from tests.replay.actors import actor, question_of
from tests.replay.commands import run, start
from tests.replay.conftest import PROMPT, make_case
from tests.servers.openai_server import Call, Fail, OpenAIServer, Reply, Say, UseTools, too_many

USE = "[assistant]\nuse = 'tests.replay.assistants:agent'\n"


def configure(workplace: Path, server: OpenAIServer, extra: str = "") -> None:
    tier = f'[tiers.standard]\nmodel = "m"\nendpoint = "{server.url}"\n'
    (workplace / "evals.toml").write_text(USE + tier + extra)


def states(folder: RunFolder) -> Counter[OutputState]:
    return Counter(output.state for output in folder.outputs())


def test_cases_are_regenerated_without_a_model(workplace: Path, cases: list[Case]) -> None:
    (workplace / "evals.toml").write_text(USE)
    old = cases[0].input.model_copy(update={"system_prompt": "Ancien.", "system_prompt_hash": None})
    lost = cases[1].input.model_copy(update={"context": {}})
    cases[0] = cases[0].model_copy(update={"input": old})
    cases[1] = cases[1].model_copy(update={"input": lost})
    build(workplace / "before", cases)
    code, out = run(
        "replay",
        *("--snapshot", "before", "--model", "m", "--dry-run", "--no-preflight", "--out", "after"),
    )
    assert code == 3, out
    assert "differs from production's in 1 of 12 cases" in out
    assert "24 calls or more" in out
    assert "11 cases with today's prompts, 1 set aside" in out
    assert not list_runs()
    after = {case.id: case for case in open_snapshot(workplace / "after").cases()}
    assert after["c000"].input.system_prompt == PROMPT
    assert after["c000"].input.system_prompt_hash == cases[2].input.system_prompt_hash
    assert after["c002"] == cases[2]
    assert '"id":"c001"' in (workplace / "after" / "rejects.jsonl").read_text()


def test_a_replay_from_the_command_line(workplace: Path, data: Snapshot, cases: list[Case]) -> None:
    with OpenAIServer(actor(cases)) as server:
        configure(
            workplace,
            server,
            '[prices]\ncurrency = "EUR"\n[prices.models."new"]\ninput = 1\noutput = 2\n',
        )
        code, out = run("replay", "--model", "new", "--run-name", "r", "--repeat", "2")
        assert code == 0, out
        assert {call.body["model"] for call in server.calls} == {"new"}
        assert len(server.calls) == 1 + 2 * 2 * 12
        for name, repeat in (("r-1", 0), ("r-2", 1)):
            folder = find_run(name)
            assert (folder.run.group, folder.run.repeat) == ("r", repeat)
            assert states(folder) == {OutputState.OK: 12}
            assert (folder.path / "report.html").read_text().count("Frozen world") == 1
        assert "Parameters production's" in " ".join(out.split())
        assert "strict; 0 of 12 outputs left it" in out
        assert "24 calls made" in out
        assert "from the cache" not in out
        assert re.search(r"cost 0\.0\d+ EUR", out)
        code, out = run("report", "r-1")
        assert code == 0, out
        assert "Frozen world" in out, "how it was replayed is part of every report"
        again, out = run("replay", "--model", "new", "--run-name", "s")
        assert again == 0, out
        assert "0 calls made, 24 answers from the cache" in out
        assert len(server.calls) == 49, "the preflight is on record, the answers in the cache"
        fresh, out = run("replay", "--model", "new", "--run-name", "t", "--no-cache")
        assert fresh == 0, out
        assert len(server.calls) == 73


def test_what_is_not_production_is_loud(workplace: Path, data: Snapshot, cases: list[Case]) -> None:
    wandering = "c003"

    def script(call: Call) -> Reply:
        if question_of(call) == next(c for c in cases if c.id == wandering).input.question:
            return UseTools([("count_theme", {"theme": "<b>ailleurs</b>"})])
        return actor(cases)(call)

    with OpenAIServer(script) as server:
        configure(workplace, server, "temperature = 0.5\n")
        code, out = run("replay", "--params", "tier", "--run-name", "r")
    assert code == 0, out
    assert "OVERRIDDEN by the tier's: 12 of 12 cases" in out
    assert "strict; 1 of 12 outputs left it" in out
    folder = find_run("r")
    assert states(folder) == {OutputState.OK: 11, OutputState.UNRECORDED_TOOL_CALL: 1}
    page = (folder.path / "report.html").read_text()
    assert "OVERRIDDEN" in page
    assert "Calls that were never recorded" in page
    assert "<b>ailleurs" not in page
    assert server.calls[0].body["temperature"] == 0.5


def test_preflight_refuses_before_any_spend(workplace: Path, data: Snapshot) -> None:
    with OpenAIServer(lambda _: Say("ok"), strict={"m"}) as server:
        configure(workplace, server, 'reasoning_effort = "minimal"\n')
        code, out = run("replay", "--params", "tier")
        assert code == 2
        assert "does not support 'minimal' with this model" in out
        assert "Traceback" not in out
        assert len(server.calls) == 1
        assert not list_runs()
        code, out = run("replay", "--params", "tier", "--dry-run")
        assert code == 2
        assert "minimal" in out
        code, out = run("replay", "--params", "tier", "--dry-run", "--drop", "reasoning_effort")
        assert code == 0, out
        assert "NOT SENT to this model, whatever production sent: reasoning_effort (12 ca" in out
        assert "accepted" in out


def test_a_migration_asks_both_sides_before_it_pays_for_one(
    workplace: Path, data: Snapshot, cases: list[Case]
) -> None:
    with OpenAIServer(actor(cases), strict={"new"}) as server:
        configure(workplace, server, "temperature = 0.2\n")
        code, out = run("migrate", "old", "new", "--params", "tier", "--repeat", "1")
        assert code == 2
        assert "'temperature' does not support 0.2" in out
        assert [call.body["model"] for call in server.calls] == ["new"]
        both = ("--params", "production,tier", "--drop", "temperature", "--run-name", "m")
        code, out = run("migrate", "old", "new", *both, "--repeat", "1")
        assert code == 0, out
    sent = {call.body["model"]: call.body for call in server.calls[1:]}
    assert sent["old"]["reasoning_effort"] == "low"
    assert "temperature" not in sent["new"]
    assert "NOT SENT to this model" in (find_run("m-new").path / "report.html").read_text()


def test_a_model_that_says_nothing_is_no_better_model(
    workplace: Path, data: Snapshot, cases: list[Case]
) -> None:
    def script(call: Call) -> Reply:
        return Say("ok") if call.body["model"] == "new" else actor(cases)(call)

    with OpenAIServer(script) as server:
        configure(workplace, server)
        code, out = run("migrate", "old", "new", "--run-name", "m", "--repeat", "1")
    assert code == 0, out
    verdict = " ".join(out.split("Verdict", 1)[1].split())
    assert verdict.startswith("COLLAPSE: new gives 4% of the characters, 0% of the tool calls")


def test_refused_answers_are_no_success(workplace: Path, data: Snapshot, cases: list[Case]) -> None:
    with OpenAIServer(lambda _: Say("", finish="content_filter")) as server:
        configure(workplace, server)
        code, out = run("replay", "--no-preflight", "--run-name", "r")
    assert code == 3, out
    assert "r: 0 of 12 cases have a whole answer (12 refused)" in " ".join(out.split())


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--model", "x", "--prompt", "alive"], "--prompt"),
        (["--model", "x", "--params", "some"], "--params"),
        (["--model", "x", "--tools", "loose"], "--tools"),
        (["--model", "x", "--repeat", "0", "--no-preflight"], "--repeat 0: give a whole number"),
        ([], "[tiers.standard]"),
        (["--model", "x", "--endpoint", "http://127.0.0.1:9/v1"], "no connection"),
        (["--resume", "nothing"], "no run"),
        (["--resume", "latest", "--model", "x"], "give no other choice"),
        (["--mock", "absent.json"], "absent.json"),
    ],
)
def test_wrong_use_is_one_line(
    workplace: Path, data: Snapshot, arguments: list[str], words: str
) -> None:
    (workplace / "evals.toml").write_text(USE)
    code, out = run("replay", *arguments)
    assert code == 2
    assert words in out
    assert "Traceback" not in out


def test_mock_answers_come_back_as_given(workplace: Path, data: Snapshot) -> None:
    (workplace / "evals.toml").write_text(USE)
    answers: list[dict[str, Any]] = [{"id": case.id, "answer": case.id} for case in data.cases()]
    answers[3] = {"id": "c003", "state": "refused", "reason": "Non."}
    answers[4] = {"id": "c004", "answer": " "}
    mock = workplace / "responses.json"
    mock.write_text(json.dumps(list(reversed(answers))))
    code, out = run("replay", "--mock", "responses.json", "--run-name", "r")
    assert code == 0, out
    assert "MOCK" in out
    folder = find_run("r")
    assert states(folder) == {OutputState.OK: 10, OutputState.REFUSED: 1, OutputState.EMPTY: 1}
    assert all(o.answer.text == o.case_id for o in folder.outputs() if o.answer and o.state == "ok")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda a: a[:-1], "11 answers for 12 cases; none for 'c011'"),
        (lambda a: [*a, a[0]], "two answers for case 'c000'"),
        (lambda a: [*a, {"id": "c999", "answer": "x"}], "no case 'c999'"),
        (lambda a: [*a[:-1], {"id": "c011"}, 3], "12: "),
        (lambda a: [*a[:-1], {"id": "c011", "answre": "x"}], "answre"),
        (lambda a: 3, "valid array"),
        (lambda a: {"c000": "x"}, "valid array"),
        (lambda a: [*a[:-1], {"id": "c011", "state": "not_run"}], "was run"),
    ],
)
def test_a_mock_that_does_not_fit_is_refused(
    workplace: Path, data: Snapshot, change: Any, words: str
) -> None:
    from ancrage.errors import UsageError
    from ancrage.replay import read_mock

    ids = [case.id for case in data.cases()]
    mock = workplace / "responses.json"
    mock.write_text(json.dumps(change([{"id": each, "answer": each} for each in ids])))
    with pytest.raises(UsageError) as caught:
        read_mock(mock, ids)
    assert words in str(caught.value)


@pytest.mark.parametrize("text", ['{"a": "x", "a": "y"}', "{", "\ufeff[]", ""])
def test_a_mock_that_cannot_be_read_is_refused(workplace: Path, text: str) -> None:
    from ancrage.errors import UsageError
    from ancrage.replay import read_mock

    mock = workplace / "responses.json"
    mock.write_text(text)
    with pytest.raises(UsageError, match=r"responses\.json"):
        read_mock(mock, ["a"])


def test_a_budget_stops_cleanly_and_the_replay_is_taken_up(
    workplace: Path, data: Snapshot, cases: list[Case]
) -> None:
    with OpenAIServer(actor(cases)) as server:
        configure(workplace, server)
        code, out = run("replay", "--run-name", "r", "--budget-tokens", "2500")
        assert code == 3
        assert "ancrage replay --resume r" in out
        assert states(find_run("r"))[OutputState.OVER_BUDGET] > 0
        code, out = run("replay", "--resume", "r")
        assert code == 0, out
        assert states(find_run("r")) == {OutputState.OK: 12}
        calls = Counter(call.text for call in server.calls[1:])
        assert max(calls.values()) == 1, "no finished call is made again"


def test_a_replay_whose_prompt_changed_is_not_taken_up(
    workplace: Path, data: Snapshot, cases: list[Case]
) -> None:
    (workplace / "mine.py").write_text(
        "from ancrage.replay import ToolCallingAgent\n"
        "from tests.replay.assistants import COUNT\n"
        "agent = ToolCallingAgent('a', prompt=lambda context: 'Un.', tools=[COUNT])\n"
    )
    with OpenAIServer(actor(cases)) as server:
        configure(workplace, server)
        config = workplace / "evals.toml"
        config.write_text(config.read_text().replace("tests.replay.assistants:agent", "mine:agent"))
        assert run("replay", "--run-name", "r", "--budget-tokens", "2500")[0] == 3
        source = (workplace / "mine.py").read_text()
        (workplace / "mine.py").write_text(source.replace("Un.", "Deux."))
        code, out = run("replay", "--resume", "r")
    assert code == 2
    assert "the system prompts changed since run r began" in out


def test_migration_adds_up(workplace: Path, data: Snapshot, cases: list[Case]) -> None:
    invented = "« une phrase que personne n'a dite » [R-001, M-0001]"
    broken = {case.input.question for case in cases[:8]}

    def script(call: Call) -> Reply:
        if call.body["model"] == "new" and call.tool_results and question_of(call) in broken:
            return Say(invented)
        return actor(cases)(call)

    with OpenAIServer(script) as server:
        configure(workplace, server)
        code, out = run("migrate", "old", "new", "--run-name", "m", "--repeat", "2")
        assert code == 0, out
        assert "new is worse than old" in out
        assert "+66.7 points over 12 cases" in out
        assert "4 + 8 + 0 + 0 = 12" in out
        assert "24/24 = 100.0 %" in out
        assert "8/24 = 33.3 %" in out
        made = len(server.calls)
        code, again = run("migrate", "old", "new", "--run-name", "m")
        assert code == 0, again
        assert len(server.calls) == made
    assert {folder.path.name for folder in list_runs()} == {
        "m-old-1",
        "m-old-2",
        "m-new-1",
        "m-new-2",
    }
    assert "is worse than" in (find_run("m-new-2").path / "report.html").read_text()


def test_a_replay_killed_at_20_random_moments_loses_and_repeats_nothing(workplace: Path) -> None:
    cases = [make_case(number) for number in range(250)]
    build(workplace / "snapshots" / "app", cases)
    cache = workplace / ".ancrage" / "answers.sqlite"
    rng = random.Random(20)
    lock = threading.Lock()
    under_way = 0
    act = actor(cases)
    limited = iter([30, 31, 90, 200])
    next_limit = next(limited)

    def script(call: Call) -> Reply:
        nonlocal under_way, next_limit
        with lock:
            under_way += 1
            if call.index >= next_limit:
                next_limit = next(limited, 10**9)
                under_way -= 1
                return too_many(0.05)
        time.sleep(0.02)
        with lock:
            under_way -= 1
        return act(call)

    out = workplace / "killed.txt"
    arguments = ["replay", "--run-name", "r", "--concurrency", "4", "--no-preflight"]
    kills = repeated = possible = 0
    with OpenAIServer(script) as server:
        configure(workplace, server)
        while kills < 20:
            known = _answers(cache)
            made = len(server.calls)
            process = start(out, *arguments)
            arguments = ["replay", "--resume", "r", "--concurrency", "4", "--no-preflight"]
            target = made + rng.randint(1, 12)
            while len(server.calls) < target and process.exitcode is None:
                time.sleep(0.005)
            time.sleep(rng.uniform(0, 0.02))
            assert process.exitcode is None, out.read_text()
            process.kill()
            process.join()
            kills += 1
            possible += under_way
            while under_way:
                time.sleep(0.01)
            # A finished call is one whose answer was on disk when the process died.
            assert known <= _answers(cache), "an answer was lost"
            repeated += _answers_asked_again(server, made, known)
        known, made = _answers(cache), len(server.calls)
        code, words = run(*arguments)
        assert code == 0, words
        repeated += _answers_asked_again(server, made, known)
    assert repeated == 0
    folder = find_run("r")
    assert folder.run.state is RunState.COMPLETE
    assert states(folder) == {OutputState.OK: 250}
    lines = (folder.path / "outputs.jsonl").read_text().splitlines()
    assert sorted(json.loads(line)["case_id"] for line in lines) == [case.id for case in cases]
    assert len(server.calls) <= 500 + 4 + possible + 4 * kills, (
        "only calls cut short are made again"
    )


def _answers(cache: Path) -> set[str]:
    if not cache.exists():
        return set()
    with sqlite3.connect(f"file:{cache}?mode=ro", uri=True) as database:
        return {key for (key,) in database.execute("SELECT key FROM answers")}


def _answers_asked_again(server: OpenAIServer, since: int, known: set[str]) -> int:
    from ancrage.llm.cache import cache_key

    return sum(
        cache_key(server.url, "chat", call.body, 0) in known for call in server.calls[since:]
    )


def test_failed_calls_leave_the_replay_to_be_taken_up(
    workplace: Path, data: Snapshot, cases: list[Case]
) -> None:
    down = True

    def script(call: Call) -> Reply:
        broken = down and question_of(call) == cases[3].input.question
        return Fail(400, "Down.") if broken else actor(cases)(call)

    with OpenAIServer(script) as server:
        configure(workplace, server)
        code, out = run("replay", "--run-name", "r", "--no-preflight")
        assert code == 3, out
        assert "Cases that failed: 1; go on with: ancrage replay --resume r" in out
        down = False
        code, out = run("replay", "--resume", "r", "--no-preflight")
        assert code == 0, out
    assert states(find_run("r")) == {OutputState.OK: 12}


def test_a_replay_is_only_taken_up_as_it_was_begun(
    workplace: Path, data: Snapshot, cases: list[Case]
) -> None:
    with OpenAIServer(actor(cases)) as server:
        configure(workplace, server)
        assert run("replay", "--run-name", "r", "--budget-tokens", "2500")[0] == 3
        for options in (["--params", "tier"], ["--prompt", "frozen"], ["--repeat", "2"]):
            code, out = run("replay", "--resume", "r", *options)
            assert code == 2
            assert "give no other choice" in out
        made = len(server.calls)
        configure(workplace, server, "extra = { top_k = 3 }\n")
        code, out = run("replay", "--resume", "r")
        assert code == 2
        assert "the parameters changed since run r began" in out
        assert len(server.calls) == made


def test_a_migration_out_of_budget_reports_and_is_taken_up_as_it_was_begun(
    workplace: Path, data: Snapshot, cases: list[Case]
) -> None:
    with OpenAIServer(actor(cases)) as server:
        configure(workplace, server)
        migrate = ["migrate", "old", "new", "--run-name", "m"]
        code, out = run(*migrate, "--repeat", "1", "--budget-tokens", "1")
        assert code == 3, out
        assert "go on with: ancrage migrate old new --run-name m" in out
        assert "over_budget" in out
        page = (find_run("m-new").path / "report.html").read_text()
        assert "nothing that was answered; 0 calls made" in page
        assert states(find_run("m-new")) == {OutputState.OVER_BUDGET: 12}
        for options, words in (([], "repeat"), (["--repeat", "1", "--params", "tier"], "params")):
            code, out = run(*migrate, *options)
            assert code == 2
            assert f"'m-old' was begun with other choices ({words})" in out
        code, out = run(*migrate, "--repeat", "1")
        assert code == 0, out
    assert states(find_run("m-new")) == {OutputState.OK: 12}


@pytest.mark.parametrize(
    ("table", "options", "words"),
    [
        ("[replay.key_arguments]\ncount_theme = ['them']\n", (), "no argument 'them'"),
        ("[replay.key_arguments]\ncount = []\n", (), "no such tool"),
        ("", ("--budget-cost", "5"), "needs the price of 'm'"),
        ("", ("--budget-tokens", "-5"), "give a whole number"),
        ("", ("--concurrency", "0"), "--concurrency 0: give"),
        ("key = 'NO_SUCH_KEY'\n", (), "set NO_SUCH_KEY"),
    ],
)
def test_what_cannot_be_replayed_is_refused_before_anything_is_written(
    workplace: Path, data: Snapshot, table: str, options: tuple[str, ...], words: str
) -> None:
    with OpenAIServer([]) as server:
        configure(workplace, server, table)
        code, out = run("replay", *options)
    assert code == 2
    assert words in out
    assert "Traceback" not in out
    assert not server.calls
    assert not list_runs()
