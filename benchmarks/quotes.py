"""Quotes: edits that pass, false alarms, translations, and speed against plain Python.

``python -m benchmarks.quotes`` prints one figure a line. Speeds are ratios within this run.
"""

import csv
import json
import random
import time
import unicodedata
from collections import Counter
from collections.abc import Callable
from functools import partial
from itertools import permutations
from pathlib import Path

from ancrage.quotes import QuoteIndex, canonical, extract_quotes, find_passage
from tests.quotes.generators import edits, messages, parallel, variants
from tests.quotes.reversals import Made, harmless, reversals

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
SURVEY = DATA / "survey" / "messages.csv"


def plain(quote: str, text: str) -> bool:
    """What a short script does: fold both sides on each call, then ``in``."""
    return _fold(quote) in _fold(text)


def _fold(text: str) -> str:
    text = unicodedata.normalize("NFC", text).replace("’", "'").replace("…", "...")
    return " ".join(text.split()).lower()


def seconds(work: Callable[[], object]) -> float:
    """The best of three."""
    times = []
    for _ in range(3):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def survey() -> list[str]:
    if not SURVEY.is_file():
        return []
    with SURVEY.open(encoding="utf-8") as file:
        return [row["text"] for row in csv.DictReader(file) if len(row["text"].split()) >= 5]


def correctness(name: str, sources: list[str]) -> None:
    made = list(edits(sources, 6_000, seed=1))
    passed = sum(find_passage(quote, text) is not None for _, quote, text in made)
    fooled = sum(plain(quote, text) for _, quote, text in made)
    print(f"{name}: {passed} of {len(made)} meaning-changing edits pass (plain Python: {fooled})")
    made = list(variants(sources, 10_000, seed=2))
    failed = sum(find_passage(quote, text) is None for _, quote, text in made)
    fooled = sum(not plain(quote, text) for _, quote, text in made)
    print(f"{name}: {failed} of {len(made)} typographic variants fail (plain Python: {fooled})")


def distortions(name: str, sources: list[str]) -> None:
    """Reversals found, and harmless cuts taken for one, a kind a line."""
    for title, made in (
        ("reversals", reversals(sources, 300, seed=1)),
        ("harmless cuts", harmless(sources, 600, seed=1)),
    ):
        counts: dict[str, Counter[str]] = {}
        for one in made:
            counts.setdefault(one.kind, Counter())[_judged(one)] += 1
        total = sum(counts.values(), Counter[str]())
        print(
            f"{name}, {title}: {total['distorted']} of {len(made)} found distorted, "
            f"{total['altered']} said to differ, {total['passed']} passed"
        )
        for kind, count in sorted(counts.items()):
            print(f"    {kind}: {dict(count)}")


def _judged(made: Made) -> str:
    index = QuoteIndex([("M", made.message)])
    verdict = index.verify(made.quote, ["M"])
    if verdict.passed:
        return "distorted" if index.distorted(made.quote, verdict) else "passed"
    loose = index.loosely(made.quote, ["M"])
    return "altered" if loose is None else "distorted" if loose[1] else "passed"


def french() -> list[str]:
    """French sentences: there is no French survey in the shared data."""
    rows = (DATA / "daccord-fr" / "daccord.jsonl").read_text(encoding="utf-8").splitlines()
    texts = [value for row in rows for value in json.loads(row).values() if isinstance(value, str)]
    pairs = (DATA / "rte3-fr" / "RTE3-FR-dev-set-3class.tsv").read_text(encoding="utf-8")
    texts += [cell for row in pairs.splitlines()[1:] for cell in row.split("\t")]
    return list(dict.fromkeys(text for text in texts if len(text.split()) >= 8))


