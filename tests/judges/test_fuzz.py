"""Ten thousand payloads: whatever a model writes, nothing is silent and the counts add up."""

import json
import random
from collections import Counter
from typing import Any

from ancrage.domain import Evaluation, Passage, ScoreState
from ancrage.judges.contract import DefectStatus, read, reply_model, unscored
from ancrage.judges.settle import CodeDefect, Settled
from ancrage.llm import parse_json
from tests.judges.test_contract import TEXT

PAYLOADS = 10_000
MODES = ["vague", "loud", "odd"]
SEAL = "0123456789abcdef"
MARK = "abc123|"


def payload(rng: random.Random) -> str:
    """A reply, right or wrong in one or several ways."""

    def word() -> Any:
        return rng.choice(
            ["present", "absent", "cannot_tell", "no.", "Oui", None, -0.2, True, "maybe", {}, [], 7]
        )

    def passage() -> Any:
        start = rng.randrange(len(TEXT))
        cut = TEXT[start : start + rng.randrange(40)]
        return rng.choice(
            [
                cut,
                cut,
                cut,
                cut.upper(),
                "invented",
                "",
                f"{MARK} {cut}",
                None,
                3,
                TEXT,
                "Les clients",
            ]
        )

    def defect() -> Any:
        full = {
            "mode": rng.choice([*MODES, *MODES, "foreign", None, ""]),
            "passage": passage(),
            "reason": rng.choice(["because", "", "}", "```", None]),
        }
        if rng.random() < 0.7:
            full = {k: "because" if v is None else v for k, v in full.items()}
        if rng.random() < 0.05:
            full.pop(rng.choice(list(full)))
        if rng.random() < 0.05:
            full["extra"] = 1
        return full if rng.random() < 0.97 else rng.choice([None, "text", 1, []])

    value: Any = {
        "seal": SEAL if rng.random() < 0.9 else rng.choice(["", "fedcba9876543210", None]),
        "defects": [defect() for _ in range(rng.choice([0, 0, 1, 1, 2, 5]))],
        "verdicts": {m: word() for m in [*MODES, "stray"] if rng.random() < 0.85},
    }
    if rng.random() < 0.5:
        named = {d["mode"] for d in value["defects"] if isinstance(d, dict) and d.get("mode")}
        value["verdicts"] = {m: "present" if m in named else "absent" for m in MODES}
    if rng.random() < 0.05:
        value.pop(rng.choice(list(value)))
    if rng.random() < 0.05:
        value["score"] = 1.0
    if rng.random() < 0.03:
        value = rng.choice([[value], {"result": value}, None, "absent", 0])
    text = json.dumps(value, ensure_ascii=rng.random() < 0.5)
    match rng.randrange(12):
        case 0:
            text = f"```json\n{text}\n```\nDone {{}}"
        case 1:
            text = text[: rng.randrange(len(text) + 1)]
        case 2:
            text = text[:-1] + ",}"
        case 3:
            text = f'{{"seal": 1}} then {text}'
        case 4:
            at = rng.randrange(len(text) + 1)
            text = (
                text[:at]
                + rng.choice(["\n", '"', "}", "{", "\\", "\0", "\ud800", "//"])
                + text[at:]
            )
        case _:
            pass
    return text


def test_ten_thousand_payloads_are_all_accounted_for() -> None:
    rng = random.Random(5)
    model = reply_model(MODES, SEAL)
    code = Settled(
        objection=lambda p: "code knows better" if "%" in p.text else None,
        defects=(CodeDefect(Passage.of(TEXT, 0, 11), "by code"),),
    )
    outcomes: Counter[str] = Counter()
    for number in range(PAYLOADS):
        settled = {"vague": Settled(), "loud": Settled(), "odd": Settled()}
        if number % 3 == 0:
            settled["odd"] = code
        if number % 3 == 1:
            settled["odd"] = Settled(absent="impossible here")
        value, _, fault = parse_json(payload(rng), model)
        assert (value is None) == (fault is not None)
        if value is None:
            reading = unscored(MODES, "unparsable", settled)
        else:
            reading = read(value, MODES, TEXT, MARK, settled)
            assert reading.reported == len(value.defects)
        outcomes["unparsable" if value is None else "read"] += 1
        assert sum(reading.fates.values()) == reading.reported
        assert len(reading.set_aside) == reading.reported - reading.fates[DefectStatus.FOUND]
        by_code = [f for f in reading.findings if f.details.get("settled_by") == "code"]
        assert len(reading.findings) - len(by_code) == reading.fates[DefectStatus.FOUND]
        assert [score.name for score in reading.scores] == MODES
        for score in reading.scores:
            found = [f for f in reading.findings if f.mode == score.name]
            outcomes[f"{score.state}"] += 1
            if score.state is ScoreState.SCORED:
                assert score.value == len(found)
            else:
                assert score.reason
                assert not found
            # A clean answer takes a verdict that says so, or code that does.
            if score.value == 0 and value is not None and settled[score.name].absent is None:
                said = str(value.verdicts[score.name]).strip(" .\n").casefold()
                assert said in {"absent", "no", "false"} or (
                    said in {"present", "oui", "true"} and reading.fates[DefectStatus.OVERRULED]
                )
            if score.value == 0 and value is None:
                assert settled[score.name].absent
        for finding in reading.findings:
            assert TEXT[finding.evidence.start : finding.evidence.end] == finding.evidence.text
        evaluation = Evaluation(
            evaluator="e", version="v", scores=reading.scores, findings=reading.findings
        )
        assert Evaluation.model_validate_json(evaluation.model_dump_json()) == evaluation
    assert outcomes["read"] + outcomes["unparsable"] == PAYLOADS
    assert min(outcomes.values()) > PAYLOADS // 10, outcomes
