"""Calibration: how far judges agree with people, and what the true rates therefore are."""

from ancrage.calibration.labels import Label, Labels, read_labels, split_of
from ancrage.calibration.measure import Measures, compare_judges, measure
from ancrage.calibration.pairs import Calibration, ModeCalibration, Pair, calibrate
from ancrage.calibration.store import CALIBRATIONS, load_calibrations, save_calibration

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
