"""The small corpus of each fuzzed reader: one input of each shape, and those that once broke it."""

from pathlib import Path

import pytest

from tests.fuzz.targets import CORPUS, TARGETS


@pytest.mark.parametrize(
    ("name", "path"),
    [(path.parent.name, path) for path in sorted(CORPUS.glob("*/*"))],
    ids=lambda value: value.name if isinstance(value, Path) else value,
)
def test_the_promises_hold(name: str, path: Path) -> None:
    TARGETS[name](path.read_bytes())


def test_each_target_has_a_corpus() -> None:
    assert {path.name for path in CORPUS.iterdir()} == set(TARGETS)
