"""Commands harmed in every way that a machine has, taken up again, held against ones left in peace.

``python -m benchmarks.crashes``: for each way of working (snapshot, experiment, replay with mock
answers or against a model, score with judges, push, publish, pull) and each harm:

- ``kill``: SIGKILL at a time drawn between the start and the usual end;
- ``full``: a disk (a tmpfs of its own) that is full after a size drawn between nothing more and
  all that the command writes, and grown before the command is taken up;
- ``read-only``: a disk that is mounted read-only, then writable;
- ``clock``: killed while the clock is two days ahead (libfaketime), taken up with the true one;
- ``two``: two processes that do the same at once.

A trial is *survived* when the harmed command ends with one line and no traceback, the second one
(the same again, or ``--resume``) ends well, and what is left is what an undisturbed command leaves:
every case once, with the very same lines. A snapshot is absent or whole in between. Models and
Langfuse are loopback servers: no call is made beyond the usual number but for those under way at
the moment of the kill (what a server had not answered yet, no client can have kept), and each
item, span and score is in Langfuse once. ``full`` and ``read-only`` need root, ``clock`` the
package faketime; where they lack, the row says so. An hour on a quiet machine; ``--times 3`` for a
look.
"""

import argparse
import copy
import json
import multiprocessing
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any

from tests.judges.scripted import reply, seen
from tests.servers.langfuse_server import LangfuseServer
from tests.servers.langfuse_store import Store
from tests.servers.openai_server import Call, OpenAIServer, Say

CASES, FEW, MESSAGES = 200, 60, 100
"""Cases of what works alone, and of what speaks with a server."""
AT_ONCE = 4
"""Calls of a model under way together."""
COMPLETE = ("no interrupted scoring", "move it away to pull it again")
"""What a command says when the harm came after its work, of which what is left then decides."""
ANCRAGE = Path(sys.executable).with_name("ancrage")
FAKETIME = Path("/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1")


@dataclass
class Site:
    """The folder of a project, and the servers that its commands speak with."""

    path: Path
    models: OpenAIServer
    langfuse: LangfuseServer
    clock: dict[str, str] = field(default_factory=dict)

    @property
    def environment(self) -> dict[str, str]:
        return {
            **os.environ,
            "TMPDIR": str(self.path / "tmp"),
            "LANGFUSE_BASE_URL": self.langfuse.url,
            "LANGFUSE_PUBLIC_KEY": self.langfuse.public_key,
            "LANGFUSE_SECRET_KEY": self.langfuse.secret_key,
            "NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1",
            **self.clock,
        }  # fmt: skip

    def start(self, words: Sequence[str]) -> "Command":
        """The command under way: forked from a process that has the imports behind it, so that
        a harm comes at its work; with a clock of its own, a program from the beginning."""
        said = self.path.with_name(f"{self.path.name}-{time.monotonic_ns()}.txt")
        said.touch()
        if self.clock:
            with said.open("wb") as file:
                return Command(
                    subprocess.Popen(
                        [ANCRAGE, *words], cwd=self.path, env=self.environment,
                        start_new_session=True, stdout=subprocess.DEVNULL, stderr=file,
                    ),
                    said,
                )  # fmt: skip
        process = _FORKS.Process(
            target=_perform, args=(str(self.path), self.environment, str(said), tuple(words))
        )
        process.start()
        return Command(process, said)

    def run(self, words: Sequence[str]) -> tuple[int, str]:
        """The command left in peace: its exit code, and what it says of its errors."""
        return self.start(words).end()


@dataclass
class Command:
    """A command under way, in a session of its own."""

    process: ForkServerProcess | subprocess.Popen[bytes]
    out: Path

    def wait(self, seconds: float) -> bool:
        """Whether it ends within that time."""
        if isinstance(self.process, subprocess.Popen):
            try:
                self.process.wait(seconds)
            except subprocess.TimeoutExpired:
                return False
            return True
        self.process.join(seconds)
        return self.process.exitcode is not None

    def end(self) -> tuple[int, str]:
        """Its exit code, once it has ended, and what it said on standard error.

        Raises:
            TimeoutError: it does not end within ten minutes.
        """
        if not self.wait(600):
            raise TimeoutError(f"a command hangs, see {self.out}")
        process = self.process
        code = process.returncode if isinstance(process, subprocess.Popen) else process.exitcode
        return int(code or 0), self.out.read_text("utf-8", "replace").strip()


