"""The demonstration snapshot is ground truth: its labels are checked here by other means.

Nothing of the project's own quote or citation code is used, only plain regular expressions and
a plain normalisation, so that a mistake in the checks cannot hide a mistake in the labels.
"""

import hashlib
import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import NamedTuple

import pytest

from ancrage.domain import Case, Message, OutputState, Study
from tests.conftest import ROOT

DEMO = ROOT / "snapshots" / "demo"
QUOTE_MODES = {"non_verbatim_quote", "uncited_quote"}
MODES = QUOTE_MODES | {
    "unknown_ref",
    "unknown_message_id",
    "wrong_respondent_id",
    "malformed_citation",
}
KINDS = {  # the word before the colon of a label's note
    "translated",
    "stitched",
    "unmarked_elision",
    "corrected_words",
    "corrected_figure",
    "dropped_negation",
    "swapped_respondent",
    "invented_message",
    "invented_ref",
    "elsewhere",
    "invented_quote",
    "uncited",
    "malformed",
}
_QUOTE = r"(?:«(?P<g>(?:[^«»]|«[^«»]*»)+)»|“(?P<c>[^”]+)”|\"(?P<s>[^\"\n]+)\")"
_BRACKETS = r"[*_]{0,3}[.,;:]?\s?(?:\| )?(?P<b>(?:[\[【][^\]】\n]*[\]】]\s?)+)"
_CITED = re.compile(_QUOTE + _BRACKETS)
_PAIR = re.compile(r"[Rr]-?0*(\d+)((?:\s*,\s*[Mm]-?0*\d+)+)")


class Label(NamedTuple):
    mode: str
    passage: str
    diagnosis: str | None
    note: str


@cache
def _cases() -> tuple[Case, ...]:
    lines = (DEMO / "cases.jsonl").read_text(encoding="utf-8").splitlines()
    return tuple(Case.model_validate_json(line) for line in lines)


@cache
def _studies() -> dict[str, Study]:
    files = sorted((DEMO / "studies").glob("*.json"))
    studies = [Study.model_validate_json(file.read_text(encoding="utf-8")) for file in files]
    return {study.id: study for study in studies}


@cache
def _labels() -> dict[str, tuple[Label, ...]]:
    labels: dict[str, tuple[Label, ...]] = {}
    for line in (DEMO / "labels.jsonl").read_text(encoding="utf-8").splitlines():
        entry = json.loads(line)
        assert entry["case_id"] not in labels
        labels[entry["case_id"]] = tuple(
            Label(f["mode"], f["passage"], f.get("diagnosis"), f["note"]) for f in entry["findings"]
        )
    return labels


def _checked() -> Iterator[tuple[Case, str, Study, tuple[Label, ...]]]:
    """The cases that can be checked: an answer, and a study to check it against."""
    for case in _cases():
        if case.output and case.state is OutputState.OK and case.study_id in _studies():
            study = _studies()[case.study_id]
            yield case, case.output.text, study, _labels()[case.id]


def _plain(text: str) -> str:
    text = re.sub(r"[\u200b\u200c\u200d\u2060\ufeff\u00ad]| \[sic\]", "", text)
    text = text.replace("’", "'").replace("‘", "'").replace("…", "...")
    text = re.sub(r"[‐‑‒–—−]", "-", re.sub(r"[«»“”„]", '"', text))
    return re.sub(r'\s*"\s*', '"', re.sub(r"\s+", " ", text)).strip(" *_")


def _verbatim(quote: str, message: str) -> bool:
    """Whether the quote is the message's own words, elisions marked, edges of punctuation aside."""
    source, position = _plain(message), 0
    fragments = [
        _plain(part).rstrip(" .!?,;")
        for part in re.split(r"\[(?:\.{3}|…)\]|\((?:\.{3}|…)\)", quote)
    ]
    for number, fragment in enumerate(fragments):
        assert len(fragments) == 1 or len(fragment) >= 12, f"an elision leaves only {fragment!r}"
        variants = [fragment]
        if number == 0 and fragment:
            variants += [fragment[0].lower() + fragment[1:], fragment[0].upper() + fragment[1:]]
        at, found = next(
            ((at, v) for v in variants if (at := _whole_words(v, source, position)) >= 0), (-1, "")
        )
        if at < 0:
            return False
        position = at + len(found)
    return True


