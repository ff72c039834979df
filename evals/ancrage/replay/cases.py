"""Regenerate cases: the world stays frozen, the system prompt is rendered from today's code."""

from collections.abc import Iterator
from pathlib import Path

from ancrage.domain import Case
from ancrage.errors import UsageError
from ancrage.replay.assistant import Assistant
from ancrage.replay.plan import prompt_hash, render
from ancrage.snapshot import Manifest, Reject, Snapshot, write_snapshot


def regenerate(snapshot: Snapshot, assistant: Assistant, path: Path) -> Manifest:
    """Write to ``path`` the snapshot's cases with the prompt that the code gives now.

    Calls no model. Question, history and tool outputs stay as they were; a case whose prompt
    cannot be rendered is set aside in ``rejects.jsonl`` with the reason.

    Raises:
        UsageError: ``path`` exists already or cannot be written.
    """

    def cases() -> Iterator[Case | Reject]:
        for number, case in enumerate(snapshot.cases(), 1):
            try:
                prompt = render(case, assistant)
            except UsageError as error:
                yield Reject(
                    where=str(snapshot.path / "cases.jsonl"),
                    line=number,
                    id=case.id,
                    field="input.context",
                    error=str(error),
                )
                continue
            update = {"system_prompt": prompt, "system_prompt_hash": prompt_hash(prompt)}
            yield case.model_copy(update={"input": case.input.model_copy(update=update)})

    manifest = snapshot.manifest
    return write_snapshot(
        path,
        cases(),
        snapshot.study,
        source=f"{manifest.source}; prompts of assistant {assistant.name!r}",
        filters=manifest.filters,
        pseudonyms=lambda: manifest.pseudonyms,
    )
