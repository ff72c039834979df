"""The labelling page in a real browser, by keyboard alone."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from ancrage.calibration import read_labels
from ancrage.calibration.page import LabelQueue, Running, serve
from ancrage.config import load
from ancrage.domain import Output, OutputState
from ancrage.runs import create_run
from tests.builders import case, snapshot

pytest_plugins = ("tests.browser",)

HOSTILE = "<img src=x onerror=\"document.title='owned'\"> </script><b>gras</b>"
MODES = ["boilerplate_answer", "off_question"]


@pytest.fixture
def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Running]:
    monkeypatch.chdir(tmp_path)
    load.cache_clear()
    texts = {f"c{number}": f"Réponse {number}. {HOSTILE}" for number in range(3)}
    data = snapshot(tmp_path / "snap", [case(t, id=i) for i, t in texts.items()])
    folder = create_run(data, kind="audit", name="r")
    with folder.journal() as journal:
        for each in data.cases():
            journal.append(Output(case_id=each.id, state=OutputState.OK, answer=each.output))
    with serve(LabelQueue.of(folder, Path("labels.jsonl"), "ana", MODES)) as running:
        yield running


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page that fails the test when it logs an error."""
    faults: list[str] = []
    page = browser.new_page(viewport={"width": 1200, "height": 800})
    page.set_default_timeout(5000)
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("console", lambda said: faults.append(said.text) if said.type == "error" else None)
    yield page
    page.close()
    told = ("favicon", "status of 404", "status of 500")
    assert [fault for fault in faults if not any(word in fault for word in told)] == []


def test_answers_are_labelled_by_keyboard_and_each_key_is_saved(
    served: Running, page: Page
) -> None:
    page.goto(served.url)
    expect(page.locator("#case")).to_contain_text("1 of 3")
    answer = page.locator("#answer")
    expect(answer).to_contain_text("<img src=x onerror=")
    assert page.locator("#answer *").count() == 0
    page.evaluate(
        "() => { const t = document.getElementById('answer').firstChild;"
        "const r = document.createRange(); r.setStart(t, 0); r.setEnd(t, 9);"
        "getSelection().removeAllRanges(); getSelection().addRange(r); }"
    )
    page.keyboard.press("d")
    expect(page.locator("ol > li[aria-current=true] h3")).to_have_text("Off the question")
    expect(page.locator("ol blockquote")).to_contain_text("Réponse")
    page.keyboard.press("c")
    expect(page.locator("#case")).to_contain_text("2 of 3")
    expect(page.locator("#progress")).to_have_text("1 of 3 answers labelled by ana")
    page.keyboard.press("u")
    page.keyboard.press("n")
    page.keyboard.type("d pour voir")
    page.keyboard.press("Escape")
    page.keyboard.press("c")
    expect(page.locator("#case")).to_contain_text("3 of 3")
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#case")).to_contain_text("2 of 3")
    pressed = page.locator("button[aria-pressed=true]")
    expect(pressed).to_have_text(["Undecided", "Clean"])
    page.keyboard.press("ArrowRight")
    expect(page.locator("#case")).to_contain_text("3 of 3")
    page.keyboard.press("c")
    page.keyboard.press("c")
    expect(page.locator("#progress")).to_contain_text("all done")
    assert page.title() == "Ancrage: labels"
    found = read_labels([Path("labels.jsonl")])
    assert [each.label for each in found.labels] == [True, False, None, False, False, False]
    assert found.labels[0].passage
    assert found.labels[0].passage.startswith("Réponse")
    assert {each.note for each in found.labels if each.note} == {"d pour voir"}


def test_keys_pressed_while_an_answer_loads_label_nothing(served: Running, page: Page) -> None:
    page.goto(served.url)
    expect(page.locator("#case")).to_contain_text("1 of 3")
    first = page.locator("#case").inner_text().split(" · ")[1]
    page.keyboard.press("c")
    page.keyboard.press("c")
    for _ in range(5):
        page.keyboard.press("d")
    expect(page.locator("#case")).not_to_contain_text("1 of 3")
    found = [each for each in read_labels([Path("labels.jsonl")]).labels if each.case_id == first]
    assert [each.label for each in found] == [False, False]


def test_a_label_that_cannot_be_saved_is_said_and_not_shown_as_given(
    served: Running, page: Page
) -> None:
    page.goto(served.url)
    expect(page.locator("#case")).to_contain_text("1 of 3")
    Path("labels.jsonl").unlink(missing_ok=True)
    Path("labels.jsonl").mkdir()
    page.keyboard.press("d")
    expect(page.locator("#fault")).to_contain_text("Not saved")
    assert page.locator("button[aria-pressed=true]").count() == 0
