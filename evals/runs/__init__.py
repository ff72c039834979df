"""The run record and the loop that fills it."""

from evals.runs.experiment import OnItem, Producer, recorded, run_experiment, score_run
from evals.runs.record import RUNS, RunFolder, ScoringFolder, create_run, find_run, list_runs
from evals.runs.scoring import evaluate
from evals.runs.view import Item, ModeSummary, RunView

__all__ = [
    "RUNS",
    "Item",
    "ModeSummary",
    "OnItem",
    "Producer",
    "RunFolder",
    "RunView",
    "ScoringFolder",
    "create_run",
    "evaluate",
    "find_run",
    "list_runs",
    "recorded",
    "run_experiment",
    "score_run",
]
