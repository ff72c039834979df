"""Ancrage: evals for assistants whose answers must be anchored in their sources."""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("ancrage")
except PackageNotFoundError:  # run from a source tree that was never installed
    __version__ = "0.0.0"
