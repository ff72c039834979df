"""Placeholder until the command lands."""

from typing import Any

tasks: tuple[Any, ...] = ()
