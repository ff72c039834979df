"""The page in a real browser: matrix, filters, deep links, keys, hostile text, size."""

import re
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from playwright.sync_api import Page, expect

from ancrage.compare.html import write_html
from ancrage.compare.paired import compare_all
from ancrage.compare.results import Group, find_group
from ancrage.report.payload import pieces
from tests.compare.runs import results, world, write_run

pytest_plugins = ("tests.browser",)

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)> « ça » \u202eevil"


@pytest.fixture
def url(tmp_path: Path) -> str:
    """Three runs over 40 cases: 6 get worse, 2 of them for good; 2 better; 1 unscored."""
    data = world(tmp_path / "snap", 40, studies=4)
    root = tmp_path / "runs"
    clean = [0.0] * 40
    write_run(root, data, "one", {"x": [*[0.0] * 6, 1.0, 1.0, *[0.0] * 32], "y": clean})
    write_run(
        root, data, "two", {"x": [*[1.0] * 6, 0.0, 0.0, None, *[0.0] * 31], "y": clean},
        answers={"c000": f"Réponse très changée {HOSTILE}"},
    )  # fmt: skip
    write_run(root, data, "three", {"x": [0.0] * 4 + [1.0] * 2 + [0.0] * 34, "y": clean})
    return page_of([find_group(name, root) for name in ("one", "two", "three")], tmp_path)


def page_of(sides: list[Group], folder: Path) -> str:
    """Write the page and give its address."""
    path = folder / "compare.html"
    write_html(sides, compare_all(sides), path)
    return path.as_uri()


def test_regressions_that_hold_in_every_later_run_stand_first(page: Page, url: str) -> None:
    page.goto(url)
    rows = page.locator("#rows tr")
    for place, case in enumerate(("c004", "c005")):
        expect(rows.nth(place)).to_contain_text(case)
        expect(rows.nth(place).locator(".tag")).to_have_text("X newly fails in every later run")
    assert (rows.first.bounding_box() or {"y": 9999})["y"] < 800
    page.get_by_role("link", name="Only these").click()
    expect(page.locator("#count")).to_have_text("2 of 40 cases")
    rows.first.locator("a").click()
    expect(page.locator(".pair > section")).to_have_count(3)


def test_a_row_says_in_which_run_and_never_worse(page: Page, tmp_path: Path) -> None:
    """Two modes fail before and one after, another than before: the count of the row fell."""
    data, root = world(tmp_path / "snap", 12), tmp_path / "runs"
    none = [0.0] * 11
    for name, x, y, z in (("one", 1, 1, 0), ("two", 0, 0, 1), ("three", 0, 1, 0)):
        write_run(root, data, name, {"x": [x, *none], "y": [y, *none], "z": [z, *none]})
    page.goto(page_of([find_group(name, root) for name in ("one", "two", "three")], tmp_path))
    row = page.locator("#rows tr").first
    expect(row.locator(".cell")).to_have_text(["✕ 2", "✕", "✕"])
    expect(row.locator(".tag")).to_have_text(
        ["X newly passes in every later run", "Y newly passes in two", "Z newly fails in two"]
    )
    page.select_option("#show", "worse")
    expect(page.locator("#count")).to_have_text("1 of 12 cases")
    page.select_option("#in", "2")
    expect(page.locator("#count")).to_contain_text("No case matches")
    assert "worse" not in page.locator("#cases").inner_text()


def test_the_table_of_runs_has_what_they_took(page: Page, url: str) -> None:
    page.goto(url)
    rows = page.locator(".runs tbody tr")
    expect(rows).to_have_count(3)
    expect(rows.first).to_contain_text("40/40")
    expect(page.locator(".runs thead")).to_contain_text("Latency, median")


def test_search_reads_answers_and_findings(page: Page, url: str) -> None:
    page.goto(url)
    page.fill("#q", "changee")
    expect(page.locator("#count")).to_have_text("1 of 40 cases")
    page.fill("#q", "x is here")
    expect(page.locator("#count")).to_have_text("8 of 40 cases")


def test_a_phone_shows_everything_without_scrolling_sideways(page: Page, url: str) -> None:
    page.set_viewport_size({"width": 390, "height": 800})
    for address in (url, f"{url}#case=c000"):
        page.goto(address)
        page.reload()
        expect(page.locator("#rows tr, .pair > section").first).to_be_attached()
        assert page.evaluate("document.documentElement.scrollWidth") <= 390