def translations() -> None:
    rows = parallel()
    for name, half in (("tuned on", rows[::2]), ("held out", rows[1::2])):
        found = total = false = negatives = 0
        for i, row in enumerate(half):
            for a, b in permutations(row, 2):
                found += QuoteIndex([("M", row[b])]).verify(row[a], ["M"]).tier == "T5"
                total += 1
            for language, quote in row.items():
                for step in (1, 5, 9):
                    other = half[(i + step) % len(half)][language]
                    false += QuoteIndex([("M", other)]).verify(quote, ["M"]).tier == "T5"
                    negatives += 1
        print(
            f"translated, {name}: recall {found / total:.3f} ({found} of {total} pairs), precision "
            f"{found / (found + false):.3f} ({false} of {negatives} same-language negatives)"
        )


def made_up_in_another_language() -> None:
    rows = parallel()
    pairs = [
        (row[a], rows[(i + 7) % len(rows)][b])
        for i, row in enumerate(rows)
        for a, b in permutations(row, 2)
    ]
    called = sum(
        QuoteIndex([("M", text)]).verify(quote, ["M"]).tier == "T5" for quote, text in pairs
    )
    print(f"made up in another language: {called} of {len(pairs)} are called translated")


def by_id(texts: list[str]) -> None:
    rng = random.Random(3)
    sources = [(f"M-{i:06d}", text) for i, text in enumerate(texts)]
    index = QuoteIndex(sources)
    pairs = []
    for source_id, text in rng.choices(sources, k=50_000):
        words = text.split(" ")
        start = rng.randrange(max(1, len(words) - 8))
        pairs.append((" ".join(words[start : start + 8]), source_id, text))
    fast = seconds(lambda: [index.verify(quote, (i,)) for quote, i, _ in pairs])
    slow = seconds(lambda: [plain(quote, text) for quote, _, text in pairs])
    same = seconds(lambda: [canonical(quote) in canonical(text) for quote, _, text in pairs])
    print(
        f"quotes with their id: {len(pairs) / fast:,.0f} a second, {slow / fast:.1f} times plain "
        f"Python that folds less, {same / fast:.1f} times the same rules on each call"
    )
    curly = [
        (quote.replace("'", "’").replace(" ", "\u00a0", 1), i) for quote, i, _ in pairs[:5_000]
    ]
    typographic = seconds(lambda: [index.verify(quote, (i,)) for quote, i in curly])
    print(f"the same in another typography: {len(curly) / typographic:,.0f} a second")


def elsewhere(texts: list[str]) -> None:
    rng = random.Random(4)
    many: list[str] = []
    while len(many) < 100_000:
        words = rng.choice(texts).split()
        rng.shuffle(words)
        many.append(" ".join(words))
    index = QuoteIndex((f"M-{i:06d}", text) for i, text in enumerate(many))
    start = time.perf_counter()
    index.verify("absent words", [])
    print(f"index of {len(many):,} messages: {time.perf_counter() - start:.1f} s, once")
    picked = rng.sample(range(len(many)), 300)
    quotes = [" ".join(many[i].split()[2:10]) for i in picked]
    fast = seconds(lambda: [index.verify(quote, ["M-000000"]) for quote in quotes])
    folded = [canonical(text) for text in many]

    def scan() -> None:
        for quote in quotes[:30]:
            wanted = canonical(quote)
            next((i for i, text in enumerate(folded) if wanted in text), None)

    slow = seconds(scan) * len(quotes) / 30
    print(
        f"quotes under a wrong id among {len(many):,} messages: {len(quotes) / fast:,.0f} a "
        f"second, {slow / fast:.1f} times a scan of texts already normalised"
    )


def parsing() -> None:
    for name, piece in (
        ("prose", "Il dit « c'est l'été » et “l’hiver”. "),
        ("hostile", "« \" ' “ "),
    ):
        small, large = (
            seconds(partial(extract_quotes, piece * count)) for count in (2_000, 20_000)
        )
        print(f"parser, {name}: 10 times the text takes {large / small:.1f} times as long")


def main() -> None:
    written, real = messages(), survey()
    correctness("written messages", written)
    if real:
        correctness("real survey", real)
    if real:
        distortions("survey, English", real)
        distortions("sentences, French", french())
    translations()
    made_up_in_another_language()
    by_id(real or written)
    elsewhere(real or written)
    parsing()


if __name__ == "__main__":
    main()