_FORKS = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload(
    [
        "ancrage.cli.app", "ancrage.evaluators", "ancrage.judges.terminal", "ancrage.langfuse.pull",
        "ancrage.langfuse.publish", "ancrage.langfuse.push", "ancrage.replay.session",
        "ancrage.report.terminal", "ancrage.runs.progress", "ancrage.snapshot.take",
        "anyio._backends._asyncio", "httpx2", "rich.progress",
    ]
)  # fmt: skip


def _perform(folder: str, environment: dict[str, str], said: str, words: tuple[str, ...]) -> None:
    os.setsid()
    os.environ.update(environment)
    os.chdir(folder)
    tempfile.tempdir = None
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    os.dup2(os.open(said, os.O_WRONLY), 2)
    sys.argv = ["ancrage", *words]
    from ancrage.cli.app import main

    main()


@dataclass(frozen=True)
class Way:
    """A command to harm, how to take it up, and what it leaves when all is well."""

    name: str
    start: tuple[str, ...]
    resume: tuple[str, ...]
    left: Callable[[Site], object]
    """What is there in the end, to be held against what an undisturbed command leaves."""
    began: Callable[[Path], bool] = lambda _: True
    """Whether there is something to take up; else the command is given again."""
    cases: int = CASES
    before: tuple[tuple[str, ...], ...] = ()
    """Commands that must have been given before it."""
    pays: bool = False


def _plain(value: Any) -> Any:
    """Without what a clock says."""
    timed = ("usage", "started", "seconds")
    if isinstance(value, dict):
        return {key: _plain(part) for key, part in value.items() if key not in timed}
    return [_plain(part) for part in value] if isinstance(value, list) else value


def journal(path: Path) -> list[tuple[str, str]]:
    """Each case of a journal and what its line holds, in the order of their names."""
    entries = (json.loads(line) for line in path.read_bytes().splitlines())
    return sorted(
        (entry["case_id"], json.dumps(_plain(entry), sort_keys=True)) for entry in entries
    )


def runs_left(site: Site) -> object:
    """State, counts, outputs and the scores of every run."""
    found = []
    for run in sorted(site.path.glob("runs/*")):
        manifest = json.loads((run / "manifest.json").read_text())
        scorings = [
            (json.loads((path / "manifest.json").read_text())["state"],
             journal(path / "scores.jsonl"))
            for path in sorted(manifest.parent for manifest in run.glob("scorings/*/manifest.json"))
        ]  # fmt: skip
        outputs = journal(run / "outputs.jsonl")
        found.append((run.name, manifest["state"], manifest["counts"], outputs, scorings))
    return found


def snapshot_left(site: Site) -> object:
    """All names in the folder, and the hash."""
    taken = site.path / "taken"
    manifest = json.loads((taken / "s/manifest.json").read_text())
    return sorted(path.name for path in taken.iterdir()), manifest["counts"], manifest["hash"]


def langfuse_left(site: Site) -> object:
    """How often each thing is in Langfuse: versions of each item and what the last one holds,
    what was said of each, scores of each."""
    store = site.langfuse.store
    parts = ("input", "expectedOutput", "metadata", "status")
    items = {
        name: (len(versions), json.dumps([versions[-1][part] for part in parts], sort_keys=True))
        for name, versions in store.items.items()
    }
    told = Counter(
        (row["name"], (row.get("experiment") or {}).get("item.id"))
        for row in store.observations.values()
    )
    scores = Counter(
        (row["name"], str(row["value"]), str(row["subject"]["kind"]))
        for row in store.scores.values()
    )
    return sorted(items.items()), sorted(map(str, told.items())), sorted(scores.items())


def _has(name: str) -> Callable[[Path], bool]:
    return lambda path: (path / name).exists()


def experiment(workers: int) -> Way:
    start = ("experiment", "--snapshot", "snap", "--run-name", "k", "--workers", str(workers))
    resume = ("experiment", "--resume", "k", "--workers", str(workers))
    name = f"experiment, {workers} process{'es' * (workers > 1)}"
    return Way(name, start, resume, runs_left, _has("runs/k/manifest.json"))


