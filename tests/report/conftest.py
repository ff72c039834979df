"""A run whose findings are written by hand, made with the real snapshot and run record."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import pytest

from ancrage.domain import (
    Answer,
    Case,
    CaseInput,
    Evaluation,
    FailureMode,
    Finding,
    Message,
    OutputState,
    Passage,
    Provenance,
    Question,
    Score,
    Study,
    ToolCall,
    Turn,
)
from ancrage.evaluator import Subject
from ancrage.runs import RunFolder, create_run, recorded, run_experiment
from ancrage.snapshot import open_snapshot, write_snapshot
from ancrage.studies import Studies

MODES = (
    FailureMode(
        name="non_verbatim_quote",
        title="Non-verbatim quote",
        definition="A quoted passage does not stand word for word in the message that it cites.",
    ),
    FailureMode(
        name="unknown_ref",
        title="Unknown question reference",
        definition="The answer refers to a question that is not in the questionnaire.",
    ),
    FailureMode(
        name="wrong_respondent_id",
        title="Wrong respondent",
        definition="The answer gives a message to a respondent who did not write it.",
    ),
)

STUDY = Study(
    id="transports",
    title="Se déplacer en ville",
    language="fr",
    questions=(
        Question(ref="Q1", text="Comment venez-vous au travail ?"),
        Question(ref="Q2", text="Qu'est-ce qui vous ferait changer ?"),
    ),
    messages=(
        Message(
            id="M-0001",
            respondent_id="R-001",
            text="Je prends le bus tous les matins, même le vendredi.",
            question_ref="Q1",
            language="fr",
        ),
        Message(
            id="M-0002",
            respondent_id="R-001",
            text="Le bus de 7 h 40 est toujours plein 😤, je ne peux pas m’asseoir.",
            question_ref="Q2",
            language="fr",
        ),
        Message(
            id="M-0003",
            respondent_id="R-002",
            text="I would cycle if there were 12 more racks <b>near</b> the office.",
            question_ref="Q2",
            language="en",
        ),
        Message(
            id="M-0004",
            respondent_id="R-001",
            text="Rien d'autre, merci !",
            question_ref="Q2",
            language="fr",
        ),
    ),
)


def case(
    id: str,
    text: str | None,
    *,
    question: str = "Que disent les répondants ?",
    state: OutputState = OutputState.OK,
    study: str | None = "transports",
    history: tuple[Turn, ...] = (),
    tool_calls: tuple[ToolCall, ...] = (),
) -> Case:
    """A case with production's answer ``text``."""
    return Case(
        id=id,
        study_id=study,
        input=CaseInput(question=question, history=history, tool_calls=tool_calls),
        output=Answer(text=text) if text is not None else None,
        state=state,
        provenance=Provenance(
            source="test",
            time=datetime(2026, 11, 3, 9, 30, tzinfo=UTC),
            model="model-x",
            parameters={"reasoning_effort": "low"},
            trace_id=f"trace-{id}",
        ),
    )


def finding(
    text: str,
    passage: str,
    mode: str = "non_verbatim_quote",
    explanation: str = "The words differ from the message cited.",
    *,
    source: str | None = None,
    source_passage: str | None = None,
    tier: str | None = None,
    diagnosis: str | None = None,
    cited: str | None = None,
) -> Finding:
    """A finding on the first place where ``passage`` stands in ``text``."""
    start = text.index(passage)
    located = None
    if source and source_passage:
        words = next(each.text for each in STUDY.messages if each.id == source)
        at = words.index(source_passage)
        located = Passage.of(words, at, at + len(source_passage))
    details = {"diagnosis": diagnosis, "cited": cited}
    return Finding(
        mode=mode,
        evidence=Passage.of(text, start, start + len(passage)),
        explanation=explanation,
        source_id=source,
        source_passage=located,
        tier=tier,
        details={name: value for name, value in details.items() if value is not None},
    )


class Scripted:
    """An evaluator that says what it was told to; a mode can be left unscored with a reason."""

    name = "scripted"
    version = "1"
    modes = MODES

    def __init__(
        self,
        findings: Mapping[str, Sequence[Finding]],
        unscored: Mapping[tuple[str, str], str],
    ) -> None:
        self._findings, self._unscored = findings, unscored

    async def evaluate(self, subject: Subject) -> Evaluation:
        found = tuple(self._findings.get(subject.case.id, ()))
        scores = []
        for mode in MODES:
            reason = self._unscored.get((subject.case.id, mode.name))
            count = sum(each.mode == mode.name for each in found)
            scores.append(
                Score.unscored(mode.name, reason)
                if reason
                else Score(name=mode.name, value=float(count))
            )
        return Evaluation(evaluator="scripted", version="1", scores=tuple(scores), findings=found)


