"""The run record, the loop that fills it, and the view that every reader uses."""

from ancrage.runs.loop import OnItem, run_experiment, score_run
from ancrage.runs.record import RUNS, RunFolder, ScoringFolder, create_run, find_run, list_runs
from ancrage.runs.scoring import evaluate
from ancrage.runs.steps import Producer, recorded
from ancrage.runs.totals import NOT_RUN, AnchorSummary, ModeSummary
from ancrage.runs.view import Item, RunView

__all__ = [
    "NOT_RUN",
    "RUNS",
    "AnchorSummary",
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
