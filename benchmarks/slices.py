"""Slices: how often a planted one is found, and how often a run without one shows one.

    python -m benchmarks.slices [--simulations 1000]

Runs of 300 answers in 20 studies of uneven size with rates of their own, nine fields (three of
them of whole studies), four modes that overlap, a tenth unscored; about 250 slices a run.
"""

import argparse

import numpy as np
from scipy.special import expit

from ancrage.slices.find import find_in
from ancrage.slices.tables import Table


def draw(rng: np.random.Generator, planted: float, *, n: int = 300, k: int = 20) -> Table:
    """A run; ``planted`` is added to the logit of ``m0`` where a = x and b = y, 8 % elsewhere."""
    table = Table("answers")
    studies = np.sort(np.concatenate([np.arange(k), rng.integers(0, k, n - k) ** 2 // k]))
    effects = rng.normal(0, 0.8, (k, 4))
    whole = rng.integers(0, 3, (k, 3))
    cells = rng.integers(0, 3, (n, 6))
    shared = rng.normal(0, 0.8, n)
    modes = [f"m{at}" for at in range(4)]
    table.failures = {mode: [] for mode in modes}
    for at in range(n):
        study = int(studies[at])
        row = {f"f{name}": "xyz"[cells[at, name]] for name in range(6)}
        row |= {f"whole{name}": "uvw"[whole[study, name]] for name in range(3)}
        row["study"] = f"s{study}"
        hit = row["f0"] == "x" and row["f1"] == "y"
        logits = -2.6 + 0.7 * effects[study] + shared[at]
        logits[0] += planted * hit
        fails = rng.random(4) < expit(logits)
        for mode, failed in zip(modes, fails, strict=True):
            table.failures[mode].append(None if rng.random() < 0.1 else float(failed))
        table.cases.append(f"c{at}")
        table.studies.append(f"s{study}")
        table.fields.append(row)
    return table


def share(planted: float, simulations: int, *, seed: int = 1) -> tuple[float, float]:
    """Shares of runs with the planted slice found, and with any finding that is not true.

    That a study stands out is true here: each has a rate of its own.
    """
    rng = np.random.default_rng(seed)
    found = false = 0
    for _ in range(simulations):
        table = draw(rng, planted)
        findings = find_in(table)[2]
        real = [f for f in findings if f.mode == "m0" and set(f.where) & {("f0", "x"), ("f1", "y")}]
        found += bool(real) and planted > 0
        false += any(
            dict(f.where).keys() != {"study"} and (f not in real or not planted) for f in findings
        )
    return found / simulations, false / simulations


def main() -> None:
    """Print both shares for several strengths."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--simulations", type=int, default=1000)
    simulations = parser.parse_args().simulations
    for planted in (0.0, 1.5, 2.5, 3.5):
        rate = expit(-2.6 + planted)
        found, false = share(planted, simulations)
        print(
            f"planted {rate:.0%} against {expit(-2.6):.0%} in a ninth of the answers: "
            f"found {found:.1%}, a false one {false:.1%} (at most 5 %)",
            flush=True,
        )


if __name__ == "__main__":
    main()
