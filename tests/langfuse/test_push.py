"""Push: nothing is written twice, nothing is half-sent, and what was pushed comes back whole."""

from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from langfuse import Langfuse

from ancrage.domain import Case, CaseInput, OutputState, Study, ToolCall
from ancrage.errors import ExitCode, UsageError
from ancrage.langfuse import push as pushing
from ancrage.langfuse.connection import LangfuseError
from ancrage.langfuse.dataset import local_snapshot, read_dataset
from ancrage.langfuse.items import item_id, to_item
from ancrage.langfuse.push import Pushed, PushStoppedError, push
from tests.langfuse.conftest import Link
from tests.langfuse.worlds import MISSING, STUDY, case, snapshot
from tests.servers.langfuse_server import LangfuseServer

NAME = "études/démo"


def counts(pushed: Pushed) -> tuple[int, int, int, int]:
    assert pushed.cases == sum(
        (pushed.created, pushed.updated, pushed.unchanged, len(pushed.refused))
    )
    return pushed.created, pushed.updated, pushed.unchanged, len(pushed.refused)


def test_a_second_push_writes_nothing(link: Link, server: LangfuseServer, tmp_path: Path) -> None:
    data = snapshot(tmp_path / "s", 150)
    assert counts(push(link(), data, NAME)) == (150, 0, 0, 0)
    writes = len([1 for method, _, _ in server.requests if method == "POST"])
    assert counts(push(link(), data, NAME)) == (0, 0, 150, 0)
    assert len([1 for method, _, _ in server.requests if method == "POST"]) == writes
    assert {len(versions) for versions in server.store.items.values()} == {1}


