"""Verbatim words whose cut, or whose bracket, says something else than the message did.

A quote can be word for word and still lose the negation, the hedge, the condition, the quantity
or the question that governed it, or gain another name or number between brackets. Found by the
clause: what governs words stands in their clause or joins right on to it, and what a comma or a
conjunction parts from them does not.
"""

import re
from functools import lru_cache
from typing import NamedTuple

from ancrage.quotes.elision import Elided
from ancrage.quotes.normalise import canonical


class Distortion(NamedTuple):
    """What a quote dropped or changed."""

    kind: str
    """``negation``, ``hedge``, ``condition``, ``quantity``, ``name`` or ``question``."""
    words: str
    """The words of the message at stake."""
    start: int
    end: int
    """The passage of the canonical message that shows it: the quote and those words."""
    explanation: str


def _words(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w'-])(?:{pattern})(?![\w-])", re.IGNORECASE)


_NEGATION = (
    r"pas|jamais|aucune?s?|rien|ni|ne|n'\w*|sans|non|guère|nullement|personne|nulle?|not|no|never"
    r"|none|neither|nor|without|nobody|no one|nothing|nowhere|cannot|\w+n't|cant|dont|doesnt|didnt"
    r"|wont|isnt|arent|wouldnt|shouldnt|couldnt|hardly|barely|scarcely|far from|loin de"
)
_DOUBT = (
    r"doubt(?:s|ed|ful)?|disagrees?|den(?:y|ies|ied)|refuses?|refused|reject(?:s|ed)?|wish(?:es)?"
    r"|pretends?|false|untrue|myth|oppose[ds]?|against|unlikely|instead of|rather than|as if"
    r"|as though"
    r"|lest|unable|fails? to|avoid(?:s|ed|ing)?|doute[sz]?|doutent|douteux|refuse[sz]?|refusent"
    r"|nie[sz]?|conteste|faux|contre|au lieu de?|plutôt que?|comme si|incapables?|évite[rz]?"
    r"|impossible|improbable"
)
_HEDGE = (
    r"maybe|perhaps|probably|possibly|presumably|supposedly|allegedly|apparently|seemingly"
    r"|sometimes|occasionally|rarely|seldom|i suppose|i guess|i'm not sure|not sure|unsure"
    r"|it seems|seems? like|might|in theory|peut-être|peut être|probablement|sans doute"
    r"|possiblement|éventuellement|apparemment|soi-disant|prétendument|parfois|quelquefois"
    r"|rarement|je suppose|j'imagine|il paraît|il semble(?:rait)?|on dirait|en théorie|pas sûre?"
    r"|a priori"
)
_CONDITION = (
    r"if|unless|provided|providing that|as long as|so long as|only when|in case|on condition"
    r"|assuming"
    r"|except|otherwise|until|si|s'il|s'ils|sauf|à condition|a condition|à moins|pourvu|tant que"
    r"|en cas"
    r"|hormis|excepté|sinon|sous réserve|dès lors que|quitte à"
)
_ONLY = (
    r"only|solely|merely|exclusively|seulement|uniquement|exclusivement|juste pour|que pour|qu'en"
    r"|qu'à|qu'avec|que si|que quand"
)
_QUANTITY = (
    r"few|a few|some|several|many|most|half|all|every|everyone|everybody|part of|a lot of|much"
    r"|little|less|more|fewer|least|almost|nearly|about|around|roughly|approximately|under|over"
    r"|up to"
    r"|at least|at most|one of|two of|certaine?s?|quelques|plusieurs|beaucoup|peu|la plupart"
    r"|la moitié|moitié|une partie|tous|toutes|tout|chaque|moins|plus|presque|quasi(?:ment)?"
    r"|environ|près de|autour de|à peine|au moins|au plus|jusqu'à|au maximum|au minimum|minorité"
    r"|majorité|minority|majority|always|toujours|often|souvent|usually"
)
_DENIES = _words(f"{_NEGATION}|{_DOUBT}")
_HEDGES, _CONDITIONS = _words(_HEDGE), _words(_CONDITION)
_ONLYS, _QUANTITIES = _words(_ONLY), _words(_QUANTITY)
_GOVERNS = (
    ("hedge", _HEDGES),
    ("negation", _DENIES),
    ("quantity", _ONLYS),
)
_COUNTS = re.compile(
    r"(?:(?<![\w'-])(?:few|a few|some|several|many|most|half|all|almost all|part of|at least"
    r"|at most"
    r"|up to|one of|two of|certaine?s?|quelques|plusieurs|peu|la plupart|la moitié|une partie|tous"
    r"|toutes|chaque|less than|more than|moins de|plus de|au moins|au plus|à peine|presque tous"
    r"|seule?s?|minorité|majorité|minority|majority)"
    r"(?:\s+(?:of|de|d'|des|du|than|the|my|our|les|mes|nos|your|these|those|ces))*|[<>≤≥~±≈])\s*\Z",
    re.IGNORECASE,
)
_COMPARES = re.compile(
    r"(?:(?<!\w)(?:less than|more than|fewer than|moins de|plus de|under|over|almost|nearly|about"
    r"|around|roughly|approximately|at least|at most|up to|only|presque|environ|près de|à peine"
    r"|au moins|au plus|jusqu'à|seulement|not even|même pas)|[<>≤≥~±≈])\s*\Z",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"[.!?…;](?=\s|\Z)|\n")
_CLAUSE = re.compile(
    r"[,;:—()\[\]\"]|(?<!\w)(?:but|and|because|so|while|whereas|although|though|however|then|when"
    r"|since|who|which|or|mais|et|car|donc|parce que?|alors|quand|lorsque|cependant|pourtant|puis"
    r"|puisque|bien que?|qui|ou|comme)(?!\w)",
    re.IGNORECASE,
)
_JOINS = re.compile(
    rf"\s*[,—(]?\s*(?:but |mais )?(?P<word>(?:even |même )?(?:{_CONDITION})(?!\w)"
    r"|(?:only|seulement|uniquement|exclusively|solely) (?=(?:if|when|for|in|on|with|during|by"
    r"|after"
    r"|pour|si|quand|dans|en|à|au|avec|le|la|les|sur)(?!\w))|(?:qu'en|qu'à|qu'avec|que si"
    r"|que quand|que pour)"
    r"(?!\w)|(?:but|mais|and|et|or|ou) (?:not|pas|never|jamais|no|non)(?!\w)|à l'exception"
    r"|apart from|other than|à part)",
    re.IGNORECASE,
)
_IDLE = re.compile(
    r"(?<!\w)(?:par contre|en revanche|au contraire|not only|non seulement|no doubt|no matter"
    r"|sans parler|why not|pourquoi pas|n'importe|nothing but|rien que|if only|not to mention"
    r"|n'est-ce pas|n'empêche|sans compter|by no means|no wonder|if you ask me|if possible"
    r"|si possible"
    r"|s'il vous plaît|s'il te plaît|si vous voulez|if you will|as if by|sans cesse|sans arrêt"
    r"|without (?:a )?doubt|sans aucun doute|nonetheless|non-stop|more or less"
    r"|plus ou moins)(?!\w)",
    re.IGNORECASE,
)
"""Turns of phrase whose words deny or condition nothing."""
_DIRECT = re.compile(
    r" (?P<word>(?:pas|jamais|guère|plus (?=\w+ant\b)|aucune?|rien|not|never|no|nothing"
    r"|nobody)(?!\w))"
)
_CONCEDES = re.compile(r"\A(?:even|même)\b", re.IGNORECASE)
_ASKS = re.compile(
    r"\A\W*(?:why|what|how|who|whom|whose|where|when|which|is|are|was|were|do|does|did|can|could"
    r"|should|would|will|has|have|pourquoi|que|qu'|quel|quelle|comment|qui|où|quand|combien|est-ce"
    r"|a-t|est-il|faut-il|peut-on|dois-je)(?!\w)|\w-(?:t-)?(?:il|elle|on|vous|tu|nous|ce|ils|elles)\b",
    re.IGNORECASE,
)
_NUMBER = re.compile(
    r"\d+(?:[.,]\d+)*|(?<!\w)(?:zero|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
    r"|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen|twenty|thirty|forty|fifty"
    r"|sixty|seventy|eighty|ninety|hundred|thousand|million|deux|trois|quatre|cinq|sept|huit|neuf"
    r"|dix|onze|douze|treize|quatorze|quinze|seize|vingt|trente|quarante|cinquante|soixante|cent"
    r"|mille)s?(?!\w)",
    re.IGNORECASE,
)
_ADJUNCT = re.compile(
    r"(?:pour|dans|sur|à|au|aux|de|du|des|avec|en|chez|par|for|in|on|at|to|of|with|from|by)(?!\w)",
    re.IGNORECASE,
)
"""What begins with a preposition goes with the clause that was cut, or with the one kept."""
_NAME = re.compile(r"(?<![\w'])[A-ZÀ-Þ][\w'-]+")
_SMALL = (
    r"i he she it they we you the a an this that these those there my our your his her "
    r"their its in on at for but and so if when what who one some all most il elle ils "
    r"elles on nous vous je tu le la les l un une des ce cet cette ces mon ma mes notre "
    r"nos votre vos son sa ses leur leurs mais et donc si quand qui que c d j n s qu en au "
    r"aux du de dans pour par avec sur"
)
_NO_NAMES = frozenset(_SMALL.split())
_UNIT = re.compile(r"\d\s?\w{1,4}\Z")
_REACH = 10
"""Words before the quote, within its clause, that can govern it."""
_LONGEST = 400

# What a sentence of the answer can say to give back what its quote left out.
_GIVES_BACK = {
    "negation": re.compile(
        rf"(?<![\w'-])(?:{_NEGATION}|{_DOUBT}|lacks?|manque|rejet\w*|oppos\w+|hostil\w+|critiqu\w+"
        r"|dis(?:like|trust|miss)\w*|défian\w+|méfi\w+|sceptic\w*|skeptic\w*|sceptique\w*"
        r"|no longer|ex"
        r"clu\w*|den\w+|réfut\w+|dément\w*|nuanc\w+)(?!\w)",
        re.IGNORECASE,
    ),
    "hedge": re.compile(
        rf"(?<![\w'-])(?:{_HEDGE}|hesita\w+|hésit\w+|uncertain\w*|incertain\w*|wonder\w*|suppos\w+"
        r"|suggest\w*|could|may|pourrait|doute\w*|doubt\w*|tentativ\w*|prud\w+|hypoth\w+)(?!\w)",
        re.IGNORECASE,
    ),
    "condition": re.compile(
        rf"(?<![\w'-])(?:{_CONDITION}|{_ONLY}|condition\w*|conditional\w*|provid\w+|réserve\w*"
        r"|exception\w*|dépend\w*|depend\w*|limit\w+|restrict\w+)(?!\w)",
        re.IGNORECASE,
    ),
    "quantity": re.compile(
        rf"(?<![\w'-])(?:{_QUANTITY}|{_ONLY}|minorit\w+|major\w+)(?!\w)|[<>≤≥~±≈]", re.IGNORECASE
    ),
    "question": re.compile(
        r"\?|(?<!\w)(?:ask\w*|wonder\w*|question\w*|demand\w+|interrog\w+|whether|if|si)(?!\w)",
        re.IGNORECASE,
    ),
}
_WITHOUT_CONDITION = re.compile(
    r"(?:sans|without|no|aucune?)\s+(?:\w+\s+)?(?:conditions?|réserves?|reservations?|exceptions?"
    r"|limites?|limits?|restrictions?|hésit\w+|doute|doubt)|uncondition\w+|inconditionnel\w*",
    re.IGNORECASE,
)


def distortion(text: str, start: int, end: int, quote: str, around: str = "") -> Distortion | None:
    """What the quote ``text[start:end]`` of a message, without cuts, left out at its edges.

    ``text`` and ``quote`` are canonical; ``around`` is the rest of the quote's sentence in the
    answer, which can give back what the quote left out.
    """
    text = _without_idle(text)
    found = _at_left(text, start, end, quote) or _at_right(text, start, end, quote)
    return _unless_given_back(found, around)


def marked_distortion(
    elided: Elided,
    spans: tuple[tuple[int, int], ...],
    text: str,
    quote: str,
    around: str = "",
) -> Distortion | None:
    """The same where the fragments stand at ``spans`` of ``text``."""
    start, end = spans[0][0], spans[-1][1]
    text = _without_idle(text)
    for index, bracket in enumerate(elided.gaps):
        left, right = spans[index][1], spans[index + 1][0]
        gap = text[left:right]
        found = (
            _in_cut(gap, spans[index], spans[index + 1], text)
            if bracket is None
            else _in_bracket(bracket, gap)
        )
        if found:
            kind, words = found
            what = (
                f"The cut leaves out “{_short(words)}” ({kind})."
                if bracket is None
                else f"The bracket “{_short(bracket)}” stands for “{_short(gap)}” ({kind})."
            )
            given = _unless_given_back(Distortion(kind, words, start, end, what), around)
            if given:
                return given
    for bracket, edge, before in (
        (elided.before, text[max(0, start - 80) : start], True),
        (elided.after, text[end : end + 80], False),
    ):
        if bracket and (found := _in_edge_bracket(bracket, edge, before=before)):
            kind, words = found
            what = f"The bracket “{_short(bracket)}” stands for “{_short(words)}” ({kind})."
            return Distortion(kind, words, start, end, what)
    found_left = None if elided.before else _at_left(text, start, end, quote)
    found_right = None if elided.after else _at_right(text, start, end, quote)
    return _unless_given_back(found_left or found_right, around)


@lru_cache(maxsize=1024)
def _without_idle(text: str) -> str:
    return _IDLE.sub(lambda found: "_" * len(found[0]), text)


def _unless_given_back(found: Distortion | None, around: str) -> Distortion | None:
    if found is None or found.kind not in _GIVES_BACK:
        return found
    plain = _WITHOUT_CONDITION.sub(" ", canonical(around))
    return None if _GIVES_BACK[found.kind].search(plain) else found


def _at_left(text: str, start: int, end: int, quote: str) -> Distortion | None:
    begin = max(0, start - _LONGEST)
    for stop in _SENTENCE.finditer(text, begin, start):
        begin = stop.end()
    before = text[begin:start]
    if not before.strip():
        return None

    def found(kind: str, words: str, at: int) -> Distortion:
        what = f"The quote leaves out “{_short(words.strip())}” before it ({kind})."
        return Distortion(kind, words.strip(), at, end, what)

    counted = _COMPARES.search(before) if quote[:1].isdigit() or _NUMBER.match(quote) else None
    counted = counted or _COUNTS.search(before)
    if counted:
        return found("quantity", counted[0], begin + counted.start())
    if before[-1].isalpha() and quote[:1] in "$€£":
        unit = re.search(r"\w+\Z", before)
        return found("quantity", unit[0] if unit else before[-1], start - 1)
    if _opening_condition(before):
        return found("condition", before, begin)
    clause = begin
    for stop in _CLAUSE.finditer(text, begin, start):
        clause = stop.end()
    governing = text[clause:start]
    words = governing.split()
    if len(words) > _REACH:
        clause = start - len(" ".join(words[-_REACH:])) - 1
        governing = text[max(clause, begin) : start]
    for kind, pattern in _GOVERNS:
        if pattern.search(governing):
            return found(kind, governing, start - len(governing))
    if _CONDITIONS.search(governing) and not _CONCEDES.match(governing.strip()):
        return found("condition", governing, start - len(governing))
    return None


def _opening_condition(before: str) -> bool:
    """Whether the sentence opens with a condition and the quote is what follows from it."""
    opened = re.match(
        r"\W*(?:(?:but|and|mais|et|or|then|so)\s+)?(\w+(?:['’-]\w+)?(?:\s+\w+)?)", before
    )
    if not opened:
        return False
    word = opened[1].lower().split()
    conditional = word[0] in (
        "if",
        "unless",
        "si",
        "s'il",
        "s'ils",
        "provided",
        "sauf",
        "sans",
    ) or (" ".join(word) in ("à condition", "à moins", "as long", "tant que", "only if"))
    rest = before[opened.end() :]
    closed = len(re.findall(r",", rest))
    return conditional and closed <= 1 and len(before.split()) <= 25


def _at_right(text: str, start: int, end: int, quote: str) -> Distortion | None:
    after = text[end : end + _LONGEST]
    inside = text[start:end]

    def found(kind: str, words: str, length: int) -> Distortion:
        what = f"The quote leaves out “{_short(words.strip())}” after it ({kind})."
        return Distortion(kind, words.strip(), start, min(len(text), end + length), what)

    if re.match(r"/\w", after) and _UNIT.search(inside):
        return found("quantity", after[:4], 4)
    asked = _question(text, start, end, quote)
    if asked:
        return asked
    stop = _SENTENCE.search(after)
    rest = after[: stop.start()] if stop else after
    if _SENTENCE.search(inside[-1:] + " "):
        return None
    if (direct := _DIRECT.match(rest)) and not _CLAUSE.search(rest[: direct.end()]):
        return found("negation", direct[0], direct.end())
    joined = _JOINS.match(rest)
    if joined and not _CONCEDES.match(joined["word"]):
        word = joined["word"].lower()
        denies = re.search(r"\b(?:not|pas|never|jamais|no|non)$", word)
        if word in ("si", "s'il", "s'ils") and re.match(
            r"\s*(?:\w+ment\b|tant|bien|peu)", rest[joined.end() :]
        ):
            return None
        if word == "until":
            return None
        return found("negation" if denies else "condition", rest[:80], min(len(rest), 80))
    return None


def _question(text: str, start: int, end: int, quote: str) -> Distortion | None:
    """A question quoted as a statement, or the other way round."""
    inside = text[start:end]
    tail = re.match(r"[^.!?…;\n]{0,60}([.!?…;\n]|\Z)", text[end:])
    asks = quote.rstrip(' "')[-1:] == "?"
    ended = inside.rstrip(' "')[-1:]
    if ended == "?":
        asked = True
    elif ended in ".!…;":
        asked = False
    else:
        between = tail[0][:-1] if tail and tail[1] else ""
        asked = bool(
            tail and tail[1] == "?" and not _CLAUSE.search(between) and len(between.split()) <= 6
        )
    if asked == asks:
        return None
    if asks:
        closed = tail and tail[1] and not tail[0][:-1].strip()
        if not closed and ended not in ".!…;":
            return None
        what = "The quote makes a question of a statement."
    else:
        stated = quote.rstrip(' "')[-1:] in ".!"
        if not stated and _ASKS.search(quote):
            return None
        what = "The quote drops the question mark: the message asks."
    stop = min(len(text), end + (tail.end() if tail else 0))
    return Distortion("question", text[end:stop].strip() or "?", start, stop, what)


def _in_cut(
    gap: str, before: tuple[int, int], following: tuple[int, int], text: str
) -> tuple[str, str] | None:
    """What a marked cut leaves out of the clauses on its two sides."""
    parts = [match.span() for match in _CLAUSE.finditer(gap)]
    sentences = [match.span() for match in _SENTENCE.finditer(gap + " ")]
    bounds = sorted([*parts, *sentences])
    first = gap[: bounds[0][0]] if bounds else gap
    last = gap[bounds[-1][1] :] if bounds else gap
    adjunct = bool(bounds) and _ADJUNCT.match(text, following[0])
    for kind, pattern in (*_GOVERNS, ("condition", _CONDITIONS)):
        if adjunct or (kind == "hedge" and text[following[0] : following[1]].endswith("?")):
            continue
        if pattern.search(last) and (bounds or len(last.split()) <= 2 * _REACH):
            return kind, last.strip()
    if counted := _COUNTS.search(last):
        return "quantity", counted[0].strip()
    if text[before[0] : before[1]].rstrip(' "')[-1:] in (".", "!", "?", "…"):
        return None  # what was cut begins a sentence of its own
    direct = _DIRECT.match(" " + first.lstrip())
    if direct:
        return "negation", first.strip()
    joined = _JOINS.match(gap)
    if joined and not _CONCEDES.match(joined["word"]):
        return "condition", gap.strip()[:80]
    return None


_SCALE = (
    r"all|every|everyone|everybody|always|most|usually|often|many|much|some|sometimes|few|little"
    r"|rarely|seldom|less|more|fewer|half|several|tous|toutes|tout le monde|toujours|la plupart"
    r"|souvent|beaucoup|certains|certaines|parfois|peu|rarement|moins|plus|quelques|plusieurs"
    r"|moitié|best|worst|better|worse|mieux|pire"
)
_SCALES = _words(_SCALE)


def _in_bracket(bracket: str, replaced: str) -> tuple[str, str] | None:
    """What differs in kind between a bracket and the words it stands for."""
    said = canonical(bracket)
    for kind, pattern in (*_GOVERNS, ("condition", _CONDITIONS)):
        if bool(pattern.search(replaced)) != bool(pattern.search(said)):
            shown = replaced if pattern.search(replaced) else said
            if kind == "negation" and pattern.search(said) and not pattern.search(replaced):
                return kind, shown.strip()
            if pattern.search(replaced) or kind != "hedge":
                return kind, shown.strip()
    mine = {word.lower() for word in _SCALES.findall(said)}
    theirs = {word.lower() for word in _SCALES.findall(replaced)}
    if mine != theirs and (theirs or (mine and replaced.strip())):
        return "quantity", replaced.strip() or said
    mine = {word.lower() for word in _NUMBER.findall(said)}
    theirs = {word.lower() for word in _NUMBER.findall(replaced)}
    if mine != theirs and (theirs or mine):
        return "quantity", replaced.strip() or said
    mine, theirs = _names(said), _names(replaced)
    if theirs and mine and not (mine & theirs):
        return "name", replaced.strip()
    return None


def _in_edge_bracket(bracket: str, edge: str, *, before: bool) -> tuple[str, str] | None:
    """A bracket at an edge of the quote against the words of the message beside it."""
    stops = [match.span() for match in _SENTENCE.finditer(edge)]
    if before:
        beside = edge[stops[-1][1] :] if stops else edge
    else:
        beside = edge[: stops[0][0]] if stops else edge
    said = canonical(bracket)
    size = max(3, len(said.split()) + 2)
    words = beside.split()
    near = " ".join(words[-size:] if before else words[:size])
    for kind, pattern in (*_GOVERNS, ("condition", _CONDITIONS)):
        denied = pattern.search(near)
        if bool(denied) != bool(pattern.search(said)):
            return kind, near or said
    mine = {word.lower() for word in _SCALES.findall(said)}
    theirs = {word.lower() for word in _SCALES.findall(near)}
    if mine and mine != theirs:
        return "quantity", near or said
    numbers = {word.lower() for word in _NUMBER.findall(said)}
    if (
        numbers
        and numbers != (counted := {word.lower() for word in _NUMBER.findall(near)})
        and counted
    ):
        return "quantity", near
    names, known = _names(said), _names(near)
    if names and known and not (names & known):
        return "name", near
    return None


def _names(text: str) -> set[str]:
    """The capitalised words of ``text`` that are no pronoun, article or other small word."""
    return {name for name in _NAME.findall(text) if name.split("'")[0].lower() not in _NO_NAMES}


def _short(text: str, limit: int = 70) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"
