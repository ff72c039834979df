"""The index of words: the same texts as a search of all of them, one file for all processes."""

import random
from multiprocessing import get_context
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from ancrage.quotes.normalise import canonical
from ancrage.quotes.words import WordIndex, canonical_words, words

VOCABULARY = [*"abcdefghij", "été", "l'œuvre", "1 000", "日本", "naïve", "e\u0301tat", "so\u00adft"]


def texts(count: int, seed: int = 1) -> list[str]:
    draw = random.Random(seed)
    return [" ".join(draw.choices(VOCABULARY, k=draw.randint(1, 9))) for _ in range(count)]


@given(
    st.text() | st.lists(st.sampled_from([*VOCABULARY, " ", "\u00a0", "Œ", "ﬁ", "12"])).map("".join)
)
def test_the_words_are_those_of_the_canonical_form(text: str) -> None:
    assert canonical_words(text) == words(canonical(text))


@given(st.lists(st.sampled_from(VOCABULARY), max_size=5))
def test_no_text_with_all_the_words_is_left_out(wanted: list[str]) -> None:
    found = list(INDEX.having(word for part in wanted for word in words(canonical(part))))
    needed = {word for part in wanted for word in words(canonical(part))}
    having = [n for n, text in enumerate(TEXTS) if needed <= set(words(canonical(text)))]
    assert set(having) <= set(found)
    assert found == sorted(set(found))
    assert len(having) <= 8 or found == having


TEXTS = texts(300)
INDEX = WordIndex(TEXTS)


def test_texts_that_share_rare_words_come_first() -> None:
    index = WordIndex(["common rare", "common", "common other", "common rare rarest"])
    assert list(index.sharing(["rare", "rarest", "common", "unknown"], 2)) == [3, 0]


def _numbers(path: Path) -> list[int]:
    return list(WordIndex(TEXTS, path).having(["été"]))


def test_processes_share_one_file(tmp_path: Path) -> None:
    path = tmp_path / "study.words"
    with get_context("spawn").Pool(2) as pool:
        found = pool.map(_numbers, [path] * 4)
    assert found == [list(INDEX.having(["été"]))] * 4
    made = path.stat()
    assert _numbers(path) == found[0]
    assert path.stat().st_mtime_ns == made.st_mtime_ns
