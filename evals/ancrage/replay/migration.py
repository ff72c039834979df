"""From one model to another: what holds, what breaks, what it costs, in figures and in words."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from ancrage.compare.model import ChangeVerdict, Comparison, ModeComparison
from ancrage.compare.paired import compare
from ancrage.compare.pairing import outcomes
from ancrage.compare.results import Group, Mode, Results
from ancrage.domain import Anchors, Frozen, OutputState
from ancrage.errors import UsageError
from ancrage.llm import add_usage
from ancrage.replay.plan import Plan
from ancrage.runs import RunFolder, RunView
from ancrage.stats import fates, mcnemar

ANY = "any_defect"
_ANY = Mode(
    name=ANY,
    title="Any defect",
    definition="At least one failure mode; unscored when none fails and one could not be scored.",
    evaluator="all",
    version="",
)
VITAL = ("characters", "tool calls", "citations", "quotes")
"""What an answer is made of."""
LEVEL = 0.01
"""The p-value below which a fall to less than half is no chance."""
FATES = ("always_pass", "always_fail", "flip", "missing")


class Measures(Frozen):
    """What one model's answers are like and what they took, over all its repeats."""

    model: str
    cases: int
    repeats: int
    states: dict[str, int]
    """Of ``cases × repeats`` outputs, by state; they add up."""
    characters: float | None
    """Median length of an ``ok`` answer; None when there is none, as below."""
    tool_calls: float | None
    """Mean number of tool calls behind an ``ok`` answer."""
    citations: float | None
    """Mean number of citations in it."""
    quotes: float | None
    """Mean number of quotes in it."""
    cited_quotes: int
    """Quotes that cite a message: the denominator of the fidelity."""
    faithful_quotes: int
    """Those that stand word for word in a message they cite."""
    latency: float | None
    """Median seconds that the model took for a case."""
    slow: float | None
    """The 95th percentile of the same."""
    input_tokens: int | None
    """In all; None as soon as one call's are unknown."""
    output_tokens: int | None
    cost: float | None
    currency: str

    @property
    def fidelity(self) -> float | None:
        """Share of the cited quotes that are faithful."""
        return self.faithful_quotes / self.cited_quotes if self.cited_quotes else None


class Migration(Frozen):
    """Everything there is to say of replacing the first model by the second."""

    first: Measures
    second: Measures
    overall: ModeComparison
    """Over all modes together: a case passes when every mode does."""
    modes: tuple[ModeComparison, ...]
    moves: dict[str, dict[str, int]]
    """Cases by fate under the first model, then under the second; they add up to ``cases``."""
    cases: int
    collapsed: tuple[str, ...]
    """What the second model gives less than half of, see ``collapses``."""
    notes: tuple[str, ...]
    """What else differs between the sides."""

    def fates(self, second: bool) -> dict[str, int]:
        """Cases by fate under one model; they add up to ``cases``."""
        if second:
            return {b: sum(row[b] for row in self.moves.values()) for b in FATES}
        return {a: sum(row.values()) for a, row in self.moves.items()}


def migration(first: Group, second: Group) -> Migration:
    """Compare the repeats of one model with those of another, over the very same cases.

    Raises:
        UsageError: the sides did not replay the same snapshot with the same tools.
    """
    _same_cases(first, second)
    modes: Comparison = compare(first, second)
    together = compare(_together(first), _together(second))
    cases = first[0].cases
    before, after = (
        fates(outcomes(_together(side), ANY, cases)) if cases else [] for side in (first, second)
    )
    moves = Counter(zip(before, after, strict=True))
    old, new = measure(first), measure(second)
    return Migration(
        first=old[0],
        second=new[0],
        collapsed=tuple(collapses(old[1], new[1])),
        overall=together.modes[0],
        modes=modes.modes,
        moves={a: {b: moves[a, b] for b in FATES} for a in FATES},
        cases=len(cases),
        notes=(*_prompts_note(first, second), *(note.text for note in modes.notes)),
    )


