"""The receipt of a publication: what was sent of a run, and what of it could be read back."""

from datetime import datetime
from pathlib import Path

from pydantic import ValidationError

from ancrage.domain import Frozen
from ancrage.errors import UsageError, describe
from ancrage.langfuse.proof import Missing
from ancrage.langfuse.target import Target
from ancrage.runs import RunFolder

RECEIPT = "langfuse.json"


class Receipt(Frozen):
    """What was sent, and what of it could be read back."""

    format: int = 1
    run: str
    target: Target
    url: str
    server: str
    """Version of the server."""
    checked: datetime
    cases: int
    """Cases of the run."""
    items: int
    """Those that have an output, and so must be seen."""
    items_seen: int
    scores: int
    scores_seen: int
    sent_items: int = 0
    """By this publication, not by earlier ones."""
    sent_scores: int = 0
    rejected: dict[str, str] = {}
    """Scores that the server refuses, and why."""
    stopped: str | None = None
    """Why sending ended early, when it did."""
    missing: Missing = Missing()

    @property
    def complete(self) -> bool:
        """Whether all of the run can be seen."""
        return self.missing.nothing and self.stopped is None

    def __str__(self) -> str:
        if self.complete:
            return (
                f"seen in Langfuse: {self.items_seen:,} items, {self.scores_seen:,} scores\n"
                f"{self.url}"
            )
        why = "; ".join(filter(None, (self.stopped, str(self.missing))))
        refused = "".join(
            f"\n  refused: {name}: {reason}" for name, reason in list(self.rejected.items())[:3]
        )
        return (
            f"not whole in Langfuse: {why}{refused}\n"
            "the local record is whole; send what is missing with: "
            f"invoke publish {self.run}"
        )


def write_receipt(folder: RunFolder, receipt: Receipt) -> None:
    """Put the receipt in the run's folder, in one step."""
    path = folder.path / RECEIPT
    draft = path.with_suffix(".tmp")
    draft.write_text(receipt.model_dump_json(indent=2) + "\n", encoding="utf-8")
    draft.replace(path)


def load_receipt(folder: RunFolder) -> Receipt | None:
    """The receipt of the last publication; None when there was none.

    Raises:
        UsageError: the file cannot be read as one.
    """
    path: Path = folder.path / RECEIPT
    if not path.exists():
        return None
    try:
        return Receipt.model_validate_json(path.read_bytes())
    except ValidationError as error:
        raise UsageError(f"{path}: {describe(error)}; delete it and publish again") from None


def published_target(folder: RunFolder) -> Target | None:
    """Where a run was last published."""
    receipt = load_receipt(folder)
    return receipt.target if receipt else None
