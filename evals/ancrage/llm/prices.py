"""What tokens cost, from the table ``[prices]``; a model without a price has no cost, never 0."""

import tomllib
from pathlib import Path

from pydantic import Field, ValidationError

from ancrage.config import Config
from ancrage.domain import Frozen, Usage
from ancrage.errors import UsageError, describe


class Price(Frozen):
    """Money for a million tokens."""

    input: float = Field(ge=0)
    output: float = Field(ge=0)
    """Reasoning tokens included, as endpoints bill them."""
    cached_input: float | None = Field(default=None, ge=0)
    """The price of input when unset."""


class Prices(Frozen):
    """The table ``[prices]``, or the file that it names in ``file``."""

    currency: str = "USD"
    models: dict[str, Price] = {}
    """By the model's name as the tier states it."""
    file: str | None = None

    def cost(self, model: str, usage: Usage) -> float | None:
        """Money for ``usage``; None when the model has no price or its tokens are unknown."""
        price = self.models.get(model)
        if price is None or usage.input_tokens is None or usage.output_tokens is None:
            return None
        cached = min(usage.cached_tokens or 0, usage.input_tokens)
        cached_price = price.input if price.cached_input is None else price.cached_input
        return (
            (usage.input_tokens - cached) * price.input
            + cached * cached_price
            + usage.output_tokens * price.output
        ) / 1_000_000


def read_prices(config: Config) -> Prices:
    """The prices of the configuration; a ``file`` is read from the configuration's folder.

    Raises:
        UsageError: table or file cannot be used.
    """
    prices = config.table("prices", Prices)
    if prices.file is None:
        return prices
    path = Path(config.root) / prices.file
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8-sig"))
        return Prices.model_validate({"currency": prices.currency, **table})
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"{path}: prices cannot be read: {error}") from None
    except ValidationError as error:
        raise UsageError(f"{path}: {describe(error)}") from None
