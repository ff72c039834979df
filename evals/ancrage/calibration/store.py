"""Calibrations on disk: one JSON file each, none ever replaced."""

from collections.abc import Sequence
from pathlib import Path

from ancrage.calibration.pairs import Calibration, Disagreement, ModeCalibration
from ancrage.domain import EvaluatorInfo
from ancrage.files import read_model, save_model, write_atomic

CALIBRATIONS = Path("calibrations")
ENOUGH = 30
"""Labelled answers below which a calibration is called small, and replaces no larger one."""


def save_calibration(calibration: Calibration, root: Path = CALIBRATIONS) -> Path:
    """Write a calibration in one step; returns its file."""
    path = root / f"{calibration.id}.json"
    save_model(path, calibration)
    return path


def save_disagreements(path: Path, disagreements: Sequence[Disagreement]) -> Path:
    """Write the disagreements beside a stored calibration, one JSON line each."""
    beside = path.with_suffix(".disagreements.jsonl")
    lines = [each.model_dump_json() + "\n" for each in disagreements]
    write_atomic(beside, lines)
    return beside


def load_calibrations(root: Path = CALIBRATIONS) -> list[Calibration]:
    """Every stored calibration, oldest first.

    Raises:
        UsageError: a file is not a calibration; names it.
    """
    found = [read_model(path, Calibration) for path in sorted(root.glob("*.json"))]
    return sorted(found, key=lambda calibration: calibration.created)


def find(
    calibrations: list[Calibration], judge: EvaluatorInfo, mode: str
) -> tuple[Calibration, ModeCalibration] | None:
    """The calibration of a judge on a mode: of this very version, else of another one; the newest
    on at least ``ENOUGH`` answers, and where none has as many, the one on the most.

    Those on the side that definitions are tuned on say nothing of other answers, and are no use.
    """
    known = [
        (calibration, each)
        for calibration in reversed(calibrations)
        if calibration.split != "train"
        for each in calibration.modes
        if (each.judge, each.mode) == (judge.name, mode)
    ]
    same = [each for each in known if each[1].version == judge.version]
    candidates = same or known
    enough = (found for found in candidates if len(found[1].pairs) >= ENOUGH)
    return next(enough, None) or max(
        candidates, key=lambda found: len(found[1].pairs), default=None
    )
