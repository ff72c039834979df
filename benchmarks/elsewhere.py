"""What it costs to check quotes against a large study, some of which fail.

Run ``python -m benchmarks.elsewhere [MESSAGES]`` (100,000 by default): as many quotes as messages,
one in a hundred failing. Of those a third stand in another message, a third have a word replaced,
a third stand nowhere. Beside it, in the same process, the plain look-up: ``in``, and for a quote
that fails ``in`` over all messages, on a sample of the failing quotes.
"""

import argparse
import random
import resource
import time
from collections import Counter
from collections.abc import Iterator
from itertools import accumulate

from ancrage.quotes import QuoteIndex

VOCABULARY = 50_000
SAMPLED = 20


class Made:
    """Messages of 12 to 40 words drawn by Zipf's law, and quotes of 8 words of them."""

    def __init__(self, count: int) -> None:
        self._draw = random.Random(1)
        letters = "abcdefghijklmnopqrstuvwxyz"
        self._words = ["".join(self._draw.choices(letters, k=self._draw.randint(2, 10)))
                       for _ in range(VOCABULARY)]  # fmt: skip
        self._weights = list(accumulate(1 / (rank + 3) for rank in range(VOCABULARY)))
        self.messages = [
            (f"M-{number:07d}", self._text(self._draw.randint(12, 40)).capitalize() + ".")
            for number in range(count)
        ]

    def _text(self, length: int) -> str:
        return " ".join(self._draw.choices(self._words, cum_weights=self._weights, k=length))

    def quotes(self) -> Iterator[tuple[str, str, bool]]:
        """(quote, message cited, whether it fails), one a message."""
        for number, (cited, text) in enumerate(self.messages):
            if number % 100:
                yield self._part(text), cited, False
                continue
            kind = number // 100 % 3
            other = self._part(self._draw.choice(self.messages)[1])
            if kind == 1:
                words = self._part(text).split()
                words[4] = self._draw.choice(self._words)
                other = " ".join(words)
            yield (self._text(8) if kind == 2 else other), cited, True

    def _part(self, text: str) -> str:
        words = text.split()
        at = self._draw.randint(0, len(words) - 9)
        return " ".join(words[at : at + 8])


def check(made: Made) -> tuple[float, float, Counter[str]]:
    """Processor seconds of the verdicts: of all, and of the first that fails; verdicts by tier."""
    index = QuoteIndex(made.messages)
    tiers: Counter[str] = Counter()
    total = first = 0.0
    for quote, cited, fails in made.quotes():
        began = time.process_time()
        tiers[index.verify(quote, [cited]).tier] += 1
        took = time.process_time() - began
        total += took
        first = first or (took if fails else 0.0)
    return total, first, tiers


def plain(made: Made) -> float:
    """Processor seconds of the plain look-up, those of failing quotes from a sample."""
    texts = dict(made.messages)
    passing = failing = 0.0
    sampled = failed = 0
    for quote, cited, fails in made.quotes():
        began = time.process_time()
        if quote not in texts[cited] and sampled < SAMPLED:
            _ = [number for number, text in texts.items() if quote in text]
        took = time.process_time() - began
        failed += fails
        if not fails:
            passing += took
        elif sampled < SAMPLED:
            sampled += 1
            failing += took
    return passing + failing / max(1, sampled) * failed


def main() -> None:
    """Print both, their ratio, and the memory."""
    options = argparse.ArgumentParser()
    options.add_argument("messages", type=int, nargs="?", default=100_000)
    count = options.parse_args().messages
    made = Made(count)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    ours, first, tiers = check(made)
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024 - before
    theirs = plain(made)
    print(f"{count:,} quotes over {count:,} messages, processor time, one process:")
    print(f"  verdicts            {ours:8.1f} s, {first:.1f} s of it the first that fails (index)")
    print(f"  plain look-up       {theirs:8.1f} s (failing quotes from a sample of {SAMPLED})")
    print(f"  ratio               {ours / theirs:8.2f}")
    print(f"  memory beyond texts {used:8.0f} MB")
    print(f"  tiers               {dict(sorted(tiers.items()))}")


if __name__ == "__main__":
    main()
