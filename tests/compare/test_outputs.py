"""What machines and reviewers read of a decision; hostile ids and reasons stay text."""

from html import unescape
from xml.etree import ElementTree as ET

import pytest
from markdown_it import MarkdownIt

from ancrage.compare.gate import Decision, Outcome, decide
from ancrage.compare.outputs import annotations, junit, markdown
from ancrage.compare.policy import Policy
from ancrage.compare.results import Results
from tests.compare.runs import results

HOSTILE = "evil\n::error::x | <script>alert(1)</script> @team [a](http://b) \x1b[31m\x00%0A"


def _hostile(values: list[float]) -> Results:
    found = results({"x": values}, name=HOSTILE)
    cases = tuple(f"{HOSTILE} {case}" for case in found.cases)
    return Results(found.origin, found.modes, cases, found.studies, found.states, found.values)


def _decision() -> Decision:
    worse, clean = _hostile([1.0] * 30 + [0.0] * 70), _hostile([0.0] * 100)
    policy = Policy(ceilings={"x": 0.1})
    return decide(policy, (worse,), (clean,))


def test_markdown_says_the_answer_first_and_shows_hostile_text_as_text() -> None:
    text = markdown(_decision())
    assert text.startswith("## ❌ Don't ship\n")
    assert "regression x" in text
    assert "| `x` |" in text
    assert "<script>" not in text
    assert "&lt;script&gt;" in text
    assert "@team" not in text
    assert "&#64;" not in text  # GitHub reads mentions after entities
    assert "](http" not in text
    assert "\x1b" not in text
    rows = [line for line in text.splitlines() if line.startswith("| `x`")]
    assert len(rows) == 1


def test_junit_is_xml_with_a_failure_or_an_error_for_whatever_is_not_green() -> None:
    decision = _decision()
    suite = ET.fromstring(junit(decision))  # noqa: S314  our own output
    assert int(suite.attrib["failures"]) == len(suite.findall(".//failure")) == 2
    assert int(suite.attrib["errors"]) == len(suite.findall(".//error")) == 0
    assert int(suite.attrib["tests"]) == len(suite.findall("testcase")) == len(decision.checks)
    failure = suite.find(".//failure")
    assert failure is not None
    assert "\x00" not in (failure.text or "")


@pytest.mark.parametrize("baseline", ["no baseline 'main'", None])
def test_an_inconclusive_gate_is_an_error_in_junit(baseline: str | None) -> None:
    decision = decide(Policy(), (results({"x": []}),), baseline)
    suite = ET.fromstring(junit(decision))  # noqa: S314
    assert int(suite.attrib["errors"]) >= 1
    assert decision.outcome is Outcome.UNKNOWN


def test_a_decision_without_checks_is_an_error_in_junit() -> None:
    bare = Decision(outcome=Outcome.UNKNOWN, candidate=(), baseline=None, checks=())
    suite = ET.fromstring(junit(bare))  # noqa: S314
    assert suite.attrib["errors"] == suite.attrib["tests"] == "1"


def test_annotations_are_one_line_each_and_cannot_be_forged() -> None:
    lines = list(annotations(_decision()))
    assert [each.split(" ")[0] for each in lines] == ["::error", "::error", "::error"]
    for each in lines:
        assert "\n" not in each
        assert "%0A" not in each.replace("%250A", "")
    assert "Don't ship" in lines[-1]
    green = decide(Policy(), (results({"x": [0.0] * 50}),), None)
    assert list(annotations(green))[-1].startswith("::notice title=Ancrage gate::Ship")


def test_the_decision_as_json_comes_back_the_same() -> None:
    decision = _decision()
    assert Decision.model_validate_json(decision.model_dump_json()) == decision


@pytest.mark.parametrize("hostile", ["@team", "#12", "www.evil.example", "WWW.evil.example"])
def test_github_makes_no_reference_of_hostile_text(hostile: str) -> None:
    found = results({"x": [1.0] * 40}, name=hostile)
    rendered = MarkdownIt("commonmark").render(markdown(decide(Policy(), (found,), None)))
    assert hostile not in unescape(rendered)
    assert hostile in unescape(rendered).replace("\u2060", "")


def test_a_mode_s_name_breaks_no_table() -> None:
    found = results({"a|b`c": [1.0] * 40})
    text = markdown(decide(Policy(), (found,), (found,)))
    assert "| `abc` |" in text
