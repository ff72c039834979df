"""A source of somebody else's code: what it raises is told as a fault of that code."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ancrage.domain import Case, Study
from ancrage.errors import AncrageError, UsageError
from ancrage.redact import told
from ancrage.snapshot.manifest import Reject
from ancrage.snapshot.sources.contract import Source, Window


class Guarded:
    """A ``Source`` around one that a package or a project brings."""

    def __init__(
        self,
        name: str,
        make: Callable[[str, Mapping[str, Any], Path], Source],
        options: Mapping[str, Any],
        root: Path,
    ) -> None:
        self._name = name
        with self._guarded("cannot be made"):
            self._source = make(name, options, root)
        self.label = str(getattr(self._source, "label", name))
        notes = getattr(self._source, "notes", [])
        self.notes: list[str] = notes if isinstance(notes, list) else []

    def cases(self, window: Window) -> Iterator[Case | Reject]:
        """See ``Source``."""
        with self._guarded("cases"):
            for case in self._source.cases(window):
                if not isinstance(case, Case | Reject):
                    raise TypeError(f"gave {type(case).__name__}, neither a Case nor a Reject")
                yield case

    def study(self, study_id: str, reject: Callable[[Reject], None]) -> Study | None:
        """See ``Source``."""
        with self._guarded("study"):
            study = self._source.study(study_id, reject)
            if study is not None and not isinstance(study, Study):
                raise TypeError(f"gave {type(study).__name__}, neither a Study nor None")
        return study

    def close(self) -> None:
        """See ``Source``."""
        with self._guarded("close"):
            self._source.close()

    @contextmanager
    def _guarded(self, what: str) -> Iterator[None]:
        try:
            yield
        except AncrageError:
            raise
        except Exception as error:
            raise UsageError(f"[sources.{self._name}] {what}: {told(error)}") from error
