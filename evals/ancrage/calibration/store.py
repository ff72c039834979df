"""Calibrations on disk: one JSON file each, none ever replaced."""

from collections.abc import Sequence
from pathlib import Path

from pydantic import ValidationError

from ancrage.calibration.pairs import Calibration, Disagreement, ModeCalibration
from ancrage.domain import EvaluatorInfo
from ancrage.errors import UsageError, describe

CALIBRATIONS = Path("calibrations")


def save_calibration(calibration: Calibration, root: Path = CALIBRATIONS) -> Path:
    """Write a calibration in one step; returns its file."""
    root.mkdir(parents=True, exist_ok=True)
    path = root / f"{calibration.id}.json"
    draft = path.with_suffix(".tmp")
    draft.write_text(calibration.model_dump_json(indent=1) + "\n", encoding="utf-8")
    draft.replace(path)
    return path


def save_disagreements(path: Path, disagreements: Sequence[Disagreement]) -> Path:
    """Write the disagreements beside a stored calibration, one JSON line each."""
    beside = path.with_suffix(".disagreements.jsonl")
    lines = [each.model_dump_json() + "\n" for each in disagreements]
    beside.write_text("".join(lines), encoding="utf-8")
    return beside


def load_calibrations(root: Path = CALIBRATIONS) -> list[Calibration]:
    """Every stored calibration, oldest first.

    Raises:
        UsageError: a file is not a calibration; names it.
    """
    found = []
    for path in sorted(root.glob("*.json")):
        try:
            found.append(Calibration.model_validate_json(path.read_bytes()))
        except ValidationError as error:
            raise UsageError(f"{path}: {describe(error)}") from None
    return sorted(found, key=lambda each: each.created)


def find(
    calibrations: list[Calibration], judge: EvaluatorInfo, mode: str
) -> tuple[Calibration, ModeCalibration] | None:
    """The newest calibration of a judge on a mode: of this very version, else of another one.

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
    return next(iter(same or known), None)