TAKE = (
    "snapshot", "--source", "answers.jsonl", "--studies", "messages.jsonl",
    "--pseudonymise", "none", "--out",
)  # fmt: skip
MADE = ("experiment", "--snapshot", "snap", "--run-name", "k")
PUSH = ("push", "snap", "--dataset", "d")
PUBLISH = ("publish", "k", "--dataset", "d")
PULL = ("pull", "k")
SCORE = ("score", "k", "--judges", "relevance", "--concurrency", str(AT_ONCE))
REPLAY = ("replay", "--snapshot", "snap", "--run-name", "k", "--no-preflight")
AGAIN = ("replay", "--resume", "k", "--no-preflight")
LIVE = ("--concurrency", str(AT_ONCE))
WAYS = (
    Way("snapshot", (*TAKE, "taken/s"), (*TAKE, "taken/s"), snapshot_left, _has("taken/s")),
    experiment(1),
    experiment(2),
    Way(
        "replay --mock", (*REPLAY, "--mock", "mock.json"), AGAIN, runs_left,
        _has("runs/k/manifest.json"),
    ),
    Way(
        "replay", (*REPLAY, *LIVE), (*AGAIN, *LIVE), runs_left, _has("runs/k/manifest.json"),
        cases=FEW, pays=True,
    ),
    Way(
        "replay --repeat 3", (*REPLAY, *LIVE, "--repeat", "3"), (*AGAIN, *LIVE), runs_left,
        lambda path: len(list(path.glob("runs/*/manifest.json"))) > 0, cases=FEW // 3, pays=True,
    ),
    Way(
        "score --judges", SCORE, (*SCORE, "--resume"), runs_left,
        _has("runs/k/scorings/002/manifest.json"), cases=FEW, before=(MADE,), pays=True,
    ),
    Way("push", PUSH, PUSH, langfuse_left, cases=FEW),
    Way("publish", PUBLISH, PUBLISH, langfuse_left, cases=FEW, before=(MADE, PUSH)),
    Way("pull", PULL, PULL, runs_left, cases=FEW, before=(MADE, PUSH, PUBLISH)),
)  # fmt: skip


