"""Cold time of ``invoke --list`` beside that of importing invoke and pydantic.

Run ``python -m benchmarks.startup``. The goal is at most 0.35 s, and the ratio says how much of it
is ours.
"""

import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
RUNS = 5


def median(command: list[str]) -> float:
    """Median seconds of ``RUNS`` runs of ``command`` in a process of its own."""
    times = []
    for _ in range(RUNS):
        start = time.perf_counter()
        subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
        times.append(time.perf_counter() - start)
    return sorted(times)[RUNS // 2]


def main() -> None:
    """Print both medians and their ratio."""
    listing = median([str(Path(sys.executable).parent / "invoke"), "--list"])
    importing = median([sys.executable, "-c", "import invoke, pydantic"])
    print(f"invoke --list:               {listing:.3f} s")
    print(f"import invoke, pydantic:     {importing:.3f} s")
    print(f"ratio:                       {listing / importing:.2f}")


if __name__ == "__main__":
    main()
