"""How much a command may spend, in tokens and in money."""

import asyncio
import math
import threading
from collections.abc import Callable

from ancrage.domain import Frozen, Usage
from ancrage.errors import UsageError


class OverBudgetError(Exception):
    """A call that the budget does not allow, and why."""


class Reservation(Frozen):
    """What a call under way is expected to use; ``cost`` is 0 where there is no price."""

    input_tokens: int = 0
    output_tokens: int | None = 0
    """None while nothing tells how long answers are."""
    cost: float = 0.0

    @property
    def tokens(self) -> int:
        return self.input_tokens + (self.output_tokens or 0)


class Budget:
    """Counts what is spent and reserves what calls under way are expected to use.

    A call that could overstep a bound waits for those under way, which mostly take less than was
    set aside for them, and is refused only when none is left. Every try counts. Bounds hold as
    far as the estimates do: input at three bytes a token, output at the request's own limit or,
    without one, the longest so far. 0 lets nothing be spent.

    Raises:
        UsageError: a bound is negative or no number.
    """

    def __init__(self, tokens: int | None = None, cost: float | None = None) -> None:
        for bound in (tokens, cost):
            if bound is not None and not 0 <= bound < math.inf:
                raise UsageError(f"a budget of {bound} is no bound: give 0 or a positive number")
        self.tokens = tokens
        self.cost = cost
        self.spent_tokens = 0
        self.spent_cost = 0.0
        self._under_way: list[Reservation] = []
        self._longest = 0
        self._lock = threading.Lock()
        self._waiting: list[asyncio.Future[None]] = []

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

    async def reserve(self, expect: Callable[[], Reservation]) -> Reservation:
        """Set aside what ``expect`` says, waiting for calls under way where it must.

        Raises:
            OverBudgetError: the call must not be made.
        """
        while True:
            expected = expect()
            with self._lock:
                reason = self._objection(expected)
                if reason is None:
                    self._under_way.append(expected)
                    return expected
                if self.exhausted or not self._under_way:
                    raise OverBudgetError(reason)
                settled = asyncio.get_running_loop().create_future()
                self._waiting.append(settled)
            await settled

    def _objection(self, expected: Reservation) -> str | None:
        if self.exhausted:
            return self.exhausted
        if not self.bounded:
            return None
        if expected.output_tokens is None and self._under_way:
            # Calls at once could all be long: the first answer tells how long they are.
            return "nothing tells how long an answer is"
        tokens = self.spent_tokens + sum(reservation.tokens for reservation in self._under_way)
        cost = self.spent_cost + sum(reservation.cost for reservation in self._under_way)
        if self.tokens is not None and tokens + expected.tokens > self.tokens:
            return f"one more call could exceed the budget of {self.tokens} tokens"
        if self.cost is not None and cost + expected.cost > self.cost:
            return f"one more call could exceed the budget of {self.cost:g}"
        return None

    def settle(self, expected: Reservation, used: Usage) -> None:
        """Replace a reservation by what the call used: nothing, if it was not answered."""
        with self._lock:
            self._under_way.remove(expected)
            self.spent_tokens += (used.input_tokens or 0) + (used.output_tokens or 0)
            self.spent_cost += used.cost or 0.0
            self._longest = max(self._longest, used.output_tokens or 0)
            waiting, self._waiting = self._waiting, []
        for settled in waiting:
            # Judges may run in another thread's loop than the assistant whose budget they share.
            if not settled.get_loop().is_closed():
                settled.get_loop().call_soon_threadsafe(_wake, settled)

    def lose(self, expected: Reservation) -> None:
        """Count a try that brought no answer and may be billed all the same."""
        used = Usage(input_tokens=expected.input_tokens, output_tokens=expected.output_tokens)
        self.settle(expected, used.model_copy(update={"cost": expected.cost}))


def _wake(settled: asyncio.Future[None]) -> None:
    if not settled.done():
        settled.set_result(None)