def build(site: Site, way: Way) -> None:
    """A folder with answers, messages, mock answers, the snapshot of them, and what came before."""
    path = site.path
    for name in ("", "tmp"):
        (path / name).mkdir()
    answers = [
        {
            "id": f"c{n:05d}", "study_id": "s", "question": f"Question {n} ?",
            "answer": f"« rien à dire, message {n % MESSAGES} » [R-{n % MESSAGES:03d}, "
            f"M-{n % MESSAGES:04d}], et encore {n}.",
        }
        for n in range(way.cases)
    ]  # fmt: skip
    messages = [
        {"id": f"M-{n:04d}", "respondent_id": f"R-{n:03d}", "text": f"Ah, rien à dire, {n}."}
        for n in range(MESSAGES)
    ]  # fmt: skip
    for name, rows in (("answers", answers), ("messages", messages)):
        (path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    mock = [{"id": answer["id"], "answer": answer["answer"]} for answer in answers]
    (path / "mock.json").write_text(json.dumps(mock))
    (path / "evals.toml").write_text(
        '[assistant]\nuse = "mine:agent"\n\n'
        f'[tiers.standard]\nmodel = "m"\nendpoint = "{site.models.url}"\n\n'
        f'[tiers.judge]\nmodel = "m"\nendpoint = "{site.models.url}"\n\n'
        "[langfuse]\npoll = 0.05\n"
    )
    (path / "mine.py").write_text(
        "from ancrage.replay import ToolCallingAgent\n\n"
        "agent = ToolCallingAgent('standard', prompt=lambda context: 'Réponds.')\n"
    )
    for words in ((*TAKE, "snap"), *way.before):
        code, said = site.run(words)
        if code:
            raise SystemExit(f"{words[0]} ends with {code}: {said}")
    if way.start == PULL:  # a colleague's folder, which has not got the run
        shutil.rmtree(path / "runs")


def answer(call: Call) -> Say:
    """A judge's reply that finds nothing, or an answer that depends on the question."""
    try:
        return Say(reply(seen(call), ()))
    except (AssertionError, StopIteration, ValueError):
        return Say(f"« rien à dire » [R-001, M-0001], et {call.text[-20:]}")


def killed(site: Site, words: Sequence[str], after: float) -> bool:
    """Start the command and kill its process alone ``after`` seconds; whether it still ran.

    Raises:
        AssertionError: a worker outlives its parent by ten seconds.
    """
    command = site.start(words)
    if command.wait(after):
        return False
    command.process.kill()
    command.wait(60)
    for _ in range(100):
        try:
            os.killpg(command.process.pid or 0, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.1)
    os.killpg(command.process.pid or 0, signal.SIGKILL)
    raise AssertionError("a worker outlives its parent")


@dataclass
class Bench:
    """One way of working: its project, and what an undisturbed command takes and leaves."""

    way: Way
    template: Site
    root: Path
    stored: Store = field(default_factory=Store)
    usual: float = 0.0
    calls: int = 0
    expected: object = None
    grown: int = 0
    """Bytes that the command writes and leaves."""

    def prepare(self) -> None:
        build(self.template, self.way)
        self.stored = _copied(self.template.langfuse.store)
        took = []
        for _ in range(2):  # the first finds its files cold
            site = self.site("whole")
            before = _size(site.path)
            began = time.perf_counter()
            code, said = site.run(self.way.start)
            took.append(time.perf_counter() - began)
            if code:
                raise SystemExit(f"{self.way.name}: exit {code}: {said}")
            self.expected, self.calls = self.way.left(site), len(site.models.calls)
            self.grown = _size(site.path) - before
            shutil.rmtree(site.path)
        self.usual = min(took)

    def site(self, name: str, *, mounted: bool = False) -> Site:
        """A fresh copy of the project, and of what the servers hold."""
        path = self.root / name
        shutil.copytree(self.template.path, path, dirs_exist_ok=mounted)
        self.template.models.calls.clear()
        self.template.langfuse.store = _copied(self.stored)
        return Site(path, self.template.models, self.template.langfuse)

    def taken_up(self, site: Site, *, under_way: int = 0) -> str:
        """The command taken up, and what is there then: ``survived``, or what is wrong."""
        way = self.way
        began = way.began(site.path)
        if began and way.left is snapshot_left:  # whole, or not there
            words: tuple[str, ...] = ("experiment", "--snapshot", "taken/s", "--run-name", "probe")
        else:
            words = way.resume if began else way.start
        code, said = site.run(words)
        if code and any(words in said for words in COMPLETE):
            code = 0
        if code:
            return f"exit {code}: {(said.splitlines() or [''])[-1]}"
        if way.left(site) != self.expected:
            return "lost or twice"
        if way.pays and not self.calls <= len(site.models.calls) <= self.calls + under_way:
            return f"{len(site.models.calls)} calls where {self.calls} do"
        return "survived"


def _copied(store: Store) -> Store:
    copied = Store()
    held = {name: value for name, value in vars(store).items() if name != "lock"}
    vars(copied).update(copy.deepcopy(held))
    return copied


def _size(path: Path) -> int:
    return sum(-(-file.stat().st_size // 4096) * 4096 for file in path.rglob("*"))


def kill(bench: Bench, chance: random.Random) -> str | None:
    site = bench.site("trial")
    try:
        if not killed(site, bench.way.start, chance.random() * bench.usual):
            return None
    except AssertionError as error:
        return str(error)
    return bench.taken_up(site, under_way=AT_ONCE)


def clock(bench: Bench, chance: random.Random) -> str | None:
    if not FAKETIME.exists():
        return "skipped: no libfaketime"
    site = bench.site("trial")
    site.clock = {"LD_PRELOAD": str(FAKETIME), "FAKETIME": "+2d"}
    if not killed(site, bench.way.start, (0.3 + 0.7 * chance.random()) * bench.usual):
        return None
    site.clock = {}
    return bench.taken_up(site, under_way=AT_ONCE)


def two(bench: Bench, chance: random.Random) -> str | None:
    site = bench.site("trial")
    both = []
    for pause in (0.0, chance.random() * bench.usual):
        time.sleep(pause)
        began = bench.way.began(site.path) and bench.way.left is runs_left
        words = bench.way.resume if began else bench.way.start
        both.append(site.start(words))
    ends = [command.end() for command in both]
    for code, said in ends:
        if code and (wrong := _ill_told(code, said)):
            return wrong
    told = " / ".join(said for _, said in ends)
    if all(code for code, _ in ends):
        return f"neither ends well: {told}"
    # The one that came second was told to wait, or did the same again: nothing is left to do.
    if bench.way.left(site) != bench.expected:
        return f"lost or twice: {told}"
    calls = len(site.models.calls)
    return "survived" if not bench.way.pays or calls == bench.calls else f"{calls} calls"


def _ill_told(code: int, said: str) -> str | None:
    """What is wrong with how a harmed command ended; None when it said it in a line."""
    if "Traceback" in said or code not in (2, 3):
        return f"exit {code}: {said.splitlines()[-1] if said else 'says nothing'}"
    return None if said else f"exit {code} and says nothing"


def _named(folder: Path, said: str) -> bool:
    """Whether a message names a file or a folder under ``folder``."""
    words = (word for word in re.findall(r"[\w./-]+", said) if "/" in word.strip("/."))
    return any((folder / word).is_relative_to(folder) for word in words)


def _mount(path: Path, *options: str) -> bool:
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", ",".join(options), "tmpfs", path],  # noqa: S607
        capture_output=True,
        check=False,
    )
    return mounted.returncode == 0


def _remount(path: Path, option: str) -> None:
    subprocess.run(["mount", "-o", f"remount,{option}", path], check=True)  # noqa: S607


def full(bench: Bench, chance: random.Random) -> str | None:
    share = chance.random()

    def fill(path: Path) -> str:
        disk = os.statvfs(path)
        used = (disk.f_blocks - disk.f_bfree) * disk.f_frsize
        return f"size={used + round(share * bench.grown / 4096) * 4096}"

    return _on_disk(bench, fill, f"size={1 << 30}")


def read_only(bench: Bench, _: random.Random) -> str | None:
    return _on_disk(bench, lambda _: "ro", "rw")


def _on_disk(bench: Bench, harm: Callable[[Path], str], cure: str) -> str | None:
    path = bench.root / "trial"
    path.mkdir()
    if not _mount(path, f"size={1 << 30}"):
        return "skipped: nothing can be mounted"
    try:
        site = bench.site("trial", mounted=True)
        _remount(path, harm(path))
        code, said = site.run(bench.way.start)
        if not code:  # nothing to write, or all of it went in
            return None
        if wrong := _ill_told(code, said):
            return wrong
        if not _named(site.path, said):
            return f"names no file: {said}"
        _remount(path, cure)
        return bench.taken_up(site, under_way=AT_ONCE)
    finally:
        subprocess.run(["umount", "-l", path], check=True)  # noqa: S607


HARMS: dict[str, tuple[Callable[[Bench, random.Random], str | None], float]] = {
    "kill": (kill, 1.0),
    "full": (full, 0.4),
    "read-only": (read_only, 0.02),
    "clock": (clock, 0.1),
    "two": (two, 0.2),
}
"""Each with how often it is tried, as a share of ``--times``."""


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--times", type=int, default=50, help="kills of each way of working")
    parser.add_argument("--only", default="", help="ways whose names begin so, commas between")
    parser.add_argument("--harm", default="", choices=["", *HARMS], help="this one alone")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    print(f"{'way of working':26} {'harm':10} tried  survived")
    for way in (way for way in WAYS if way.name.startswith(tuple(options.only.split(",")))):
        with ExitStack() as stack:
            root = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            models = stack.enter_context(OpenAIServer(answer, latency=0.02))
            langfuse = stack.enter_context(LangfuseServer())
            bench = Bench(way, Site(root / "project", models, langfuse), root)
            bench.prepare()
            for harm, (inflict, share) in HARMS.items():
                if options.harm not in ("", harm):
                    continue
                chance = random.Random(f"{options.seed} {harm}")
                results: Counter[str] = Counter()
                tries = 0
                wanted = max(1, round(options.times * share))
                while results.total() < wanted and tries < 3 * wanted:
                    tries += 1
                    outcome = inflict(bench, chance)
                    shutil.rmtree(root / "trial", ignore_errors=True)
                    if outcome is not None:
                        results[outcome] += 1
                wrong = [f"{n} × {what}" for what, n in results.items() if what != "survived"]
                print(
                    f"{way.name:26} {harm:10} {results.total():5}  {results['survived']:8}  "
                    f"{'; '.join(wrong)}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