def test_two_pushes_at_once_write_each_item_once(
    link: Link, server: LangfuseServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = snapshot(tmp_path / "s", 5)
    put = pushing._put_dataset

    def meanwhile(*arguments: Any) -> None:
        with pytest.raises(UsageError, match="another process is pushing to the dataset"):
            push(link(), data, NAME)
        push(link(), data, "another")
        put(*arguments)

    def once(*arguments: Any) -> None:
        monkeypatch.setattr(pushing, "_put_dataset", put)
        meanwhile(*arguments)

    monkeypatch.setattr(pushing, "_put_dataset", once)
    assert counts(push(link(), data, NAME)) == (5, 0, 0, 0)
    assert {len(versions) for versions in server.store.items.values()} == {1}
    assert counts(push(link(), data, NAME)) == (0, 0, 5, 0)


def test_a_project_that_is_read_only_can_be_pushed(
    link: Link, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setattr(pushing, "LOCKS", tmp_path / "file" / "below")
    assert counts(push(link(), snapshot(tmp_path / "s", 2), NAME)) == (2, 0, 0, 0)


def test_changes_are_new_versions_and_removals_are_archived_when_asked(
    link: Link, server: LangfuseServer, tmp_path: Path
) -> None:
    push(link(), snapshot(tmp_path / "a", 4), NAME)
    changed = [case(0), case(1, "Autre réponse."), case(2, **MISSING), case(9)]
    later = snapshot(tmp_path / "b", changed)
    pushed = push(link(), later, NAME)
    assert counts(pushed) == (1, 2, 1, 0)
    assert (pushed.left, pushed.archived) == (1, 0)
    assert len(read_dataset(link(), NAME).items) == 5
    pushed = push(link(), later, NAME, archive=True)
    assert (pushed.unchanged, pushed.left, pushed.archived) == (4, 0, 1)
    dataset = read_dataset(link(), NAME)
    assert dataset.cases == sorted(changed, key=lambda each: each.id)
    assert dataset.by_case["c0002"].expected_output == {"recorded": {"state": "missing"}}


def test_what_was_pushed_comes_back_whole(
    link: Link, server: LangfuseServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = snapshot(tmp_path / "snapshots" / "s", 30)
    push(link(), original, NAME)
    dataset = read_dataset(link(), NAME)
    assert dataset.cases == list(original.cases())
    found = local_snapshot(link(), dataset, tmp_path / "snapshots")
    assert found.path == original.path
    elsewhere = local_snapshot(link(), dataset, tmp_path / "colleague")
    assert list(elsewhere.cases()) == list(original.cases())
    assert elsewhere.study("etude") == STUDY
    assert elsewhere.hash == original.hash
    assert local_snapshot(link(), dataset, tmp_path / "colleague").path == elsewhere.path


def test_items_are_what_a_user_of_the_interface_expects(
    link: Link, server: LangfuseServer, tmp_path: Path
) -> None:
    push(link(), snapshot(tmp_path / "s", 1), NAME)
    (item,) = read_dataset(link(), NAME).items
    assert item.id == f"{NAME}:c0000"
    assert item.input["question"] == "Que disent-ils du point 0 ?"
    assert next(iter(server.store.items[item.id][-1]["input"])) == "question"
    assert next(iter(server.store.items[item.id][-1]["expectedOutput"])) == "answer"
    assert item.expected_output["answer"].startswith("Réponse 0")
    assert item.source_trace_id == f"{0:032x}"
    assert item.source_observation_id == f"{0:016x}"
    stored = server.store.datasets[NAME]
    assert stored["inputSchema"]["required"] == ["question"]
    assert stored["expectedOutputSchema"]["properties"]["answer"]


def test_two_datasets_can_hold_the_same_cases(link: Link, tmp_path: Path) -> None:
    data = snapshot(tmp_path / "s", 3)
    assert counts(push(link(), data, "one")) == (3, 0, 0, 0)
    assert counts(push(link(), data, "two")) == (3, 0, 0, 0)


def test_a_long_id_stays_within_the_limit_and_unique() -> None:
    ids = {item_id("d" * 100, f"{'c' * 300}{n}") for n in range(10)}
    assert len(ids) == 10
    assert max(map(len, ids)) <= 255


def test_what_is_too_large_is_trimmed_or_refused_with_its_size(
    link: Link, server: LangfuseServer, tmp_path: Path
) -> None:
    call = ToolCall(name="dump", output="x" * 5_000_000)
    heavy = case(1, input=CaseInput(question="Q", tool_calls=(call,)))
    hopeless = case(2, "é" * 2_300_000)
    data = snapshot(tmp_path / "s", [case(0), heavy, hopeless])
    pushed = push(link(), data, NAME)
    assert counts(pushed) == (2, 0, 0, 1)
    assert pushed.trimmed == 1
    assert pushed.refused[0].source == "c0002"
    assert "4,60" in pushed.refused[0].reason
    assert not any("c0002" in name for name in server.store.items)
    assert to_item(heavy, NAME).size(NAME) < 10_000
    again = push(link(), data, NAME)
    assert counts(again) == (0, 0, 2, 1)


def test_refusals_of_the_server_are_told_and_the_rest_is_pushed(
    link: Link, server: LangfuseServer, tmp_path: Path
) -> None:
    server.fail("/dataset-items", 400, times=1, after=3)
    pushed = push(link(concurrency=1), snapshot(tmp_path / "s", 6), NAME)
    assert counts(pushed) == (5, 0, 0, 1)
    assert "400" in pushed.refused[0].reason
    assert pushed.refused[0].source in {f"c{n:04d}" for n in range(6)}


@pytest.mark.parametrize("status", [401, 500])
def test_a_push_that_stops_goes_on_where_it_was(
    link: Link, server: LangfuseServer, tmp_path: Path, status: int
) -> None:
    data = snapshot(tmp_path / "s", 20)
    server.fail("/dataset-items", status, times=100, after=8)
    with pytest.raises(PushStoppedError, match="run the same push again"):
        push(link(attempts=1, concurrency=1), data, NAME)
    server.faults.answers.clear()
    pushed = push(link(), data, NAME)
    assert pushed.unchanged >= 6
    assert pushed.created + pushed.unchanged == 20
    assert {len(versions) for versions in server.store.items.values()} == {1}


def test_rate_limits_in_the_middle_are_waited_for(
    link: Link, server: LangfuseServer, tmp_path: Path
) -> None:
    server.fail("/dataset-items", 429, times=3, after=4, headers={"Retry-After": "0"})
    assert counts(push(link(), snapshot(tmp_path / "s", 12), NAME)) == (12, 0, 0, 0)


def test_large_studies_travel_in_parts(link: Link, server: LangfuseServer, tmp_path: Path) -> None:
    messages = tuple(
        STUDY.messages[0].model_copy(update={"id": f"M{n}", "text": "mot " * 5_000})
        for n in range(120)
    )
    large = STUDY.model_copy(update={"messages": messages})
    original = snapshot(tmp_path / "s", 2, [large])
    pushed = push(link(), original, NAME)
    assert pushed.studies > 2
    found = local_snapshot(link(), read_dataset(link(), NAME), tmp_path / "other")
    assert found.study("etude") == large


def test_a_study_too_large_is_refused_with_its_size_and_the_cases_are_pushed(
    link: Link, server: LangfuseServer, tmp_path: Path
) -> None:
    huge = STUDY.messages[0].model_copy(update={"text": "x" * 4_600_000})
    data = snapshot(
        tmp_path / "s", 2, [STUDY.model_copy(update={"messages": (*STUDY.messages, huge)})]
    )
    pushed = push(link(), data, NAME)
    assert counts(pushed) == (2, 0, 0, 0)
    (refusal,) = pushed.refused_studies
    assert refusal.source == "study etude"
    assert "4,60" in refusal.reason
    assert all(status == 200 or method == "GET" for method, _, status in server.requests)


def test_parts_are_measured_as_they_are_sent(link: Link, tmp_path: Path) -> None:
    # A quotation mark takes two bytes in JSON, a control character six.
    messages = tuple(
        STUDY.messages[0].model_copy(update={"id": f"M{n}", "text": "\x01" * 900})
        for n in range(1_000)
    )
    study = STUDY.model_copy(update={"messages": messages})
    pushed = push(link(), snapshot(tmp_path / "s", 1, [study]), NAME)
    assert (pushed.refused_studies, pushed.studies) == ((), 6)


def test_a_study_that_got_shorter_is_not_mixed_with_what_it_was(link: Link, tmp_path: Path) -> None:
    def study(count: int, word: str) -> Study:
        messages = (
            STUDY.messages[0].model_copy(update={"id": f"M{n}", "text": f"{word} " * 40_000})
            for n in range(count)
        )
        return STUDY.model_copy(update={"messages": tuple(messages)})

    push(link(), snapshot(tmp_path / "a", 1, [study(20, "avant")]), NAME)
    push(link(), snapshot(tmp_path / "b", 1, [study(9, "après")]), NAME)
    found = local_snapshot(link(), read_dataset(link(), NAME), tmp_path / "colleague")
    assert found.study("etude") == study(9, "après")


def test_a_damaged_snapshot_beside_is_passed_over(link: Link, tmp_path: Path) -> None:
    original = snapshot(tmp_path / "snapshots" / "s", 2)
    (tmp_path / "snapshots" / "a").mkdir()
    (tmp_path / "snapshots" / "a" / "manifest.json").write_text("{", encoding="utf-8")
    push(link(), original, NAME)
    found = local_snapshot(link(), read_dataset(link(), NAME), tmp_path / "snapshots")
    assert found.path == original.path


def test_a_dataset_made_by_hand_gives_cases(
    link: Link, server: LangfuseServer, tmp_path: Path
) -> None:
    sdk = Langfuse(public_key=server.public_key, secret_key=server.secret_key, base_url=server.url)
    sdk.create_dataset(name="hand")
    sdk.create_dataset_item(
        dataset_name="hand",
        id="a",
        input={"question": "Why?"},
        expected_output={"answer": "Because."},
    )
    sdk.create_dataset_item(
        dataset_name="hand",
        id="b",
        input="Plain?",
        expected_output="4",
        metadata={"study_id": "etude"},
    )
    sdk.create_dataset_item(
        dataset_name="hand",
        id="c",
        input={
            "messages": [
                {"role": "system", "content": "Be brief."},
                {"role": "user", "content": "And?"},
            ]
        },
    )
    sdk.create_dataset_item(dataset_name="hand", id="d", input={"nothing": "known"})
    sdk.shutdown()
    (reject,) = read_dataset(link(), "hand").rejects
    assert (reject.id, "no question" in reject.error) == ("d", True)
    found = {each.id: each for each in read_dataset(link(), "hand").cases}
    assert found["a"].output is not None
    assert found["a"].output.text == "Because."
    assert found["b"].study_id == "etude"
    assert found["c"].input.system_prompt == "Be brief."
    assert found["c"].state is OutputState.MISSING
    counts = local_snapshot(link(), read_dataset(link(), "hand"), tmp_path / "s").manifest.counts
    assert (counts.kept, counts.rejected) == (3, 1)


def test_versions_and_absent_datasets(link: Link, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="ancrage push"):
        read_dataset(link(), "none")
    push(link(), snapshot(tmp_path / "a", 2), NAME)
    pinned: datetime = read_dataset(link(), NAME).version
    push(link(), snapshot(tmp_path / "b", [case(0, "Neuf."), case(1)]), NAME)

    def answer(**version: Any) -> str:
        cases: list[Case] = read_dataset(link(), NAME, **version).cases
        assert cases[0].output is not None
        return cases[0].output.text

    assert answer() == "Neuf."
    assert answer(version=pinned).startswith("Réponse 0")
    with pytest.raises(UsageError, match="no active item"):
        read_dataset(link(), NAME, pinned.replace(year=2020))


def test_no_answer_from_langfuse_writes_nothing(
    link: Link, server: LangfuseServer, tmp_path: Path
) -> None:
    server.faults.down = True
    with pytest.raises(LangfuseError, match="cannot be reached"):
        push(link(attempts=1), snapshot(tmp_path / "s", 2), NAME)
    assert not server.store.datasets


def test_where_answers_were_read_is_no_change(
    link: Link, server: LangfuseServer, tmp_path: Path
) -> None:
    push(link(), snapshot(tmp_path / "a", 4), NAME)
    moved = [
        each.model_copy(
            update={"provenance": each.provenance.model_copy(update={"source": "renamed.jsonl"})}
        )
        for each in map(case, range(4))
    ]
    data = snapshot(tmp_path / "snapshots" / "b", moved)
    assert counts(push(link(), data, NAME)) == (0, 0, 4, 0)
    found = local_snapshot(link(), read_dataset(link(), NAME), tmp_path / "snapshots")
    assert found.path == data.path


@pytest.mark.parametrize("fault", ["repeat", "total"])
def test_pages_that_repeat_or_fall_short_are_never_taken_for_the_whole(
    link: Link, server: LangfuseServer, tmp_path: Path, fault: str
) -> None:
    push(link(), snapshot(tmp_path / "s", 150), NAME)
    if fault == "repeat":
        server.faults.repeat_pages.add("/dataset-items")
    else:
        server.faults.totals["/dataset-items"] = 160
    said = "says 150 and gave 100" if fault == "repeat" else "says 160 and gave 150"
    with pytest.raises(LangfuseError, match=said) as failure:
        read_dataset(link(), NAME)
    assert failure.value.exit_code == ExitCode.INCOMPLETE


def test_a_name_that_the_api_misreads_is_refused_before_any_work(
    link: Link, server: LangfuseServer, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match="no %"):
        push(link(), snapshot(tmp_path / "s", 1), "50%")
    assert not server.requests
