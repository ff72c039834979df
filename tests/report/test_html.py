"""The HTML file: what an answer contains stays text, whatever it is."""

import base64
import gzip
import hashlib
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from markupsafe import Markup

from ancrage.domain import Answer, Output, OutputState
from ancrage.report.data import Section, read_report
from ancrage.report.html import render
from ancrage.report.payload import Block
from ancrage.report.text import visible
from ancrage.runs import Item, RunFolder, RunView
from ancrage.snapshot.manifest import Pseudonymisation, PseudonymMode
from tests.report.conftest import ANGRY, HOSTILE, case, finding, lifelike, make_run


class Parsed(HTMLParser):
    """The elements of a page, and the text of each script and style."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.raw: dict[int, str] = {}
        self._open = False
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._open = tag in {"script", "style"}
        if self._open:
            self.raw[len(self.tags) - 1] = ""

    def handle_endtag(self, tag: str) -> None:
        self._open = False

    def handle_data(self, data: str) -> None:
        if self._open:
            self.raw[len(self.tags) - 1] += data

    def answers(self) -> dict[str, dict[str, Any]]:
        """What there is to read of each answer, its messages and texts in their places."""
        (index,) = self.packed("index")
        bodies = [
            case
            | case["runs"][0]
            | {"messages": [message for other in block for message in other.get("messages", ())]}
            for block in self.packed("block")
            for case in block
        ]
        return dict(zip(index["ids"], bodies, strict=True))

    def packed(self, kind: str) -> list[Any]:
        return [
            json.loads(gzip.decompress(base64.b64decode(self.raw[at])))
            for at, (tag, attrs) in enumerate(self.tags)
            if tag == "script" and attrs.get("class") == kind
        ]


@pytest.fixture(scope="module")
def html(tmp_path_factory: pytest.TempPathFactory) -> str:
    report = read_report(RunView(lifelike(tmp_path_factory.mktemp("html"))))
    return "".join(render(report))


@pytest.fixture(scope="module")
def parsed(html: str) -> Parsed:
    return Parsed(html)


def test_nothing_in_an_answer_makes_an_element(parsed: Parsed) -> None:
    tags = [tag for tag, _ in parsed.tags]
    assert "img" not in tags
    assert "b" not in tags
    scripts = [attrs for tag, attrs in parsed.tags if tag == "script"]
    assert [attrs for attrs in scripts if attrs.get("type") != "application/gzip"] == [{}]
    assert [attrs.get("class") for attrs in scripts] == ["block", "index", None]
    assert not [name for _, attrs in parsed.tags for name in attrs if name.startswith("on")]


def test_the_file_asks_for_nothing(html: str, parsed: Parsed) -> None:
    assert not [
        (tag, attrs)
        for tag, attrs in parsed.tags
        if {"src", "srcset", "action", "data"} & attrs.keys()
        or tag in {"link", "iframe", "object", "embed", "base"}
        or (attrs.get("href") or "#")[0] != "#"
    ]
    assert not re.search(r"@import|url\(", html.split("</style>")[0])


def test_the_policy_allows_our_own_style_and_script_alone(parsed: Parsed) -> None:
    policy = next(
        attrs["content"] or ""
        for tag, attrs in parsed.tags
        if attrs.get("http-equiv") == "Content-Security-Policy"
    )
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    for at, (tag, attrs) in enumerate(parsed.tags):
        if tag == "style" or (tag == "script" and not attrs):
            digest = base64.b64encode(hashlib.sha256(parsed.raw[at].encode()).digest()).decode()
            assert f"{tag}-src 'sha256-{digest}'" in policy


def test_answers_are_whole_and_marked(parsed: Parsed) -> None:
    bodies = parsed.answers()
    for identifier, text in (("bus-001", ANGRY), ("hostile-001", HOSTILE)):
        assert "".join(part[0] for part in bodies[identifier]["answer"]) == visible(text)
    segments = [[*part, [], []][:3] for part in bodies["bus-001"]["answer"]]
    marked = ["".join(text for text, spans, _ in segments if n in spans) for n in range(4)]
    assert marked == ["Le bus de 7 h 45 est toujours plein 😤", "Je ferais du vélo", "R-009", "Q9"]
    assert [text for text, _, quotes in segments if quotes] == ["Je prends le bus tous les matins"]
    assert bodies["bus-001"]["passed"][0]["tier"] == "T0"


def test_a_finding_carries_its_source_and_its_neighbours(parsed: Parsed) -> None:
    content = parsed.answers()["bus-001"]
    altered, translated = content["findings"][:2]
    place, start, end = altered["source"]
    message = content["messages"][place]
    assert (message["respondent"], message["id"]) == ("R-001", "M-0002")
    assert message["text"][start:end] == "Le bus de 7 h 40 est toujours plein 😤"
    assert [content["messages"][at]["id"] for at in altered["near"]] == ["M-0001", "M-0004"]
    assert ["removed", "40"] in altered["difference"]
    assert ["added", "45"] in altered["difference"]
    assert (translated["tier"], translated["diagnosis"]) == ("T5", "translated")
    assert "near" not in translated


def test_states_and_reasons_are_kept(parsed: Parsed) -> None:
    (index,) = parsed.packed("index")
    bodies = parsed.answers()
    lost = index["ids"].index("lost-001")
    assert index["states"][index["state"][0][lost]] == "missing"
    assert bodies["lost-001"]["answer"] == []
    assert bodies["lost-001"]["reason"] == "recorded as missing in the snapshot"
    at = index["ids"].index("half-001")
    mode = [name for name, _ in index["modes"]].index("non_verbatim_quote")
    assert index["scores"][mode][0][at] is None
    assert index["reasons"][index["why"][mode][0][str(at)]] == "the case names no study"


def test_every_number_of_the_overview_has_its_denominator(html: str) -> None:
    assert "6 cases = 4 ok + 1 missing + 1 truncated; 2 with at least one finding." in html
    assert "2/3 = 66.7 % [20.8, 93.9]" in html
    assert "1/4 = 25.0 % [4.6, 69.9]" in html


def test_pseudonyms_are_said_to_be_pseudonyms(run: RunFolder) -> None:
    view = RunView(run)
    assert "are pseudonyms" not in "".join(render(read_report(view)))
    hidden = Pseudonymisation(mode=PseudonymMode.RESPONDENTS, key="random")
    manifest = view.snapshot.manifest.model_copy(update={"pseudonyms": hidden})
    view.snapshot.manifest = manifest
    text = "".join(render(read_report(view)))
    assert text.count("Respondent ids are pseudonyms") == 1


def test_further_sections_are_shown_and_escaped(run: RunFolder) -> None:
    sections = (
        Section("Calibration <of> judges", header=("Judge", "κ"), rows=(("<b>a</b>", "0.71"),)),
        Section("Picture", body=Markup("<svg></svg>")),
    )
    text = "".join(render(read_report(RunView(run), sections=sections)))
    assert "<h2>Calibration &lt;of&gt; judges</h2>" in text
    assert '<th scope="row">&lt;b&gt;a&lt;/b&gt;</th><td>0.71</td>' in text
    assert "<svg></svg>" in text


def test_a_long_tool_output_is_cut_and_says_so(tmp_path: Path) -> None:
    from ancrage.domain import ToolCall

    calls = (ToolCall(name="dump", output="x" * 50_000),)
    answer = case("c", "Rien.", tool_calls=calls)
    output = Output(case_id="c", state=OutputState.OK, answer=Answer(text="Rien."))
    item = Item(answer, output, ())
    block = Block()
    block.add([(item, None)])
    texts: Any = block.cases[0]["texts"]
    (text,) = [text for text in texts if text.startswith("x")]
    assert len(text) < 20_100
    assert "[… 30000 more characters in the snapshot]" in text


def test_a_source_that_is_gone_is_said_to_be(tmp_path: Path) -> None:
    text = "Il dit « non » [R-001, M-9999]."
    folder = make_run(tmp_path, [case("a", text)], {"a": [finding(text, "non", source="M-9999")]})
    content = Parsed("".join(render(read_report(RunView(folder))))).answers()["a"]
    assert content["findings"][0]["source"]["absent"] == "is not in study transports"
