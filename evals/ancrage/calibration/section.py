"""What the main report says of judges: raw and corrected rates, and which judges to distrust."""

from dataclasses import dataclass
from pathlib import Path

from ancrage.calibration.labels import hash_of, split_of
from ancrage.calibration.measure import Measures, corrected, measure
from ancrage.calibration.pairs import Calibration
from ancrage.calibration.store import CALIBRATIONS, ENOUGH, find, load_calibrations
from ancrage.domain import ScoreState
from ancrage.judges.account import Account, current_accounts, is_judge
from ancrage.report.data import Section, share
from ancrage.runs import ModeSummary, RunView
from ancrage.stats import Corrected, Interval


@dataclass(frozen=True)
class JudgedMode:
    """One mode of one judge in a run, with what is known of the judge's errors."""

    row: ModeSummary
    calibration: Calibration | None
    """The newest of this judge on this mode; see ``stale``."""
    measures: Measures | None
    corrected: Corrected | None
    """None without a calibration of this very version."""
    calibrated_version: str | None

    @property
    def stale(self) -> bool:
        """Whether the judge has changed since it was calibrated."""
        return self.calibrated_version not in (None, self.row.version)

    @property
    def status(self) -> str:
        """Whether the judge's word can be taken, in a few words."""
        if self.calibration is None or self.measures is None:
            return "not calibrated"
        if self.stale:
            return f"changed since calibration ({self.calibrated_version} → {self.row.version})"
        n = self.measures.confusion.n
        both = "" if self.calibration.split else ", the tuning side included"
        return f"calibrated on {n} answers" + (", few" if n < ENOUGH else "") + both


def judged_modes(view: RunView, root: Path = CALIBRATIONS) -> list[JudgedMode]:
    """Every judged mode of a run; none when no judge scored it."""
    judges = {name: info for name, (info, _) in view.evaluators.items() if is_judge(info)}
    if not judges:
        return []
    verdicts: dict[str, dict[str, tuple[str, bool]]] = {}
    owned = {mode.name for info in judges.values() for mode in info.modes}
    for item in view.items():
        answer = hash_of(item.output)
        for name, score in item.scores.items():
            if name in owned and answer and score.state is ScoreState.SCORED:
                verdicts.setdefault(name, {})[item.case.id] = answer, bool(score.value)
    stored = load_calibrations(root)
    return [
        _judged(row, verdicts.get(row.mode.name, {}), stored, view)
        for row in view.summaries()
        if row.evaluator in judges
    ]


def _judged(
    row: ModeSummary,
    verdicts: dict[str, tuple[str, bool]],
    stored: list[Calibration],
    view: RunView,
) -> JudgedMode:
    info = view.evaluators[row.evaluator][0]
    known = find(stored, info, row.mode.name)
    if known is None:
        return JudgedMode(row, None, None, None, None)
    calibration, mode = known
    rate = None
    if mode.version == info.version:
        tuned = {
            case_id
            for case_id in verdicts
            if calibration.split and split_of(case_id, calibration.held_out) != calibration.split
        }
        rate = corrected(
            mode,
            verdicts,
            random_sample=calibration.random_sample,
            chances=calibration.chances,
            tuned=frozenset(tuned),
        )
    return JudgedMode(row, calibration, measure(mode), rate, mode.version)


def judge_sections(view: RunView, root: Path = CALIBRATIONS) -> tuple[Section, ...]:
    """The sections that a report of judged answers has; none when no judge scored the run."""
    modes = judged_modes(view, root)
    if not modes:
        return ()
    return (
        Section(
            title="Judges: raw and corrected rates",
            header=("Failure mode", "Raw", "Corrected", "TPR", "TNR", "κ", "Judge"),
            rows=tuple(_rate_row(each) for each in modes),
        ),
        Section(
            title="Judges: coverage, evidence and cost",
            header=(
                "Judge",
                "Model",
                "Coverage",
                "Unverified",
                "Not counted",
                "Tokens",
                "Cost",
                "Cost a mode",
            ),
            rows=tuple(_account_row(each) for each in current_accounts(view)),
        ),
    )


def _rate_row(each: JudgedMode) -> tuple[str, ...]:
    table = each.measures.confusion if each.measures else None
    return (
        each.row.mode.name,
        share(each.row.failing, each.row.scored, interval=False),
        words(each.corrected),
        fraction(table.true_positive, table.positives) if table else "",
        fraction(table.true_negative, table.negatives) if table else "",
        _kappa(each.measures) if each.measures else "",
        f"{each.row.evaluator}: {each.status}",
    )


def _account_row(each: Account) -> tuple[str, ...]:
    from ancrage.judges.terminal import money, percent, tokens

    aside = {name: n for name, n in each.fates.items() if name not in ("found", "unverified")}
    cost = each.usage.cost if each.usage.calls else 0.0
    return (
        f"{each.judge} {each.version}",
        each.model,
        f"{each.scored}/{each.verdicts} = {percent(each.coverage)}",
        f"{each.unverified} of {each.reported}",
        ", ".join(f"{n} {name}" for name, n in aside.items()) or "none",
        tokens(each),
        money(cost, ""),
        money(None if cost is None else cost / len(each.modes), ""),
    )


def words(found: Corrected | None) -> str:
    """A corrected rate with its interval and method, or why there is none."""
    if found is None:
        return "none"
    if found.rate is None or found.interval is None:
        return f"none: {found.refusal}"
    return f"{found.rate * 100:.1f} % {bounds(found.interval)}, {found.method}"


def fraction(successes: int, n: int) -> str:
    """``18/20 = 0.90``; a bare ``0/0`` where nothing can be said."""
    return f"{successes}/{n} = {successes / n:.2f}" if n else "0/0"


def bounds(interval: Interval, scale: float = 100, digits: int = 1) -> str:
    """An interval in percent."""
    low, high = (round(each * scale, digits) + 0.0 for each in interval)  # no "-0.0"
    return f"[{low:.{digits}f}, {high:.{digits}f}]"


def _kappa(measures: Measures) -> str:
    kappa = measures.agreement.kappa
    return "none" if kappa is None else f"{kappa:.2f}"
