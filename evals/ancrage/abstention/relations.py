"""Who is named and what is said of whom: namesakes, relations turned round, the wrong clause."""

# ruff: noqa: SIM905 - lists of words

import re

from rapidfuzz.fuzz import ratio

from ancrage.abstention.clauses import fold
from ancrage.abstention.sense import STOP, canonical, contains, content, share

_TITLES = frozenset(
    (
        "mr mrs ms miss dr prof professor sir lord lady king queen president captain judge saint "
        "m mme mlle monsieur madame docteur professeur roi reine maitre herr frau doktor konig "
        "senor senora don dona doctor rey reina"
    ).split()
)
_DROPPED = _TITLES | frozenset("the le la les l de du a in at en an of der die el".split())
_TOKEN = re.compile(r"[^\W\d_][\w'’-]*\.?")
_ENTITY = re.compile(r"\b[A-ZÀ-Ý][\w'’-]+(?: (?:(?:of|de|du|von) )?[A-ZÀ-Ý][\w'’-]+)*")
_AGENT = re.compile(r"\b(?:by|par|von|durch|por)\b")
_MUTUAL = re.compile(
    r"\b(?:and|et|und|y|or|ou|married|met|marie|epouse|rencontr\w+|equals?|with|avec)\b"
)
_JOINED = re.compile(r"\s*(?:;|\b(?:and|et|und|y|but|mais|aber|pero|while|tandis que)\b)\s*")


def content_words(text: str) -> set[str]:
    """The folded words of ``text`` but titles and the commonest."""
    return set(canonical(text).split()) - _DROPPED


def spelt(word: str, said: list[str]) -> bool:
    """Whether ``word`` is said, slips of spelling in long words allowed."""
    return any(
        other == word
        or (min(len(word), len(other)) >= 7 and other[0] == word[0] and ratio(word, other) >= 87)
        for other in said
    )


def namesake(answer: str, person: str) -> bool:
    """Whether ``answer`` gives another first name or initial to the surname of ``person``."""
    parts = [word for word in canonical(person).split() if word not in _DROPPED]
    tokens = [token.rstrip(".") for token in _TOKEN.findall(answer)]
    places = [place for place, token in enumerate(tokens) if fold(token) == parts[-1]]
    if len(parts) < 2 or not places:
        return False
    return all(any(_strange(word, parts) for word in _before(tokens, place)) for place in places)


def _before(tokens: list[str], place: int) -> list[str]:
    """The words in capitals right before a surname, those that say nothing left out."""
    found = []
    while place and tokens[place - 1][:1].isupper():
        place -= 1
        if fold(tokens[place]) not in _TITLES | STOP:
            found.append(tokens[place])
    return found


def _strange(word: str, parts: list[str]) -> bool:
    """Whether ``word`` is neither one of ``parts`` nor their initial nor a slip of theirs."""
    said = fold(word)
    return not any(part.startswith(said) or said.startswith(part) for part in parts) and not spelt(
        said, parts
    )


def turned(answer: str, expected: str) -> bool:
    """Whether ``answer`` says of two names what ``expected`` says of them the other way round:
    A beat B, B beat A; « A a été battu par B » says it too."""
    wanted = list(_ENTITY.finditer(expected))
    if len(wanted) != 2:
        return False
    between = fold(expected[wanted[0].end() : wanted[1].start()])
    relation = content(between) - content(f"{wanted[0].group()} {wanted[1].group()}")
    first, second = (fold(match.group()) for match in wanted)
    said = fold(answer)
    places = said.find(first), said.find(second)
    if not relation or _MUTUAL.search(between) or -1 in places or first == second:
        return False
    if share(relation, content(answer)) < 1:
        return False
    inner = said[min(places) : max(places)]
    passive = bool(_AGENT.search(inner)) != bool(_AGENT.search(between))
    return (places[0] > places[1]) != passive


def elsewhere(answer: str, expected: str, question: str) -> bool:
    """Whether a joined clause without ``expected`` says what is asked, and that with it does not:
    "born in Bath and died in Bristol", asked where she died."""
    asked = {word for word in canonical(question).split() if len(word) > 2 and word not in STOP}

    def speaks(part: str) -> int:
        words = canonical(part).split()
        return sum(
            any(word.startswith(a) or a.startswith(word) for word in words if len(word) > 2)
            for a in asked
        )

    parts = [part for part in _JOINED.split(answer) if len(part.split()) > 2]
    holding = [part for part in parts if contains(part, expected)]
    others = [
        part for part in parts if part not in holding and re.search(r"\d|\w\W+[A-ZÀ-Ý]\w", part)
    ]
    if not holding or not others or contains(question, expected):
        return False
    return max(map(speaks, others)) > max(map(speaks, holding)) == 0
