"""The comparison on the terminal: one screen, denominators, nothing hidden."""

from dataclasses import replace
from io import BytesIO, TextIOWrapper
from pathlib import Path

from rich.console import Console, RenderableType

from ancrage.compare import figures
from ancrage.compare.gate import decide
from ancrage.compare.history import modes_of, read_history, summary, table, trend
from ancrage.compare.paired import compare
from ancrage.compare.policy import Policy
from ancrage.compare.results import read_results
from ancrage.compare.terminal import decision, overview, read_items, side_by_side, words
from tests.compare.runs import results, world, write_run


def shown(renderable: RenderableType, width: int = 100, encoding: str = "utf-8") -> str:
    """What a plain terminal of that width shows."""
    out = TextIOWrapper(BytesIO(), encoding=encoding, errors="replace")
    Console(file=out, width=width, markup=False, highlight=False, emoji=False).print(renderable)
    out.seek(0)
    return out.read()


def test_the_overview_fits_a_screen_and_says_what_changed(tmp_path: Path) -> None:
    data = world(tmp_path / "snap", 100, studies=100)
    modes = {f"mode_{at}": [0.0] * 100 for at in range(6)}
    before = read_results(write_run(tmp_path / "runs", data, "before", {"x": [0.0] * 100, **modes}))
    values: list[float | str | None] = [1.0] * 12 + [0.0] * 86 + ["judge refused", None]
    after = read_results(
        write_run(tmp_path / "runs", data, "after", {"x": values, **modes},
                  parameters={"model": "m-5"})
    )  # fmt: skip
    found = compare((before,), (after,))
    text = shown(overview(found, read_items(after, found.newly_failing[:5])))
    assert "before → after  100 cases" in text
    assert "model: unset → m-5" in text
    assert "12/98 = 12.2 %" in text
    assert "2 unscored" in text
    assert "▲ worse, p < 0.001" in text
    assert "12/0" in text
    assert "No failure on either side, all scored: mode_0, mode_1" in text
    assert "Newly failing (12)" in text
    assert "x is here" in text
    assert "and 7 more" in text
    assert len(text.splitlines()) <= 40
    assert all(len(line) <= 100 for line in text.splitlines())


def test_words_that_differ_keep_the_spaces_around_them() -> None:
    shown_words = words("un deux trois quatre", "un 2 trois quatre cinq").plain
    assert shown_words == "un [-deux-]{+2+} trois quatre {+cinq+}"


def test_without_a_common_case_the_screen_says_that_nothing_was_compared() -> None:
    first = results({"x": [0.0] * 4})
    second = replace(results({"x": [0.0] * 4}), cases=tuple(f"other-{at}" for at in range(4)))
    text = shown(overview(compare((first,), (second,)), {}))
    assert "! No case is in every run: nothing was compared" in text


def test_no_figure_is_cut_off_on_a_terminal_of_80_columns() -> None:
    """Repeats and unscored cases make the widest table."""
    sides = [
        tuple(
            replace(
                each, origin=each.origin.model_copy(update={"id": f"{name}{at}", "group": name})
            )
            for at, each in enumerate((results({"x": values}), results({"x": [0.0] * 1000})))
        )
        for name, values in (
            ("before", [*[1.0] * 230, None, *[0.0] * 769]),
            ("after", [*[1.0] * 321, None, *[0.0] * 678]),
        )
    ]
    (mode,) = (found := compare(*sides)).modes
    tokens = shown(overview(found, {}), width=80).split()
    assert mode.detectable is not None
    assert mode.noise_floor is not None
    shown_as = [
        *("115/1000", "160.5/1000", "91/0;", "+4.5"),
        *figures.points_between(mode.interval).split(),
        *figures.points_between(mode.bounds).split(),
        *(f"{each * 100:.1f}" for each in (mode.detectable, mode.noise_floor)),
        *("unscored", "repeats"),
    ]
    assert [figure for figure in shown_as if figure not in tokens] == []


def test_answers_side_by_side_word_by_word(tmp_path: Path) -> None:
    data = world(tmp_path / "snap", 1)
    folders = [
        write_run(tmp_path / "runs", data, name, {"x": [value]}, answers={"c000": text})
        for name, value, text in (
            ("before", 0.0, "Les clients aiment le prix de l'offre."),
            ("after", 1.0, "Les clients détestent le prix de l'offre."),
        )
    ]
    sides = [
        (name, read_items(read_results(folder), ["c000"])["c000"])
        for name, folder in zip(("before", "after"), folders, strict=True)
    ]
    text = shown(side_by_side("c000", sides))
    assert "[-aiment-]{+détestent+}" in text
    assert "x is here" in text
    absent = shown(side_by_side("c000", [("main", None), sides[1]]))
    assert "main keeps no answer" in absent


def test_long_stretches_in_common_are_cut() -> None:
    same = " ".join(f"w{at}" for at in range(100))
    text = words(f"{same} a {same}", f"{same} b {same}").plain
    assert "[-a-]" in text
    assert "{+b+}" in text
    assert len(text.split()) < 30
    assert "same, word for word" in words("a", "a").plain


def test_a_hostile_answer_writes_no_escape_code() -> None:
    assert "\x1b" not in shown(words("a \x1b[31mred b", "a \x1b]0;title\x07 c"))


def test_the_decision_shows_what_fails_first() -> None:
    worse = results({"x": [1.0] * 20 + [0.0] * 80})
    found = decide(Policy(), (worse,), (results({"x": [0.0] * 100}),))
    lines = shown(decision(found)).splitlines()
    assert lines[0].startswith("DON'T SHIP")
    assert lines[1].startswith("✕ regression x")


def test_history_shows_rates_and_breaks(tmp_path: Path) -> None:
    data = world(tmp_path / "snap", 20)
    other = world(tmp_path / "other", 10)
    root = tmp_path / "runs"
    write_run(root, data, "one", {"x": [1.0] * 2 + [0.0] * 18})
    write_run(root, data, "two", {"x": [1.0] * 4 + [0.0] * 16, "y": [None] * 20}, version="2")
    write_run(root, other, "three", {"x": [0.0] * 10}, version="2")
    runs, unreadable = read_history(root)
    assert (len(runs), unreadable) == (3, [])
    assert modes_of(runs) == ["x", "y"]
    points = trend(runs, "x")
    assert [point.breaks for point in points] == [(), ("other evaluator version",), ("other data",)]
    text = shown(table("x", points))
    assert "2/20 = 10.0 %" in text
    assert "other data" in text
    text = shown(summary(runs))
    assert "20 unscored" in next(row for row in text.splitlines() if row.startswith("y"))
    assert "2 breaks" in text
    assert "A break: the data or the evaluator's version changed" in text
    plain = shown(summary(runs, ascii_only=True), encoding="ascii")
    assert "=#_" in next(row for row in plain.splitlines() if row.startswith("x"))


def test_a_run_that_cannot_be_read_is_said_not_dropped(tmp_path: Path) -> None:
    data = world(tmp_path / "snap", 5)
    root = tmp_path / "runs"
    write_run(root, data, "one", {"x": [0.0] * 5})
    broken = write_run(root, data, "two", {"x": [0.0] * 5})
    (broken.path / "outputs.jsonl").write_text("{}\n", encoding="utf-8")
    runs, unreadable = read_history(root)
    assert [each.origin.id for each in runs] == ["one"]
    assert len(unreadable) == 1
    assert unreadable[0].startswith("two: ")
