"""The report on a terminal and in a pipe."""

import asyncio
import io
import re
import subprocess
import sys
from io import StringIO
from pathlib import Path

import pytest
from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from ancrage.checks import load_checks
from ancrage.errors import UsageError
from ancrage.report.data import read_report
from ancrage.report.show import find_answer, render
from ancrage.report.terminal import console, overview, show
from ancrage.report.why import why
from ancrage.runs import RunFolder, RunView
from tests.builders import subject
from tests.report.conftest import CLEAN, case, finding, make_run
from tests.report.test_html import Parsed

ESCAPE = "\x1b"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def piped(folder: RunFolder, worst: int = 5) -> str:
    out = console(io.StringIO())
    show(overview(read_report(RunView(folder), worst=worst), Path("runs/x/report.html")), out)
    assert isinstance(out.file, io.StringIO)
    return out.file.getvalue()


def shown(folder: RunFolder, case: str, mode: str | None = None, width: int = 100) -> str:
    out = Console(file=io.StringIO(), width=width, force_terminal=False, color_system=None)
    show(render(find_answer(RunView(folder), case, mode), out), out)
    assert isinstance(out.file, io.StringIO)
    return out.file.getvalue()


def test_one_row_a_mode_with_its_denominator_and_its_unscored(run: RunFolder) -> None:
    rows = {line.split()[0]: " ".join(line.split()) for line in piped(run).splitlines() if line}
    assert rows["non_verbatim_quote"] != ""
    text = "\n".join(" ".join(line.split()) for line in piped(run).splitlines())
    assert "\nnon_verbatim_quote 2 4 2/3 = 66.7 % [20.8, 93.9] 3\n" in text
    assert "\nunknown_ref 2 2 2/4 = 50.0 % [15.0, 85.0] 2\n" in text
    assert "\nwrong_respondent_id 1 1 1/4 = 25.0 % [4.6, 69.9] 2\n" in text
    assert "6 cases = 4 ok + 1 missing + 1 truncated; 2 with at least one finding." in text
    assert "1 answer, non_verbatim_quote: the case names no study" in text
    assert "1 answer, every mode: output missing: recorded as missing in the snapshot" in text
    assert text.endswith("HTML report: runs/x/report.html")


def test_the_worst_answers_come_first_with_their_passages(run: RunFolder) -> None:
    text = piped(run)
    assert text.index("1. bus-001  4 findings") < text.index("2. hostile-001  3 findings")
    assert "« ▸Le bus de 7 h 45 est toujours plein 😤◂ » [R-001" in text
    assert "non_verbatim_quote  T5 translated" in text
    assert "1. bus-001" in piped(run, worst=1)
    assert "2. hostile-001" not in piped(run, worst=1)
    assert "Worst answers" not in piped(run, worst=0)


def test_a_pipe_gets_neither_escapes_nor_trailing_spaces(run: RunFolder) -> None:
    for text in (piped(run), shown(run, "hostile-001")):
        assert ESCAPE not in text
        assert not [c for c in text if ord(c) < 32 and c != "\n"]
        assert not [line for line in text.splitlines() if line != line.rstrip()]
        assert max(map(len, text.splitlines())) <= 110


