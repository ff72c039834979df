"""Prove the evals: plant faults on purpose, and count what the checks find."""

from ancrage.prove.model import Draft, Kind, Unit, fault, harmless
from ancrage.prove.trial import Cell, Panel, Trial, find_hosts, run_trial

__all__ = [
    "Cell",
    "Draft",
    "Kind",
    "Panel",
    "Trial",
    "Unit",
    "fault",
    "find_hosts",
    "harmless",
    "run_trial",
]
