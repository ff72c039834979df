"""The rules of verdicts, each by known answers of a model behind the real SDK."""

import pytest

from ancrage.verify import (
    State,
    Verdict,
    Verification,
    claim_scorer,
    make_run,
)
from tests.servers.openai_server import Call, Reply
from tests.verify.scripted import Table, claims, entry, models, reply, scorer, table

CONTEXT = (
    """Acme employs 123 people. It was founded in Lyon on 12 March 2021.
Le chiffre d'affaires est de 3,2 M€. Les clients trouvent l'appli excellente.""",
    "Its director is Anne Roy.",
)
S, C, U, N = Verdict.SUPPORTED, Verdict.CONTRADICTED, Verdict.UNSUPPORTED, Verdict.UNSCORED


async def verdicts(output: str, known: Table, **options: object) -> Verification:
    with scorer(table(known), **{"context": CONTEXT, **options}) as (judge, _):
        return await judge.score(make_run("Que sait-on d'Acme ?", output))


async def test_absent_is_hallucinated_and_distinct_from_contradicted() -> None:
    result = await verdicts(
        "Anne Roy is the director. Acme has an office in Rome. Bob Lee runs Acme.",
        {
            "Anne Roy is the director.": ("supported", "Its director is Anne Roy."),
            "Acme has an office in Rome.": ("unsupported", None),
            "Bob Lee runs Acme.": ("contradicted", "Its director is Anne Roy."),
        },
    )
    assert [each.verdict for each in result.verdicts] == [S, U, C]
    assert result.score == pytest.approx(2 / 3)
    assert (result.best, result.worst) == (result.score, result.score)
    assert result.counts == {
        "claims": 3,
        "supported": 1,
        "contradicted": 1,
        "unsupported": 1,
        "unscored": 0,
    }
    assert (
        "2 of 3 claims hallucinated: 1 contradicted by the context, 1 not supported by it"
        in result.reason
    )
    shown = result.verdicts[0].passage
    assert shown is not None
    assert (shown.item, shown.passage.text) == (1, "Its director is Anne Roy.")


async def test_scale() -> None:
    known: Table = {"Acme has an office in Rome.": ("unsupported", None)}
    result = await verdicts("Acme has an office in Rome.", known, scale=10)
    assert (result.score, result.worst) == (10, 10)
    assert "Score 10 out of 10" in result.reason


@pytest.mark.parametrize(
    ("claim", "passage", "expected"),
    [
        ("L'appli d'Acme est excellente.", "Les clients trouvent l'appli excellente.", S),
        ("L'appli d'Acme est excellente.", "Its director is Anne Roy.", N),
        ("Acme is an amazing company.", "Acme employs 123 people.", N),
        ("Malheureusement, Acme est à Lyon.", "It was founded in Lyon on 12 March 2021.", N),
        ("Acme has customers in Great Britain.", "Its director is Anne Roy.", S),
    ],
)
async def test_a_judgement_needs_one_in_the_context(
    claim: str, passage: str, expected: Verdict
) -> None:
    result = await verdicts(claim, {claim: ("supported", passage)})
    (verdict,) = result.verdicts
    assert verdict.verdict is expected
    assert verdict.disagreement is (expected is N)
    assert ("a judgement of value that the passage does not state" in verdict.reason) is (
        expected is N
    )


async def test_judgements_and_possibilities_are_marked_for_the_model() -> None:
    seen: list[Call] = []

    def script(call: Call) -> Reply:
        seen.append(call)
        return reply(call, [entry(label, "unsupported") for label in claims(call)])

    output = "Acme is amazing. Acme may have an office in Rome. Anne Roy is the director."
    with scorer(script, context=CONTEXT) as (judge, _):
        await judge.score(make_run("Acme ?", output))
    text = seen[0].messages[-1]["content"]
    assert "CLAIM C1 (value):" in text
    assert "CLAIM C2 (possible):" in text
    assert "CLAIM C3:" in text


