"""A gate's decision for machines and reviews: Markdown, JUnit XML, GitHub annotations."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from xml.etree import ElementTree as ET

from ancrage.compare import figures
from ancrage.compare.gate import Check, Decision, Outcome
from ancrage.compare.model import ChangeVerdict, Comparison, label
from ancrage.report.text import line

CASES_LISTED = 20

_ICONS = {Outcome.PASSED: "✅", Outcome.FAILED: "❌", Outcome.UNKNOWN: "❔"}


def markdown(decision: Decision) -> str:
    """A comment for a pull request: the answer, the checks that matter, the table of modes."""
    return "\n".join(_markdown(decision)) + "\n"


def _markdown(decision: Decision) -> Iterator[str]:
    yield f"## {_ICONS[decision.outcome]} {decision.words.capitalize()}"
    against = f" against {_escape(label(decision.baseline))}" if decision.baseline else ""
    yield f"\n{_escape(label(decision.candidate))}{against}\n"
    for outcome in (Outcome.FAILED, Outcome.UNKNOWN):
        for check in decision.of(outcome):
            yield f"- {_ICONS[outcome]} **{_escape(_about(check))}**: {_escape(check.message)}"
            if check.cases:
                shown = ", ".join(f"{_escape(case)}" for case in check.cases[:CASES_LISTED])
                more = len(check.cases) - CASES_LISTED
                yield f"  <br>{shown}{f' and {more} more' if more > 0 else ''}"
    yield f"\n{len(decision.of(Outcome.PASSED))} of {len(decision.checks)} checks pass."
    if decision.comparison:
        yield ""
        yield from comparison_table(decision.comparison)
    for remark in decision.remarks:
        yield f"\n- {_escape(remark)}"


def comparison_table(comparison: Comparison) -> Iterator[str]:
    """The comparison as a Markdown table, a line a mode."""
    first, second = (_escape(label(side)) for side in (comparison.first, comparison.second))
    yield f"| Failure mode | {first} | {second} | Change, points | p | New fail / pass | |"
    yield "| --- | ---: | ---: | ---: | ---: | ---: | --- |"
    for mode in comparison.modes:
        change = "–"
        if mode.difference is not None:
            change = f"{figures.points(mode.difference)} {figures.points_between(mode.interval)}"
        strong = "**" if mode.verdict in (ChangeVerdict.WORSE, ChangeVerdict.BETTER) else ""
        cells = (
            f"`{re.sub('[`|]', '', line(mode.mode))}`",
            *(
                f"{figures.fraction(side)}{f', {side.unscored} unscored' if side.unscored else ''}"
                for side in (mode.first, mode.second)
            ),
            f"{strong}{change}{strong}",
            figures.p_value(mode.adjusted_p),
            f"{len(mode.worse)} / {len(mode.better)}",
            f"{strong}{mode.verdict.value}{strong}",
        )
        yield f"| {' | '.join(cells)} |"
    yield f"\nIntervals: 95 %, {figures.units(comparison)}. p: exact, Holm-adjusted."
    if comparison.anchors:
        yield f"\nWhat anchors the answers: {_escape(figures.anchors(comparison))}."
    for note in comparison.notes:
        yield f"- {'⚠️ ' if note.serious else ''}{_escape(note.text)}"


def _about(check: Check) -> str:
    return f"{check.name} {check.mode}" if check.mode else check.name


def _escape(text: str) -> str:
    """Text that Markdown shows as it is: no link, mention, tag or table cell comes of it.

    GitHub looks for mentions, issue numbers and addresses in the text as shown: an entity or a
    backslash does not stop it, an invisible joiner does.
    """
    joined = re.sub(r"@|#(?=\d)|(?i:www)(?=\.)", "\\g<0>\u2060", line(text))
    safe = re.sub(r"([\\`*_{}\[\]()#+!|~$:])", r"\\\1", joined)
    return safe.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def junit(decision: Decision) -> str:
    """JUnit XML: a test case a check; a failed check fails, one that cannot tell is an error."""
    failed, unknown = decision.of(Outcome.FAILED), decision.of(Outcome.UNKNOWN)
    # A gate that is not green without any check being at fault must not look green either.
    bare = decision.outcome is not Outcome.PASSED and not (failed or unknown)
    attributes = {
        "name": "ancrage gate",
        "tests": str(len(decision.checks) + bare),
        "failures": str(len(failed)),
        "errors": str(len(unknown) + bare),
        "timestamp": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    suite = ET.Element("testsuite", attributes)
    for check in decision.checks:
        case = ET.SubElement(
            suite,
            "testcase",
            {"classname": f"gate.{_xml(check.mode or 'run')}", "name": _xml(_about(check))},
        )
        if check.outcome is Outcome.PASSED:
            ET.SubElement(case, "system-out").text = _xml(check.message)
            continue
        kind = "failure" if check.outcome is Outcome.FAILED else "error"
        child = ET.SubElement(case, kind, {"message": _xml(check.message)})
        child.text = "\n".join(_xml(each) for each in check.cases)
    if bare:
        case = ET.SubElement(suite, "testcase", {"classname": "gate", "name": "checks"})
        ET.SubElement(case, "error", {"message": "nothing was checked"})
    ET.indent(suite)
    return ET.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"


def _xml(text: str) -> str:
    """On one line, without the characters that XML cannot hold even escaped."""
    return re.sub(r"[^\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "\ufffd", line(text))


def annotations(decision: Decision) -> Iterator[str]:
    """GitHub workflow commands, a line each: errors, warnings, and the answer."""
    for outcome, level in ((Outcome.FAILED, "error"), (Outcome.UNKNOWN, "warning")):
        for check in decision.of(outcome):
            message = check.message
            if check.cases:
                message += f" ({', '.join(check.cases[:CASES_LISTED])})"
            yield f"::{level} title={_property(_about(check))}::{_data(message)}"
    levels = {Outcome.PASSED: "notice", Outcome.FAILED: "error", Outcome.UNKNOWN: "warning"}
    words = f"{decision.words.capitalize()}: {label(decision.candidate)}"
    yield f"::{levels[decision.outcome]} title=Ancrage gate::{_data(words)}"


def _data(text: str) -> str:
    return line(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
