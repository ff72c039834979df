"""Verdicts by inference: a judge of known probabilities, then the real small model."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ancrage.nli import Judged, NLISettings, rule_of
from ancrage.nli.model import Pair
from ancrage.verify import (
    ClaimScorer,
    State,
    Verdict,
    claim_scorer,
    make_run,
)
from ancrage.verify.nli import NLIVerifier
from tests.verify.scripted import models, scorer, table

CONTEXT = ["Anne Roy runs Acme. Its office is in Lyon.", "The canteen is closed on Friday."]
KNOWN = {
    "Anne Roy is the head of Acme.": (0.9, 0.05, 0.05),
    "The office is in Rome.": (0.05, 0.05, 0.9),
    "Acme sells shoes.": (0.1, 0.8, 0.1),
    "Much too long.": (np.nan, np.nan, np.nan),
}
S, C, U, N = Verdict.SUPPORTED, Verdict.CONTRADICTED, Verdict.UNSUPPORTED, Verdict.UNSCORED


def judge(pairs: Sequence[Pair]) -> Judged:
    rows = np.array([KNOWN[claim] for _, claim in pairs])
    return Judged(rows, np.ones(len(pairs), dtype=np.int64), tuple(p for p, _ in pairs))


def verifier() -> NLIVerifier:
    return NLIVerifier(judge, rule_of(NLISettings(rule="argmax")), "test")


async def test_inference_gives_verdicts_and_the_nearest_sentence() -> None:
    known = claim_scorer(verifier(), context=CONTEXT, models=models())
    result = await known.score(make_run("?", " ".join(KNOWN)))
    assert [each.verdict for each in result.verdicts] == [S, C, U, N]
    assert (result.state, result.best, result.worst) == (State.PARTIAL, 0.5, 0.75)
    shown = [each.passage.passage.text if each.passage else None for each in result.verdicts]
    assert shown == ["Anne Roy runs Acme.", "Its office is in Lyon.", None, None]
    assert "longer than the model reads" in result.verdicts[3].reason
    assert result.versions["nli"] == "test"


async def test_a_model_and_inference_side_by_side() -> None:
    claims = list(KNOWN)[:3]
    said = {
        claims[0]: ("supported", "Anne Roy runs Acme."),
        claims[1]: ("unsupported", None),
        claims[2]: ("supported", "A passage made up."),
    }
    with scorer(table(said), context=CONTEXT) as (alone, _):
        both = ClaimScorer((*alone.verifiers, verifier()), context=alone.context)
        result = await both.score(make_run("?", " ".join(claims)))
    assert [each.verdict for each in result.verdicts] == [S, U, U]
    assert [each.decided_by for each in result.verdicts] == ["judge", "judge", "nli"]
    assert [each.disagreement for each in result.verdicts] == [False, True, False]
    assert "nli says contradicted" in result.verdicts[1].reason
    assert "not in the context" in result.verdicts[2].reason
    assert [len(each.opinions) for each in result.verdicts] == [2, 2, 2]


@pytest.fixture(scope="module")
def small(shared: Path) -> Any:
    pytest.importorskip("torch", reason="NLI models need torch: pip install 'ancrage[nli]'")
    pytest.importorskip("transformers")
    folder = shared / "models" / "nli-minilm-en"
    return NLIVerifier.load(NLISettings(model=str(folder), offline=True, rule="argmax"))


async def test_the_real_small_model_on_clear_cut_claims(small: NLIVerifier) -> None:
    for sentence, output, verdicts in (
        ("A man is sleeping on a bench.", "A man is sleeping. Nobody is sleeping.", [S, C]),
        ("A woman is reading a book.", "The book is about the history of France.", [U]),
    ):
        known = claim_scorer(small, context=[sentence], models=models())
        result = await known.score(make_run("?", output))
        assert [each.verdict for each in result.verdicts] == verdicts
        assert result.score == sum(each.hallucinated for each in verdicts) / len(verdicts)
