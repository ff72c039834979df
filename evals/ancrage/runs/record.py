"""The record of a run: a folder that holds all there is to know of it.

``runs/<id>/manifest.json`` (``Run``), ``outputs.jsonl`` (a journal of ``Output``), and for each
scoring ``scorings/<id>/manifest.json`` (``Scoring``) and ``scores.jsonl`` (a journal of
``Scored``). Outputs and scores are only ever added. All of it can be read by its owner alone.
"""

import os
import platform
import re
import secrets
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from pydantic import BaseModel

from ancrage import __version__
from ancrage.domain import (
    EvaluatorInfo,
    JsonValue,
    Output,
    Run,
    RunState,
    Scored,
    Scoring,
    SnapshotRef,
)
from ancrage.errors import UsageError
from ancrage.evaluator import Evaluator
from ancrage.files import Index, read_model, save_model
from ancrage.program import called
from ancrage.runs.journal import Journal

if TYPE_CHECKING:
    from ancrage.snapshot import Snapshot

M = TypeVar("M", bound=BaseModel)
RUNS = Path("runs")
MANIFEST = "manifest.json"
LATEST = "latest"


@dataclass(frozen=True)
class ScoringFolder:
    """One scoring of a run, on disk."""

    path: Path

    @property
    def scoring(self) -> Scoring:
        """The manifest as it is on disk now."""
        return read_model(self.path / MANIFEST, Scoring)

    def save(self, scoring: Scoring) -> None:
        """Replace the manifest in one step."""
        save_model(self.path / MANIFEST, scoring, private=True)

    def journal(self) -> Journal[Scored]:
        """The journal of scores, open for appending."""
        return Journal(self.path / "scores.jsonl")

    def index(self) -> Index[Scored]:
        """The evaluations of each case, as the journal holds them now."""
        return Index(self.path / "scores.jsonl", Scored)

    def scored(self) -> Iterator[Scored]:
        """The evaluations of each case, in the order they were written."""
        return self.index().values()


