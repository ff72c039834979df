"""From nothing to a first report: ``init``, ``doctor`` and ``demo``."""

from typing import TYPE_CHECKING

from ancrage.cli.shell import command
from ancrage.errors import ExitCode, UsageError
from ancrage.program import called

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from ancrage.config import Config
    from ancrage.setup.propose import Sampled


@command(
    help={
        "files": "Files of answers, messages, questions or studies (default: those found here "
        "and in data/).",
        "name": "Name of the source in evals.toml.",
        "dry-run": "Show what would be read and written, and write nothing.",
    },
    example="init answers.jsonl messages.csv",
)
def init(*files: str, name: str = "production", dry_run: bool = False) -> ExitCode:
    """Look at your files and write a first configuration.

    Says what it would read and how many of how many rows, which names the fields have, and how
    the answers cite. Writes evals.toml, .env, tasks.py and a CI workflow where there are none.
    """
    import json
    from pathlib import Path

    from ancrage.config import load
    from ancrage.files import write_atomic
    from ancrage.report.terminal import console
    from ancrage.setup.files import CONFIGURATION, write_project
    from ancrage.setup.propose import candidates, sample, source_table
    from ancrage.setup.reference import schema

    here = Path.cwd()
    paths = [Path(file) for file in files] or candidates(here)
    for path in paths:
        if not path.is_file():
            raise UsageError(f"{path}: no such file")
    out = console()
    sampled = sample(paths)
    for file in sampled:
        out.print(file.line, soft_wrap=True, markup=False, highlight=False)
    present = load()
    if present.tables.get("sources") and not files:
        return _present(present, here)
    table = source_table(sampled, name)
    citations, words = _citations(sampled)
    place = Path(".ancrage") / "evals.schema.json"
    configuration = CONFIGURATION.format(
        schema=f"./{place.as_posix()}", source=table, citations=citations
    )
    answered = any(file.kind == "answers" and file.readable for file in sampled)
    if answered:
        out.print(f"\n{_first_look(configuration, name, here)}", soft_wrap=True)
        shown = [line for line in citations.splitlines() if not line.startswith("#") and line]
        out.print("\n".join([words, *shown]) + "\n", soft_wrap=True, markup=False)
    else:
        out.print(_unread(sampled, name), soft_wrap=True, markup=False)
    if dry_run:
        out.print(configuration, soft_wrap=True, markup=False, highlight=False)
        return ExitCode.OK if answered else ExitCode.INCOMPLETE
    for written in write_project(here, configuration):
        out.print(f"{written.path.relative_to(here)}: {written.what}", soft_wrap=True)
    write_atomic(place, json.dumps(schema(), ensure_ascii=False, indent=1) + "\n")
    if not answered:
        out.print("\nNext: complete evals.toml", soft_wrap=True)
        return ExitCode.INCOMPLETE
    out.print(f"\nNext: {called(f'snapshot --source {name}')}", soft_wrap=True)
    return ExitCode.OK


def _present(config: "Config", here: "Path") -> ExitCode:
    """What the configuration that is there reads; nothing of it is changed."""
    from ancrage.report.terminal import console
    from ancrage.setup.files import write_project

    out = console()
    out.print()
    names = list(config.table("sources", dict[str, dict[str, object]]))
    for name in names:
        words = _look(config, name)
        out.print(f"{config.path}: [sources.{name}]: {words}", soft_wrap=True, markup=False)
    for written in write_project(here, ""):
        out.print(f"{written.path.relative_to(here)}: {written.what}", soft_wrap=True)
    out.print(f"\nNext: {called(f'snapshot --source {names[0]}')}", soft_wrap=True)
    return ExitCode.OK


def _unread(sampled: "Sequence[Sampled]", name: str) -> str:
    """What is missing, and how to name it."""
    looked = ", ".join(str(file.path) for file in sampled) or "no file"
    by_hand = "snapshot --source FILE --map id=COLUMN --map question=COLUMN --map answer=COLUMN"
    return (
        f"\nNo answers can be read (looked at: {looked}). A row needs an id, a question and an "
        f"answer. Name their columns:\n  {called(by_hand)}\n"
        f"or complete [sources.{name}.fields] of evals.toml."
    )


