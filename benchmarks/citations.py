"""Is parsing linear in the answer's length, whatever the answer?

Run ``python -m benchmarks.citations``. Each hostile shape is parsed at length n and 8 n; the ratio
of the times is 8 when parsing is linear and 64 when it is quadratic.
"""

import time
from collections.abc import Callable

from ancrage.citations import parse

SHAPES: dict[str, Callable[[int], str]] = {
    "opening brackets": lambda n: "[" * n,
    "closing brackets": lambda n: "]" * n,
    "opening guillemets": lambda n: "« " * n,
    "nested quotes": lambda n: "« a " * (n // 2) + "» " * (n // 2),
    "straight quotes": lambda n: '" ' * n,
    "apostrophes": lambda n: "l'" * n,
    "unclosed ids": lambda n: "[R-1, M-1 " * n,
    "one long bracket": lambda n: "[" + "R-1, M-1; " * n + "]",
    "one long token": lambda n: "[M-" + "0" * n + "]",
    "dashes": lambda n: "[M" + "-" * n + "1]",
    "quotes and brackets": lambda n: "« a b » [R-1, M-1] " * n,
    "quotes without": lambda n: "« quatre mots sans crochet » " * n,
    "pipes": lambda n: "|" * n + "\n" + "| a " * n,
    "blank lines": lambda n: "\n" * n + " \n" * n,
    "spaces after a quote": lambda n: "« a »" + " " * n,
    "rows of a table": lambda n: "| « a » | R-1 | M-1 |\n" * n,
    "emphasis": lambda n: "*_" * n,
    "parentheses": lambda n: "(R-1 " * n,
    "one long row": lambda n: "| " + "« a » [R-1, M-1] | " * n,
    "respondents before": lambda n: "R-1 (M-1) " * n,
    "footnotes": lambda n: "« a »[^1] " * n + "\n[^1]: R-1, M-1" * n,
    "attributions": lambda n: "> a\n> — [R-1, M-1]\n" * n,
    "tags": lambda n: "« a »" + "<br>" * n + "« b »" + "<b" * n,
}


def seconds(text: str) -> float:
    """The best of three timings of one parse."""
    best = float("inf")
    for _ in range(3):
        start = time.perf_counter()
        parse(text)
        best = min(best, time.perf_counter() - start)
    return best


def main(size: int = 4_000) -> None:
    """Print one line a shape, and the worst growth."""
    worst = 0.0
    for name, shape in SHAPES.items():
        short, long = seconds(shape(size)), seconds(shape(8 * size))
        growth = long / short
        worst = max(worst, growth)
        rate = len(shape(8 * size)) / long / 1e6
        print(f"{name:22} x8 in length: x{growth:5.1f} in time, {rate:7.2f} M characters/s")
    print(f"worst growth x{worst:.1f} (linear: x8, quadratic: x64)")


if __name__ == "__main__":
    main()
