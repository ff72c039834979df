"""Entry point for ``invoke``: ``invoke --list`` shows what there is."""

from ancrage.cli import namespace

__all__ = ["namespace"]