def _whole_words(fragment: str, source: str, start: int) -> int:
    hit = re.compile(rf"(?<!\w){re.escape(fragment)}(?!\w)").search(source, start)
    return hit.start() if hit else -1


def _number(identifier: str) -> int:
    return int(re.sub(r"\D", "", identifier))


def _messages(study: Study) -> dict[int, Message]:
    return {_number(message.id): message for message in study.messages}


def _cited(text: str) -> Iterator[tuple[str, str, list[tuple[int, str, int]]]]:
    """Each quote with its brackets and their (respondent, respondent as written, message)."""
    for hit in _CITED.finditer(text):
        quote = next(part for part in (hit["g"], hit["c"], hit["s"]) if part is not None)
        pairs = [
            (int(pair[1]), re.split(r"\s*,", pair[0])[0], _number(message))
            for pair in _PAIR.finditer(hit["b"])
            for message in re.findall(r"[Mm]-?0*\d+", pair[2])
        ]
        if pairs:
            yield quote.strip(), hit["b"], pairs


def _has(labels: tuple[Label, ...], mode: str, text: str) -> bool:
    return any(label.mode == mode and _plain(label.passage) == _plain(text) for label in labels)


def test_it_is_large_enough_and_bilingual() -> None:
    assert len(_studies()) >= 3
    for study in _studies().values():
        assert len(study.messages) >= 150, study.id
        assert 3 <= len(study.questions) <= 5, study.id
    answers = [case for case in _cases() if case.output]
    assert len(answers) >= 66
    assert len({case.id for case in _cases()}) == len(_cases())
    for language in ("fr", "en"):
        assert sum(case.metadata["language"] == language for case in answers) >= 25, language
        written = [m for study in _studies().values() for m in study.messages]
        assert sum(message.language == language for message in written) >= 100, language


def test_every_case_has_its_labels_and_most_are_clean() -> None:
    assert set(_labels()) == {case.id for case in _cases()}
    faulty = sum(bool(found) for found in _labels().values())
    assert 0.25 < faulty / len(_cases()) < 0.5


def test_ids_are_unique_within_a_study() -> None:
    for study in _studies().values():
        refs = {question.ref for question in study.questions}
        assert len(_messages(study)) == len(study.messages), study.id
        assert len(refs) == len(study.questions), study.id
        assert {message.question_ref for message in study.messages} == refs, study.id
        assert all(message.text.strip() for message in study.messages), study.id


def test_cases_say_where_they_come_from() -> None:
    end = datetime(2026, 11, 30, tzinfo=UTC)
    for case in _cases():
        assert case.provenance.source == "production"
        assert case.provenance.time is not None
        assert end - timedelta(days=30) <= case.provenance.time <= end, case.id
        assert re.fullmatch(r"[0-9a-f]{32}", case.provenance.trace_id or ""), case.id
        prompt = case.input.system_prompt or ""
        assert case.input.system_prompt_hash == hashlib.sha256(prompt.encode()).hexdigest()
        assert case.source_missing is not None or case.study_id in _studies(), case.id
    states = {case.state for case in _cases()}
    assert {OutputState.OK, OutputState.MISSING, OutputState.REFUSED} <= states
    assert any(case.source_missing for case in _cases())


def test_each_label_names_a_known_mode_and_its_passage_stands_in_the_answer() -> None:
    for case in _cases():
        for label in _labels()[case.id]:
            assert label.mode in MODES, case.id
            assert case.output is not None
            assert label.passage in case.output.text, (case.id, label.passage)
            assert bool(label.diagnosis) == (label.mode == "non_verbatim_quote"), case.id


@pytest.mark.parametrize("language", ["fr", "en"])
def test_each_kind_of_defect_occurs_in_both_languages(language: str) -> None:
    kinds = {
        label.note.split(":")[0].split("_empty")[0].split("_garbled")[0]
        for case in _cases()
        if case.metadata["language"] == language
        for label in _labels()[case.id]
    }
    kinds |= {"malformed" for kind in kinds if kind.startswith("malformed")}
    assert kinds >= KINDS