def test_a_terminal_gets_colours_but_no_escape_of_an_answer(
    run: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    out = console(Terminal())
    show(overview(read_report(RunView(run)), Path("report.html")), out)
    show(render(find_answer(RunView(run), "hostile-001"), out), out)
    assert isinstance(out.file, io.StringIO)
    text = out.file.getvalue()
    assert ESCAPE in text
    assert "\x1b[2J" not in text
    assert "\x1b]" not in text
    assert "\x9b" not in text
    assert "\x07" not in text


def test_markup_in_an_answer_stays_text(run: RunFolder) -> None:
    text = shown(run, "hostile-001")
    assert "[bold red]rich[/bold red] [link=file:///etc/passwd]x[/link]" in text
    assert "<b>[bold]no[/bold]" in text


def test_columns_sets_the_width(run: RunFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    assert console(io.StringIO()).width == 60
    monkeypatch.setenv("COLUMNS", "3")
    assert console(io.StringIO()).width == 40
    monkeypatch.delenv("COLUMNS")
    assert console(io.StringIO()).width == 100


def test_show_marks_findings_in_place_even_when_they_overlap(run: RunFolder) -> None:
    text = shown(run, "hostile-001").replace("\u00a0", " ")
    assert "⟦1 <script>window.⟦2 broken = 1</script> 1⟧</script><!-- ]]> 2⟧ <img" in text


def test_show_gives_the_tier_the_difference_and_the_source(run: RunFolder) -> None:
    text = shown(run, "bus-001")
    assert " 1   non_verbatim_quote  T4 altered" in text
    assert "Le bus de 7 h [-40-]{+45+} est toujours plein" in text
    assert "R-001, M-0002 · Q2" in text
    assert "before (M-0001): Je prends le bus tous les matins, même le vendredi." in text
    assert "after (M-0004): Rien d'autre, merci !" in text
    assert "Quotes that passed" in text
    assert "T0 verbatim" in text


def test_show_puts_the_source_beside_when_there_is_room(run: RunFolder) -> None:
    beside = [line for line in shown(run, "bus-001", width=140).splitlines() if "T5" in line]
    assert "R-002, M-0003" in beside[0]


def test_show_can_keep_to_one_mode(run: RunFolder) -> None:
    text = shown(run, "bus-001", "unknown_ref")
    assert "The study has no question Q9." in text
    assert "T4 altered" not in text


def test_show_says_why_there_is_no_answer_or_no_score(run: RunFolder) -> None:
    text = shown(run, "lost-001")
    assert "missing: recorded as missing in the snapshot" in text
    assert "There is no answer." in text
    assert "unscored  non_verbatim_quote: the case names no study" in shown(run, "half-001")


def test_a_case_is_found_by_its_beginning_or_refused(run: RunFolder) -> None:
    assert shown(run, "hos").startswith("hostile-001")
    with pytest.raises(UsageError, match="2 cases begin with 'bus': bus-001, bus-002"):
        shown(run, "bus")
    with pytest.raises(UsageError, match="no case 'bsu-001'; the closest is 'bus-001'"):
        shown(run, "bsu-001")
    with pytest.raises(UsageError, match="no failure mode 'unknown_rf'; the closest is"):
        shown(run, "bus-001", "unknown_rf")


def test_an_exact_id_wins_over_longer_ones(tmp_path: Path) -> None:
    folder = make_run(tmp_path, [case("a-1", CLEAN), case("a-11", CLEAN)])
    assert shown(folder, "a-1").startswith("a-1 ")


def test_a_run_with_nothing_in_it_can_be_reported(tmp_path: Path) -> None:
    folder = make_run(tmp_path, [])
    text = piped(folder)
    assert "no case; 0 with at least one finding." in text
    assert "no scored answer" in text


def test_many_findings_are_cut_short_with_the_way_to_see_them(tmp_path: Path) -> None:
    text = " ".join(f"mot{n}" for n in range(20))
    found = [finding(text, f"mot{n}") for n in range(10, 20)]
    folder = make_run(tmp_path, [case("a", text)], {"a": found})
    assert "and 4 more: ancrage show a" in piped(folder)


def test_an_endless_reason_or_id_does_not_flood_the_terminal(tmp_path: Path) -> None:
    endless = "x" * 5_000
    asked = case(endless, CLEAN).model_copy(update={"source_missing": endless})
    folder = make_run(tmp_path, [asked], {endless: [finding(CLEAN, CLEAN[:5])]})
    assert len(piped(folder)) < 3_000


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder whose tasks.py takes the commands, as a user's would."""
    (tmp_path / "tasks.py").write_text("from ancrage.cli import namespace\n")
    return tmp_path


def invoke(folder: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "invoke", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
    )


def test_report_writes_the_file_and_exits_0(project: Path) -> None:
    folder = make_run(project, [case("a", CLEAN)])
    done = invoke(project, "report")
    assert (done.returncode, done.stderr) == (0, "")
    assert f"HTML report: runs/{folder.path.name}/report.html" in done.stdout
    assert (folder.path / "report.html").stat().st_size > 10_000
    assert list(folder.path.glob("*.tmp")) == []


def test_an_experiment_ends_with_what_to_do_next(project: Path) -> None:
    folder = make_run(project, [case("a", "« Rien de tel » [R-001, M-0001]")])
    snapshot = str(folder.snapshot().path)
    done = invoke(project, "experiment", "--snapshot", snapshot, "--judges", "none")
    assert done.stdout.splitlines()[-1] == (
        "Next: invoke show a · invoke report --open · invoke compare latest~1 latest"
    )


def test_report_of_an_incomplete_run_says_so_and_exits_3(project: Path) -> None:
    make_run(project, [case("a", CLEAN), case("b", CLEAN)], limit=1)
    done = invoke(project, "report", "--html", "out.html", "--worst", "0")
    assert done.returncode == 3
    assert "The run is incomplete: 1 of 2 cases were not reached." in done.stdout
    assert "the run is incomplete" in (project / "out.html").read_text()


def test_wrong_use_is_one_line_and_exits_2(project: Path) -> None:
    make_run(project, [case("alpha", CLEAN)])
    for arguments, message in (
        (("report", "--run", "nothing"), "report: no run answers to 'nothing'"),
        (("report", "--html", "no/where.html"), "the folder no does not exist"),
        (("report", "--html", "runs"), "--html runs: is a folder"),
        (("report", "--worst", "-1"), "--worst -1: give a whole number"),
        (("show", "alhpa"), "the closest is 'alpha'"),
    ):
        done = invoke(project, *arguments)
        assert done.returncode == 2
        assert message in done.stderr
        assert len(done.stderr.splitlines()) == 1


def test_show_exits_0(project: Path) -> None:
    make_run(project, [case("alpha", CLEAN)])
    done = invoke(project, "show", "al")
    assert (done.returncode, done.stderr) == (0, "")
    assert "Quotes that passed" in done.stdout


def test_quotes_that_passed_are_read_with_the_grammar_of_the_project(project: Path) -> None:
    (project / "evals.toml").write_text('[citations]\nbrackets = ["{}"]\n')
    make_run(
        project,
        [case("alpha", "« Je prends le bus tous les matins » {R-001, M-0001}")],
    )
    assert "Quotes that passed" in invoke(project, "show", "alpha").stdout
    assert invoke(project, "report").returncode == 0
    (html,) = project.glob("runs/*/report.html")
    (content,) = Parsed(html.read_text()).answers().values()
    assert content["passed"]


def test_a_huge_altered_quote_is_shown_without_its_difference(tmp_path: Path) -> None:
    text = "mot " * 20_000
    found = finding(text, text.strip(), source="M-0001", source_passage="le bus", tier="T4")
    folder = make_run(tmp_path, [case("a", text)], {"a": [found]})
    assert "source → answer" not in shown(folder, "a")


def test_nothing_printed_in_github_actions_acts_as_a_command(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    file = io.StringIO()
    show(Text("::error::hostile\n  ::set-output name=a::b\nx ##[error]y"), console(file))
    console(file).print("::warning::also this", "\x1b[2J")
    assert not re.search(r"(?m)^\s*::|##\[|\x1b", file.getvalue())
    assert "∶:error::hostile" in file.getvalue()


@pytest.mark.parametrize("width", [40, 60, 80, 100])
def test_no_name_is_in_pieces_at_any_width(
    run: RunFolder, width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    file = io.StringIO()
    report = read_report(RunView(run))
    show(overview(report), console(file))
    text = file.getvalue()
    assert max(map(cell_len, text.splitlines())) <= width
    for row in report.modes:
        assert row.mode.name in text
        if row.scored:
            assert f"{row.failing}/{row.scored} = " in text


def test_why_says_that_a_message_is_by_another_respondent() -> None:
    answer = subject("« L'appli est rapide » [R-002, M-0001].")
    check = next(check for check in load_checks() if check.name == "wrong_respondent_id")
    console = Console(width=160, record=True, file=StringIO())
    console.print(why(answer, asyncio.run(check.evaluate(answer)).findings))
    told = " ".join(console.export_text().split())
    assert "written by R-001, not by R-002" in told


def test_why_shows_how_an_answer_was_read(project: Path) -> None:
    text = (
        "« Je prends le bus tous les matins » [R-001, M-0001]. Le thème « lent » [Q2] revient, "
        "dit <src ref='M-9'>."
    )
    make_run(project, [case("alpha", text)])
    told = " ".join(invoke(project, "show", "alpha", "--why").stdout.split())
    assert "Citations read: 2" in told
    assert "R-001 wrote M-0001" in told
    assert "right after" in told
    assert "lent theme" in told
    assert "message = 'M[-_.:#]?" in told
