"""Train the clause model: ``python -m ancrage.abstention.train``.

Reads the labelled clauses of ``labelled/*.txt``, and files of your own in the same form, holds one
line in five out, prints what the model makes of those, then trains on all and writes the weights.
"""

# ruff: noqa: E501 - opening words

import argparse
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.sparse import csr_matrix

from ancrage.abstention.clause_model import KINDS, WEIGHTS, ClauseModel, Kind, quantised, softmax
from ancrage.abstention.clauses import SIZE, features, key_words
from ancrage.errors import AncrageError, UsageError
from ancrage.fingerprint import content_version
from ancrage.wrapping import bare

CLAUSES = Path(__file__).with_name("labelled")
DRAWS = 8
"""How often a line with alternatives is filled."""
_ASKED = frozenset({"n", "q", "den", "bad", "do", "topic"})
"""What a question would name as well."""
_OPENERS = {
    "en": "however, | but | unfortunately, | i'm afraid | in fact, | so | also, | and | sorry, | well, ",
    "fr": "cependant, | mais | malheureusement, | en effet, | donc | hélas, | et | désolé, | en fait, ",
    "de": "aber | leider | allerdings | und | also, | entschuldigung, ",
    "es": "pero | sin embargo, | lamentablemente, | además, | y | lo siento, ",
}


@dataclass
class Source:
    """One file of labelled clauses: the lines of each kind and what fills them."""

    path: Path
    fillers: dict[str, list[str]] = field(default_factory=dict)
    lines: list[tuple[Kind, str]] = field(default_factory=list)


@dataclass(frozen=True)
class Example:
    kind: Kind
    clause: str
    question: str
    line: int
    """Which line it was filled from; the lines, not their fillings, are held out."""


def read_source(path: Path) -> Source:
    """The labelled clauses of a file.

    Raises:
        UsageError: a line stands under no kind, or names no known filler; names file and line.
    """
    source, kind = Source(path), None
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: {error}") from None
    for number, line in enumerate(lines, start=1):
        if not line.strip() or line.startswith("#"):
            continue
        if filler := re.fullmatch(r"@(\w+):(.*)", line):
            source.fillers[filler[1]] = [text.strip() for text in filler[2].split(" | ")]
        elif heading := re.fullmatch(r"\[(\w+)\]", line):
            if heading[1] not in KINDS:
                raise UsageError(f"{path}:{number}: [{heading[1]}]: known are {', '.join(KINDS)}")
            kind = Kind(heading[1])
        elif kind is None:
            raise UsageError(f"{path}:{number}: a clause before the first [kind]")
        else:
            for name in re.findall(r"\{(\w+)\}", line):
                if name not in source.fillers:
                    raise UsageError(f"{path}:{number}: {{{name}}}: no @{name} above")
            source.lines.append((kind, line))
    return source


def examples(sources: Iterable[Source], seed: int = 0) -> Iterator[Example]:
    """Every line, filled in up to ``DRAWS`` ways, now and then behind an opening word."""
    draw = random.Random(seed)  # noqa: S311 - reproducible, not secret
    number = 0
    for source in sources:
        openers = _OPENERS.get(source.path.stem, "").split("|")
        for kind, line in source.lines:
            number += 1
            seen: set[str] = set()
            line, _, put = line.partition(" <= ")
            for _ in range(DRAWS if re.search(r"[({|]", line) else 3):
                clause, asked = _filled(line, source.fillers, draw)
                if draw.random() < 0.25 and kind is not Kind.COURTESY:
                    clause = draw.choice(openers).lstrip() + clause[:1].lower() + clause[1:]
                clause = _worn(clause[:1].upper() + clause[1:], draw)
                if clause in seen:
                    continue
                seen.add(clause)
                if put:
                    yield Example(kind, clause, put, number)
                    continue
                if kind is Kind.ANSWER:
                    words = re.findall(r"\w{4,}", clause)
                    asked = " ".join(draw.sample(words, min(len(words), draw.randrange(4))))
                yield Example(kind, clause, asked if draw.random() < 0.6 else "", number)


def _worn(clause: str, draw: random.Random) -> str:
    """Now and then without its stop, or in small letters, as people and models write."""
    if draw.random() < 0.2:
        clause = clause.rstrip(".")
    return clause.lower() if draw.random() < 0.15 else clause


