"""Snapshots: production's answers and their studies, taken once and frozen in a folder."""

from evals.snapshot.manifest import Counts, Filters, Manifest, Reject
from evals.snapshot.store import Snapshot, open_snapshot, write_snapshot

__all__ = [
    "Counts",
    "Filters",
    "Manifest",
    "Reject",
    "Snapshot",
    "open_snapshot",
    "write_snapshot",
]
