"""Sentences and clauses of French and English prose, with their offsets.

Rules, not a model: the same text always gives the same spans, on any machine.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
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


def clauses(text: str, start: int, end: int, kept: Sequence[Span]) -> Iterator[tuple[Span, str]]:
    """The independent clauses of one sentence and, for each, the words carried over to it.

    A clause is cut off only when it stands alone: it has its own subject, not a pronoun, and its
    own verb, and it does not hang on a subordinate. An opening such as « En 2021, » is carried
    over to the clauses that follow.
    """
    opening = _INTRO.match(text, start, end)
    if opening and has_verb(opening.group()):
        opening = None
    intro = opening.group().strip(" ,") if opening else ""
    begin = start
    carried = ""
    for m in _JOIN.finditer(text, start, end):
        if m.start() <= begin or _around(kept, m.start())[1] > m.start():
            continue
        left = text[begin : min(m.start(), begin + _FAR)]
        right = text[m.end() : min(end, m.end() + _FAR)]
        semicolon = m.group().strip() == ";"
        if semicolon:
            if min(len(_WORD.findall(left)), len(_WORD.findall(right))) < 2:
                continue
        elif not _stands_alone(left, right, bool(opening) and begin == start):
            continue
        yield (begin, m.start()), carried
        carried = "" if _INTRO.match(right) else intro
        if semicolon and not has_verb(right):
            carried = left.strip()
        begin = m.end()
    yield (begin, end), carried


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