def make_run(
    root: Path,
    cases: Iterable[Case],
    findings: Mapping[str, Sequence[Finding]] | None = None,
    unscored: Mapping[tuple[str, str], str] | None = None,
    name: str = "essai",
    limit: int | None = None,
) -> RunFolder:
    """A run over ``cases`` in ``root/runs``; ``limit`` leaves the cases after it unreached."""
    path = root / "snapshots" / name
    write_snapshot(path, cases, {STUDY.id: STUDY}.get, source="test")
    snapshot = open_snapshot(path)
    folder = create_run(snapshot, kind="audit", name=name, root=root / "runs")
    experiment = run_experiment(
        folder,
        list(snapshot.cases())[:limit],
        recorded,
        [Scripted(findings or {}, unscored or {})],
        Studies(snapshot),
    )
    # In a thread of its own: a browser, when one is open, has a loop running in this one.
    with ThreadPoolExecutor(1) as pool:
        pool.submit(asyncio.run, experiment).result()
    return folder


ANGRY = (
    "## Le bus\n\nLe bus est critiqué [Q2] : « Le bus de 7 h 45 est toujours plein 😤 » "
    "[R-001, M-0002]. Un répondant anglais confirme : « Je ferais du vélo » [R-009, M-0003], "
    "voir aussi [Q9].\n\nD'autres s'y tiennent : "
    "« Je prends le bus tous les matins » [R-001, M-0001]."
)
CLEAN = "Les répondants prennent le bus : « tous les matins, même le vendredi » [R-001, M-0001]."
HOSTILE = (
    "<script>window.broken = 1</script></script><!-- ]]> <img src=x onerror='window.broken = 1'> "
    "[bold red]rich[/bold red] [link=file:///etc/passwd]x[/link] {{ 7 * 7 }} &amp; &lt;b&gt; "
    "\x1b[31mred\x1b[0m \x1b]0;title\x07 nul\x00 \u202egnirts\u202c \u2066iso\u2069 "
    "\u2028line\u2029para \x9b31m \x7f « Ce n’est pas vrai » [R-001, M-0001] 👩‍👩‍👧‍👦 e\u0301 𝔘𝔫𝔦"
)


def lifelike(root: Path) -> RunFolder:
    """A run with something of everything that a report shows."""
    angry = [
        finding(
            ANGRY,
            "Le bus de 7 h 45 est toujours plein 😤",
            explanation="Altered: “7 h 45” where the message has “7 h 40”.",
            source="M-0002",
            source_passage="Le bus de 7 h 40 est toujours plein 😤",
            tier="T4",
            diagnosis="altered",
            cited="M-0002",
        ),
        finding(
            ANGRY,
            "Je ferais du vélo",
            explanation="Translated from English.",
            source="M-0003",
            source_passage="I would cycle",
            tier="T5",
            diagnosis="translated",
            cited="M-0003",
        ),
        finding(
            ANGRY,
            "R-009",
            "wrong_respondent_id",
            "Message M-0003 was written by R-002, not by R-009.",
            source="M-0003",
        ),
        finding(ANGRY, "Q9", "unknown_ref", "The study has no question Q9."),
    ]
    hostile = [
        finding(HOSTILE, "<script>window.broken = 1</script>", explanation="<b>[bold]no[/bold]"),
        finding(
            HOSTILE, "broken = 1</script></script><!-- ]]>", "unknown_ref", "</script>]]>\x1b[2J"
        ),
        finding(HOSTILE, "Ce n’est pas vrai", source="M-0001", tier="T7", diagnosis="absent"),
    ]
    return make_run(
        root,
        [
            case(
                "bus-001",
                ANGRY,
                question="Que disent les répondants du bus ?",
                history=(Turn(role="user", content="Bonjour <i>toi</i>"),),
                tool_calls=(ToolCall(name="search", arguments={"q": "bus"}, output={"n": 2}),),
            ),
            case("bus-002", CLEAN, question="Quand prennent-ils le bus ?"),
            case("hostile-001", HOSTILE, question="<img src=x onerror=alert(1)> [red]?"),
            case("lost-001", None, state=OutputState.MISSING, question="Et le train ?"),
            case("cut-001", "Les répon", state=OutputState.TRUNCATED, question="Et le vélo ?"),
            case("half-001", CLEAN, question="À moitié noté ?", study=None),
        ],
        {"bus-001": angry, "hostile-001": hostile},
        {("half-001", "non_verbatim_quote"): "the case names no study"},
    )


@pytest.fixture
def run(tmp_path: Path) -> RunFolder:
    """A run with something of everything."""
    return lifelike(tmp_path)
