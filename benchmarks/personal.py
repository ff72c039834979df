"""Personal details found by ``--pseudonymise text``, of those that a person labelled.

``python -m benchmarks.personal FILE``: JSON Lines with ``text``, ``lang`` and ``details``, a list
of ``start``, ``end`` and ``kind``. *Recall* is the share of details all of whose letters and digits
are replaced, by whatever kind; *exact*, by a passage with the very same ends. *Precision* is the
share of passages replaced that touch a labelled detail. ``untouched`` counts the texts without
detail that stay as they are. The baseline beside it replaces what holds an ``@``, what begins with
``http`` or ``www``, and runs of nine digits or more with what separates them; for names, words
with a capital inside a sentence.
"""

import argparse
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from ancrage.snapshot.scrub import Terms, find_personal

Spans = list[tuple[int, int, str]]
_BASELINE = (
    ("email", re.compile(r"\S*@\S+")),
    ("url", re.compile(r"(?:http|www)\S+")),
    ("number", re.compile(r"\+?[0-9](?:[ \u00a0.\-()]{0,2}[0-9]){8,}")),
    ("name", re.compile(r"(?<=[\w,] )[A-ZÀ-Þ][\w-]+(?: [A-ZÀ-Þ][\w-]+)*")),
)


def ours(text: str) -> Spans:
    """What the product replaces; of passages that overlap, the first and longest."""
    found = sorted(find_personal(text, Terms(())), key=lambda each: (each.start, -each.end))
    kept: Spans = []
    for each in found:
        if not kept or each.start >= kept[-1][1]:
            kept.append((each.start, each.end, each.kind))
    return kept


def baseline(text: str) -> Spans:
    return [(*m.span(), kind) for kind, pattern in _BASELINE for m in pattern.finditer(text)]


def measure(
    rows: Iterable[dict[str, Any]], find: Callable[[str], Spans]
) -> dict[str, Counter[str]]:
    """Counts by kind and language, and of both together."""
    counts: dict[str, Counter[str]] = {}
    for row in rows:
        text, details, found = row["text"], row["details"], find(row["text"])
        replaced = {at for start, end, _ in found for at in range(start, end)}
        for detail in details:
            inside = [at for at in range(detail["start"], detail["end"]) if text[at].isalnum()]
            for group in ("all", row["lang"]):
                count = counts.setdefault(f"{detail['kind']} {group}", Counter())
                count["details"] += 1
                count["caught"] += replaced.issuperset(inside)
                count["exact"] += any(
                    (start, end) == (detail["start"], detail["end"]) for start, end, _ in found
                )
        for start, end, kind in found:
            right = any(start < each["end"] and each["start"] < end for each in details)
            for group in ("all", row["lang"]):
                for name in (f"replaced as {kind}", "replaced"):
                    count = counts.setdefault(f"{name} {group}", Counter())
                    count["passages"] += 1
                    count["right"] += right
        if not details:
            for group in ("all", row["lang"]):
                count = counts.setdefault(f"negatives {group}", Counter())
                count["texts"] += 1
                count["untouched"] += not found
    return counts


def rate(part: int, whole: int) -> str:
    return f"{part}/{whole} = {part / whole:.3f}" if whole else "-"


def table(counts: dict[str, Counter[str]], beside: dict[str, Counter[str]]) -> None:
    empty: Counter[str] = Counter()
    kinds = sorted({name.rsplit(" ", 1)[0] for name in counts if counts[name]["details"]})
    print(f"{'kind':14} lang  {'recall':>16} {'exact':>6}  {'baseline recall':>16}")
    for kind in kinds:
        for group in ("all", "fr", "en"):
            count, other = (c.get(f"{kind} {group}", empty) for c in (counts, beside))
            if whole := count["details"]:
                exact = count["exact"] / whole
                print(
                    f"{kind:14} {group:4}  {rate(count['caught'], whole):>16} {exact:6.2f}  "
                    f"{rate(other['caught'], whole):>16}"
                )
    print(f"\n{'replaced as':14} lang  {'precision':>16}")
    kinds = sorted({name.rsplit(" ", 1)[0] for name in counts if name.startswith("replaced")})
    for kind in kinds:
        for group in ("all", "fr", "en"):
            count = counts.get(f"{kind} {group}", empty)
            if count["passages"]:
                shown = kind.removeprefix("replaced as ").replace("replaced", "(any)")
                print(f"{shown:14} {group:4}  {rate(count['right'], count['passages']):>16}")
    other = beside.get("replaced all", empty)
    print(f"{'(baseline)':14} all   {rate(other['right'], other['passages']):>16}")
    for name, each in (("ours", counts), ("baseline", beside)):
        count = each.get("negatives all", empty)
        said = rate(count["untouched"], count["texts"])
        print(f"texts without detail left untouched, {name}: {said}")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--note", default="", help="only texts whose note holds this word")
    parser.add_argument("--wrong", action="store_true", help="print each miss and false alarm")
    options = parser.parse_args()
    rows = [json.loads(line) for line in options.file.read_text("utf-8").splitlines()]
    rows = [row for row in rows if options.note in row.get("note", "")]
    print(f"{len(rows)} texts, {sum(len(row['details']) for row in rows)} details\n")
    table(measure(rows, ours), measure(rows, baseline))
    for row in rows if options.wrong else ():
        text, found = row["text"], ours(row["text"])
        replaced = {at for start, end, _ in found for at in range(start, end)}
        for each in row["details"]:
            inside = {at for at in range(each["start"], each["end"]) if text[at].isalnum()}
            if not inside <= replaced and each["kind"] != "name":
                print(f"missed {each['kind']}: {text[each['start'] : each['end']]!r} in {text!r}")
        for start, end, kind in found:
            if not any(start < each["end"] and each["start"] < end for each in row["details"]):
                print(f"false {kind}: {text[start:end]!r} in {text!r}")


if __name__ == "__main__":
    main()
