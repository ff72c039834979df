"""The sample and the window: reproducible, independent of row order, every answer counted."""

import random
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from ancrage.domain import Case, CaseInput, Provenance
from ancrage.snapshot import Filters, Reject
from ancrage.snapshot.take import sample, within

NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)


def case(id: str, time: datetime | None = None) -> Case:
    return Case(
        id=id,
        input=CaseInput(question="q"),
        provenance=Provenance(source="test", time=time),
    )


def chosen(ids: list[str], limit: int, seed: int) -> tuple[list[str], Counter[str], int]:
    """Ids sampled, the counts of those left out, and the number of duplicates."""
    left_out: Counter[str] = Counter()
    items = list(sample(map(case, ids), limit, seed, left_out))
    cases = [item.id for item in items if isinstance(item, Case)]
    return cases, left_out, sum(isinstance(item, Reject) for item in items)


@settings(deadline=None, max_examples=60)
@given(
    ids=st.lists(st.text(st.characters(exclude_categories=["Cs"]), min_size=1), max_size=60),
    limit=st.integers(1, 20),
    seed=st.integers(-(2**63), 2**63),
    order=st.randoms(),
)
def test_sample_depends_on_ids_and_seed_alone(
    ids: list[str], limit: int, seed: int, order: random.Random
) -> None:
    cases, left_out, duplicates = chosen(ids, limit, seed)
    assert len(cases) == len(set(cases)) == min(limit, len(set(ids)))
    assert len(cases) + left_out["sampled_out"] + duplicates == len(ids)
    shuffled = list(ids)
    order.shuffle(shuffled)
    assert chosen(shuffled, limit, seed)[0] == cases


def test_seeds_choose_differently_and_evenly() -> None:
    ids = [f"case-{rank}" for rank in range(400)]
    picked = Counter(each for seed in range(200) for each in chosen(ids, 40, seed)[0])
    assert len(picked) == 400
    # Each is expected 20 times, with a standard deviation of 4.2.
    assert all(3 <= count <= 42 for count in picked.values())


def test_growing_source_keeps_most_of_the_sample() -> None:
    ids = [f"case-{rank}" for rank in range(1_100)]
    before, after = set(chosen(ids[:1_000], 100, 7)[0]), set(chosen(ids, 100, 7)[0])
    assert len(before & after) > 75


def test_sample_does_not_hold_what_it_leaves_out(
    peak: Callable[[Callable[[], object]], int],
) -> None:
    def cases() -> Iterator[Case]:
        yield from (
            case(f"case-{rank}").model_copy(update={"metadata": {"filler": "x" * 10_000}})
            for rank in range(5_000)
        )

    used = peak(lambda: sum(1 for _ in sample(cases(), 200, 7, Counter())))
    assert used < 5_000_000, "50 MB of cases went through"


def test_window_bounds_and_undated_answers_are_counted() -> None:
    times = [NOON - timedelta(days=days) for days in (0, 1, 2, 3)]
    cases = [case(str(rank), time) for rank, time in enumerate([*times, None])]
    left_out: Counter[str] = Counter()
    filters = Filters(since=times[2], until=times[0])
    kept = [item.id for item in within(cases, filters, left_out) if isinstance(item, Case)]
    assert kept == ["1", "2"]
    assert left_out == {"outside_window": 2, "undated": 1}
    assert len(list(within(cases, Filters(), Counter()))) == 5
