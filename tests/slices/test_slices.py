"""What stands out is found, what does not is not, and the figures are those of the table."""

from pathlib import Path

import numpy as np
import pytest
from scipy.stats import hypergeom

from ancrage.domain import Anchors, Message, Passage, QuoteRecord, Scored, Study
from ancrage.errors import UsageError
from ancrage.runs import RunView
from ancrage.slices import by_field, find
from ancrage.slices.find import find_in
from ancrage.slices.scan import scan
from ancrage.slices.section import slices_section
from ancrage.slices.tables import Table
from ancrage.slices.terminal import standing_out
from benchmarks.slices import draw, share
from tests.builders import snapshot
from tests.compare.runs import world, write_run


def test_a_planted_slice_is_found_and_said_in_one_sentence() -> None:
    table = draw(np.random.default_rng(3), 3.5)
    looked, slices, findings = find_in(table)
    assert looked > slices > 100
    finding = findings[0]
    assert finding.where == (("f0", "x"), ("f1", "y"))
    inside = [row["f0"] == "x" and row["f1"] == "y" for row in table.fields]
    column = table.failures["m0"]
    scored = [
        (here, value) for here, value in zip(inside, column, strict=True) if value is not None
    ]
    assert finding.scored == sum(here for here, _ in scored)
    assert finding.failing == sum(here and value > 0 for here, value in scored)
    assert finding.failing_elsewhere == sum(not here and value > 0 for here, value in scored)
    assert finding.sentence == (
        f"m0: {finding.failing} of {finding.scored} where f0 is x and f1 is y, "
        f"{finding.failing_elsewhere} of {finding.scored_elsewhere} elsewhere"
    )
    assert len(finding.cases) == finding.failing


def test_few_false_findings_and_many_true_ones() -> None:
    assert share(0.0, 60)[1] <= 0.05 + 0.06
    assert share(3.5, 20)[0] > 0.9


def test_one_slice_of_independent_rows_is_the_exact_test() -> None:
    """With one slice and one mode the adjusted p-value is Fisher's, by 999 deals of the rows."""
    inside = np.arange(60) < 20
    failures = np.where(inside, np.arange(60) % 3 == 0, np.arange(60) % 20 == 1).astype(float)
    found = scan(inside[:, None], failures[:, None], np.zeros(60, dtype=np.intp))
    expected = hypergeom(60, int(failures.sum()), 20).sf(failures[inside].sum() - 1)
    assert found.p[0, 0] == pytest.approx(expected, abs=0.015)
    assert found.looked == 1


def test_what_a_study_has_in_common_is_no_slice() -> None:
    """One bad study whose questions are mostly French: the language is not to blame."""
    table = Table("answers", failures={"x": []})
    for at in range(200):
        study = at // 20
        table.studies.append(f"s{study}")
        table.cases.append(f"c{at}")
        french = at % 20 < (16 if study == 0 else 4)
        table.fields.append({"study": f"s{study}", "language": "fr" if french else "en"})
        table.failures["x"].append(float(study == 0))
    findings = find_in(table)[2]
    assert [finding.where for finding in findings] == [(("study", "s0"),)]


def _run(folder: Path) -> RunView:
    """80 answers with a quote each, of messages in two languages; what fails is translated."""
    said = {"fr": "Le prix est trop élevé pour la plupart des clients.",
            "en": "The price is too high for most of the customers."}  # fmt: skip
    messages = tuple(
        Message(id=f"m-{language}", respondent_id="r", text=text) for language, text in said.items()
    )
    studies = [Study(id=f"s{at}", messages=messages) for at in range(8)]
    base = world(folder / "base", 80, studies=8)
    data = snapshot(folder / "snap", base.cases(), studies)
    written = write_run(
        folder / "runs", data, "a", {"x": [float(at % 16 == 0) for at in range(80)]}
    )
    with written.scorings()[0].journal() as scores:
        for entry in list(written.scorings()[0].scored()):
            at = int(entry.case_id[1:])
            foreign = at % 3 == 1
            fails = foreign and at % 5 > 0
            quote = QuoteRecord(
                evidence=Passage.of(said["fr"], 0, len(said["fr"])),
                cited=("m-en" if foreign else "m-fr",),
                tier="T5" if fails else "T0",
                diagnosis="translated" if fails else None,
                source_language="en" if fails else None,
            )
            scores.append(
                Scored(
                    case_id=entry.case_id,
                    evaluations=entry.evaluations,
                    anchors=Anchors(citations=1, quotes=(quote,)),
                )
            )
    return RunView(written)


def test_translated_quotes_of_messages_in_another_language(tmp_path: Path) -> None:
    found = find(_run(tmp_path))
    assert found.rows == {"answers": 80, "quotes": 80}
    (finding,) = [finding for finding in found.findings if finding.noun == "quotes"]
    assert finding.sentence.startswith("translated quotes: 22 of 27 where ")
    assert "language of the message is en" in finding.sentence
    assert finding.sentence.endswith(", 0 of 53 elsewhere")
    from rich.console import Console

    console = Console(width=200, record=True, file=open("/dev/null", "w"))  # noqa: SIM115, PTH123
    console.print(standing_out(found))
    assert "pairs of slice and failure looked at, over 80 answers and 80 quotes" in (
        console.export_text()
    )


def test_the_page_has_the_sentences_and_links_to_the_cases(tmp_path: Path) -> None:
    found = find(_run(tmp_path))
    body = str(slices_section(found).body)
    for finding in found.findings:
        assert finding.sentence in body
        assert all(f'href="#case={case}"' in body for case in finding.cases)
    assert f"{found.looked} pairs of slice and failure looked at" in body
    quiet = str(slices_section(found.model_copy(update={"findings": ()})).body)
    assert "Nothing stands out." in quiet
    assert "<li>" not in quiet


def test_the_rates_by_one_field(tmp_path: Path) -> None:
    view = _run(tmp_path)
    rows = by_field(view, "study")
    assert ("s0", "x", 5, 10) in rows
    assert ("s1", "x", 0, 10) in rows
    assert sum(count for _, mode, count, _ in rows if mode == "translated quotes") == 22
    with pytest.raises(UsageError, match=r"known fields: auto, .*study"):
        by_field(view, "colour")
    with pytest.raises(UsageError, match="--by history: is first question everywhere"):
        by_field(view, "history")


def test_too_few_rows_are_not_looked_at() -> None:
    assert find_in(Table("answers")) == (0, 0, [])