async def test_a_possibility_is_allowed_where_the_fact_is_there_and_not_where_it_is_absent() -> (
    None
):
    there, absent = "Anne Roy might be the director.", "Acme pourrait avoir un bureau à Rome."
    result = await verdicts(
        f"{there} {absent}",
        {there: ("supported", "Its director is Anne Roy."), absent: ("unsupported", None)},
    )
    assert [each.verdict for each in result.verdicts] == [S, U]
    # A model that lets any hedge pass has no passage to show for it.
    result = await verdicts(absent, {absent: ("supported", "Acme may open in Rome.")})
    assert result.verdicts[0].verdict is N
    assert "not in the context" in result.verdicts[0].reason
    assert (result.score, result.worst) == (None, 1)


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        ("Acme employs about 120 people.", S),
        ("Acme employs roughly 120 people.", S),
        ("Acme employs 150 people.", C),
        ("Acme employs about 200 people.", C),
        ("Acme was founded in Lyon in March 2021.", S),
        ("Acme was founded in Lyon in April 2021.", C),
        ("Le chiffre d'affaires est d'environ 3 M€.", S),
        ("Le chiffre d'affaires est de près de 3,2 millions d'euros.", S),
        ("Le chiffre d'affaires est de 3 200 000 €.", S),
        ("Le chiffre d'affaires est de 5,1 M€.", C),
    ],
)
@pytest.mark.parametrize("said", ["supported", "contradicted", "unsupported", None])
async def test_figures_never_override_a_model_that_says_the_opposite(
    claim: str, expected: Verdict, said: str | None
) -> None:
    known: Table = {claim: (said, "Its director is Anne Roy.")} if said else {}
    result = await verdicts(claim, known)
    (verdict,) = result.verdicts
    if said and Verdict(said).hallucinated is not expected.hallucinated:
        assert verdict.verdict is N, verdict.reason
        assert verdict.disagreement
        assert f"judge says {said}" in verdict.reason
        assert f"figures says {expected}" in verdict.reason
        return
    assert verdict.verdict is expected, verdict.reason
    if said != expected:
        assert verdict.decided_by == "figures"
        assert "figures: " in verdict.reason
        assert verdict.passage is not None
    assert result.score == (0 if expected is S else 1)


async def test_figures_that_agree_do_not_carry_the_rest_of_a_claim() -> None:
    claim = "Acme employs 123 people, all of them in Rome."
    result = await verdicts(claim, {claim: ("unsupported", None)})
    (verdict,) = result.verdicts
    assert (verdict.verdict, verdict.decided_by) == (U, "judge")


async def test_a_passage_that_agrees_is_not_overridden_for_another_that_differs() -> None:
    claim = "Acme employs 150 engineers in the northern factory of Lyon."
    context = [
        "Acme employed 123 engineers in the northern factory of Lyon.",
        "Acme employs 150 engineers in Lyon.",
    ]
    known: Table = {claim: ("supported", context[1])}
    (verdict,) = (await verdicts(claim, known, context=context)).verdicts
    assert (verdict.verdict, verdict.decided_by) == (S, "judge")
    (verdict,) = (await verdicts(claim, {}, context=context[:1])).verdicts
    assert (verdict.verdict, verdict.decided_by) == (C, "figures")
    known = {claim: ("supported", context[0])}
    (verdict,) = (await verdicts(claim, known, context=context[:1])).verdicts
    assert (verdict.verdict, verdict.decided_by) == (N, None)


async def test_figures_inside_a_quote_of_the_context_are_left_alone() -> None:
    context = ["« Chat : 1 h 10 d'attente. Téléphone : 5 minutes. »", "I waited 47 minutes."]
    output = "Une cliente : « Chat : 1 h 10 d'attente. Téléphone : 5 minutes. » [R-1, M-2]"
    judge = claim_scorer(None, context=context, models=models())
    result = await judge.score(make_run("?", output))
    assert all(each.verdict is not C for each in result.verdicts)
    alone = await judge.score(make_run("?", "« I waited 47 minutes. » [R-1, M-3]"))
    assert [each.decided_by for each in alone.verdicts] == ["verbatim"]
    altered = await judge.score(make_run("?", "« I waited 57 minutes. » [R-1, M-3]"))
    assert [each.verdict for each in altered.verdicts] == [C]


