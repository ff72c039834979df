"""Snapshots: production's answers and their studies, taken once and frozen in a folder."""

from ancrage.snapshot.manifest import Counts, Filters, Manifest, Reject
from ancrage.snapshot.store import Snapshot, newest_snapshot, open_snapshot, write_snapshot

__all__ = [
    "Counts",
    "Filters",
    "Manifest",
    "Reject",
    "Snapshot",
    "newest_snapshot",
    "open_snapshot",
    "write_snapshot",
]
