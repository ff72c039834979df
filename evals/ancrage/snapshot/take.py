"""Take a snapshot: read a source, keep the window and the sample asked for, hide people, write."""

import hashlib
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path

from pydantic_core import to_json

from ancrage.domain import Case, Study
from ancrage.snapshot.manifest import Filters, Manifest, PseudonymMode, Reject
from ancrage.snapshot.pseudonyms import Pseudonymiser
from ancrage.snapshot.rewrite import Rewriter
from ancrage.snapshot.sources import Source, Window
from ancrage.snapshot.store import write_snapshot

STUDIES_IN_MEMORY = 8


def take_snapshot(
    source: Source, path: Path, filters: Filters, pseudonymiser: Pseudonymiser
) -> Manifest:
    """Write the snapshot of ``source`` at ``path``; memory does not grow with the answers.

    Returns:
        The manifest as written; its counts account for every answer read.

    Raises:
        UsageError: the source cannot be read, or ``path`` exists already.
        OSError: ``path`` cannot be written.
    """
    left_out: Counter[str] = Counter()
    hidden = pseudonymiser.mode is not PseudonymMode.NONE
    studies = _Studies(source, pseudonymiser if hidden else None)
    answers = writable(source.cases(Window(filters.since, filters.until)))
    cases = within(answers, filters, left_out)
    if filters.limit is not None:
        cases = sample(cases, filters.limit, filters.seed, left_out)
    return write_snapshot(
        path,
        studies.rewritten(cases),
        studies.study,
        source=source.label,
        filters=filters,
        left_out=left_out,
        pseudonyms=pseudonymiser.summary,
        notes=source.notes,
    )


def writable(cases: Iterable[Case | Reject]) -> Iterator[Case | Reject]:
    """The cases that a file can hold; one with text that no encoding has is set aside."""
    for case in cases:
        if isinstance(case, Case):
            for field, value in case:
                try:
                    to_json(value)
                except ValueError:  # half a surrogate pair, which JSON of the network may hold
                    yield Reject(
                        where=case.provenance.source,
                        id=case.id,
                        field=field,
                        error="not valid Unicode",
                    )
                    break
            else:
                yield case
        else:
            yield case


def within(
    cases: Iterable[Case | Reject], filters: Filters, left_out: Counter[str]
) -> Iterator[Case | Reject]:
    """The cases of the window; an answer without time is in no window, and is counted apart."""
    since, until = filters.since, filters.until
    for case in cases:
        if isinstance(case, Case) and (since or until):
            time = case.provenance.time
            if time is None:
                left_out["undated"] += 1
                continue
            if (since and time < since) or (until and time >= until):
                left_out["outside_window"] += 1
                continue
        yield case


def sample(
    cases: Iterable[Case | Reject], limit: int, seed: int, left_out: Counter[str]
) -> Iterator[Case | Reject]:
    """At most ``limit`` cases: those whose ids have the smallest hashes under ``seed``.

    The choice and its order depend on the ids alone, never on the order of the rows, and a
    growing source keeps most of an earlier sample. Only ``limit`` cases are held, on disk.
    """
    key = seed.to_bytes(16, signed=True)
    db = sqlite3.connect("", isolation_level=None)
    try:
        db.execute(
            "create table chosen (rank blob, id text, body text, primary key (rank, id)) "
            "without rowid"
        )
        db.execute("begin")
        held, worst = 0, b""
        for case in cases:
            if isinstance(case, Reject):
                yield case
                continue
            rank = hashlib.blake2b(case.id.encode(), key=key, digest_size=16).digest()
            if held == limit and rank > worst:
                left_out["sampled_out"] += 1
                continue
            new = db.execute(
                "insert or ignore into chosen values (?, ?, ?)",
                (rank, case.id, case.model_dump_json(exclude_defaults=True)),
            )
            if not new.rowcount:
                yield Reject(
                    where=case.provenance.source,
                    id=case.id,
                    field="id",
                    error=f"duplicate id {case.id!r}",
                    duplicate=True,
                )
                continue
            held += 1
            if held > limit:
                db.execute("delete from chosen where rank = (select max(rank) from chosen)")
                left_out["sampled_out"] += 1
                held -= 1
            (worst,) = db.execute("select max(rank) from chosen").fetchone()
        for (body,) in db.execute("select body from chosen order by rank, id"):
            yield Case.model_validate_json(body)
    finally:
        db.close()


class _Studies:
    """The source's studies, read when a case needs one; the last few stay in memory."""

    def __init__(self, source: Source, pseudonymiser: Pseudonymiser | None) -> None:
        self._source = source
        self._pseudonymiser = pseudonymiser
        self._rejects: list[Reject] = []
        self._read: set[str] = set()
        self._original = lru_cache(maxsize=STUDIES_IN_MEMORY)(self._load)
        self._rewriter = lru_cache(maxsize=STUDIES_IN_MEMORY * 8)(self._build)

    def study(self, study_id: str) -> Study | None:
        """The study as the snapshot holds it; None when it no longer exists."""
        study = self._original(study_id)
        if study is None or self._pseudonymiser is None:
            return study
        return self._rewriter(study_id).study(study)

    def rewritten(self, cases: Iterable[Case | Reject]) -> Iterator[Case | Reject]:
        """The cases with people hidden, and the rows of studies that were set aside."""
        for case in cases:
            if isinstance(case, Case):
                yield self._rewriter(case.study_id).case(case) if self._pseudonymiser else case
            else:
                # What could not be read cannot be rewritten: its file and line must do.
                hide = self._pseudonymiser is not None
                yield case.model_copy(update={"raw": None}) if hide else case
            while self._rejects:
                yield self._rejects.pop(0)

    def _load(self, study_id: str) -> Study | None:
        rejects: list[Reject] = []
        study = self._source.study(study_id, rejects.append)
        if study_id not in self._read:
            self._read.add(study_id)
            if rejects and self._pseudonymiser is not None:
                # An id of a message can hold its respondent's.
                hidden = Rewriter(self._pseudonymiser, study)
                rejects = [
                    each.model_copy(update={"raw": None, "error": hidden.text(each.error)})
                    for each in rejects
                ]
            self._rejects += rejects
        return study

    def _build(self, study_id: str | None) -> Rewriter:
        assert self._pseudonymiser is not None  # noqa: S101
        study = None if study_id is None else self._original(study_id)
        return Rewriter(self._pseudonymiser, study)
