"""A calibration on the terminal."""

from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from ancrage.calibration.measure import JudgeComparison, measure
from ancrage.calibration.pairs import Calibration, Disagreement, ModeCalibration
from ancrage.calibration.section import JudgedMode, bounds, fraction, words
from ancrage.report.data import rate
from ancrage.report.grid import Grid
from ancrage.report.text import line
from ancrage.stats import Interval

SHOWN = 10


def calibrated(
    calibration: Calibration,
    disagreements: Sequence[Disagreement],
    comparisons: Sequence[JudgeComparison],
    rates: Sequence[JudgedMode],
) -> RenderableType:
    """Per mode the confusion and its rates, then disagreements, comparisons and corrected rates."""
    return Group(*_parts(calibration, disagreements, comparisons, rates))


def _parts(
    calibration: Calibration,
    disagreements: Sequence[Disagreement],
    comparisons: Sequence[JudgeComparison],
    rates: Sequence[JudgedMode],
) -> Iterator[RenderableType]:
    side = f"the {calibration.split} side of the split" if calibration.split else "every label"
    yield Text(f"Judges of run {line(calibration.run)} against people, on {side}", "bold")
    for mode in calibration.modes:
        yield from _mode(mode)
    for comparison in comparisons:
        yield from _comparison(comparison)
    if disagreements:
        yield Text("\nWhere people and judge differ", "bold")
    definitions = {judged.row.mode.name: judged.row.mode.definition for judged in rates}
    for name in dict.fromkeys(each.mode for each in disagreements):
        yield Text(f"\n{name}: {line(definitions.get(name, ''))}")
        for truth, kind in ((False, "false positives"), (True, "false negatives")):
            errors = [each for each in disagreements if (each.mode, each.truth) == (name, truth)]
            if errors:
                yield Text(f"  {len(errors)} {kind}")
            for each in errors[:SHOWN]:
                yield from _disagreement(each)
            if (hidden := len(errors) - SHOWN) > 0:
                yield Text(f"    and {hidden} more, in the calibration's disagreements file", "dim")
    yield Text("\nRates of the run", "bold")
    table = Grid("Failure mode", "Raw", "Corrected", "Calibration")
    for judged in rates:
        table.add(judged.row.mode.name, rate(judged.row), words(judged.corrected), judged.status)
    yield table


def _mode(mode: ModeCalibration) -> Iterator[RenderableType]:
    found = measure(mode)
    c = found.confusion
    yield Text(f"\n{mode.mode}  ", "bold").append(
        f"{mode.judge} {mode.version}, {line(mode.model)}", "dim"
    )
    left_out = {
        "unscored by the judge": mode.unscored,
        "disputed": mode.disputed,
        "undecided": mode.undecided,
        "without an answer in the run": mode.absent,
        "of another answer": mode.stale,
    }
    parts = [f"{c.n} compared", *(f"{n} {why}" for why, n in left_out.items() if n)]
    yield Text(f"{mode.labelled} labelled = {' + '.join(parts)}")
    yield Text(
        f"people say defect: judge {c.true_positive} yes, {c.false_negative} no; "
        f"people say clean: judge {c.false_positive} yes, {c.true_negative} no"
    )
    table = Grid("", "Value", "95 % interval")
    table.add(
        "TPR (sensitivity)", fraction(c.true_positive, c.positives), bounds(found.sensitivity, 1, 2)
    )
    table.add(
        "TNR (specificity)", fraction(c.true_negative, c.negatives), bounds(found.specificity, 1, 2)
    )
    alarms = c.true_positive + c.false_positive
    table.add("Precision", fraction(c.true_positive, alarms), bounds(found.precision, 1, 2))
    agreed = c.true_positive + c.true_negative
    raw = found.agreement.raw_interval
    table.add("Raw agreement", fraction(agreed, c.n), bounds(raw, 1, 2))
    _coefficient(
        table, "κ, judge and people", found.agreement.kappa, found.agreement.kappa_interval
    )
    if len(mode.annotators) > 1:
        _coefficient(table, "α, between people", found.alpha, found.alpha_interval)
    if c.n:
        table.add("Prevalence in labels", fraction(c.positives, c.n), "")
    yield table


def _coefficient(table: Grid, name: str, value: float | None, interval: Interval | None) -> None:
    shown = "none: one label throughout" if value is None else f"{value:.2f}"
    # No spread is no certainty: one of the two said the same throughout, or they never differed.
    spread = interval is not None and interval.high - interval.low > 1e-6
    table.add(name, shown, bounds(interval, 1, 2) if interval and spread else "unknown")


def _comparison(comparison: JudgeComparison) -> Iterator[RenderableType]:
    yield Text(f"\n{comparison.mode}: judge A against judge B on {comparison.n} answers", "bold")
    yield Text(
        f"both right {comparison.both_right}, only A {comparison.only_first}, "
        f"only B {comparison.only_second}, both wrong {comparison.both_wrong}"
    )
    yield Text(
        f"B's agreement less A's: 95 % interval {bounds(comparison.difference, 1, 2)}; "
        f"exact McNemar p {_p(comparison.test.p_value)}"
    )


def _p(value: float) -> str:
    return "< 0.001" if value < 0.001 else f"= {value:.3f}"


def _disagreement(each: Disagreement) -> Iterator[RenderableType]:
    yield Text(f"    {line(each.case_id)}")
    for who, passages in (("people", each.human), ("judge", each.evidence)):
        for passage in passages:
            yield Padding(Text(f"{who}: {line(passage)}", "dim"), (0, 0, 0, 6))
