"""The run record and the loop that fills it."""

from ancrage.runs.experiment import (
    Drive,
    OnItem,
    Producer,
    Steps,
    drive,
    recorded,
    run_experiment,
    score_run,
)
from ancrage.runs.record import RUNS, RunFolder, ScoringFolder, create_run, find_run, list_runs
from ancrage.runs.scoring import evaluate
from ancrage.runs.view import NOT_RUN, Item, ModeSummary, RunView

__all__ = [
    "NOT_RUN",
    "RUNS",
    "Drive",
    "Item",
    "ModeSummary",
    "OnItem",
    "Producer",
    "RunFolder",
    "RunView",
    "ScoringFolder",
    "Steps",
    "create_run",
    "drive",
    "evaluate",
    "find_run",
    "list_runs",
    "recorded",
    "run_experiment",
    "score_run",
]
