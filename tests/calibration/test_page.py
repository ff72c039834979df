"""The labelling page: saved at each label, resumed, blind to the judge, closed to other sites."""

import http.client
import json
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from ancrage.calibration import read_labels
from ancrage.calibration.page import LabelQueue, Running, serve
from ancrage.config import load
from ancrage.domain import Output, OutputState
from ancrage.errors import UsageError
from ancrage.runs import RunFolder, create_run
from tests.builders import case, snapshot

HOSTILE = "<script>alert(1)</script> « é » \u202e & 😀 </div>"
MODES = ["boilerplate_answer", "off_question"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunFolder:
    """A run of six answers, one of them hostile, and one that failed."""
    monkeypatch.chdir(tmp_path)
    load.cache_clear()
    texts = {f"c{number}": f"Réponse {number}. {HOSTILE}" for number in range(6)}
    data = snapshot(tmp_path / "snap", [case(t, id=i) for i, t in texts.items()])
    run = create_run(data, kind="audit", name="r")
    with run.journal() as journal:
        for each in data.cases():
            journal.append(Output(case_id=each.id, state=OutputState.OK, answer=each.output))
        journal.append(Output(case_id="c9", state=OutputState.FAILED, reason="no"))
    return run


@pytest.fixture
def page(folder: RunFolder) -> Iterator[Running]:
    """The page as Ana sees it."""
    with serve(LabelQueue.of(folder, Path("labels.jsonl"), "ana", MODES)) as running:
        yield running


def send(
    page: Running, path: str = "", body: Any = None, method: str | None = None, **headers: str
) -> tuple[int, Any, dict[str, str]]:
    """Status, content and headers of one request."""
    url = urlsplit(page.url)
    connection = http.client.HTTPConnection(url.netloc, timeout=10)
    data = None if body is None else json.dumps(body).encode()
    sent = {"content-type": "application/json"} if data else {}
    sent |= {name.replace("_", "-"): value for name, value in headers.items()}
    target = path if path.startswith("/") else url.path + path
    connection.request(method or ("POST" if data else "GET"), target, data, sent)
    reply = connection.getresponse()
    content = reply.read()
    connection.close()
    is_json = reply.headers.get("content-type") == "application/json"
    return reply.status, json.loads(content) if is_json else content.decode(), dict(reply.headers)


def label(page: Running, case_id: str, mode: str, value: bool | None, **more: str) -> Any:
    return send(page, "label", {"case_id": case_id, "mode": mode, "label": value, **more})


def test_each_label_is_on_disk_before_the_page_is_answered(page: Running) -> None:
    _, shown, _ = send(page, "0")
    case_id = shown["case_id"]
    status, said, _ = label(page, case_id, MODES[0], True, passage="Réponse", note="plat")
    assert status == 200
    assert said == {"saved": MODES[0], "progress": "0 of 6 answers labelled by ana"}
    (found,) = read_labels([Path("labels.jsonl")]).labels
    assert (found.case_id, found.mode, found.label, found.annotator) == (
        case_id,
        MODES[0],
        True,
        "ana",
    )
    assert (found.passage, found.note) == ("Réponse", "plat")
    assert found.answer_hash
    _, said, _ = label(page, case_id, MODES[1], None)
    assert said["progress"] == "1 of 6 answers labelled by ana"


@pytest.mark.parametrize("length", ["-1", "many", "9" * 5000, "1000001", ""])
def test_a_body_of_no_known_length_is_refused_at_once(
    page: Running, length: str, capfd: pytest.CaptureFixture[str]
) -> None:
    url = urlsplit(page.url)
    with socket.create_connection((url.hostname, url.port), timeout=5) as connection:
        head = f"POST {url.path}label HTTP/1.1\r\nHost: {url.netloc}\r\nContent-Length: {length}"
        connection.sendall(f"{head}\r\n\r\n".encode())
        with connection.makefile("rb") as reply:
            assert reply.read().startswith(b"HTTP/1.1 413")
    assert send(page, "9" * 5000)[0] == 404
    assert send(page, "0")[0] == 200
    assert "Traceback" not in capfd.readouterr().err


def test_labelling_goes_on_where_the_file_ends(folder: RunFolder) -> None:
    path = Path("labels.jsonl")
    with serve(LabelQueue.of(folder, path, "ana", MODES)) as page:
        order = [send(page, str(at))[1]["case_id"] for at in range(6)]
        for name in order[:2]:
            for mode in MODES:
                label(page, name, mode, False)
        label(page, order[2], MODES[0], True)
    with path.open("ab") as torn:
        torn.write(b'{"case_id": "c')
    with serve(LabelQueue.of(folder, path, "ana", MODES)) as page:
        assert send(page, "first")[1] == {"at": 2, "total": 6}
        _, shown, _ = send(page, "2")
        assert [each["given"] for each in shown["modes"]] == [True, False]
        label(page, order[2], MODES[0], False)
    with serve(LabelQueue.of(folder, path, "ben", MODES)) as page:
        assert send(page, "first")[1]["at"] == 0
        assert [send(page, str(at))[1]["case_id"] for at in range(6)] == order
    found = read_labels([path])
    assert found.replaced == 1
    assert {each.label for each in found.labels if each.case_id == order[2]} == {False}


def test_the_page_shows_the_answer_and_its_material_and_nothing_of_a_judge(page: Running) -> None:
    _, shown, _ = send(page, "0")
    assert HOSTILE.split()[0] in shown["answer"]
    assert [title for title, _ in shown["material"]] == ["EARLIER TURNS", "STUDY"]
    assert shown["question"].startswith("Que pensent")
    text = json.dumps(shown)
    assert "findings" not in text
    assert "verdict" not in text
    assert "failed" not in text


def test_only_usable_answers_are_shown_in_an_order_that_is_random_yet_fixed(
    folder: RunFolder,
) -> None:
    queue = LabelQueue.of(folder, Path("a.jsonl"), "ana", MODES)
    names = [output.case_id for output in queue.outputs]
    assert sorted(names) == [f"c{number}" for number in range(6)]
    assert names != sorted(names)
    limited = LabelQueue.of(folder, Path("b.jsonl"), "ben", MODES, limit=3)
    assert [output.case_id for output in limited.outputs] == names[:3]


def test_the_page_runs_no_script_but_its_own(page: Running) -> None:
    status, text, headers = send(page)
    assert status == 200
    assert "<script" in text
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    _, script, _ = send(page, "label.js")
    for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("):
        assert word not in script


@pytest.mark.parametrize("path", ["/", "/label", "/0", "/first", "/wrong-token/0", "//0"])
def test_without_the_secret_there_is_nothing(page: Running, path: str) -> None:
    assert send(page, path)[0] == 404
    assert send(page, path, {"case_id": "c1"})[0] == 403


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"host": "evil.example"}, 403),
        ({"origin": "http://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"content_type": "text/plain"}, 403),
        ({"content_type": "application/x-www-form-urlencoded"}, 403),
    ],
)
def test_another_site_cannot_label(page: Running, headers: dict[str, str], status: int) -> None:
    _, shown, _ = send(page, "0")
    body = {"case_id": shown["case_id"], "mode": MODES[0], "label": True}
    assert send(page, "label", body, **headers)[0] == status
    assert not Path("labels.jsonl").exists() or not Path("labels.jsonl").read_text()


