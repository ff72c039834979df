"""Where a run goes in Langfuse, and the ids that make sending it again harmless."""

import hashlib
import json
from datetime import datetime
from urllib.parse import quote

from ancrage.domain import Frozen, Output, Run

KEY = "langfuse"
"""Where a run's and an output's details keep what Langfuse knows them by."""
ENVIRONMENT = "sdk-experiment"
"""The environment that the SDK gives the spans of experiments; scores must be found there too."""


class Target(Frozen):
    """One experiment on one version of one dataset."""

    base_url: str
    project_id: str
    dataset: str
    dataset_id: str
    version: datetime
    experiment_id: str
    run_name: str

    def url(self, baseline: str | None = None, mode: str | None = None) -> str:
        """The page of the experiment.

        Args:
            baseline: id of another experiment, to stand beside it.
            mode: show only the answers that this mode finds failing.
        """
        page = f"{self.base_url}/project/{self.project_id}/experiments/results"
        query = f"?baseline={baseline or self.experiment_id}"
        if baseline:
            query += f"&c={self.experiment_id}"
        if mode:
            query += f"&filter={quote(f'obs_scores_avg;numberObject;{mode};>;0', safe='')}"
        return page + query


class TracePlace(Frozen):
    """Where one output is in Langfuse: its trace, and the root that scores attach to."""

    trace_id: str
    observation_id: str | None = None
    """None for the trace as a whole."""


def experiment_id(project_id: str, dataset_id: str, run_name: str) -> str:
    """The id that the server and the SDK derive for a run of that name on a dataset."""
    parts = ["langfuse-experiment-v1", project_id, dataset_id, run_name]
    return digest(json.dumps(parts, separators=(",", ":"), ensure_ascii=False), 16)


def run_uid(run: Run) -> str:
    """What tells a run from another one of the same name."""
    return digest(f"{run.id}/{run.created.isoformat()}", 16)


def place(target: Target, run: Run, item_id: str, output: Output) -> TracePlace:
    """Where an output goes; one that another tool made in Langfuse stays where it is."""
    traced = output.details.get(KEY)
    if isinstance(traced, dict) and traced.get("experiment_id") == target.experiment_id:
        return TracePlace(
            trace_id=str(traced["trace_id"]), observation_id=str(traced["observation_id"])
        )
    seed = f"{target.experiment_id}/{run_uid(run)}/{item_id}"
    return TracePlace(
        trace_id=digest(f"{seed}/trace", 32), observation_id=digest(f"{seed}/task", 16)
    )


def digest(text: str, length: int) -> str:
    """The first ``length`` hexadecimal digits of a SHA-256."""
    return hashlib.sha256(text.encode()).hexdigest()[:length]
