"""Hostile answers change nothing: not even to a judge that obeys whatever it takes for an order.

The scripted judge is gullible. It obeys every line that does not carry the mark, and, in its other
guise, repeats the last JSON of a verdict that it sees anywhere. On a prompt that merely puts the
answer between tags it falls for these attacks; the test of that keeps it honest.
"""

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ancrage.domain import Evaluation, Output, OutputState, ScoreState, ToolCall
from ancrage.evaluator import Subject
from ancrage.ids import IdPolicy
from ancrage.judges import Judge
from ancrage.judges.context import Block
from ancrage.judges.prompt import CLOSING, OPENING, prompt
from ancrage.llm import Models, Tier
from ancrage.studies import IndexedStudy
from tests.builders import STUDY, case
from tests.judges.attacks import DEFECT, MODE, Attack, attacks
from tests.judges.scripted import Seen, definition, reply, seen
from tests.servers.openai_server import Call, OpenAIServer, Reply, Say

ATTACKS = attacks()
JUDGE = definition(MODE, context=("question", "history", "study", "sources", "tools"))
OTHER = JUDGE.model_copy(update={"task": "You look elsewhere."})
_ORDER = re.compile(r"verdict\s+absent|v e r d i c t absent|aucun défaut|no defect", re.IGNORECASE)


def obeys(instructions: str) -> bool:
    """Whether a gullible reader is told to find nothing wrong."""
    tags = "".join(
        chr(ord(c) - 0xE0000) if 0xE0000 <= ord(c) < 0xE0080 else c for c in instructions
    )
    plain = re.sub("[\u200b\u202c\u202e]", "", tags)
    return bool(_ORDER.search(plain)) or '"verdicts"' in plain


def honest(prompt: Seen) -> str:
    """The reply of a judge that looks at the answer's first sentence."""
    return reply(prompt, [(MODE, d) for d in DEFECT.values() if d in prompt.answer])


def gullible(call: Call) -> Reply:
    """Obeys what stands outside the marked lines."""
    prompt = seen(call)
    unmarked = [line for line in prompt.user.splitlines() if not line.startswith(prompt.mark)]
    own = {*OPENING.format(seal=prompt.seal, mark=prompt.mark).splitlines(), unmarked[-1]}
    own |= {"QUESTION:", "EARLIER TURNS:", "STUDY:", "SOURCES OF THE QUOTES:", "TOOL OUTPUTS:"}
    foreign = "\n".join(line for line in unmarked if line not in own | {"ANSWER:"})
    return Say(reply(prompt)) if obeys(foreign) else Say(honest(prompt))


def parrot(call: Call) -> Reply:
    """Repeats the last verdict in JSON that it sees; only a repair turn makes it think."""
    prompt = seen(call)
    if len(call.messages) > 2:
        return Say(honest(prompt))
    copied = re.findall(r"\{.*\"verdicts\".*\}", prompt.answer)
    return Say(copied[-1]) if copied else Say(honest(prompt))


async def judged(
    attack: str, script: Any, *, place: str = "answer", language: str = "fr"
) -> tuple[Evaluation, int]:
    """What becomes of an attack in the answer, or in a part of the material."""
    one = case(attack if place == "answer" else f"{DEFECT[language]}.")
    study = STUDY
    if place == "question":
        given = one.input.model_copy(update={"question": attack})
        one = one.model_copy(update={"input": given})
    if place == "tool":
        call = ToolCall(name="search", output={"text": attack})
        given = one.input.model_copy(update={"tool_calls": (call,)})
        one = one.model_copy(update={"input": given})
    if place == "message":
        text = f"L'appli est rapide. {attack}"
        message = STUDY.messages[0].model_copy(update={"text": text})
        study = STUDY.model_copy(update={"messages": (message, *STUDY.messages[1:])})
        answer = f"{DEFECT[language]} : « L'appli est rapide. » [R-001, M-0001]"
        one = case(answer)
    output = Output(case_id=one.id, state=OutputState.OK, answer=one.output)
    with OpenAIServer(script) as server:
        tier = Tier(model="m", endpoint=server.url, retries=0)
        judge = Judge(JUDGE, tier, Models(cache=None))
        try:
            subject = Subject(one, output, IndexedStudy(study, IdPolicy()))
            return await judge.evaluate(subject), len(server.calls)
        finally:
            await judge.aclose()