def test_every_cited_quote_is_verbatim_or_labelled() -> None:
    seen = 0
    for case, text, study, labels in _checked():
        messages = _messages(study)
        for quote, _, pairs in _cited(text):
            known = [messages[number] for _, _, number in pairs if number in messages]
            seen += 1
            if not known:
                assert any(label.mode == "unknown_message_id" for label in labels), (case.id, quote)
                continue
            verbatim = any(_verbatim(quote, message.text) for message in known)
            labelled = _has(labels, "non_verbatim_quote", quote)
            assert verbatim != labelled, (case.id, quote, [m.text for m in known])
    assert seen >= 150


def test_every_label_of_a_quote_is_a_cited_quote_with_the_right_diagnosis() -> None:
    for case, text, study, labels in _checked():
        cited = {_plain(quote): pairs for quote, _, pairs in _cited(text)}
        for label in labels:
            if label.mode == "uncited_quote":
                assert _plain(label.passage) not in cited, (case.id, label.passage)
            if label.mode != "non_verbatim_quote":
                continue
            pairs = cited[_plain(label.passage)]
            cites = {number for _, _, number in pairs}
            homes = {
                number
                for number, message in _messages(study).items()
                if _verbatim(label.passage, message.text)
            }
            assert label.diagnosis in {"translated", "altered", "elsewhere", "absent"}, case.id
            assert not homes & cites, (case.id, label.passage)
            assert bool(homes) == (label.diagnosis == "elsewhere"), (case.id, label.passage)


def test_every_id_is_real_or_labelled() -> None:
    for case, text, study, labels in _checked():
        messages = _messages(study)
        for _, brackets, pairs in _cited(text):
            for number in {number for _, _, number in pairs} - set(messages):
                written = next(
                    w for w in re.findall(r"[Mm]-?\d+", brackets) if _number(w) == number
                )
                assert _has(labels, "unknown_message_id", written), (case.id, written)
            for respondent, written, number in pairs:
                if number in messages:
                    right = respondent == _number(messages[number].respondent_id)
                    wrong = _has(labels, "wrong_respondent_id", written)
                    assert right != wrong, (case.id, written, number)
        for label in labels:
            if label.mode == "unknown_message_id":
                assert _number(label.passage) not in messages, (case.id, label.passage)


def test_every_question_reference_is_real_or_labelled() -> None:
    for case, text, study, labels in _checked():
        refs = {_number(question.ref) for question in study.questions}
        for bracket in re.findall(r"[\[【]\s*([Qq]-?\d[^\]】\n]*)[\]】]", text):
            for written in re.findall(r"[Qq]-?\d+", bracket):
                unknown = _number(written) not in refs
                assert unknown == _has(labels, "unknown_ref", written), (case.id, written)


def test_a_labelled_malformed_bracket_cannot_be_read() -> None:
    pair = r"[Rr]-?\d+\s*,\s*[Mm]-?\d+"
    readable = re.compile(rf"[\[【]\s*{pair}(?:\s*[,;]\s*(?:{pair}|[Mm]-?\d+))*\s*[\]】]")
    for case, text, _, labels in _checked():
        malformed = {label.passage for label in labels if label.mode == "malformed_citation"}
        for passage in malformed:
            assert not readable.fullmatch(passage), (case.id, passage)
        for line in text.splitlines():
            for bracket in re.findall(r"[\[【][RrMm]-?[^\]】\n]*(?:[\]】]|$)", line):
                unread = not readable.fullmatch(bracket)
                assert unread == (bracket in malformed), (case.id, bracket)


def test_every_long_quote_without_ids_is_labelled_or_is_the_questionnaire() -> None:
    for case, text, study, labels in _checked():
        printed = _plain(" ".join([study.title, *(question.text for question in study.questions)]))
        malformed = [label.passage for label in labels if label.mode == "malformed_citation"]
        cited = [hit.span() for hit in _CITED.finditer(text) if _PAIR.search(hit["b"])]
        for hit in re.finditer(_QUOTE, text):
            quote = next(part for part in (hit["g"], hit["c"], hit["s"]) if part is not None)
            rest = text[hit.end() :].lstrip()
            nested_straight = text[hit.end() : hit.end() + 1].isalnum()
            if (
                len(quote.split()) < 4
                or nested_straight
                or any(start <= hit.start() < end for start, end in cited)
                or any(rest.startswith(bracket) for bracket in malformed)
            ):
                continue
            uncited = _has(labels, "uncited_quote", quote)
            assert uncited != (_plain(quote) in printed), (case.id, quote)
