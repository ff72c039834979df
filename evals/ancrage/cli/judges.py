"""People and judges: ``label`` and ``calibrate``."""

from typing import TYPE_CHECKING

from ancrage.cli.shell import Count, Port, Share, command
from ancrage.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ancrage.calibration.pairs import Disagreement
    from ancrage.runs import RunView


@command(
    help={
        "run": "Run whose judges to calibrate: its id, its beginning, its folder, or 'latest'.",
        "labels": "File of human labels, CSV or JSONL; can be repeated (several annotators).",
        "langfuse": "Take the labels from annotation scores in Langfuse.",
        "random-sample": "The labelled answers are a random sample of the run's, as label "
        "gives them: corrected rates then come from PPI++ (default: no, Rogan–Gladen).",
        "split": "Side to measure on: held-out, train, or both (default: held-out). Tune "
        "definitions on train alone.",
        "held-out": "Share of cases on the held-out side.",
        "versus": "Scoring of the same run whose judges to compare with, such as 002 "
        "(default: none).",
        "examples": "With --split train: add so many of the judges' errors a mode, as people see "
        "them, to the examples of their definitions (default: none).",
        "nli": "Fit thresholds of the NLI model instead: RUN is then a file of labelled claims.",
        "alpha": "With --nli: the share of wrong claims that may be missed.",
        "precision": "With --nli: the share of corrections that must be due.",
        "delta": "With --nli: the risk of falling short of that precision.",
        "model": "With --nli: the checkpoint (default: [nli] model).",
        "thresholds": "With --nli: where they go.",
    },
)
def calibrate(
    run: str,
    labels: "list[str] | None" = None,
    langfuse: bool = False,
    random_sample: bool = False,
    split: str = "held-out",
    held_out: Share = 0.5,
    versus: str = "",
    examples: Count | None = None,
    nli: bool = False,
    alpha: Share = 0.1,
    precision: Share = 0.8,
    delta: Share = 0.1,
    model: str = "",
    thresholds: str = "nli-calibration.json",
) -> ExitCode:
    """Hold a run's judges against human labels.

    Prints error rates, agreement and corrected rates.

    The result is stored in calibrations/, where the reports of later runs find it.
    """
    from pathlib import Path

    from ancrage.calibration import calibrate as hold
    from ancrage.calibration import compare_judges, read_labels, save_calibration
    from ancrage.calibration.pairs import unmatched
    from ancrage.calibration.sampling import chances_of
    from ancrage.calibration.section import judged_modes
    from ancrage.calibration.store import save_disagreements
    from ancrage.calibration.terminal import calibrated
    from ancrage.report.terminal import console, show
    from ancrage.runs import RunView, find_run

    if nli:
        from ancrage.config import load
        from ancrage.nli.fitting import calibrate_file
        from ancrage.nli.settings import NLISettings

        settings = load().table("nli", NLISettings, model=model or None)
        calibrate_file(run, thresholds, settings, alpha=alpha, precision=precision, delta=delta)
        return ExitCode.OK
    if examples and split != "train":
        raise UsageError("--examples come from the training half alone: --split train")
    if split not in ("held-out", "train", "both"):
        raise UsageError(f"--split {split!r}: give held-out, train or both")
    if not 0 < held_out <= 1:
        raise UsageError(f"--held-out {held_out:g}: give a share above 0, at most 1")
    if bool(labels) == langfuse:
        raise UsageError("give the labels: --labels FILE (can be repeated), or --langfuse")
    folder = find_run(run)
    view = RunView(folder)
    if langfuse:
        from ancrage.calibration.annotations import read_annotations

        found = read_annotations(view)
    else:
        found = read_labels(Path(each) for each in labels or ())
    out = console()
    for fault in found.refused:
        out.print(f"refused: {fault}", style="yellow")
    for missing in unmatched(view, found):
        out.print(f"left out: {missing}", style="yellow", soft_wrap=True)
    if found.ignored:
        out.print(f"not part of a label, ignored: {', '.join(found.ignored)}", style="yellow")
    out.print(
        f"{len(found.labels)} labels kept, {len(found.refused)} refused, "
        f"{found.replaced} replaced by later ones"
    )
    if loose := sum(each.answer_hash is None for each in found.labels):
        out.print(f"{loose} labels do not say of which answer: taken as of this run's")
    side = None if split == "both" else split
    files = [Path(name) for name in labels or ()]
    chances = chances_of(files, view.run.id, {each.case_id for each in found.labels})
    if chances:
        out.print(
            f"{len(chances)} answers were labelled by a plan that puts first those on which judges "
            "differ: error rates are of these, the corrected rate weighs them"
        )
    options = {
        "split": side,
        "held_out": held_out,
        "random_sample": random_sample,
        "chances": chances,
    }
    calibration, disagreements = hold(view, found, **options)  # type: ignore[arg-type]
    comparisons = []
    if versus:
        other = RunView(folder, scoring=versus)
        rival, _ = hold(other, found, **options)  # type: ignore[arg-type]
        theirs = {each.mode: each for each in rival.modes}
        comparisons = [
            compare_judges(mine, theirs[mine.mode])
            for mine in calibration.modes
            if mine.mode in theirs
        ]
    path = save_calibration(calibration)
    save_disagreements(path, disagreements)
    show(calibrated(calibration, disagreements, comparisons, judged_modes(RunView(folder))), out)
    out.print(f"\nStored as {path}")
    if examples:
        for judge, count in _add_examples(disagreements, view, examples, held_out):
            out.print(f"{judge}: {count} examples added")
    if split == "train":
        out.print("Reports do not use it: this is the side that definitions are tuned on.")
    return ExitCode.OK


