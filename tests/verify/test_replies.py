"""Whatever a model replies, every claim has one opinion and every entry one fate."""

import json
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ancrage.verify import ContextItem, State, Verdict, make_run
from ancrage.verify.reply import ReplyStatus, read_verdicts
from tests.servers.openai_server import Call, Drop, Empty, Fail, Hang, Refuse, Reply, Say
from tests.verify.scripted import claims, entry, reply, scorer, seal

CONTEXT = ["Acme est à Lyon. Anne Roy dirige Acme. Le bureau ouvre tôt. Il ferme tard."]
OUTPUT = "Acme est basée à Lyon. Anne Roy en est la directrice. Le bureau ouvre très tôt."
ITEMS = (ContextItem(text=CONTEXT[0]),)
GOOD = "Acme est à Lyon."
N = Verdict.UNSCORED


async def _score(script: Any) -> Any:
    with scorer(script, context=CONTEXT) as (judge, server):
        return await judge.score(make_run("Où est Acme ?", OUTPUT)), server


def _entries(call: Call) -> list[dict[str, Any]]:
    return [entry(label, "supported", GOOD) for label in claims(call)]


def _wrap(before: str, after: str) -> Any:
    def script(call: Call) -> Reply:
        said = reply(call, _entries(call))
        return Say(before + said.text + after)

    return script


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("```json\n", "\n```"),
        ("", "\nVoilà, j'espère que cela aide }"),
        ("Le schéma { est clair : ", ""),
        ('{"seal": "none", "verdicts": []}\nMieux : ', ""),
        ("\ufeff", ""),
    ],
)
async def test_replies_are_found_in_what_surrounds_them(before: str, after: str) -> None:
    result, _ = await _score(_wrap(before, after))
    assert (result.state, result.score) == (State.SCORED, 0)


@pytest.mark.parametrize(
    ("change", "verdicts", "note"),
    [
        (lambda e: e[:2], ["supported", "supported", "unscored"], None),
        (lambda e: e[:1], ["supported", "unscored", "unscored"], None),
        (lambda e: [], ["unscored"] * 3, None),
        (lambda e: [*e, entry("C4", "supported", GOOD)], ["supported"] * 3, "1 of 4 entries"),
        (lambda e: [*e, e[0]], ["supported"] * 3, "1 of 4 entries of the reply duplicate"),
        (
            lambda e: [*e, entry("C1", "contradicted", GOOD)],
            ["unscored", "supported", "supported"],
            "2 of 4 entries of the reply conflicting",
        ),
        (
            lambda e: [None, *e, "oui", 3],
            ["supported"] * 3,
            "3 of 6 entries of the reply unreadable",
        ),
        (
            lambda e: [{**e[0], "verdict": None}, *e[1:]],
            ["unscored", "supported", "supported"],
            None,
        ),
        (
            lambda e: [{**e[0], "verdict": "No."}, *e[1:]],
            ["unscored", "supported", "supported"],
            None,
        ),
        (
            lambda e: [{**e[0], "verdict": -0.2}, *e[1:]],
            ["unscored", "supported", "supported"],
            None,
        ),
        (lambda e: [{**x, "verdict": "Supported."} for x in e], ["supported"] * 3, None),
        (lambda e: [{**x, "passage": None} for x in e], ["unscored"] * 3, None),
        (lambda e: [{**x, "passage": "Acme est à Rome."} for x in e], ["unscored"] * 3, None),
        (lambda e: [{**x, "passage": "… !"} for x in e], ["unscored"] * 3, None),
        (lambda e: [{**x, "passage": "est à"} for x in e], ["unscored"] * 3, None),
        (
            lambda e: [{**x, "claim": f"C{i}"} for i, x in enumerate(e)],
            ["unscored"] * 3,
            "3 of 3 entries of the reply foreign",
        ),
        (lambda e: [{**x, "claim": i} for i, x in enumerate(e, 1)], ["supported"] * 3, None),
        (lambda e: [{**x, "claim": True} for x in e], ["unscored"] * 3, "3 of 3 entries"),
        (lambda e: list(reversed(e)), ["supported"] * 3, None),
    ],
)
async def test_fewer_more_doubled_and_odd_entries(
    change: Any, verdicts: list[str], note: str | None
) -> None:
    result, server = await _score(lambda call: reply(call, change(_entries(call))))
    assert [each.verdict for each in result.verdicts] == verdicts
    assert len(server.calls) == 1
    unscored = verdicts.count("unscored")
    assert result.score == (None if unscored else 0)
    assert [result.best, result.worst] == pytest.approx([0, unscored / 3])
    assert any(note in each for each in result.notes) if note else not result.notes
    assert result.reason.count("unscored") == 0 or result.state is State.UNSCORED


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (Refuse("I cannot judge this."), "refused"),
        (Empty(finish="length"), "truncated"),
        (Empty(), "empty"),
        (Fail(500), "server"),
        (Fail(400, "no such model"), "rejected"),
        (Drop(), "connection"),
        (Hang(2.5), "timeout"),
        (Say('{"seal": "x", "verdicts": ['), "unparsable"),
        (Say("supported"), "unparsable"),
        (Say("1.0"), "unparsable"),
    ],
)
async def test_no_usable_reply_is_never_a_score(answer: Reply, why: str) -> None:
    result, _ = await _score(lambda call: answer)
    assert (result.state, result.score, result.best, result.worst) == (State.UNSCORED, None, 0, 1)
    assert all(each.verdict is N and why in each.reason for each in result.verdicts)
    assert why in result.reason