def _same_cases(first: Group, second: Group) -> None:
    hashes = {each.origin.snapshot for each in (*first, *second)}
    if len(hashes) > 1:
        raise UsageError("the two sides replayed different snapshots: the cases are not the same")
    if any(each.cases != first[0].cases for each in (*first, *second)):
        raise UsageError("the two sides do not have the same cases")


def _plan(side: Results) -> Plan | None:
    details = side.folder.run.details if side.folder else {}
    return Plan.model_validate(details["replay"]) if "replay" in details else None


def _prompts_note(first: Group, second: Group) -> Iterator[str]:
    plans = [_plan(each) for each in (*first, *second)]
    known = [plan for plan in plans if plan]
    if len({plan.prompts_hash for plan in known}) > 1:
        yield "the system prompts differ between the runs: not the model alone has changed"
    if len({plan.tools_hash for plan in known}) > 1:
        yield "the tools' schemas differ between the runs: not the model alone has changed"


def _together(side: Group) -> list[Results]:
    """Each run with one mode only: whether any fails."""
    joined = []
    for each in side:
        values = np.stack(list(each.values.values())) if each.values else np.empty((0, 0))
        if values.size:
            fails = (values > 0).any(axis=0)
            unknown = np.isnan(values).any(axis=0)
        else:
            fails = np.zeros(len(each.cases), dtype=bool)
            unknown = ~fails
        any_defect = np.where(fails, 1.0, np.where(unknown, np.nan, 0.0))
        joined.append(replace(each, modes={ANY: _version(each)}, values={ANY: any_defect}))
    return joined


def _version(each: Results) -> Mode:
    """The joint mode is the same only where every mode of it is."""
    parts = sorted(f"{mode.name} {mode.version}" for mode in each.modes.values())
    return _ANY.model_copy(update={"version": "; ".join(parts)})


def measure(side: Group) -> tuple[Measures, "dict[str, dict[str, float]]"]:
    """Read all answers of one model, one at a time: the measures, and the mean of each of the
    ``VITAL`` ones by case."""
    states: Counter[str] = Counter()
    vital: dict[str, dict[str, list[float]]] = {name: {} for name in VITAL}
    latencies: list[float] = []
    usages = []
    cited = faithful = 0
    for folder in _folders(side):
        for item in RunView(folder).items():
            output, anchors = item.output, item.anchors or Anchors()
            states[output.state.value] += 1
            if output.usage and output.usage.calls:
                usages.append(output.usage)
                if output.usage.latency is not None:
                    latencies.append(output.usage.latency)
            if output.state is not OutputState.OK or output.answer is None:
                continue
            found = (
                len(output.answer.text),
                len(output.tool_calls),
                anchors.citations,
                len(anchors.quotes),
            )
            for name, value in zip(VITAL, found, strict=True):
                vital[name].setdefault(output.case_id, []).append(float(value))
            held = [quote for quote in anchors.quotes if quote.tier is not None]
            cited += len(held)
            faithful += sum(quote.diagnosis is None for quote in held)
    expected = len(side[0].cases) * len(side)
    if absent := expected - states.total():
        states[OutputState.MISSING.value] += absent
    usage = add_usage(usages)
    values = {name: [v for row in rows.values() for v in row] for name, rows in vital.items()}
    means = {name: float(np.mean(row)) if row else None for name, row in values.items()}
    measures = Measures(
        model=str(side[0].origin.parameters.get("model", side[0].origin.name)),
        cases=len(side[0].cases),
        repeats=len(side),
        states=dict(states.most_common()),
        characters=float(np.median(values["characters"])) if values["characters"] else None,
        tool_calls=means["tool calls"],
        citations=means["citations"],
        quotes=means["quotes"],
        cited_quotes=cited,
        faithful_quotes=faithful,
        latency=float(np.median(latencies)) if latencies else None,
        slow=float(np.quantile(latencies, 0.95)) if latencies else None,
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cost=usage.cost,
        currency=str(side[0].folder.run.details.get("currency", "")) if side[0].folder else "",
    )
    by_case = {
        name: {case: float(np.mean(row)) for case, row in rows.items()}
        for name, rows in vital.items()
    }
    return measures, by_case