@dataclass(frozen=True)
class RunFolder:
    """A run on disk."""

    path: Path

    @property
    def run(self) -> Run:
        """The manifest as it is on disk now."""
        return read_model(self.path / MANIFEST, Run)

    def save(self, run: Run) -> None:
        """Replace the manifest in one step."""
        save_model(self.path / MANIFEST, run, private=True)

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Keep every other process from filling this run; freed when its holder ends, or dies.

        Raises:
            UsageError: another process holds it.
        """
        from filelock import FileLock, Timeout

        lock = FileLock(self.path / ".lock", timeout=0)
        try:
            lock.acquire()
        except Timeout:
            raise UsageError(
                f"another process is filling run {self.path.name}; wait for it, or stop it"
            ) from None
        try:
            yield
        finally:
            lock.release()

    def journal(self) -> Journal[Output]:
        """The journal of outputs, open for appending."""
        return Journal(self.path / "outputs.jsonl")

    def output_index(self) -> Index[Output]:
        """The output of each case, as the journal holds them now."""
        return Index(self.path / "outputs.jsonl", Output)

    def outputs(self) -> Iterator[Output]:
        """The last output recorded for each case, in the order they were written."""
        return self.output_index().values()

    def scorings(self) -> list[ScoringFolder]:
        """The scorings of this run, oldest first; one whose manifest is damaged is left out."""
        found = [
            ScoringFolder(path.parent) for path in sorted(self.path.glob(f"scorings/*/{MANIFEST}"))
        ]
        return [folder for folder in found if _readable(folder.path / MANIFEST, Scoring)]

    def scoring_of(
        self, evaluators: Sequence[Evaluator], *, interrupted: bool = False
    ) -> ScoringFolder | None:
        """The newest scoring by these very evaluators; ``interrupted``: that did not end."""
        wanted = [(evaluator.name, evaluator.version) for evaluator in evaluators]
        for folder in reversed(self.scorings()):
            scoring = folder.scoring
            made_by = [(info.name, info.version) for info in scoring.evaluators]
            if made_by == wanted and not (interrupted and scoring.state is RunState.COMPLETE):
                return folder
        return None

    def new_scoring(
        self, evaluators: Sequence[Evaluator], details: dict[str, JsonValue] | None = None
    ) -> ScoringFolder:
        """Start a scoring beside those that exist already."""
        taken = [int(path.name) for path in self.path.glob("scorings/*") if path.name.isdigit()]
        folder = ScoringFolder(self.path / "scorings" / f"{max(taken, default=0) + 1:03d}")
        folder.path.mkdir(parents=True, mode=0o700)
        folder.save(
            Scoring(
                id=folder.path.name,
                created=datetime.now(UTC),
                evaluators=tuple(describe_evaluator(evaluator) for evaluator in evaluators),
                details=details or {},
            )
        )
        return folder

    def snapshot(self, *, verify: bool = True) -> "Snapshot":
        """The snapshot that the run read; ``verify`` compares its files with their hashes.

        Raises:
            UsageError: it is gone, or its content is no longer what the run read.
        """
        from ancrage.snapshot import open_snapshot

        reference = self.run.snapshot
        path = (self.path / reference.path).resolve()
        if not path.is_dir():
            raise UsageError(f"run {self.path.name} read the snapshot {path}, which is gone")
        snapshot = open_snapshot(path, verify=verify)
        if snapshot.hash != reference.hash:
            raise UsageError(
                f"snapshot {path} has changed since run {self.path.name} read it; "
                "restore it, or run the experiment again"
            )
        return snapshot


def describe_evaluator(evaluator: Evaluator) -> EvaluatorInfo:
    """An evaluator as the manifest of a scoring names it."""
    return EvaluatorInfo(
        name=evaluator.name,
        version=evaluator.version,
        modes=evaluator.modes,
        kind=getattr(evaluator, "kind", "other"),
        details=getattr(evaluator, "details", {}),
    )


def run_id(name: str) -> str:
    """The id of a run that is given a name, which its folder bears.

    Raises:
        UsageError: the name is reserved, or no folder can bear it.
    """
    label = re.sub(r"[^\w.-]+", "-", name).strip("-.")
    if not label:
        raise UsageError(f"--run-name {name!r} has no letter or digit to name a folder with")
    if label.startswith(LATEST):
        raise UsageError(f"--run-name {name!r}: {LATEST!r} always means the newest run")
    return label


def create_run(
    snapshot: "Snapshot",
    *,
    kind: str,
    name: str | None = None,
    root: Path = RUNS,
    group: str | None = None,
    repeat: int = 0,
    parameters: dict[str, JsonValue] | None = None,
    details: dict[str, JsonValue] | None = None,
) -> RunFolder:
    """Create the folder of a new run over ``snapshot`` and write its manifest.

    Raises:
        UsageError: the name is taken or reserved, or no folder can bear it.
    """
    now = datetime.now(UTC)
    label = run_id(name or f"{snapshot.path.resolve().name}-{kind}")
    stamp = f"{now:%Y%m%d-%H%M%S}-{secrets.token_hex(2)}"
    identifier = label if name else f"{stamp}-{label}"
    folder = RunFolder(root / identifier)
    versions = _versions()
    try:
        folder.path.mkdir(parents=True, mode=0o700)
    except FileExistsError:
        # One without manifest was left by a process killed, or a disk full, just here.
        if not folder.path.is_dir() or (folder.path / MANIFEST).exists():
            raise UsageError(
                f"run {identifier!r} exists already; give another name, or resume it"
            ) from None
    folder.save(
        Run(
            id=identifier,
            name=name or identifier,
            kind=kind,
            group=group,
            repeat=repeat,
            created=now,
            snapshot=SnapshotRef(
                path=os.path.relpath(snapshot.path.resolve(), folder.path.resolve()),
                hash=snapshot.hash,
            ),
            versions=versions,
            parameters=parameters or {},
            details=details or {},
        )
    )
    return folder


def list_runs(root: Path = RUNS) -> list[RunFolder]:
    """Every run under ``root`` whose manifest can be read, oldest first."""
    found = ((path.parent, _readable(path, Run)) for path in root.glob(f"*/{MANIFEST}"))
    readable = [(run.created, path.name, path) for path, run in found if run]
    return [RunFolder(path) for _, _, path in sorted(readable)]


def find_run(reference: str | Path | None = None, root: Path = RUNS) -> RunFolder:
    """The run meant by a path, an id, or an unambiguous beginning of an id.

    None and ``latest`` mean the newest run, ``latest~1`` the one before it.

    Raises:
        UsageError: no run, or several, answer to it.
    """
    if reference:
        # A run goes before a folder of its name, such as the snapshot that it read.
        for path in (root / reference, Path(reference)):
            if (path / MANIFEST).is_file():
                return RunFolder(path)
    folders = list_runs(root)
    if not folders:
        raise UsageError(f"no run in {root}/; make one with: {called('experiment')}")
    name = str(reference or LATEST)
    if counted := re.fullmatch(rf"{LATEST}(?:~(\d+))?", name):
        back = int(counted[1] or 0)
        if back < len(folders):
            return folders[-1 - back]
        raise UsageError(f"{name}: there are only {len(folders)} runs in {root}/")
    matching = [folder for folder in folders if folder.path.name.startswith(name)]
    if len(matching) == 1:
        return matching[0]
    known = ", ".join(folder.path.name for folder in (matching or folders)[-5:])
    problem = "several runs begin with" if matching else "no run answers to"
    raise UsageError(f"{problem} {name!r}; for instance: {known}")


def finish(run: Run, counts: dict[str, int], state: RunState) -> Run:
    """The manifest of a run that has ended."""
    return run.model_copy(update={"counts": counts, "state": state, "finished": datetime.now(UTC)})


def _versions() -> dict[str, str]:
    versions = {"ancrage": __version__, "python": platform.python_version()}
    try:
        commit = subprocess.run(
            ["git", "describe", "--always", "--dirty", "--abbrev=12"],  # noqa: S607
            capture_output=True,
            text=True,
            timeout=5,
            check=True,
        ).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return versions
    return {**versions, "commit": commit}


def _readable(path: Path, model: type[M]) -> M | None:
    """A manifest; None for one that is damaged, which must not stand in the way of the others."""
    try:
        return read_model(path, model)
    except UsageError:
        return None
