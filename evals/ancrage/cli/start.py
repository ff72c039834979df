"""From nothing to a first report: ``init``, ``doctor`` and ``demo``."""

from typing import TYPE_CHECKING

from ancrage.cli.shell import command
from ancrage.errors import ExitCode, UsageError
from ancrage.program import called

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

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
        out.print(file.line, soft_wrap=True)
    table = source_table(sampled, name)
    place = Path(".ancrage") / "evals.schema.json"
    configuration = CONFIGURATION.format(
        schema=f"./{place.as_posix()}", source=table, citations=_citations(sampled)
    )
    read = _first_look(configuration, name, here)
    out.print(f"\n{read}\n", soft_wrap=True)
    if dry_run:
        out.print(configuration, soft_wrap=True)
        return ExitCode.OK
    for written in write_project(here, configuration):
        out.print(f"{written.path.relative_to(here)}: {written.what}", soft_wrap=True)
    write_atomic(place, json.dumps(schema(), ensure_ascii=False, indent=1) + "\n")
    out.print(f"\nNext: {called(f'snapshot --source {name}')}", soft_wrap=True)
    return ExitCode.OK


def _citations(sampled: "Sequence[Sampled]") -> str:
    """The lines of ``[citations]``: those that the sample asks for, else the defaults."""
    from ancrage.citations import parse
    from ancrage.citations.unrecognised import unrecognised
    from ancrage.setup.propose import answers_of

    texts = [text for file in sampled for text in answers_of(file)]
    read = sum(bool(parse(text).citations) for text in texts)
    proposals: dict[str, str] = {}
    for text in texts:
        proposals |= unrecognised(text).proposals
    lines = [f"# By default, citations were read in {read} of {len(texts)} sampled answers."]
    if proposals and not read:
        return "\n".join([*lines, "[citations]", next(iter(proposals.values())), ""])
    lines += [f"# {line}" for each in proposals.values() for line in each.splitlines()]
    return "\n".join([*lines, "# [citations]", '# message = "M[-_.]?\\\\d+"', ""])


def _first_look(configuration: str, name: str, root: "Path") -> str:
    """What the configuration reads of the files, before it is written."""
    import tomllib
    from contextlib import closing
    from itertools import islice

    from ancrage.config import Config
    from ancrage.domain import Case
    from ancrage.setup.propose import SAMPLE
    from ancrage.snapshot.sources import Window, open_source

    config = Config(root / "evals.toml", tomllib.loads(configuration))
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
    snapshots/demo, where every other command can use them.
    """
    import shutil
    from pathlib import Path

    from ancrage.cli.experiment import experiment
    from ancrage.report.terminal import console
    from ancrage.setup.demonstration import demonstration

    place = Path("snapshots", "demo")
    if not place.exists():
        shutil.copytree(demonstration(), place)
    ended = experiment.function(snapshot=str(place))
    console().print(f"\nNext: {called('show bank-024')}", soft_wrap=True)
    if open:
        from ancrage.cli.report import report

        report.function(open=True, worst=0)
    return ended or ExitCode.OK


tasks = (init, doctor, demo)