def _filled(line: str, fillers: dict[str, list[str]], draw: random.Random) -> tuple[str, str]:
    """A filling of ``line``, and what a question would name of it."""
    while group := re.search(r"\(([^()]*)\)", line):
        line = line[: group.start()] + draw.choice(group[1].split("|")) + line[group.end() :]
    asked: list[str] = []

    def fill(match: re.Match[str]) -> str:
        chosen = draw.choice(fillers[match[1]])
        if match[1] in _ASKED:
            asked.append(chosen)
        return chosen

    return re.sub(r"\s+", " ", re.sub(r"\{(\w+)\}", fill, line)).strip(), " ".join(asked)


def matrix(rows: Sequence[dict[int, float]]) -> csr_matrix:
    """(clauses, features)."""
    ends = np.cumsum([0, *map(len, rows)])
    columns = np.fromiter((column for row in rows for column in row), int)
    values = np.fromiter((value for row in rows for value in row.values()), float)
    return csr_matrix((values, columns, ends), shape=(len(rows), SIZE))


def fit(found: Sequence[Example], *, penalty: float = 5e-6) -> ClauseModel:
    """Multinomial logistic regression; every kind of a line counts alike, answers more."""
    x = matrix([features(bare(e.clause), key_words(e.question)) for e in found])
    y = np.array([KINDS.index(e.kind) for e in found])
    per_line = Counter(e.line for e in found)
    weight = np.array(
        [per_line[e.line] ** -0.5 * (1.8 if e.kind is Kind.ANSWER else 1) for e in found]
    )
    weight /= weight.sum()
    target = np.eye(len(KINDS))[y]

    def loss(flat: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        w, bias = flat[: -len(KINDS)].reshape(SIZE, -1), flat[-len(KINDS) :]
        p = softmax(x @ w + bias)
        cost = -(weight * np.log(p[np.arange(len(y)), y] + 1e-12)).sum()
        off = (p - target) * weight[:, None]
        slope = np.concatenate([(x.T @ off + penalty * w).ravel(), off.sum(axis=0)])
        return cost + penalty / 2 * (w**2).sum(), slope

    start = np.zeros((SIZE + 1) * len(KINDS))
    best = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": 150}).x
    return quantised(best[: -len(KINDS)].reshape(SIZE, -1), best[-len(KINDS) :], digest(found))


def digest(found: Sequence[Example]) -> str:
    """What tells whether weights were trained on these very examples."""
    return content_version([(e.kind, e.clause, e.question) for e in found])


def held_out(found: Sequence[Example], fold: int = 0, folds: int = 5) -> str:
    """What a model trained on four lines of five makes of the fifth: one row a kind."""
    kept = [e for e in found if e.line % folds != fold]
    held = [e for e in found if e.line % folds == fold]
    model = fit(kept)
    p = model.probabilities([features(bare(e.clause), key_words(e.question)) for e in held])
    right: dict[Kind, Counter[bool]] = defaultdict(Counter)
    taken: Counter[Kind] = Counter()
    for example, row in zip(held, p, strict=True):
        guess = KINDS[int(row.argmax())]
        right[example.kind][guess is example.kind] += 1
        taken[guess] += 1
    lines = [f"{'held out':12} {'clauses':>8} {'recall':>7} {'precision':>10}"]
    for kind in KINDS:
        total, hit = right[kind].total(), right[kind][True]
        lines.append(
            f"{kind:12} {total:8} {hit / max(1, total):7.3f} {hit / max(1, taken[kind]):10.3f}"
        )
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("labels", nargs="*", type=Path, help="files of your own, beside ours")
    parser.add_argument("--out", type=Path, default=WEIGHTS, help="file of weights to write")
    parser.add_argument("--alone", action="store_true", help="leave our clauses out")
    given = parser.parse_args(arguments)
    paths = [] if given.alone else sorted(CLAUSES.glob("*.txt"))
    try:
        found = list(examples([read_source(path) for path in [*paths, *given.labels]]))
        if not found:
            raise UsageError("no labelled clause")
    except AncrageError as error:
        raise SystemExit(f"error: {error}") from None
    counts = Counter(e.kind for e in found)
    print(f"{len(found)} clauses of {len({e.line for e in found})} lines:", dict(counts))  # noqa: T201
    print(held_out(found))  # noqa: T201
    fit(found).save(given.out)
    print(f"{given.out}: {given.out.stat().st_size:,} bytes")  # noqa: T201


if __name__ == "__main__":
    main()
