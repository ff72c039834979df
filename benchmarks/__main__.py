"""The small suite: what the project costs beside named alternatives, in the same run.

Run ``python -m benchmarks`` (a few minutes on a quiet machine); docs/performance.md is written
anew. Names choose parts: ``python -m benchmarks scale checks``. Other benchmarks of this folder are
longer, or need data, and write pages of their own.
"""

import os
import platform
import subprocess
import sys
import time
from importlib import import_module
from pathlib import Path

PAGE = Path(__file__).parents[1] / "docs" / "performance.md"
PARTS = {
    "checks": (),
    "scale": ("20000", "--ray"),
    "elsewhere": ("100000",),
    "langfuse": (),
    "startup": (),
}
INTRODUCTION = """# Performance

Written by `python -m benchmarks`. Ratios between two things measured in the same run are what to
compare: seconds are those of one machine. Processor time is that of all the processes of a step.
"""


def facts() -> str:
    """The machine and the moment, in one line."""
    model = platform.processor() or platform.machine()
    cpus = Path("/proc/cpuinfo")
    if cpus.exists():
        names = [line for line in cpus.read_text().splitlines() if line.startswith("model name")]
        model = names[0].partition(": ")[2] if names else model
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    load = os.getloadavg()[0]
    return (
        f"{model}, {cores} cores, Python {platform.python_version()}, {platform.system()}; "
        f"load {load:.1f} from other work when it began."
    )


def part(name: str, arguments: tuple[str, ...]) -> str:
    """One benchmark in a process of its own, as a section of the page."""
    module = f"benchmarks.{name}"
    words = (import_module(module).__doc__ or "").strip()
    title, _, rest = words.partition("\n")
    began = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", module, *arguments], capture_output=True, text=True, check=False
    )
    said = done.stdout.rstrip()
    if done.returncode:
        last = done.stderr.strip().splitlines()[-1:] or ["no word"]
        said += f"\nended with status {done.returncode}: {last[0]}"
    print(f"{title}\n{said}\n({time.perf_counter() - began:.0f} s)\n", flush=True)
    command = " ".join(["python -m", module, *arguments])
    return f"## {title.rstrip('.')}\n\n{_prose(rest)}\n\n```console\n$ {command}\n{said}\n```\n"


def _prose(rest: str) -> str:
    """A docstring's text as Markdown, without the line on how to run it."""
    text = " ".join(rest.split())
    sentences = text.split(". ")
    return ". ".join(
        sentence for sentence in sentences if not sentence.startswith("Run ``")
    ).replace("``", "`")


def main() -> None:
    """Run the parts named, or all; all of them write the page."""
    chosen = sys.argv[1:] or list(PARTS)
    if unknown := [name for name in chosen if name not in PARTS]:
        raise SystemExit(f"{', '.join(unknown)}: known are {', '.join(PARTS)}")
    about = facts()
    print(about + "\n")
    sections = [part(name, PARTS[name]) for name in chosen]
    if chosen == list(PARTS):
        PAGE.write_text("\n".join([INTRODUCTION, about, "", *sections]), encoding="utf-8")


if __name__ == "__main__":
    main()
