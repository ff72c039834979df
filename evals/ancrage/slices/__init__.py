"""Where failures live: slices of a run in which a failure is more frequent than elsewhere."""

from ancrage.slices.find import Found, SliceFinding, find
from ancrage.slices.tables import by_field

__all__ = ["Found", "SliceFinding", "by_field", "find"]
