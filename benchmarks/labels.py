"""How much labels chosen where judges differ shorten the interval of a corrected rate.

``python -m benchmarks.labels``: 400 rounds a simulated judge, 100 labels among 1,000 answers;
the length of the 95 % interval of the corrected rate against 100 labels drawn at random, with the
same estimator and with PPI++, and how often the intervals hold the truth.
"""

import argparse
from typing import Any

import numpy as np

from ancrage.calibration.sampling import AGREED, Sample, weighted_rate
from ancrage.stats import ppi

WORLDS: dict[str, dict[str, Any]] = {
    "30 % defects; errs on 2 % of easy, 40 % of hard answers (1 in 5); 5 repeats": {},
    "the same, 10 % defects": {"prevalence": 0.1},
    "errs on 3 % and 35 %": {"easy": 0.03, "hard": 0.35},
    "3 repeats": {"repeats": 3},
    "1 in 10 hard, errs on 45 % of them": {"share": 0.1, "hard": 0.45},
    "no answer harder than another (errs on 10 %)": {"easy": 0.1, "hard": 0.1},
}


def one(
    seed: int,
    *,
    n: int = 1000,
    labels: int = 100,
    repeats: int = 5,
    prevalence: float = 0.3,
    share: float = 0.2,
    easy: float = 0.02,
    hard: float = 0.4,
) -> list[tuple[float, float]]:
    """Coverage (0 or 1) and length: chosen, random with the same estimator, random with PPI++."""
    rng = np.random.default_rng(seed)
    truth = rng.random(n) < prevalence
    errs = np.where(rng.random(n) < share, hard, easy)
    votes = np.array([np.where(rng.random(n) < errs, ~truth, truth) for _ in range(repeats)])
    mean = votes.mean(axis=0)
    differs = np.minimum(mean, 1 - mean)
    judged = {f"{at}": bool(votes[0][at]) for at in range(n)}
    rate = truth.mean()
    found = []
    for weights in (np.sqrt(AGREED + differs), np.ones(n)):
        sample = Sample(run=str(seed), weights={f"{at}": float(w) for at, w in enumerate(weights)})
        labelled = sample.order()[:labels]
        errors = {name: float(truth[int(name)]) - judged[name] for name in labelled}
        interval = weighted_rate(errors, sample.chances(labelled), judged).interval
        assert interval is not None
        found.append((float(interval.low <= rate <= interval.high), interval.high - interval.low))
    at = [int(name) for name in labelled]
    other = sorted(set(range(n)) - set(at))
    interval = ppi(truth[at], votes[0][at], votes[0][other]).interval
    assert interval is not None
    found.append((float(interval.low <= rate <= interval.high), interval.high - interval.low))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=400)
    rounds = parser.parse_args().rounds
    print("| judge | coverage | shorter than random | than random with PPI++ |\n|---|---|---|---|")
    for name, options in WORLDS.items():
        found = np.array([one(seed, **options) for seed in range(rounds)]).mean(axis=0)
        shorter = [1 - found[0, 1] / found[other, 1] for other in (1, 2)]
        print(f"| {name} | {found[0, 0]:.1%} | {shorter[0]:.0%} | {shorter[1]:.0%} |")


if __name__ == "__main__":
    main()
