"""What every model of the domain shares."""

from pydantic import BaseModel, ConfigDict, JsonValue

__all__ = ["Frozen", "JsonValue"]


class Frozen(BaseModel):
    """An immutable value that refuses unknown fields and non-finite numbers."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)
