"""What the tools behind an answer gave, for those who hold answers against it."""

import json
from collections.abc import Mapping

from ancrage.domain import JsonValue, ToolCall
from ancrage.evaluator import Subject


def tool_calls(subject: Subject) -> tuple[ToolCall, ...]:
    """The calls behind an answer: the output's own, else those recorded with the case."""
    return subject.output.tool_calls or subject.case.input.tool_calls


def tool_text(output: JsonValue) -> str:
    """A tool's result as prose: its strings and numbers, one a line, keys kept as labels."""
    if isinstance(output, str):
        try:
            parsed = json.loads(output)
        except ValueError:
            return output
        return output if isinstance(parsed, str) else tool_text(parsed)
    if isinstance(output, Mapping):
        lines = [
            tool_text(value) if isinstance(value, Mapping | list) else f"{key}: {value}"
            for key, value in output.items()
            if value is not None
        ]
        return "\n".join(lines)
    if isinstance(output, list):
        return "\n\n".join(tool_text(value) for value in output)
    return "" if output is None else str(output)
