"""The HTML report in a real browser, opened from a file, with no network."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from ancrage.report.data import read_report
from ancrage.report.html import write_html
from ancrage.runs import RunView
from tests.report.conftest import ANGRY, CLEAN, HOSTILE, case, finding, lifelike, make_run

pytest_plugins = ("tests.browser",)


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("browser")
    write_html(read_report(RunView(lifelike(folder))), folder / "report.html")
    return (folder / "report.html").as_uri()


@pytest.fixture(scope="module")
def long_url(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("long")
    found = {"c-0399": [finding(CLEAN, "bus")]}
    cases = (case(f"c-{n:04}", CLEAN, question=f"Question {n} ?") for n in range(400))
    write_html(read_report(RunView(make_run(folder, cases, found))), folder / "report.html")
    return (folder / "report.html").as_uri()


def cases(page: Page) -> list[str]:
    """The ids of the answers listed, in order."""
    return page.locator("#rows tr td:last-child").all_inner_texts()


def focused(page: Page) -> Locator:
    return page.locator(":focus")


def visit(page: Page, address: str) -> None:
    """Open the page and wait until it is drawn."""
    page.goto(address)
    expect(page.locator("body[data-ready]")).to_be_visible()


def test_the_overview_filters_the_list(page: Page, url: str) -> None:
    visit(page, url)
    assert cases(page) == ["bus-001", "hostile-001", "bus-002", "lost-001", "cut-001", "half-001"]
    expect(page.locator("#count")).to_have_text("All 6 answers")
    page.get_by_role("link", name="Wrong respondent").click()
    # The filter follows the address, which the browser tells of a moment later.
    expect(page.locator("#count")).to_have_text("1 of 6 answers")
    assert cases(page) == ["bus-001"]
    expect(page.locator("#mode")).to_have_value("wrong_respondent_id")
    page.go_back()
    expect(page.locator("#count")).to_have_text("All 6 answers")
    assert len(cases(page)) == 6


def test_each_filter_narrows_and_clear_undoes_them(page: Page, url: str) -> None:
    visit(page, url)
    page.select_option("#show", "unscored")
    assert cases(page) == ["half-001"]
    page.select_option("#show", "clear")
    assert cases(page) == ["bus-002"]
    page.select_option("#show", "")
    page.select_option("#state", "truncated")
    assert cases(page) == ["cut-001"]
    page.get_by_role("button", name="Clear").click()
    assert len(cases(page)) == 6
    page.fill("#q", "REPONDANT anglais")
    expect(page.locator("#count")).to_have_text("1 of 6 answers")
    assert cases(page) == ["bus-001"]
    page.fill("#q", "zzz")
    expect(page.locator("#count")).to_contain_text("No answer matches")


def test_columns_sort_both_ways(page: Page, url: str) -> None:
    visit(page, url)
    page.get_by_role("button", name="Case").click()
    assert cases(page) == sorted(cases(page))
    expect(page.locator("th[aria-sort]")).to_have_attribute("aria-sort", "ascending")
    page.get_by_role("button", name="Case").click()
    assert cases(page) == sorted(cases(page), reverse=True)
    page.reload()
    assert cases(page) == sorted(cases(page), reverse=True)


def test_a_finding_and_its_passage_lead_to_each_other(page: Page, url: str) -> None:
    visit(page, url)
    page.get_by_role("link", name="Que disent les répondants du bus ?").click()
    expect(page.locator("#case h1")).to_have_text("Que disent les répondants du bus ?")
    assert page.locator("#case .answer").text_content() == ANGRY
    page.locator("#finding-3 .explanation").click()
    expect(page.locator(".answer mark.current")).to_have_text("R-009")
    page.locator(".answer mark", has_text="Je ferais du vélo").click()
    expect(page.locator(".finding.current")).to_have_count(1)
    expect(focused(page)).to_have_id("finding-2")
    expect(page.locator("#finding-2")).to_contain_text("R-002, M-0003")
    expect(page.locator("#finding-2 blockquote mark")).to_have_text("I would cycle")
    expect(page.locator("#finding-1 .difference ins")).to_have_text("45")
    expect(page.locator("#finding-1 .difference del")).to_have_text("40")


def test_an_overlap_goes_round_its_findings(page: Page, url: str) -> None:
    visit(page, url + "#case=hostile-001")
    overlap = page.locator(".answer mark.several")
    overlap.click()
    expect(focused(page)).to_have_id("finding-1")
    overlap.click()
    expect(focused(page)).to_have_id("finding-2")


def test_a_quote_that_passed_shows_its_source(page: Page, url: str) -> None:
    visit(page, url + "#case=bus-002")
    expect(page.locator(".findings h2")).to_have_text("No finding")
    page.locator(".answer .passed").click()
    expect(page.locator("#passed-1")).to_contain_text("T0 verbatim")
    expect(page.locator("#passed-1 mark")).to_have_text("tous les matins, même le vendredi")


def test_everything_can_be_done_from_the_keyboard(page: Page, url: str) -> None:
    visit(page, url)
    page.keyboard.press("j")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("k")
    page.keyboard.press("Enter")
    expect(page.locator("#case .meta")).to_contain_text("bus-001")
    page.keyboard.press("n")
    expect(focused(page)).to_have_id("finding-1")
    page.keyboard.press("Enter")
    expect(focused(page)).to_have_text("Le bus de 7 h 45 est toujours plein 😤")
    page.keyboard.press("Enter")
    expect(focused(page)).to_have_id("finding-1")
    page.keyboard.press("p")
    expect(focused(page)).to_have_id("finding-4")
    page.keyboard.press("j")
    expect(page.locator("#place")).to_have_text("2 of 6")
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#place")).to_have_text("1 of 6")
    page.keyboard.press("Escape")
    expect(page.locator("#overview")).to_be_visible()
    expect(focused(page)).to_have_text("Que disent les répondants du bus ?")
    page.keyboard.press("/")
    page.keyboard.type("jk?vélo")
    expect(page.locator("#q")).to_have_value("jk?vélo")
    page.keyboard.press("Escape")
    expect(page.locator("#q")).not_to_be_focused()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()


def test_focus_can_be_seen(page: Page, url: str) -> None:
    visit(page, url)
    page.keyboard.press("j")
    assert focused(page).evaluate("e => getComputedStyle(e).outlineStyle") == "solid"


def test_a_deep_link_survives_a_reload(page: Page, url: str) -> None:
    visit(page, url + "#case=bus-001&mode=unknown_ref&show=findings")
    for _ in range(2):
        expect(page.locator("#case .meta")).to_contain_text("bus-001")
        expect(page.locator("#place")).to_have_text("1 of 2")
        expect(page.locator(".answer mark.current")).to_have_text("Q9")
        page.reload()


def test_a_link_to_an_answer_that_is_not_there_says_so(page: Page, url: str) -> None:
    visit(page, url + "#case=nobody")
    expect(page.get_by_role("alert")).to_have_text("There is no answer nobody on this page.")


def test_hostile_text_stays_text(page: Page, url: str) -> None:
    visit(page, url + "#case=hostile-001")
    expect(page.locator("#case h1")).to_have_text("<img src=x onerror=alert(1)> [red]?")
    text = page.locator("#case .answer").text_content() or ""
    assert "<script>window.broken = 1</script></script><!-- ]]> <img src=x" in text
    assert "{{ 7 * 7 }} &amp; &lt;b&gt;" in text
    assert len(text) == len(HOSTILE)
    assert "\u202e" not in text
    assert page.evaluate("window.broken") is None
    assert page.locator("#case img, #case script, .answer b, .finding b, h1 b").count() == 0
    expect(page.locator("#finding-1 .explanation")).to_have_text("<b>[bold]no[/bold]")


def test_context_and_reasons_can_be_read(page: Page, url: str) -> None:
    visit(page, url + "#case=bus-001")
    page.locator("#case .context > summary").click()
    expect(page.locator(".turn .said")).to_have_text("Bonjour <i>toi</i>")
    expect(page.locator(".context")).to_contain_text("trace-bus-001")
    page.locator(".tool summary").click()
    expect(page.locator(".tool")).to_contain_text('"n": 2')
    visit(page, url + "#case=lost-001")
    expect(page.locator("#case .notice")).to_have_text(
        "missing: recorded as missing in the snapshot"
    )
    visit(page, url + "#case=half-001")
    expect(page.locator(".scores .unscored")).to_contain_text("the case names no study")


def test_colours_follow_the_system_and_the_button(page: Page, url: str) -> None:
    def dark() -> bool:
        colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
        return sum(map(int, re.findall(r"\d+", colour)[:3])) < 200

    page.emulate_media(color_scheme="light")
    visit(page, url)
    assert not dark()
    page.emulate_media(color_scheme="dark")
    assert dark()
    page.get_by_role("button", name="Colour theme").click()
    assert not dark()
    page.keyboard.press("t")
    assert dark()


def test_a_narrow_screen_never_scrolls_sideways(page: Page, url: str) -> None:
    page.set_viewport_size({"width": 380, "height": 800})
    for place in ("", "#case=bus-001", "#case=hostile-001"):
        visit(page, url + place)
        expect(page.locator("#home")).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth") <= 380


def test_a_long_list_is_drawn_as_needed(page: Page, long_url: str) -> None:
    visit(page, long_url)
    expect(page.locator("#count")).to_have_text("All 400 answers")
    assert cases(page)[0] == "c-0399"
    assert len(cases(page)) < 400
    page.locator("#more").scroll_into_view_if_needed()
    expect(page.locator("#rows tr").nth(200)).to_be_attached()
    visit(page, long_url + "#case=c-0390")
    expect(page.locator("#case h1")).to_be_visible()
    page.keyboard.press("Escape")
    expect(focused(page)).to_have_text("Question 390 ?")


def test_paper_shows_the_answer_without_the_controls(page: Page, url: str) -> None:
    visit(page, url + "#case=bus-001")
    page.emulate_media(media="print", color_scheme="dark")
    colour = "getComputedStyle(document.body).backgroundColor"
    assert page.evaluate(colour) == "rgb(255, 255, 255)"
    expect(page.locator(".bar")).to_be_hidden()
    expect(page.locator("#case .answer")).to_be_visible()
    expect(page.locator("#finding-4")).to_be_visible()
    assert page.pdf().startswith(b"%PDF")


def test_without_a_script_the_overview_is_still_whole(url: str, page: Page) -> None:
    browser = page.context.browser
    assert browser
    context = browser.new_context(java_script_enabled=False)
    plain = context.new_page()
    plain.goto(url)
    expect(plain.locator(".overview tbody tr")).to_have_count(3)
    expect(plain.get_by_text("The answers need JavaScript")).to_be_visible()
    expect(plain.locator("#filters")).to_be_hidden()
    context.close()


def test_the_file_is_replaced_in_one_step(url: str) -> None:
    path = Path(url.removeprefix("file://"))
    assert [each.name for each in path.parent.glob("report*")] == ["report.html"]


@pytest.mark.parametrize("width", [390, 820, 1024, 1300])
def test_nothing_is_cut_at_any_width(page: Page, url: str, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    visit(page, url)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    row = page.locator('#rows tr[data-id="bus-001"]')
    for part in (".asked", ".tags", ".study", ".state", ".id"):
        box = row.locator(part).bounding_box()
        assert box is not None
        assert box["width"] > 10, part
        assert box["x"] + box["width"] <= width, part
    asked = row.locator(".asked").bounding_box()
    assert asked is not None
    assert asked["width"] > 200


def test_hits_of_a_search_are_marked(page: Page, url: str) -> None:
    visit(page, url + "#case=bus-001&q=velo")
    expect(page.locator("#place")).to_contain_text("of")
    expect(page.locator("#case h1")).to_be_visible()
    page.wait_for_function("CSS.highlights.has('hit')")
    marked = page.evaluate("[...CSS.highlights.get('hit')].map((range) => range.toString())")
    assert set(marked) <= {"vélo", "Vélo"}
    assert marked


def test_a_reason_leads_to_the_answers_it_holds_for(page: Page, url: str) -> None:
    visit(page, url)
    page.get_by_text("Why answers were not scored").click()
    page.locator(".reasons tr", has_text="the case names no study").get_by_role("link").click()
    expect(page.locator("#count")).to_have_text("1 of 6 answers")
    assert cases(page) == ["half-001"]


def test_markdown_is_read_and_its_marks_stay_in_the_text(page: Page, tmp_path: Path) -> None:
    text = "## Titre\n\n- **Le bus** est `plein`\n| a | b |\nfin **non fermé"
    folder = make_run(tmp_path, [case("m", text)])
    path = tmp_path / "m.html"
    write_html(read_report(RunView(folder)), path)
    visit(page, path.as_uri() + "#case=m")
    answer = page.locator("#case .answer")
    assert answer.text_content() == text
    assert answer.locator("b").all_text_contents() == ["Titre", "Le bus"]
    expect(answer.locator("code")).to_have_text("plein")
    expect(answer.locator(".bullet")).to_have_count(1)
