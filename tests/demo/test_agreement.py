"""The code checks against the labels of the demonstration snapshot."""

from benchmarks.demo import compare


async def test_the_checks_find_what_a_careful_human_found_and_nothing_else() -> None:
    agreement = await compare()
    assert not agreement.false_alarms
    assert not agreement.missed
    found = {mode: agreed for mode, agreed, _, _ in agreement.modes()}
    assert len(found) == 6
    assert all(count >= 5 for count in found.values())
    quotes = found["non_verbatim_quote"]
    assert len(agreement.diagnoses) <= 0.1 * quotes, agreement.diagnoses
