"""The rule that the settings name, ready to decide."""

from collections.abc import Callable, Sequence

from ancrage.errors import UsageError
from ancrage.nli import calibrate, thresholds
from ancrage.nli.settings import NLISettings
from ancrage.nli.thresholds import Decisions, Floats, Ints

Rule = Callable[[Floats, Ints, Sequence[str], Ints], Decisions]
"""From probabilities (n, 3), sizes of responses, their domains and the windows of each claim."""


def rule_of(settings: NLISettings) -> Rule:
    """The decision rule of ``settings``.

    Raises:
        UsageError: ``calibrated`` is asked for without a readable calibration.
    """
    match settings.rule:
        case "paper":
            return lambda p, sizes, domains, windows: thresholds.paper(
                p,
                sizes,
                settings.k,
                score=settings.score,
                scope=settings.scope,
                ddof=settings.ddof,
            )
        case "fixed":
            return lambda p, sizes, domains, windows: thresholds.fixed(p, sizes, settings.tau)
        case "argmax":
            return lambda p, sizes, domains, windows: thresholds.argmax(p, sizes)
    if not settings.calibration:
        raise UsageError('the calibrated rule needs calibration = "file" in [nli]')
    fitted = calibrate.read(settings.calibration)
    return lambda p, sizes, domains, windows: calibrate.calibrated(
        fitted, p, sizes, domains, windows
    )
