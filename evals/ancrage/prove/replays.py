"""Replay a few cases in worlds with a fault planted, and see whether the run says so.

With the user's own assistant, against an endpoint that acts out production: once as the cases were
recorded, then once for each fault. What a run says is its *signs*: the state of an answer, a loud
line of the report, a refusal before anything is sent.
"""

import asyncio
import tempfile
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from ancrage.config import Config
from ancrage.domain import Case, Frozen, OutputState
from ancrage.errors import UsageError
from ancrage.llm import LLM, Cache, Tier, read_tiers
from ancrage.llm.preflight import preflight, refuse
from ancrage.prove.production import Production
from ancrage.prove.world import FAULTS, World, WorldFault, with_prompt
from ancrage.replay.assistant import Assistant
from ancrage.replay.plan import Settings, make_plan, render
from ancrage.replay.session import KIND, Session, run_session
from ancrage.replay.summary import lines, totals
from ancrage.runs import RunFolder, create_run
from ancrage.snapshot import Snapshot, open_snapshot, write_snapshot

ENDPOINT = "http://production.invalid/v1"
"""Where requests seem to go; none leaves the process."""
_NO_SIGNS = ("Assistant", "Frozen world")
"""Loud lines that are said whatever the world, or that the states of answers say already."""
TRIED = 60
"""Cases that are looked through for those that replay as they were recorded."""


class Outcome(Frozen):
    """What was said of one fault."""

    name: str
    definition: str
    expected: str
    claimed: bool
    cases: int
    """Cases replayed; 0 where none could take the fault."""
    signs: dict[str, int] = {}
    """By sign, the cases that show it, or all of them where it is the run's: ``state: …``,
    ``report: …``, ``refused: …``, ``asked again``."""
    reason: str = ""
    """The words of the first."""

    @property
    def said(self) -> bool:
        """Whether every case, or the run, shows what it must; or nothing where nothing is due."""
        if not self.expected:
            return not self.signs
        return self.cases > 0 and self.signs.get(self.expected, 0) == self.cases


@dataclass(frozen=True)
class WorldTrial:
    """All outcomes, and what they rest on."""

    outcomes: tuple[Outcome, ...]
    clean: int
    """Cases that replay as they were recorded."""
    tried: int
    trouble: str = ""
    """What the first of the other cases said."""

    @property
    def unsaid(self) -> tuple[Outcome, ...]:
        """Faults that a run claims to see and did not say, and harmless ones that it spoke of."""
        return tuple(o for o in self.outcomes if o.cases and o.claimed and not o.said)


def prove_world(
    snapshot: Snapshot, assistant: Assistant, config: Config, names: Collection[str], per_fault: int
) -> WorldTrial:
    """One outcome for each fault in ``names`` (empty: all).

    Only cases whose replay in an unchanged world, with today's prompt, has no sign of its
    own are used.
    """
    base = read_tiers(config).get(assistant.tier)
    fields = base.model_dump(exclude={"key"}) if base else {}
    tier = Tier.model_validate(
        {"model": "asked-model", **fields, "endpoint": ENDPOINT, "retries": 0}
    )
    tried, clean, trouble = 0, list[Case](), ""

    def run(cases: Sequence[Case], fault: WorldFault | None) -> tuple[dict[str, int], str]:
        world = World(tuple(cases), Production.of(cases), tier)
        with tempfile.TemporaryDirectory() as folder:
            world = fault.change(world) if fault else world
            return _signs(world, assistant, Path(folder), snapshot)

    for case in islice((case for case in snapshot.cases() if case.output), TRIED):
        tried += 1
        try:
            today = with_prompt(case, render(case, assistant))
            signs, words = run([today], None)
        except UsageError as error:
            signs, words = {"refused: plan": 1}, str(error)
        clean += [] if signs else [today]
        trouble = trouble or (words if signs else "")
    outcomes = []
    for fault in (fault for fault in FAULTS if not names or fault.name in names):
        cases = [case for case in clean if fault.applies(case)][:per_fault]
        signs, reason = run(cases, fault) if cases else ({}, "")
        outcomes.append(
            Outcome(
                name=fault.name,
                definition=fault.definition,
                expected=fault.sign,
                claimed=fault.claimed,
                cases=len(cases),
                signs=signs,
                reason=reason,
            )
        )
    return WorldTrial(tuple(outcomes), len(clean), tried, trouble)


def _signs(
    world: World, assistant: Assistant, root: Path, source: Snapshot
) -> tuple[dict[str, int], str]:
    """The signs of a replay, each with the cases that show it, and the words of the first."""
    everyone = len(world.cases)
    path = root / "snapshot"
    write_snapshot(path, world.cases, source.study, source="prove")
    world.tamper(path)
    try:
        data = open_snapshot(path)
    except UsageError as error:
        return {"refused: snapshot": everyone}, str(error)
    session = _session(data, world.assistant(assistant), world.tier)
    runs = 1 if world.cache is None else 2
    for number in range(runs):
        try:
            folder, counts = asyncio.run(_replay(session, world, root, number))
        except UsageError as error:
            return {"refused: preflight": everyone}, str(error)
        if world.cache and number == 0:
            world.cache(root / "answers.sqlite")
    signs: dict[str, int] = {}
    words = ""
    for output in folder.outputs():
        if output.state is not OutputState.OK:
            sign = f"state: {output.state}"
            signs[sign] = signs.get(sign, 0) + 1
            words = words or str(output.reason)
    for subject, line, loud in lines(folder.run, totals(folder.outputs())):
        if loud and subject not in _NO_SIGNS:
            signs[f"report: {subject}"] = everyone
            words = words or line
    if runs == 2 and counts["calls"] and not counts["cached"]:
        signs["asked again"] = everyone
    return signs, words


def _session(data: Snapshot, assistant: Assistant, tier: Tier) -> Session:
    settings = Settings(
        tier=assistant.tier,
        model=tier.model,
        endpoint=tier.endpoint,
        api=tier.api,
        drop=tier.drop,
    )
    plan, tiers = make_plan(data.cases(), assistant, tier, settings)
    return Session(data, assistant, settings, tier, plan, tiers)


async def _replay(
    session: Session, world: World, root: Path, number: int
) -> tuple[RunFolder, dict[str, int]]:
    """A run of the session, as the command would fill it, and the calls that it took."""
    import httpx2

    folder = create_run(
        session.snapshot,
        kind=KIND,
        name=f"run-{number}",
        root=root / "runs",
        parameters=session.settings.model_dump(mode="json"),
        details={"replay": session.plan.model_dump(mode="json")},
    )
    cache = None if world.cache is None else Cache(root / "answers.sqlite")
    transport = httpx2.MockTransport(world.production)
    async with LLM({}, cache=cache, budget=world.budget, transport=transport) as llm:
        refuse(await preflight(llm, session.tiers, tools=session.assistant.tools, table=None))
        before = dict(llm.counts)
        await run_session(session, [folder], (), llm)
        counts = {name: count - before.get(name, 0) for name, count in llm.counts.items()}
    return folder, {"calls": 0, "cached": 0, **counts}