_TEXT = st.text(st.sampled_from("aé «».\n 12"), max_size=40)
_SPANS = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)).map(sorted), max_size=4)


@given(_TEXT, _TEXT, _SPANS, st.integers(0, 4))
def test_pieces_rebuild_the_answer_and_its_passages(
    base: str, text: str, spans: list[tuple[int, int]], findings: int
) -> None:
    cut = [
        [*piece, *[[], [], 0][len(piece) - 1 :]] for piece in pieces(base, text, spans, findings)
    ]
    kept = [piece for piece in cut if piece[3] != 2]
    assert "".join(piece[0] for piece in kept) == text
    for number, (start, end) in enumerate(spans):
        kind, place = (1, number) if number < findings else (2, number - findings)
        assert "".join(piece[0] for piece in kept if place in piece[kind]) == text[start:end]


def test_overview_and_matrix_tell_the_same(page: Page, url: str) -> None:
    page.goto(url)
    expect(page.locator("h1")).to_have_text("one → two → three")
    expect(page.locator("#rows tr")).to_have_count(25)
    page.locator("#more").click()
    expect(page.locator("#rows tr")).to_have_count(40)
    worse = page.locator(".modes a.bad").first
    expect(worse).to_have_text("6 newly failing in two")
    worse.click()
    expect(page.locator("#count")).to_have_text("6 of 40 cases")
    first = page.locator("#rows tr").first
    expect(first.locator(".cell")).to_have_text(["✓", "✕", "✕"])
    assert "show=worse" in page.url
    assert "mode=x" in page.url


def test_filters_search_and_sorting(page: Page, url: str) -> None:
    page.goto(url)
    for show, count in (("better", 2), ("unscored", 1), ("findings", 8), ("changed", 8)):
        page.select_option("#show", show)
        expect(page.locator("#count")).to_have_text(f"{count} of 40 cases")
    page.select_option("#mode", "y")
    expect(page.locator("#count")).to_contain_text("No case matches")
    page.click("#clear")
    page.select_option("#study", "s1")
    expect(page.locator("#count")).to_have_text("10 of 40 cases")
    page.fill("#q", "question 13")
    expect(page.locator("#count")).to_have_text("1 of 40 cases")
    page.click("#clear")
    page.click("[data-sort=id]")
    page.click("[data-sort=id]")
    expect(page.locator("#rows tr").first).to_contain_text("c039")
    page.click("[data-sort=run1]")
    expect(page.locator("#rows tr").first.locator(".cell").nth(1)).to_have_text("✕")


def test_without_a_script_the_figures_and_what_newly_fails_can_be_read(
    page: Page, url: str
) -> None:
    browser = page.context.browser
    assert browser
    context = browser.new_context(java_script_enabled=False)
    plain = context.new_page()
    plain.goto(url)
    expect(plain.locator("#without-script li")).to_have_count(2)
    expect(plain.locator("#without-script")).to_contain_text("The cases need JavaScript")
    expect(plain.locator(".modes tbody").first).to_be_visible()
    context.close()


def test_keys_open_a_case_side_by_side_and_go_to_the_passage(page: Page, url: str) -> None:
    page.goto(url)
    expect(page.locator("body[data-ready]")).to_be_visible()
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(page.locator(".pair > section")).to_have_count(3)
    expect(page.locator("[data-run='1'] ins").first).to_be_visible()
    expect(page.locator("[data-run='1'] .answer mark")).to_have_count(1)
    page.keyboard.press("n")
    expect(page.locator("[data-run='1'] mark.current")).to_have_text("Réponse")
    expect(page.locator(":focus")).to_have_id("finding-1")
    page.keyboard.press("j")
    expect(page.locator("#place")).to_have_text("2 of 40")
    page.keyboard.press("Escape")
    expect(page.locator("#overview")).to_be_visible()
    expect(page.locator("#rows tr:focus-within")).to_have_count(1)


def test_a_deep_link_opens_its_case_and_its_runs(page: Page, url: str) -> None:
    page.goto(f"{url}#case=c006&runs=2,3")
    expect(page.locator(".pair > section > h2")).to_have_text(["two", "three"])
    page.locator(".choices button", has_text="one").click()
    expect(page.locator(".pair > section > h2")).to_have_text(["one", "two", "three"])
    expect(page.locator("#case code").first).to_be_visible()


