"""How much a command may spend, in tokens and in money."""

from evals.domain import Frozen, Usage


class Reservation(Frozen):
    """What a call under way is expected to use."""

    tokens: int
    cost: float


class Budget:
    """Counts what is spent and reserves what calls under way are expected to use.

    A call that would overstep a bound is not made. Bounds hold as far as the estimates do: input
    at three bytes a token, output at the request's own limit or, without one, the longest so far.
    """

    def __init__(self, tokens: int | None = None, cost: float | None = None) -> None:
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

    def expected_output(self, limit: int | None) -> int:
        """Tokens that an answer may take."""
        return limit or self._longest

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
        """Replace a reservation by what the call used; by itself when the server did not say."""
        self._reserved_tokens -= expected.tokens
        self._reserved_cost -= expected.cost
        if not used.calls:
            return
        if used.input_tokens is None or used.output_tokens is None:
            self.spent_tokens += expected.tokens
        else:
            self.spent_tokens += used.input_tokens + used.output_tokens
            self._longest = max(self._longest, used.output_tokens)
        self.spent_cost += expected.cost if used.cost is None else used.cost
