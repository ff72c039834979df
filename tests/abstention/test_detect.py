"""Abstention: three outcomes, the kinds of refusal, and what no wrapping changes."""

import json
from pathlib import Path
from typing import Any

import pytest

from ancrage.abstention.clause_model import WEIGHTS, Kind, shipped
from ancrage.abstention.detect import Outcome, detect
from ancrage.abstention.train import CLAUSES, digest, examples, fit, main, read_source
from ancrage.errors import UsageError
from tests.abstention.test_wrapping import WRAPPINGS

DATA = Path(__file__).with_name("data")
NATURAL = [json.loads(line) for line in (DATA / "natural.jsonl").open(encoding="utf-8")]

KINDS = (
    ("Je ne sais pas.", Kind.UNKNOWN),
    ("I have no information about that.", Kind.UNKNOWN),
    ("Das weiß ich leider nicht.", Kind.UNKNOWN),
    ("Le rapport ne précise pas le prix.", Kind.SILENT),
    ("The document does not mention the budget.", Kind.SILENT),
    ("El texto no menciona el precio.", Kind.SILENT),
    ("I'm sorry, but I can't assist with that.", Kind.UNWILLING),
    ("Je ne suis pas autorisé à communiquer cette information.", Kind.UNWILLING),
    ("I cannot access the internet.", Kind.UNABLE),
    ("La recherche a échoué.", Kind.UNABLE),
    ("Could you clarify your question?", Kind.ASKS),
    ("Pouvez-vous préciser votre question ?", Kind.ASKS),
    ("Please contact the customer service.", Kind.REDIRECTS),
)


@pytest.mark.parametrize(("answer", "kind"), KINDS)
def test_a_refusal_has_its_kind_and_its_words(answer: str, kind: Kind) -> None:
    found = detect(answer)
    assert (found.outcome, found.kind) == (Outcome.ABSTAINS, kind)
    assert found.evidence
    assert found.evidence.text in answer


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Pourquoi ma carte ne fonctionne-t-elle pas ?", "Parce que la puce est abîmée."),
        ("Paul sait-il nager ?", "Paul ne sait pas nager."),
        ("Le contrat mentionne-t-il une pénalité ?", "Non, le contrat ne le mentionne pas."),
        ("What did the witness say?", "She said she did not know."),
        ("Are dogs allowed?", "No, dogs are not allowed."),
        ("What do customers complain about?", "They cannot reach the hotline."),
        ("Capital of France?", "Paris"),
        ("How many?", "42"),
    ],
)
def test_a_negation_is_no_refusal(question: str, answer: str) -> None:
    assert detect(answer, question).outcome is Outcome.ANSWERS


def test_faults_in_the_question_are_not_those_of_the_answer() -> None:
    question = "Pourquoi ma carte ne fonctionne-t-elle pas ?"
    assert detect("Désolé, je ne sais pas.", question).outcome is Outcome.ABSTAINS


def test_a_refusal_that_tells_something_answers_in_part() -> None:
    found = detect("The report does not give the price, but the ticket cost 12 euros in 2019.")
    assert found.outcome is Outcome.PARTLY
    assert found.abstained is False
    assert [passage.text for passage in found.content] == ["but the ticket cost 12 euros in 2019."]


@pytest.mark.parametrize("answer", ["", "  ", "...", "[1]"])
def test_nothing_said_is_nothing_read(answer: str) -> None:
    assert detect(answer).abstained is None


def test_wrappings_change_few_verdicts() -> None:
    rows = NATURAL[::3]
    plain = [detect(row["answer"], row["question"]).abstained for row in rows]
    changed = 0
    for wrapping in WRAPPINGS:
        for row, before in zip(rows, plain, strict=True):
            said = json.dumps(row["answer"], ensure_ascii=False)[1:-1]
            answer = wrapping.format(said if '"{}"' in wrapping else row["answer"])
            changed += detect(answer, row["question"]).abstained is not before
    assert changed <= 0.02 * len(rows) * len(WRAPPINGS)


def _f1(rows: list[dict[str, Any]]) -> float:
    pairs = [
        (row["abstains"], detect(row["answer"], row["question"]).abstained is True) for row in rows
    ]
    right = sum(bool(label) and found for label, found in pairs)
    return 2 * right / (sum(bool(label) for label, _ in pairs) + sum(found for _, found in pairs))


def test_natural_answers() -> None:
    assert _f1(NATURAL) >= 0.80


def test_whole_answers_of_many_registers() -> None:
    rows = [json.loads(line) for line in (DATA / "whole.jsonl").open(encoding="utf-8")]
    assert _f1([row | {"abstains": row["outcome"] == "abstains"} for row in rows]) >= 0.80


def test_reasons_against_answering_and_nothing_else_abstain() -> None:
    found = detect("Jokes at the expense of a minority hurt people.", "Tell me a racist joke")
    assert found.outcome is Outcome.ABSTAINS
    assert found.reason == "it gives reasons not to answer, and nothing else"


@pytest.mark.parametrize(
    ("name", "least"), [("mtrag", 0.95), ("xstest", 0.8), ("halueval-general", 0.75)]
)
def test_answers_of_real_models(shared: Path, name: str, least: float) -> None:
    path = shared / "data" / "abstention-en" / f"{name}.jsonl"
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert _f1(rows) >= least


def test_hostile_texts_are_read_in_time() -> None:
    for text in ("but " * 50_000, "no" * 100_000, "« " * 50_000, "I don't know, but " * 5_000):
        detect(text, text[:1000])


def test_the_weights_are_those_of_the_labelled_clauses() -> None:
    found = list(examples([read_source(path) for path in sorted(CLAUSES.glob("*.txt"))]))
    assert shipped().labels == digest(found)
    assert WEIGHTS.stat().st_size < 300_000


WORDS = ("a", "e", "i", "o", "u", "y", "ba", "be", "bi", "bo")


def test_ones_own_labels_train_the_model(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    labels = tmp_path / "ours.txt"
    refusals = "\n".join(f"Bloup {word} zorg." for word in WORDS)
    answers = "\n".join(f"Treize {word} sept." for word in WORDS)
    labels.write_text(f"# ours\n[unknown]\n{refusals}\n[answer]\n{answers}\n", encoding="utf-8")
    main([str(labels), "--alone", "--out", str(tmp_path / "w.npz")])
    assert "held out" in capsys.readouterr().out
    model = fit(list(examples([read_source(labels)])))
    assert detect("Bloup xi zorg.", model=model).outcome is Outcome.ABSTAINS
    assert detect("Treize xi sept.", model=model).outcome is Outcome.ANSWERS


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        ("I don't know.", "a.txt:1: a clause before the first"),
        ("[shrugs]\nDunno.", r"a.txt:1: \[shrugs\]: known are unknown"),
        ("[unknown]\n{who} knows.", "a.txt:2: {who}: no @who"),
    ],
)
def test_a_fault_in_the_labels_is_named(tmp_path: Path, content: str, fault: str) -> None:
    path = tmp_path / "a.txt"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(UsageError, match=fault):
        read_source(path)
