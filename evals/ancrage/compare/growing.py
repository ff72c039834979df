"""A run still under way, looked at again and again: evidence that stays valid at every look."""

from collections import Counter
from collections.abc import Set as AbstractSet

import numpy as np

from ancrage.compare.paired import outcomes, shares
from ancrage.compare.results import Group
from ancrage.runs import NOT_RUN
from ancrage.stats import sequential


def anytime_p(
    first: Group,
    second: Group,
    mode: str,
    *,
    clustered: bool,
    ignored: AbstractSet[str] = frozenset(),
) -> float:
    """The anytime-valid p-value of "``mode`` got worse", from the complete units in their order.

    Twice the one-sided one, as strict as a two-sided test: what improved early and then got worse
    is no evidence of a regression. The unit is the case, or with ``clustered`` the study: it counts
    once all of its cases have been answered and scored in every run of ``second``, so that no look
    sees half of one.
    """
    head = second[0]
    everywhere = set.intersection(*(set(each.cases) for each in (*first, *second))) - ignored
    cases = [case for case in head.cases if case in everywhere]
    units = [
        f"study {study}" if clustered and study else f"case {case}"
        for case, study in zip(head.cases, head.studies, strict=True)
        if case in everywhere
    ]
    changes = shares(outcomes(second, mode, cases)) - shares(outcomes(first, mode, cases))
    ranks = [{case: at for at, case in enumerate(each.completed)} for each in second]
    waiting = [
        {case for case, why in each.reasons.get(mode, {}).items() if why == NOT_RUN}
        for each in second
    ]
    answered = [
        at
        for at, case in enumerate(cases)
        if all(case in rank for rank in ranks) and not any(case in each for each in waiting)
    ]
    answered.sort(key=lambda at: max(rank[cases[at]] for rank in ranks))
    open_cases = Counter(units)
    sums: Counter[str] = Counter()
    finished: list[float] = []
    for at in answered:
        unit = units[at]
        open_cases[unit] -= 1
        sums[unit] += np.nan_to_num(changes[at])
        if not open_cases[unit]:
            finished.append(float(sums[unit]))
    return min(1.0, 2 * sequential(finished).p_greater)