@command(
    help={
        "run": "Run whose answers to label: its id, its beginning, its folder, or 'latest'.",
        "annotator": "Who labels; kept with each label (default: the name of the user account).",
        "modes": "Failure modes to label, with commas between (default: those of every judge).",
        "out": "File of labels, continued where it exists (default: labels/ANNOTATOR.jsonl).",
        "disagreements": "First the answers on which judges, repeats or scorings differ, so that "
        "few labels tell more; calibrate weighs them by the chance that each had.",
        "limit": "Stop after this many answers (default: all of them).",
        "langfuse": "Put them into this annotation queue of Langfuse instead; calibrate --langfuse "
        "reads the labels given there.",
        "port": "Port on this machine (default: any free one).",
        "open": "Open the page in the browser.",
    }
)
def label(
    run: str,
    annotator: str = "",
    modes: str = "",
    out: str = "",
    disagreements: bool = False,
    limit: Count | None = None,
    langfuse: str = "",
    port: Port = 0,
    open: bool = False,
) -> ExitCode:
    """Label answers by hand, in a page on this machine.

    One at a time, without the judges' view.

    Each label is saved at once; the page goes on where the file ends. Answers come in a random
    order, the same for everyone, so that any number of them is a random sample of the run; or with
    --disagreements in one that finds judges' errors sooner.
    """
    import getpass
    from pathlib import Path

    from ancrage.calibration.page import LabelQueue, serve
    from ancrage.report.terminal import console
    from ancrage.runs import find_run

    name = annotator or getpass.getuser()
    path = Path(out) if out else Path("labels") / f"{name}.jsonl"
    wanted = [each.strip() for each in modes.split(",") if each.strip()]
    folder = find_run(run)
    queue = LabelQueue.of(folder, path, name, wanted, limit, disagreements=disagreements)
    if langfuse:
        from ancrage.calibration.annotations import queue_answers

        asked = [mode.plain for mode, _ in queue.modes]
        added = queue_answers(folder, langfuse, asked, queue.outputs)
        console().print(f"{langfuse}: {added} answers added", markup=False)
        return ExitCode.OK
    with serve(queue, port) as server:
        console().print(f"Label here (Ctrl+C ends): {server.url}\n{queue.progress()}; {path}")
        if open:
            import webbrowser

            webbrowser.open(server.url)
        try:
            server.wait()
        except KeyboardInterrupt:
            console().print(f"{queue.progress()}; {path}")
    return ExitCode.OK


def _add_examples(
    disagreements: "Sequence[Disagreement]", view: "RunView", most: int, held_out: float
) -> "Iterator[tuple[str, int]]":
    """Add examples to each judge's own definition; file and number."""
    from pathlib import Path

    from ancrage.calibration.examples import add_examples
    from ancrage.config import load
    from ancrage.judges.definition import read_definition
    from ancrage.judges.select import Settings, definitions

    config = load()
    files = [config.root / name for name in config.table("judges", Settings).files]
    own = {read_definition(path).name: path for path in files}
    known = definitions(config)
    for name in dict.fromkeys(each.judge for each in disagreements):
        if name not in known:
            raise UsageError(f"{name!r} has no definition of its own to take examples")
        path = own.get(name, Path("judges") / f"{name}.toml")
        mine = [each for each in disagreements if each.judge == name]
        added = add_examples(known[name], mine, path, most=most, held_out=held_out)
        yield str(path) + ("" if name in own else " (add it to [judges] files)"), added


tasks = (label, calibrate)