def test_hostile_text_stays_text(page: Page, url: str) -> None:
    page.on("dialog", lambda dialog: pytest.fail(f"a script ran: {dialog.message}"))
    page.goto(f"{url}#case=c000&runs=1,2")
    answer = page.locator("[data-run='1'] .answer")
    expect(answer).to_contain_text("</script><script>alert(1)</script><img")
    expect(answer).to_contain_text("onerror=alert(2)>")
    expect(answer).to_contain_text("\ufffdevil")
    assert page.locator("img").count() == 0
    source = page.content()
    assert "Content-Security-Policy" in source
    assert "unsafe" not in re.search(r'content="(default-src[^"]*)"', source).group(1)  # type: ignore[union-attr]


def test_light_and_dark_and_print(page: Page, url: str) -> None:
    page.goto(url)
    expect(page.locator("body[data-ready]")).to_be_visible()
    colours = set()
    for _ in range(3):
        page.keyboard.press("t")
        colours.add(page.evaluate("getComputedStyle(document.body).backgroundColor"))
    assert len(colours) == 2
    page.emulate_media(media="print")
    expect(page.locator(".bar")).to_be_hidden()
    expect(page.locator("#filters")).to_be_hidden()
    expect(page.locator("#answers")).to_be_visible()


def test_repeats_show_flips(page: Page, tmp_path: Path) -> None:
    one = (results({"x": [0.0, 0.0, 1.0]}, name="a"), results({"x": [0.0, 1.0, 1.0]}, name="b"))
    page.goto(page_of([one, (results({"x": [0.0, 0.0, 1.0]}, name="c"),)], tmp_path))
    expect(page.locator(".repeats tbody tr")).to_have_count(1)
    page.select_option("#show", "flips")
    expect(page.locator("#count")).to_have_text("1 of 3 cases")
    page.locator("#rows tr").first.click()
    expect(page.locator("#case .absent").first).to_be_visible()


def test_five_thousand_cases_and_five_runs(page: Page, tmp_path: Path) -> None:
    """Generous bounds: they catch a page that hangs, not a slow machine."""
    sides: list[Group] = []
    for run in range(5):
        values = {
            f"m{mode}": [float((at * 7 + run * 3 + mode) % 11 == 0) for at in range(5000)]
            for mode in range(10)
        }
        sides.append(
            (results(values, name=f"run-{run}", studies=[f"s{at % 99}" for at in range(5000)]),)
        )
    url = page_of(sides, tmp_path)
    page.set_default_timeout(20_000)
    start = time.perf_counter()
    page.goto(url)
    expect(page.locator("#count")).to_have_text("All 5,000 cases", timeout=20_000)
    assert time.perf_counter() - start < 15
    assert page.locator("#rows tr").count() == 25
    page.select_option("#mode", "m3")
    page.select_option("#show", "worse")
    expect(page.locator("#count")).to_contain_text("of 5,000 cases", timeout=20_000)


def test_a_case_opens_beside_the_repeat_that_fails(page: Page, tmp_path: Path) -> None:
    data = world(tmp_path / "snap", 4)
    root = tmp_path / "runs"
    write_run(root, data, "one", {"x": [0.0] * 4})
    write_run(root, data, "n-1", {"x": [0.0] * 4}, group="n", repeat=0)
    write_run(root, data, "n-2", {"x": [0.0, 1.0, 0.0, 0.0]}, group="n", repeat=1)
    url = page_of([find_group(name, root) for name in ("one", "n")], tmp_path)
    for case, beside in (("c001", "n-2"), ("c000", "n-1")):
        page.goto(f"{url}#case={case}")
        page.reload()
        expect(page.locator(".pair > section > h2").nth(1)).to_have_text(beside)


def test_verdicts_of_two_versions_make_no_regression(page: Page, tmp_path: Path) -> None:
    data = world(tmp_path / "snap", 12)
    root = tmp_path / "runs"
    for name, version, failing in (("one", "1", 0), ("two", "2", 5), ("three", "1", 0)):
        values = [*[1.0] * failing, *[0.0] * (12 - failing)]
        write_run(root, data, name, {"x": values}, version=version)
    page.goto(page_of([find_group(name, root) for name in ("one", "two", "three")], tmp_path))
    expect(page.locator("#rows tr")).to_have_count(12)
    expect(page.locator("#rows .tag")).to_have_count(0)
    expect(page.locator("#rows .cell.fail")).to_have_count(5)
    page.goto(page.url.partition("#")[0] + "#show=changed")
    expect(page.locator("#count")).to_contain_text("No case matches")
