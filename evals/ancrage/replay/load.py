"""The assistant that the configuration names."""

import sys
from copy import copy
from inspect import isfunction

from ancrage.config import Config
from ancrage.domain import Frozen
from ancrage.errors import UsageError
from ancrage.plugins import load_object
from ancrage.replay.assistant import Assistant
from ancrage.replay.function import FunctionAssistant

DEMO = "ancrage.replay.demo:assistant"
GROUP = "ancrage.assistants"


class AssistantOptions(Frozen):
    """The table ``[assistant]``."""

    use: str = DEMO
    """``package.module:attribute``, or the name of an entry point of the group
    ``ancrage.assistants``."""
    tier: str | None = None
    """Instead of the tier that the assistant names itself."""
    untouched: tuple[str, ...] = ()
    """Models that the assistant also calls, for other ends than the answer: their calls go out
    as the assistant's own client makes them."""


def load_assistant(config: Config) -> Assistant:
    """The assistant that the configuration names; the demonstration's by default.

    A plain function, blocking or not, is taken as a ``FunctionAssistant``.

    Raises:
        UsageError: it cannot be imported, or is not an assistant.
    """
    options = config.table("assistant", AssistantOptions)
    if (root := str(config.root)) not in sys.path:
        sys.path.insert(0, root)
    found = load_object(options.use, setting="[assistant] use", group=GROUP)
    if isfunction(found):
        found = FunctionAssistant(found)
    if not isinstance(found, Assistant):
        raise UsageError(
            f"[assistant] use = {options.use!r}: not an assistant; "
            "it needs name, tier, tools, system_prompt(context) and answer(conversation)"
        )
    if options.tier and options.tier != found.tier:
        found = copy(found)
        try:
            object.__setattr__(found, "tier", options.tier)
        except (AttributeError, TypeError) as error:
            raise UsageError(f"[assistant] tier cannot be set on {options.use}: {error}") from None
    return found
