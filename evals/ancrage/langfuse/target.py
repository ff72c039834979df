"""Where a run goes in Langfuse, and the ids that make sending it again harmless."""

import hashlib
import json
from datetime import datetime

from pydantic import Field

from ancrage.domain import Frozen, JsonValue, Output, Run

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

    @property
    def url(self) -> str:
        """The page of the experiment."""
        return (
            f"{self.base_url}/project/{self.project_id}/experiments/results"
            f"?baseline={self.experiment_id}"
        )


class RunNote(Frozen):
    """What an experiment says of its run, in its metadata; short, as every span carries it."""

    run: str
    uid: str
    created: datetime
    kind: str
    group: str | None = None
    repeat: int = Field(default=0, ge=0)
    snapshot: str
    """The beginning of its hash."""
    versions: dict[str, str] = {}
    evaluators: dict[str, str] = {}
    """Version of each."""
    parameters: dict[str, JsonValue] = {}
    """Empty where they are too long to be carried."""


class Place(Frozen):
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


def place(target: Target, run: Run, item_id: str, output: Output) -> Place:
    """Where an output was traced, or, when it was made without Langfuse, where it will be."""
    traced = output.details.get(KEY)
    if isinstance(traced, dict) and traced.get("experiment_id") == target.experiment_id:
        return Place(trace_id=str(traced["trace_id"]), observation_id=str(traced["observation_id"]))
    seed = f"{target.experiment_id}/{run_uid(run)}/{item_id}"
    return Place(trace_id=digest(f"{seed}/trace", 32), observation_id=digest(f"{seed}/task", 16))


def digest(text: str, length: int) -> str:
    """The first ``length`` hexadecimal digits of a SHA-256."""
    return hashlib.sha256(text.encode()).hexdigest()[:length]
