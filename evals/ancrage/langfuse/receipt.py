"""The receipt of a publication: what was sent of a run, and what of it could be read back."""

from datetime import datetime

from ancrage.domain import Frozen
from ancrage.errors import UsageError
from ancrage.files import read_model, save_model
from ancrage.langfuse.readback import Missing
from ancrage.langfuse.target import Target
from ancrage.program import called
from ancrage.runs import RunFolder

RECEIPT = "langfuse.json"


class Receipt(Frozen):
    """What was sent, and what of it could be read back."""

    format: int = 1
    run: str
    target: Target
    url: str
    """The comparison with the experiment before it, where there is one."""
    failing_url: str | None = None
    """The same, showing the answers that fail the worst mode alone."""
    worst: str | None = None
    moved_from: str | None = None
    """The address of the last publication, when it was another one."""
    server: str
    """Version of the server."""
    checked: datetime
    cases: int
    """Cases of the run."""
    items: int
    """Those that were published, and so must be seen."""
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
        moved = f"\nbefore at {self.moved_from}" if self.moved_from else ""
        if self.complete:
            failing = f"\nfailing {self.worst}: {self.failing_url}" if self.failing_url else ""
            part = f" (of {self.cases:,} cases)" if self.items != self.cases else ""
            return (
                f"seen in Langfuse: {self.items_seen:,} items{part}, {self.scores_seen:,} scores"
                f"{moved}\n{self.url}{failing}"
            )
        why = "; ".join(filter(None, (self.stopped, str(self.missing))))
        refused = "".join(
            f"\n  refused: {name}: {reason}" for name, reason in list(self.rejected.items())[:3]
        )
        return (
            f"not whole in Langfuse: {why}{refused}{moved}\n"
            "the local record is whole; send what is missing with: "
            f"{called(f'publish {self.run}')}"
        )


def write_receipt(folder: RunFolder, receipt: Receipt) -> None:
    """Put the receipt in the run's folder, in one step."""
    save_model(folder.path / RECEIPT, receipt, private=True)


def load_receipt(folder: RunFolder) -> Receipt | None:
    """The receipt of the last publication; None when there was none.

    Raises:
        UsageError: the file cannot be read as one.
    """
    path = folder.path / RECEIPT
    if not path.exists():
        return None
    try:
        return read_model(path, Receipt)
    except UsageError as error:
        raise UsageError(f"{error}; delete it and publish again") from None


def published_target(folder: RunFolder) -> Target | None:
    """Where a run was last published."""
    receipt = load_receipt(folder)
    return receipt.target if receipt else None