def collapses(
    first: "dict[str, dict[str, float]]", second: "dict[str, dict[str, float]]"
) -> Iterator[str]:
    """What the second model's answers have less than half of, beyond chance, over the cases that
    both answered: an answer that says nothing has no defect."""
    for name in VITAL:
        both = [case for case in first[name] if case in second[name]]
        before = np.array([first[name][case] for case in both])
        after = np.array([second[name][case] for case in both])
        if not len(both) or not before.sum() or after.sum() >= before.sum() / 2:
            continue
        less, more = int((after < before).sum()), int((after > before).sum())
        if mcnemar(less, more).p_value < LEVEL:  # the sign test
            yield f"{after.sum() / before.sum():.0%} of the {name}"


def _folders(side: Group) -> Iterator[RunFolder]:
    for each in side:
        if each.folder is None:
            raise UsageError(f"{each.origin.name} is a baseline, which holds no answers")
        yield each.folder


def in_words(found: Migration) -> str:
    """The verdict, with its uncertainty, in a few plain sentences."""
    a, b, overall = found.first.model, found.second.model, found.overall
    said = [_overall(a, b, overall)]
    if found.collapsed:
        said.insert(
            0,
            f"COLLAPSE: {b} gives {', '.join(found.collapsed)} that {a} gives; with so much less "
            "said, fewer defects are no improvement.",
        )
    worse = [mode.title for mode in found.modes if mode.verdict is ChangeVerdict.WORSE]
    better = [mode.title for mode in found.modes if mode.verdict is ChangeVerdict.BETTER]
    if worse:
        said.append(f"{b} is worse at: {', '.join(worse)}.")
    if better:
        said.append(f"{b} is better at: {', '.join(better)}.")
    if found.modes and not worse and not better:
        said.append("No single failure mode shows a difference beyond chance.")
    absent = found.fates(second=True)["missing"]
    if absent:
        said.append(
            f"{absent} of {found.cases} cases have no full verdict under {b}: "
            "they could change this conclusion."
        )
    return " ".join(said)


def _overall(a: str, b: str, overall: ModeComparison) -> str:
    if overall.problem:
        return f"{a} and {b} cannot be compared: {overall.problem}."
    if overall.difference is None or overall.p_value is None:
        return f"{a} and {b} cannot be compared: no case was scored under both."
    low, high = (points(bound) for bound in overall.interval)
    figures = (
        f"{points(overall.difference)} points over {overall.pairs} cases "
        f"(95 % interval {low} to {high}, p = {overall.p_value:.2g})"
    )
    match overall.verdict:
        case ChangeVerdict.WORSE:
            return f"{b} is worse than {a}: share of answers with a defect {figures}."
        case ChangeVerdict.BETTER:
            return f"{b} is better than {a}: share of answers with a defect {figures}."
        case ChangeVerdict.TOO_FEW:
            return (
                f"Too few cases differ to tell {b} from {a}: share of answers with a defect "
                f"{figures}; only {overall.units} moved."
            )
        case ChangeVerdict.UNEVEN:
            return (
                f"One study decides between {a} and {b}, so no test is safe: share of answers with "
                f"a defect {figures}."
            )
        case _:
            seen = (
                f" A true difference of {points(overall.detectable, signed=False)} points or more "
                "would probably have shown."
                if overall.detectable is not None
                else ""
            )
            return (
                f"No evidence that {b} differs from {a}, which is no proof that it does not: "
                f"share of answers with a defect {figures}.{seen}"
            )


def points(share: float, *, signed: bool = True) -> str:
    """A share as percentage points, such as ``+3.1``."""
    return f"{share * 100:+.1f}" if signed else f"{share * 100:.1f}"