def _citations(sampled: "Sequence[Sampled]") -> "tuple[str, str]":
    """The tables ``[citations]`` and ``[ids]`` that the sample asks for, and words about them."""
    from ancrage.setup.citing import propose, same
    from ancrage.setup.propose import answers_of, ids_of

    texts = [text for file in sampled for text in answers_of(file)]
    ids = ids_of(sampled)
    found = propose(texts, ids)
    words = f"Citations are read in {found.read} of {found.of} sampled answers"
    if found.lines:
        words += f" with the lines below, in {found.by_default} by default"
    active = found.lines and 2 * found.read > found.of
    lines = [f"# {words.replace(' below', '')}."]
    table = ["[citations]", *found.lines.splitlines()] if found.lines else []
    lines += table if active else [f"# {line}" for line in table]
    if not table:
        lines += ["# [citations]", '# message = "M[-_.]?\\\\d+"']
    if (loose := same(ids["message"])) or (loose := same(ids["respondent"])):
        lines += ["", "# Ids that exist differ in this alone.", "[ids]", *loose]
    return "\n".join([*lines, ""]), words + (
        "." if active or not table else "; they are commented."
    )


def _first_look(configuration: str, name: str, root: "Path") -> str:
    """What the configuration reads of the files, before it is written."""
    import tomllib

    from ancrage.config import Config

    return _look(Config(root / "evals.toml", tomllib.loads(configuration)), name)


def _look(config: "Config", name: str) -> str:
    """What a source reads, of the first rows."""
    from contextlib import closing
    from itertools import islice

    from ancrage.domain import Case
    from ancrage.setup.propose import SAMPLE
    from ancrage.snapshot.sources import Window, open_source

    with closing(open_source(name, config)) as source:
        rows = list(islice(source.cases(Window()), SAMPLE))
        cases = [row for row in rows if isinstance(row, Case)]
        studies = {case.study_id: source.study(case.study_id, lambda _: None)
                   for case in cases if case.study_id}  # fmt: skip
    found = [study for study in studies.values() if study]
    messages = sum(len(study.messages) for study in found)
    words = (
        f"{len(cases)} of {len(rows)} rows are answers; "
        f"{len(found)} of {len(studies)} studies found, with {messages} messages"
    )
    if not messages:
        words += ". Without messages no quote can be checked: name their file too"
    return words + "."


@command(
    help={"offline": "Leave out the checks that reach for the network."},
    example="doctor --offline",
)
def doctor(offline: bool = False) -> ExitCode:
    """Say what works here, what does not, and what to do.

    Exits 2 when something that is configured does not work.
    """
    from rich.table import Table
    from rich.text import Text

    from ancrage.report.terminal import console, show
    from ancrage.setup.doctor import examine

    styles = {"ok": "green", "absent": "dim", "fault": "bold red"}
    found = list(examine(offline=offline))
    table = Table.grid(padding=(0, 2, 0, 0))
    for check in found:
        table.add_row(
            Text(check.state, styles[check.state]), check.name, Text(check.words, overflow="fold")
        )
    show(table, console())
    return ExitCode.WRONG_USE if any(check.state == "fault" for check in found) else ExitCode.OK


@command(help={"open": "Open the report in the browser."}, example="demo --open")
def demo(open: bool = False) -> ExitCode:
    """Audit the demonstration's answers, offline and free.

    132 answers of an invented assistant over three bilingual surveys. They are copied to
    snapshots/demo, where every other command can use them; in a configured project to
    .ancrage/demo, and checked without its configuration.
    """
    import shutil
    from pathlib import Path

    from ancrage.cli.experiment import experiment
    from ancrage.config import load
    from ancrage.report.terminal import console
    from ancrage.setup.demonstration import demonstration

    if load().path:
        return _demo_apart(Path(".ancrage", "demo"), open=open)
    place = Path("snapshots", "demo")
    if not place.exists():
        shutil.copytree(demonstration(), place)
    ended = experiment.function(snapshot=str(place))
    console().print(f"\nNext: {called('show bank-024')}", soft_wrap=True)
    if open:
        from ancrage.cli.report import report

        report.function(open=True, worst=0)
    return ended or ExitCode.OK


def _demo_apart(home: "Path", *, open: bool) -> ExitCode:
    """The demonstration by its own grammar, among none of the project's runs."""
    import webbrowser

    from ancrage.api import audit
    from ancrage.cli.reporting import print_run
    from ancrage.config import Config
    from ancrage.report.terminal import console
    from ancrage.setup.demonstration import demonstration

    run = audit(demonstration(), root=home / "runs", config=Config(None, {}))
    print_run(run.folder)
    console().print(f"\nNext: {called(f'show bank-024 {run.folder.path}')}", soft_wrap=True)
    if open:
        webbrowser.open((run.folder.path / "report.html").resolve().as_uri())
    return ExitCode.OK


tasks = (init, doctor, demo)
