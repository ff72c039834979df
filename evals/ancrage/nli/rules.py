"""The rule that the settings name, ready to decide."""

from collections.abc import Callable

from ancrage.errors import UsageError
from ancrage.nli import calibrate, thresholds
from ancrage.nli.settings import NLISettings
from ancrage.nli.thresholds import Decisions, Floats, Ints

Rule = Callable[[Floats, Ints, Ints], Decisions]
"""From probabilities (n, 3), sizes of responses and the windows of each claim."""


def calibration_of(settings: NLISettings) -> calibrate.Calibration | None:
    """The calibration that the rule of ``settings`` needs; None for the other rules. With a
    ``penalty`` its threshold is the one of least expected cost (Elkan, 2001).

    Raises:
        UsageError: it is asked for and not there, or cannot be read.
    """
    if settings.rule != "calibrated":
        return None
    if not settings.calibration:
        raise UsageError('the calibrated rule needs calibration = "file" in [nli]')
    fitted = calibrate.read(settings.calibration)
    if settings.penalty is None:
        return fitted
    return fitted.model_copy(update={"threshold": 1 / (1 + settings.penalty)})


def rule_of(settings: NLISettings) -> Rule:
    """The decision rule of ``settings``.

    Raises:
        UsageError: ``calibrated`` is asked for without a readable calibration.
    """
    if fitted := calibration_of(settings):
        return lambda p, sizes, windows: calibrate.calibrated(fitted, p, sizes, windows)
    match settings.rule:
        case "paper":
            return lambda p, sizes, windows: thresholds.paper(p, sizes, settings.k)
        case "fixed":
            return lambda p, sizes, windows: thresholds.fixed(p, sizes, settings.tau)
        case _:
            return lambda p, sizes, windows: thresholds.argmax(p, sizes)


def rule_name(settings: NLISettings) -> str:
    """The rule with what it depends on, for the version of a verdict."""
    if fitted := calibration_of(settings):
        return f"calibrated={fitted.digest}"
    return {"paper": f"paper,k={settings.k:g}", "fixed": f"fixed,tau={settings.tau:g}"}.get(
        settings.rule, settings.rule
    )