async def test_a_reply_without_the_seal_is_no_reply() -> None:
    def forged(call: Call) -> Reply:
        return Say(json.dumps({"seal": "0" * 16, "verdicts": _entries(call)}))

    result, server = await _score(forged)
    assert result.state is State.UNSCORED
    assert len(server.calls) == 2
    mended, _ = await _score(
        lambda call: reply(call, _entries(call)) if len(call.messages) > 2 else forged(call)
    )
    assert mended.score == 0


WORDS: list[Any] = [
    *["supported", "contradicted", "unsupported"] * 3,
    *["Supported", "SUPPORTED.", "no", "yes", "", None, 0, 1.5, True, [], {}, "unscored", "x" * 99],
]
LABELS: list[Any] = [
    *[f"C{n}" for n in range(1, 6)] * 3,
    *["c2", "[C3]", "C0", "C99", "D1", "", None, 2, 0, -1, True, 1.5, [], "C1 C2", "C" + "9" * 50],
]
PASSAGES: list[Any] = [
    *[GOOD, "Anne Roy dirige Acme.", "Le bureau ouvre tôt", "Il ferme tard."] * 2,
    *["Acme est à Rome.", "", " ", None, 3, "…", "ouvre", "a1b2| Acme est à Lyon.", "\ud800"],
]


def _payload(rng: random.Random) -> list[Any]:
    entries: list[Any] = []
    for _ in range(rng.choice([0, 1, 3, 5, 5, 5, 8])):
        one: Any = entry(
            rng.choice(LABELS), rng.choice(WORDS), rng.choice(PASSAGES), rng.choice(["r", None, 7])
        )
        if rng.random() < 0.1:
            one.pop(rng.choice(list(one)))
        if rng.random() < 0.05:
            one = rng.choice([None, "supported", 1, [], [one], {}])
        entries.append(one)
    return entries


def _check(entries: list[Any], count: int) -> None:
    opinions, fates = read_verdicts(entries, count, ITEMS, "a1b2|", "llm")
    assert fates.total() == len(entries)
    assert len(opinions) == count
    decided = [each for each in opinions if each.verdict is not N]
    assert len(decided) <= fates[ReplyStatus.USED]
    for each in opinions:
        assert each.reason
        if each.verdict in (Verdict.SUPPORTED, Verdict.CONTRADICTED):
            assert each.evidence is not None
            passage = each.evidence.passage
            assert ITEMS[0].text[passage.start : passage.end] == passage.text
    for label in range(1, count + 1):
        verdict = opinions[label - 1].verdict
        if verdict is N:
            continue
        mine = [
            e
            for e in entries
            if isinstance(e, dict)
            and str(e.get("claim")).strip("[]").upper() in (f"C{label}", f"{label}")
        ]
        assert mine, "a verdict out of nothing"
        assert {str(e.get("verdict")).lower().rstrip(".") for e in mine} == {verdict}


def test_ten_thousand_payloads_leave_nothing_silent() -> None:
    rng = random.Random(20)
    for _ in range(10_000):
        _check(_payload(rng), 5)


@given(
    st.lists(
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
            lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
            max_leaves=5,
        )
    )
)
def test_any_json_is_accounted_for(entries: list[Any]) -> None:
    _check(entries, 3)


async def test_payloads_come_to_scores_whose_counts_add_up() -> None:
    rng = random.Random(6)

    def script(call: Call) -> Reply:
        text = json.dumps({"seal": seal(call), "verdicts": _payload(rng)})
        return Say(rng.choice(["", "```json\n", "Voici : "]) + text)

    output = "Acme est là. Anne Roy dirige tout. Le bureau ouvre tôt. Il ferme. Bob est parti."
    with scorer(script, context=CONTEXT) as (judge, _):
        for turn in range(150):
            result = await judge.score(make_run("?", output, id=str(turn)))
            counts = dict(result.counts)
            total = counts.pop("claims")
            assert total == 5 == sum(counts.values())
            wrong = counts["contradicted"] + counts["unsupported"]
            assert result.best == pytest.approx(wrong / 5)
            assert result.worst == pytest.approx((wrong + counts["unscored"]) / 5)
            assert (result.score is None) == (counts["unscored"] > 0)
            assert type(result).model_validate_json(result.model_dump_json()) == result