def test_another_host_name_cannot_read(page: Running) -> None:
    assert send(page, "0", host="evil.example")[0] == 404


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"case_id": "nowhere", "mode": MODES[0], "label": True}, "not an answer and a mode"),
        ({"case_id": "c1", "mode": "other", "label": True}, "not an answer and a mode"),
        ({"case_id": "c1", "mode": MODES[0], "label": "maybe"}, "label"),
        ([1], "not an object"),
    ],
)
def test_what_is_no_label_is_refused_in_words(page: Running, body: Any, words: str) -> None:
    status, said, _ = send(page, "label", body)
    assert status == 400
    assert words in said["error"]


def test_an_unknown_mode_or_a_foreign_file_stops_the_command(folder: RunFolder) -> None:
    with pytest.raises(UsageError, match="no 'rude'"):
        LabelQueue.of(folder, Path("a.jsonl"), "ana", ["rude"])
    Path("x.jsonl").write_text('{"a": 1}\n')
    with pytest.raises(UsageError, match=r"x\.jsonl:1"):
        LabelQueue.of(folder, Path("x.jsonl"), "ana", MODES)


def test_a_port_in_use_is_said(page: Running, folder: RunFolder) -> None:
    port = urlsplit(page.url).port or 0
    queue = LabelQueue.of(folder, Path("b.jsonl"), "ben", MODES)
    with pytest.raises(UsageError, match=f"--port {port}"), serve(queue, port):
        pass
