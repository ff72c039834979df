"""Entry point for ``invoke``: ``invoke --list`` shows what there is."""

from evals.cli import namespace

__all__ = ["namespace"]
