"""How much a command may spend, in tokens and in money."""

import math

from ancrage.domain import Frozen, Usage
from ancrage.errors import UsageError


class Reservation(Frozen):
    """What a call under way is expected to use; ``cost`` is 0 where there is no price."""

    input_tokens: int = 0
    output_tokens: int = 0
    cost: float = 0.0

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens


class Budget:
    """Counts what is spent and reserves what calls under way are expected to use.

    A call that would overstep a bound is not made. Bounds hold as far as the estimates do: input
    at three bytes a token, output at the request's own limit or, without one, the longest so far.

    Raises:
        UsageError: a bound is not a number, or below 0.
    """

    def __init__(self, tokens: int | None = None, cost: float | None = None) -> None:
        for bound in (tokens, cost):
            if bound is not None and not 0 <= bound < math.inf:
                raise UsageError(f"a budget of {bound} is no bound: give 0 or more")
        self.tokens = tokens
        self.cost = cost
        self.spent_tokens = 0
        self.spent_cost = 0.0
        self._reserved_tokens = 0
        self._reserved_cost = 0.0
        self._longest = 0

    @property
    def bounded(self) -> bool:
        """Whether there is any bound to keep to."""
        return self.tokens is not None or self.cost is not None

    @property
    def exhausted(self) -> str | None:
        """Why nothing more can be spent, or None."""
        if self.tokens is not None and self.spent_tokens >= self.tokens:
            return f"the budget of {self.tokens} tokens is spent"
        if self.cost is not None and self.spent_cost >= self.cost:
            return f"the budget of {self.cost:g} is spent"
        return None

    def expected_output(self, limit: int | None) -> int | None:
        """Tokens that an answer may take; None while nothing tells."""
        return limit or self._longest or None

    def reserve(self, expected: Reservation) -> str | None:
        """Set ``expected`` aside; else the reason why the call must not be made."""
        tokens = self.spent_tokens + self._reserved_tokens + expected.tokens
        cost = self.spent_cost + self._reserved_cost + expected.cost
        if self.exhausted:
            return self.exhausted
        if self.tokens is not None and tokens > self.tokens:
            return f"one more call could exceed the budget of {self.tokens} tokens"
        if self.cost is not None and cost > self.cost:
            return f"one more call could exceed the budget of {self.cost:g}"
        self._reserved_tokens += expected.tokens
        self._reserved_cost += expected.cost
        return None

    def settle(self, expected: Reservation, used: Usage) -> None:
        """Replace a reservation by what the call used: nothing, if it was not answered."""
        self._reserved_tokens -= expected.tokens
        self._reserved_cost -= expected.cost
        self.spent_tokens += (used.input_tokens or 0) + (used.output_tokens or 0)
        self._longest = max(self._longest, used.output_tokens or 0)
        self.spent_cost += used.cost or 0.0

    def lose(self, expected: Reservation) -> None:
        """Count a try that brought no answer and may be billed all the same."""
        self.spent_tokens += expected.tokens
        self.spent_cost += expected.cost
