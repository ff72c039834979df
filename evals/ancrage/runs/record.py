"""The record of a run: a folder that holds all there is to know of it.

``runs/<id>/manifest.json`` (``Run``), ``outputs.jsonl`` (a journal of ``Output``), and for each
scoring ``scorings/<id>/manifest.json`` (``Scoring``) and ``scores.jsonl`` (a journal of
``Scored``). Outputs and scores are only ever added.
"""

import os
import platform
import re
import secrets
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from pydantic import BaseModel, ValidationError

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
from ancrage.errors import UsageError, describe
from ancrage.evaluator import Evaluator
from ancrage.runs.journal import Journal, read_latest

if TYPE_CHECKING:
    from ancrage.snapshot import Snapshot

RUNS = Path("runs")
M = TypeVar("M", bound=BaseModel)


@dataclass(frozen=True)
class ScoringFolder:
    """One scoring of a run, on disk."""

    path: Path

    @property
    def scoring(self) -> Scoring:
        """The manifest as it is on disk now."""
        return _load(self.path / "manifest.json", Scoring)

    def save(self, scoring: Scoring) -> None:
        """Replace the manifest in one step."""
        _save(self.path / "manifest.json", scoring)

    def journal(self) -> Journal[Scored]:
        """The journal of scores, open for appending."""
        return Journal(self.path / "scores.jsonl")

    def scored(self) -> Iterator[Scored]:
        """The evaluations of each case, in the order they were written."""
        return read_latest(self.path / "scores.jsonl", Scored)


@dataclass(frozen=True)
class RunFolder:
    """A run on disk."""

    path: Path

    @property
    def run(self) -> Run:
        """The manifest as it is on disk now."""
        return _load(self.path / "manifest.json", Run)

    def save(self, run: Run) -> None:
        """Replace the manifest in one step."""
        _save(self.path / "manifest.json", run)

    def journal(self) -> Journal[Output]:
        """The journal of outputs, open for appending."""
        return Journal(self.path / "outputs.jsonl")

    def outputs(self) -> Iterator[Output]:
        """The last output recorded for each case, in the order they were written."""
        return read_latest(self.path / "outputs.jsonl", Output)

    def scorings(self) -> list[ScoringFolder]:
        """The scorings of this run, oldest first."""
        return [
            ScoringFolder(path.parent)
            for path in sorted(self.path.glob("scorings/*/manifest.json"))
        ]

    def new_scoring(
        self, evaluators: Sequence[Evaluator], details: dict[str, JsonValue] | None = None
    ) -> ScoringFolder:
        """Start a scoring beside those that exist already."""
        number = 1 + max((int(folder.path.name) for folder in self.scorings()), default=0)
        folder = ScoringFolder(self.path / "scorings" / f"{number:03d}")
        folder.path.mkdir(parents=True)
        folder.save(
            Scoring(
                id=folder.path.name,
                created=datetime.now(UTC),
                evaluators=tuple(
                    EvaluatorInfo(
                        name=each.name,
                        version=each.version,
                        modes=each.modes,
                        details=getattr(each, "details", {}),
                    )
                    for each in evaluators
                ),
                details=details or {},
            )
        )
        return folder

    def snapshot(self) -> "Snapshot":
        """The snapshot that the run read.

        Raises:
            UsageError: it is gone, or its content is no longer what the run read.
        """
        from ancrage.snapshot import open_snapshot

        reference = self.run.snapshot
        path = (self.path / reference.path).resolve()
        if not path.is_dir():
            raise UsageError(f"run {self.path.name} read the snapshot {path}, which is gone")
        snapshot = open_snapshot(path)
        if snapshot.hash != reference.hash:
            raise UsageError(
                f"snapshot {path} has changed since run {self.path.name} read it; "
                "restore it, or run the experiment again"
            )
        return snapshot


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
        UsageError: the name is taken, or no folder can bear it.
    """
    now = datetime.now(UTC)
    label = re.sub(r"[^\w.-]+", "-", name or f"{snapshot.path.resolve().name}-{kind}").strip("-.")
    if not label:
        raise UsageError(f"--run-name {name!r} has no letter or digit to name a folder with")
    stamp = f"{now:%Y%m%d-%H%M%S}-{secrets.token_hex(2)}"
    identifier = label if name else f"{stamp}-{label}"
    folder = RunFolder(root / identifier)
    try:
        folder.path.mkdir(parents=True)
    except FileExistsError:
        raise UsageError(
            f"run {identifier!r} exists already; give another name, or --resume {identifier}"
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
            versions=_versions(),
            parameters=parameters or {},
            details=details or {},
        )
    )
    return folder


def list_runs(root: Path = RUNS) -> list[RunFolder]:
    """Every run under ``root``, oldest first."""
    folders = [RunFolder(path.parent) for path in root.glob("*/manifest.json")]
    return sorted(folders, key=lambda folder: (folder.run.created, folder.path.name))


def find_run(reference: str | Path | None = None, root: Path = RUNS) -> RunFolder:
    """The run meant by a path, an id, an unambiguous beginning of an id, or None for the latest.

    Raises:
        UsageError: no run, or several, answer to it.
    """
    if reference and (Path(reference) / "manifest.json").is_file():
        return RunFolder(Path(reference))
    folders = list_runs(root)
    if not folders:
        raise UsageError(f"no run in {root}/; make one with: invoke experiment")
    if reference in (None, "", "latest"):
        return folders[-1]
    exact = [folder for folder in folders if folder.path.name == str(reference)]
    matching = exact or [f for f in folders if f.path.name.startswith(str(reference))]
    if len(matching) == 1:
        return matching[0]
    known = ", ".join(folder.path.name for folder in (matching or folders)[-5:])
    problem = "several runs begin with" if matching else "no run answers to"
    raise UsageError(f"{problem} {str(reference)!r}; for instance: {known}")


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


def _load(path: Path, model: type[M]) -> M:
    try:
        return model.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        raise UsageError(f"{path} does not exist") from None
    except ValidationError as error:
        raise UsageError(f"{path}: {describe(error)}") from None


def _save(path: Path, manifest: BaseModel) -> None:
    draft = path.with_suffix(".tmp")
    draft.write_text(manifest.model_dump_json(indent=2) + "\n", encoding="utf-8")
    draft.replace(path)
