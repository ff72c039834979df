"""``calibrate --nli``: thresholds fitted on labelled claims, and what they are worth."""

from pathlib import Path

from rich.table import Table

from ancrage.errors import UsageError
from ancrage.files import save_model
from ancrage.nli.calibrate import Flagging, fit, held_out
from ancrage.nli.labelled import read_dataset
from ancrage.nli.model import NLIModel
from ancrage.nli.settings import NLISettings
from ancrage.report.terminal import console, show


def calibrate_file(
    file: str, out: str, settings: NLISettings, *, alpha: float, precision: float, delta: float
) -> None:
    """Fit on the labelled claims of ``file``, print what half of them says of a fit on the other
    half, and store the calibration at ``out``.

    Raises:
        UsageError: a rate is not within (0, 1), or the data or the model cannot be used.
    """
    for name, value in (("alpha", alpha), ("precision", precision), ("delta", delta)):
        if not 0 < value < 1:
            raise UsageError(f"--{name} {value:g}: must lie between 0 and 1")
    data = read_dataset(file)
    model = NLIModel.load(settings)
    judged = model.judge([(item.premise, item.claim) for item in data.items])
    labelled = data.labelled(judged.probabilities, judged.windows)
    fitted = fit(labelled, alpha=alpha, precision=precision, delta=delta, model=model.facts)
    screen = console()
    screen.print(data.told(), markup=False)
    if unread := len(data.items) - len(labelled.wrong):
        screen.print(f"{unread} claims are longer than the model reads: left out", markup=False)
    try:
        show(_table(held_out(labelled, alpha, precision, delta)), screen)
    except UsageError as error:
        screen.print(f"Too few to try a fit on one half on the other: {error}", markup=False)
    save_model(Path(out), fitted)
    corrects = f"q ≥ {fitted.correction:.2f}" if fitted.correction <= 1 else "nothing"
    screen.print(
        f"Flags q ≥ {fitted.threshold:.3f}: where a response holds wrong claims, at most {alpha:g} "
        "of them is missed on average, if new responses are like these. "
        f"Corrects {corrects}. Written to {out}",
        markup=False,
    )


def _table(found: dict[str, Flagging]) -> Table:
    table = Table(
        "On the half not fitted on", "claims flagged", "wrong claims missed", "flags right", "F1"
    )
    for name, row in found.items():
        right = "–" if row.precision is None else f"{row.precision:.1%}"
        table.add_row(name, f"{row.flagged:.1%}", f"{row.missed:.1%}", right, f"{row.f1:.3f}")
    return table
