"""What a source of answers is, for those who write one."""

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Any, NamedTuple, Protocol, TypeVar

from pydantic import BaseModel, ValidationError

from ancrage.domain import Case, Study
from ancrage.errors import UsageError, describe
from ancrage.snapshot.manifest import Reject

Model = TypeVar("Model", bound=BaseModel)


class Window(NamedTuple):
    """The times asked for, aware; a source may use it to read less, it need not."""

    since: datetime | None = None
    """Inclusive."""
    until: datetime | None = None
    """Exclusive."""


class Source(Protocol):
    """Production's answers and the studies they speak of."""

    label: str
    """What the manifest names as the origin, such as ``production (sql)``; never a secret."""
    notes: list[str]
    """How it was read where nobody had said how, filled as it is read; for the manifest."""

    def cases(self, window: Window) -> Iterator[Case | Reject]:
        """Every answer in turn, streamed; a row that is no case comes as a ``Reject``.

        Raises:
            UsageError: the source cannot be read at all.
        """
        ...

    def study(self, study_id: str, reject: Callable[[Reject], None]) -> Study | None:
        """The study of that id; None when it no longer exists.

        Rows of it that cannot be used go to ``reject`` (with ``study=True``); the rest is kept.
        Called between two cases, possibly several times for one study.
        """
        ...

    def close(self) -> None:
        """Free what the source holds."""
        ...


def validated(name: str, options: Mapping[str, Any], model: type[Model]) -> Model:
    """The options of the source ``name`` as ``model``.

    Raises:
        UsageError: a field is unknown, missing or of the wrong type; names it.
    """
    try:
        return model.model_validate(options)
    except ValidationError as error:
        raise UsageError(f"[sources.{name}] {describe(error, model)}") from None
