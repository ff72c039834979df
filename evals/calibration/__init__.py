"""Calibration: how far judges agree with people, and what the true rates therefore are."""

from evals.calibration.labels import Label, Labels, read_labels, split_of
from evals.calibration.measure import Measures, compare_judges, measure
from evals.calibration.pairs import Calibration, ModeCalibration, Pair, calibrate
from evals.calibration.store import CALIBRATIONS, load_calibrations, save_calibration

__all__ = [
    "CALIBRATIONS",
    "Calibration",
    "Label",
    "Labels",
    "Measures",
    "ModeCalibration",
    "Pair",
    "calibrate",
    "compare_judges",
    "load_calibrations",
    "measure",
    "read_labels",
    "save_calibration",
    "split_of",
]
