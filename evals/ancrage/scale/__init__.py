"""Runs at size: queries over all of them, their columnar copy, and the engine beyond one machine.

Each part needs an extra of its own (``query``, ``scale``) and nothing of it loads before it is
asked for.
"""