async def test_an_empty_output_is_marked_and_costs_no_call() -> None:
    with scorer([], context=CONTEXT) as (judge, server):
        for output in ("", "  \n\u00a0"):
            result = await judge.score(make_run("?", output))
            assert (result.score, result.state, result.empty) == (0, State.EMPTY, True)
            assert "empty" in result.reason
        for output in ("Bonjour !", "Je ne sais pas.", "Voulez-vous que je cherche ?"):
            result = await judge.score(make_run("?", output))
            assert (result.score, result.state, result.empty) == (0, State.NO_CLAIMS, False)
        result = await judge.score(make_run("?", None))
        assert (result.score, result.state) == (None, State.UNSCORED)
        assert "output missing" in result.reason
        assert not server.calls


@pytest.mark.parametrize("context", [(), [""], ["  ", "\n"]])
async def test_an_empty_context_does_not_pass_in_silence(context: list[str]) -> None:
    with scorer([], context=context) as (judge, server):
        result = await judge.score(make_run("?", "Acme has an office in Rome. Bob runs it."))
    assert [each.verdict for each in result.verdicts] == [N, N]
    assert (result.state, result.score, result.best, result.worst) == (State.UNSCORED, None, 0, 1)
    assert "the context is empty" in result.reason
    assert not server.calls


async def test_a_missing_verdict_is_shown_and_bounds_the_score() -> None:
    known: Table = {
        "Anne Roy is the director.": ("supported", "Its director is Anne Roy."),
        "Acme has an office in Rome.": ("unsupported", None),
    }
    output = "Anne Roy is the director. Acme has an office in Rome. Bob Lee is the driver."
    result = await verdicts(output, known)
    assert [each.verdict for each in result.verdicts] == [S, U, N]
    assert (result.state, result.score) == (State.PARTIAL, None)
    assert [result.best, result.worst] == pytest.approx([1 / 3, 2 / 3])
    assert "No verdict: “Bob Lee is the driver.” (judge: no verdict)" in result.reason
    assert "between 0.333 and 0.667" in result.reason


async def test_code_alone_judges_what_it_can() -> None:
    judge = claim_scorer(None, context=CONTEXT, models=models())
    output = "Its director is Anne Roy. Acme employs 150 people. Acme has an office in Rome."
    result = await judge.score(make_run("?", output))
    assert [each.verdict for each in result.verdicts] == [S, C, N]
    assert [each.decided_by for each in result.verdicts] == ["verbatim", "figures", None]
    assert [result.best, result.worst] == pytest.approx([1 / 3, 2 / 3])


async def test_a_negation_left_beside_the_passage_voids_it() -> None:
    claim = "The product is safe for children."
    with scorer(
        table({claim: ("supported", "safe for children")}),
        context=["The product is not safe for children."],
    ) as (judge, _):
        (verdict,) = (await judge.score(make_run("?", claim))).verdicts
    assert verdict.verdict is N
    assert "negation" in verdict.reason


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Qui dirige Acme ?", "Le texte ne précise pas qui dirige Acme."),
        ("Who runs Acme?", "I don't know who runs Acme, the document does not say."),
    ],
)
async def test_a_recognised_abstention_makes_no_claims(question: str, answer: str) -> None:
    with scorer([], context=CONTEXT) as (judge, server):
        result = await judge.score(make_run(question, answer))
    assert (result.state, result.score, result.claims) == (State.NO_CLAIMS, 0, ())
    assert not server.calls


async def test_a_name_that_stands_nowhere_is_a_hint_and_counts_for_nothing() -> None:
    claim = "Acme's lawyer is called Zwingli."
    result = await verdicts(claim, {claim: ("supported", "Its director is Anne Roy.")})
    (verdict,) = result.verdicts
    assert verdict.hints == ("unknown name: zwingli",)
    assert result.score == 0


async def test_the_score_in_a_word_and_the_context_by_what_rests_on_it() -> None:
    known: Table = {
        "Anne Roy is the director.": ("supported", "Its director is Anne Roy."),
        "Bob Lee runs Acme.": ("contradicted", "Its director is Anne Roy."),
    }
    result = await verdicts("Anne Roy is the director. Bob Lee runs Acme.", known)
    assert result.band == "high"
    assert result.relations == {
        "Its director is Anne Roy.": {
            S: ("Anne Roy is the director.",),
            C: ("Bob Lee runs Acme.",),
        }
    }
