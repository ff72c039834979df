"""Sentences and clauses of French and English prose, with their offsets.

Rules, not a model: the same text always gives the same spans, on any machine.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter

from ancrage.claims.lexicon import LEXICON
from ancrage.wrapping import CITATION

Span = tuple[int, int]
_FAR = 500
"""Characters looked at on either side of a place where a sentence may be cut, so that a long text
is read in linear time."""

_PROTECTED = re.compile(
    r"«[^«»]*»|“[^“”]*”|„[^„“”]*[“”]|\"[^\"\n]*\"|\([^()]*\)|`[^`\n]*`|https?://\S+"
)
_END = re.compile(r"(?:[.!?…]+)(?:[\s\u00a0\u202f]?»|[\"”’)\]*_])*(?=\s|$|\[)")
_REFERENCES = re.compile(rf"(?:\s*{CITATION.pattern})+")
_TOKEN = re.compile(r"[\w.'’-]+$")

_NEVER, _SELDOM, _STARTERS = (
    frozenset(LEXICON[name].split()) for name in ("never_ends", "seldom_ends", "starters")
)

_VERB = re.compile(
    r"\b(?:is|are|was|were|isn['’]t|aren['’]t|wasn['’]t|weren['’]t|has|have|had|do|does|did|doesn['’]t"
    r"|don['’]t|didn['’]t|can|cannot|can['’]t|could|will|won['’]t|would|shall|should|may|might|must"
    r"|says?|said|thinks?|thought|wants?|needs?|prefers?|chooses?|chose|dates?|remains?|shows?|rose|rises?|fell|falls?|grew"
    r"|grows?|costs?|contains?|includes?|made|makes?|took|takes?|gave|gives?|went|goes|came|comes?"
    r"|finds?|found|feels?|felt|sees?|saw|knows?|knew|uses?|lives?|works?|likes?|lost|won|sold|began"
    r"|left|became|becomes?|kept|held|ran|led|met|paid|stood|brought|bought|built|wrote|spoke"
    r"|\w{3,}ed"
    r"|est|sont|était|étaient|sera|seront|serait|a|ont|avait|avaient|aura|auront|fut|furent|eut|eurent"
    r"|n['’](?:est|ont|a|était|avait|aime|y)|peut|peuvent|doit|doivent|va|vont|fait|font|dit|disent"
    r"|veut|veulent|reste|restent|coûte|compte|comptent|souhaite|préfère|juge|trouve|cite|demande"
    r"|estime|évoque|mentionne|représente|atteint|concerne|manque|aime|utilise|pense|choisi\w+|date|défini\w+|permet|devient"
    r"|vient|met|prend|reçoit|voit|sait|montre|baisse|augmente|progresse|recule|salue|critique|regrette"
    r"|\w{3,}(?:aient|ait|era|eront|èrent|issent|isent|ivent|ettent)"
    r"|\w{2,}(?:[bcdfgjklnprstvz])(?<!m)ent(?<!ment)(?<!cent)(?<!lient)(?<!gent)(?<!dent)(?<!cident))\b",
    re.IGNORECASE,
)
_SUBJECT = re.compile(
    r"(?:le|la|les|un|une|des|du|ce|cet|cette|ces|son|sa|ses|leur|leurs|notre|nos|chaque|plusieurs"
    r"|certains|certaines|quelques|beaucoup|d['’]autres|aucun|aucune|tous|toutes|the|an?|this|these"
    r"|those|his|her|its|their|our|each|some|most|many|several|others|all|both|no|few)\b(?!['’])"
    r"|l['’]\w|\d|[A-ZÉÈÀÂÊÎÔÇ]\w",
)
_LOWER_SUBJECT = re.compile(_SUBJECT.pattern.rsplit("|", 1)[0], re.IGNORECASE)
_BARE_SUBJECT = re.compile(rf"[^\W\d_]{{3,}}s\s+(?=(?:{_VERB.pattern}))", re.IGNORECASE)
_JOIN = re.compile(
    r"\s*;\s*|,?\s+(?:and|but|while|whereas|et|mais|tandis\s+que|alors\s+que)\s+"
    r"|,?\s+tandis\s+qu['’]|,?\s+alors\s+qu['’]",
)
_SUBORDINATE = re.compile(
    r"\b(?:que|qu['’]|that|whether|if|si|qui|which|who|because|parce)\b", re.IGNORECASE
)
_INTRO = re.compile(
    r"(?:en|in|dans|selon|d['’]après|according to|pour|for|among|parmi|chez|since|depuis|during"
    r"|pendant|durant|by|before|after|avant|après|at|à|on|le|au|aux)\b[^,;.]{1,60},(?!\d)\s*",
    re.IGNORECASE,
)
_WORD = re.compile(r"\w+")
_LONG_SUBJECT = 8
"""Words of a subject that can be carried over."""
_RELATIVE = re.compile(
    r"(?P<name>(?:[A-ZÀ-Ý][\w'’.-]*\s+(?:(?:de|du|des|of|the|la|le|von|van)\s+)*){0,5}[A-ZÀ-Ý][\w'’-]*)"
    rf",\s+(?:who|which|qui)\s+(?={_VERB.pattern})"
)
_NAMED_VERB = re.compile(r"((?:[A-ZÀ-Ý][\w'’.-]* ){1,5})(?=[a-zà-ÿ]{3,}(?:s|ed|e|ent)\b)")
"""A name, and after it what can only be its verb."""
_ANOTHER = re.compile(r"\b(?:the|an?|this|le|la|un|une|ce|cet|cette)\b|\bl['’]", re.IGNORECASE)
_PERSON = re.compile(r"(?!(?:The|Le|La|Les|L['’]|This|Ce|Cette|An?|Une?)\b)[A-ZÀ-Ý]")
_PRONOUN = re.compile(
    r"(?:it(?! (?:is|was|seems|appears)\b[^.]*\b(?:that|to|for)\b)|he|she|they|its|his|her|their"
    r"|(?:il|elle)s?(?! (?:y a|faut|s['’]agit|semble|est \w+ (?:que|de))\b)|sa|son|ses|leurs?)\s",
    re.IGNORECASE,
)
_PREDICATE = re.compile(
    r"(?:(?:also|then|later|even|still|ne|y|en|se|aussi|ensuite|puis)\s+|(?:n|s|l|y)['’])*"
    r"(?:(?:is|are|was|were|has|have|had|will|would|can|could|won|sold|began|left|became|kept|held"
    r"|led|met|paid|bought|built|wrote|found|made|took|gave|went|came|rose|fell|grew|lost|died"
    r"|est|sont|était|étaient|a|ont|avait|avaient|sera|seront|fut|peut|peuvent|doit|compte|emploie"
    r"|reste|représente|atteint|devient)\b"
    r"|\w{3,}(?:ed|es)\s+(?:an?|the|his|her|its|their|in|at|to|by|for|on|with|as|from|\d|two|three)\b)"
)


def protected(text: str) -> list[Span]:
    """The spans of ``text`` that are never cut: quotes, parentheses, code, addresses."""
    return [m.span() for m in _PROTECTED.finditer(text)]


def _around(kept: Sequence[Span], position: int) -> Span:
    """The last of the ordered spans ``kept`` that begins by ``position``, or an empty one."""
    index = bisect_right(kept, position, key=itemgetter(0))
    return kept[index - 1] if index else (position, position)


def has_verb(text: str) -> bool:
    """Whether a finite verb is recognised in ``text`` (a list and endings, no parser)."""
    return _VERB.search(text) is not None


def sentences(text: str, start: int, end: int, kept: Sequence[Span]) -> Iterator[Span]:
    """The sentences of ``text[start:end]``, trimmed; references after a stop are in none."""
    begin = _skip(text, start, end)
    for m in _END.finditer(text, begin, end):
        if m.start() < begin or not _ends(text, begin, m, end, kept):
            continue
        if begin < m.end():
            yield begin, m.end()
        references = _REFERENCES.match(text, m.end(), end)
        begin = _skip(text, references.end() if references else m.end(), end)
    finish = begin + len(text[begin:end].rstrip())
    if begin < finish:
        yield begin, finish


def _ends(text: str, begin: int, m: "re.Match[str]", end: int, kept: Sequence[Span]) -> bool:
    low, high = _around(kept, m.start())
    if low < m.start() and m.end() < high:
        return False
    references = _REFERENCES.match(text, m.end(), end)
    after = _skip(text, references.end() if references else m.end(), end)
    following = text[after : min(end, after + _FAR)]
    if not following:
        return True
    if references and following[0] in ".!?…":
        return False
    if not references and text[m.end() : m.end() + 1] == "[":
        return False
    if following.lstrip('*_«“"( \u00a0\u202f')[:1].islower():
        return False
    if m.group()[0] != "." or m.group().startswith(".."):
        return True
    token = _TOKEN.search(text, begin, m.start())
    if token is None:
        return True
    word = token.group().lower().lstrip("'’")
    word = re.split(r"[’']", word)[-1] if "." not in word else word
    starter = _WORD.search(following)
    opens = starter is not None and starter.group().lower() in _STARTERS
    if word.isdigit() and token.start() == begin:
        return False
    if word in _NEVER:
        return bool(word == "m" and re.search(r"\d\s*$", text[begin : token.start()]))
    if word in _SELDOM or (len(word) == 1 and word.isalpha() and token.group().isupper()):
        return opens
    return True


def _skip(text: str, start: int, end: int) -> int:
    """The first position from ``start`` that is neither space nor a block-quote mark."""
    while start < end and (
        text[start].isspace() or (text[start] == ">" and text.find("\n", 0, start) >= 0)
    ):
        start += 1
    return start


@dataclass(frozen=True)
class Clause:
    """A part of a sentence that can be held against a source by itself."""

    start: int
    end: int
    opening: str = ""
    """An opening such as « En 2021 » that governs it too."""
    subject: str = ""
    """The subject that it shares with the clause before, or that it says something of."""


def clauses(text: str, start: int, end: int, kept: Sequence[Span]) -> Iterator[Clause]:
    """The clauses of one sentence, in order, without overlap.

    A clause is cut off where it stands alone (its own subject, not a pronoun, and its own verb), or
    where it has a verb and shares a subject that can be carried over to it: "Ann left and found a
    job", "Ann Roy, who was born in Lyon, left". What hangs on a subordinate is left whole, and an
    opening such as « En 2021, » is carried over to the clauses that follow.
    """
    opening = _INTRO.match(text, start, end)
    if opening and has_verb(opening.group()):
        opening = None
    intro = opening.group().strip(" ,") if opening else ""
    first = True
    for part in _relatives(text, start, end, opening.end() if opening else start, kept):
        for clause in _joined(text, part, bool(opening) and first, intro, kept):
            yield clause
            first = False


def _relatives(
    text: str, start: int, end: int, body: int, kept: Sequence[Span]
) -> Iterator[Clause]:
    """A sentence whose name is explained by a relative clause, in parts that each say one thing of
    that name; the sentence itself where there is none."""
    found = _RELATIVE.search(text, body, end)
    if found is None or _around(kept, found.start())[1] > found.start():
        yield Clause(start, end)
        return
    name = found["name"].strip()
    closing = text.find(",", found.end(), end)
    rest = closing >= 0 and _VERB.match(text, _skip(text, closing + 1, end), end)
    if closing < 0:
        yield Clause(start, found.end("name"))
        yield Clause(found.end(), end, subject=name)
    elif rest and found.start("name") == body:
        yield Clause(found.end(), closing, subject=name)
        yield Clause(rest.start(), end, subject=name)
    else:
        yield Clause(start, end)


def _joined(
    text: str, part: Clause, opened: bool, intro: str, kept: Sequence[Span]
) -> Iterator[Clause]:
    begin, opening, subject = part.start, "", part.subject
    known = subject
    for m in _JOIN.finditer(text, part.start, part.end):
        if m.start() <= begin or _around(kept, m.start())[1] > m.start():
            continue
        left = text[begin : min(m.start(), begin + _FAR)]
        right = text[m.end() : min(part.end, m.end() + _FAR)]
        semicolon = m.group().strip() == ";"
        shared = ""
        if semicolon:
            if min(len(_WORD.findall(left)), len(_WORD.findall(right))) < 2:
                continue
        elif not _stands_alone(left, right, opened and begin == part.start):
            known = known or _subject(left, opened and begin == part.start)
            shared = known if _goes_on(left, right) else ""
            if not shared:
                continue
        yield Clause(begin, m.start(), opening, subject)
        opening, subject = "" if _INTRO.match(right) else intro, shared
        known = shared
        if semicolon and not has_verb(right):
            opening = left.strip()
        begin = m.end()
    yield Clause(begin, part.end, opening, subject)


def _subject(left: str, opened: bool) -> str:
    """What stands before the first verb of a clause, where that is a subject that can be carried
    over: a name, or a noun with its article."""
    if opened:
        left = _INTRO.sub("", left, count=1)
    verb = _VERB.search(left) or _NAMED_VERB.match(left)
    if verb and verb.re is _NAMED_VERB:
        return verb[1].strip()
    subject = left[: verb.start()].strip(" *_") if verb else ""
    words = _WORD.findall(subject)
    if not 0 < len(words) <= _LONG_SUBJECT or re.search(r"[,;:(«“\"]", subject):
        return ""
    return subject if _SUBJECT.match(subject) else ""


def _goes_on(left: str, right: str) -> bool:
    """Whether ``right`` is another verb of the subject of ``left``, which hangs on nothing."""
    return not _SUBORDINATE.search(left) and _PREDICATE.match(right) is not None


def topic_of(sentence: str) -> str:
    """The subject of a sentence in plain words that a pronoun after it can only stand for; nothing
    where the sentence names another thing too, or the subject cannot be told."""
    opening = _INTRO.match(sentence)
    subject = _subject(sentence, opening is not None and not has_verb(opening.group()))
    rest = sentence[sentence.find(subject) + len(subject) :] if subject else ""
    pronoun = _PRONOUN.match(f"{subject} ") or subject.lower() in ("i", "we", "you", "je", "nous")
    return "" if pronoun or _ANOTHER.search(rest) else subject


def open_pronoun(sentence: str, topic: str) -> bool:
    """Whether a sentence begins with a pronoun that agrees with ``topic``."""
    found = _PRONOUN.match(sentence)
    if not found or not topic:
        return False
    word = found.group().strip().lower()
    plural = word in ("they", "their", "ils", "elles", "leur", "leurs")
    if word in ("he", "she", "his", "her") and not _PERSON.match(topic):
        return False
    return plural is bool(re.search(r"\w[sx]$|\b(?:and|et)\b", topic)) or bool(
        not plural and topic[:1].isupper() and _PERSON.match(topic)
    )


def _stands_alone(left: str, right: str, opened: bool) -> bool:
    if opened:
        left = _INTRO.sub("", left, count=1)
    if len(_WORD.findall(left)) < 3 or _SUBORDINATE.search(left):
        return False
    if not any(subject.match(right) for subject in (_SUBJECT, _LOWER_SUBJECT, _BARE_SUBJECT)):
        return False
    if not has_verb(left):
        return False
    head = " ".join(re.split(r"[,;:(«“\"]", right)[0].split()[:9])
    verb = _VERB.search(head, 1)
    return verb is not None and not re.search(
        r"\b(?:qui|que|that|which|who)\b", head[: verb.start()]
    )
