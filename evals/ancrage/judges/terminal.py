"""Judges on the terminal: what they would take, and what they did."""

from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from ancrage.judges.account import Account
from ancrage.llm.estimate import Estimate
from ancrage.report.grid import Grid
from ancrage.report.text import line


def estimates(found: Sequence[Estimate], currency: str) -> RenderableType:
    """One row a judge or scorer and their sum."""
    if not found:
        return Text(
            "No judge and no scorer that calls a model was chosen: nothing would be called."
        )
    table = Grid(
        "Judge or scorer", "Model", "Answers", "No call", "Calls", "Input tokens", "Output tokens",
        "Cost", right=range(2, 8),
    )  # fmt: skip
    for each in found:
        table.add(
            each.name,
            each.model,
            *(f"{n:,}" for n in (each.answers, each.settled, each.calls)),
            f"{each.input_tokens:,}",
            f"{each.output_tokens:,}",
            money(each.cost, currency),
        )
    costs = [each.cost for each in found]
    total = None if None in costs else sum(cost for cost in costs if cost is not None)
    return Group(
        table,
        Text(
            f"\n{sum(each.calls for each in found):,} calls, about "
            f"{sum(each.input_tokens + each.output_tokens for each in found):,} tokens, "
            f"cost {money(total, currency)}; less what the cache holds."
        ),
    )


def accounted(found: Sequence[Account], minimum: float) -> RenderableType | None:
    """What the report's table of judges leaves unsaid: why verdicts are missing, which evidence
    was refused, the judges' own noise, and which fell short of the gate. None when all is well."""
    words = [text for each in found for text in _words(each, minimum)]
    return Group(Text("\nJudges", "bold"), *words) if words else None


def _words(each: Account, minimum: float) -> Iterator[Text]:
    if each.reasons:
        why = ", ".join(f"{count} {line(reason)}" for reason, count in each.reasons.items())
        yield Text(f"{each.judge}: {each.verdicts - each.scored} verdicts missing: {why}")
    refused = {name: n for name, n in each.fates.items() if name != "found"}
    if refused:
        which = ", ".join(f"{n} {name}" for name, n in refused.items())
        yield Text(f"{each.judge}: {each.reported} defects reported, not counted: {which}")
    for mode, noise in each.noise.items():
        deviation = "none" if noise.deviation is None else f"{noise.deviation:.2f}"
        yield Text(
            f"{each.judge}: {mode}: {noise.flips} of {noise.answers} answers flip when judged "
            f"again; the judge's own standard deviation: {deviation}"
        )
    if each.below(minimum):
        yield Text(
            f"{each.judge} gave {percent(each.coverage)} of its verdicts; "
            f"[judges] min_coverage asks for {percent(minimum)}",
            "bold red",
        )


def percent(share: float | None) -> str:
    """``97.5 %``; in words where there is no share."""
    return "no answer to judge" if share is None else f"{share * 100:.1f} %"


def tokens(each: Account) -> str:
    """Input and output tokens of a judge, as a sum."""
    used = each.usage
    if not used.calls:
        return "0"
    if used.input_tokens is None or used.output_tokens is None:
        return "unknown"
    return f"{used.input_tokens:,} + {used.output_tokens:,}"


def money(cost: float | None, currency: str) -> str:
    """A cost with its currency; ``unknown`` where a price is missing."""
    return "unknown" if cost is None else f"{cost:.4f} {currency}"