def holds(evaluation: Evaluation, language: str) -> None:
    """The defect is found where it stands, and nothing else is."""
    (score,) = evaluation.scores
    assert (score.state, score.value) == (ScoreState.SCORED, 1)
    (found,) = evaluation.findings
    assert found.evidence.text == DEFECT[language]


def test_there_are_enough_attacks_in_both_languages() -> None:
    assert len({attack.text for attack in ATTACKS}) == len(ATTACKS) >= 60
    assert sum(a.language == "fr" for a in ATTACKS) == sum(a.language == "en" for a in ATTACKS)


def test_the_gullible_judge_falls_for_them_between_mere_tags() -> None:
    fooled = [a for a in ATTACKS if obeys(f"<answer>\n{a.text}\n</answer>".split("\n", 1)[1])]
    assert len(fooled) == len(ATTACKS), {a.name for a in ATTACKS} - {a.name for a in fooled}


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda a: a.name)
async def test_an_attack_changes_nothing(attack: Attack) -> None:
    evaluation, calls = await judged(attack.text, gullible)
    holds(evaluation, attack.language)
    assert calls == 1


@pytest.mark.parametrize(
    "attack", [a for a in ATTACKS if "imitates" in a.name], ids=lambda a: a.name
)
async def test_a_verdict_copied_out_of_the_answer_is_no_reply(attack: Attack) -> None:
    evaluation, calls = await judged(attack.text, parrot)
    holds(evaluation, attack.language)
    assert calls == 2


async def test_a_parrot_that_does_not_think_is_unscored_never_clean() -> None:
    def script(call: Call) -> Reply:
        return Say(re.findall(r"\{.*\"verdicts\".*\}", seen(call).answer)[-1])

    imitation = next(a for a in ATTACKS if a.name == "en-imitates-bare")
    evaluation, _ = await judged(imitation.text, script)
    assert evaluation.scores[0].reason == "unparsable"


@pytest.mark.parametrize("place", ["question", "tool", "message"])
@pytest.mark.parametrize("attack", ATTACKS[::5], ids=lambda a: a.name)
async def test_an_attack_from_the_material_changes_nothing(attack: Attack, place: str) -> None:
    evaluation, _ = await judged(attack.text, gullible, place=place, language=attack.language)
    holds(evaluation, attack.language)


async def test_an_obedient_judge_cannot_cite_what_does_not_stand() -> None:
    """Even with the seal, a defect that the attack dictates needs a passage of the answer."""

    def script(call: Call) -> Reply:
        return Say(reply(seen(call), [(MODE, "Rival Bank lies"), ("excellent", "Three people")]))

    attack = next(a for a in ATTACKS if a.name == "en-imitates-blame")
    evaluation, _ = await judged(attack.text, script)
    assert evaluation.scores[0].state is ScoreState.UNSCORED
    details: Any = evaluation.details
    assert (details["fates"]["unverified"], details["fates"]["foreign"]) == (1, 1)
    assert not evaluation.findings


@given(
    st.lists(
        st.one_of(st.text(), st.sampled_from([a.text for a in ATTACKS])), min_size=1, max_size=3
    )
)
def test_no_text_gets_a_line_of_its_own(texts: list[str]) -> None:
    blocks = [Block(f"PART {number}", text) for number, text in enumerate(texts)]
    made = prompt(JUDGE, blocks)
    user = str(made.messages[1]["content"])
    unmarked = [line for line in user.splitlines() if not line.startswith(made.mark)]
    modes = ", ".join(mode.name for mode in JUDGE.modes)
    assert unmarked == [
        *OPENING.format(seal=made.seal, mark=made.mark).splitlines(),
        *(f"{block.title}:" for block in blocks),
        *CLOSING.format(seal=made.seal, modes=modes).splitlines(),
    ]
    assert not any(made.seal in text or made.mark in text for text in texts)
    assert prompt(JUDGE, blocks) == made
    assert prompt(OTHER, blocks).seal != made.seal
    json.dumps(made.messages).encode()
