"""Langfuse: production answers in, datasets and experiments out, each read back before it counts.

The local run record stays the source of truth; what Langfuse holds is a projection of it that
can be sent again, any number of times.
"""
