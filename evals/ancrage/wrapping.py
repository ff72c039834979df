"""What surrounds an answer and says nothing itself: tags, JSON, labels, citations, courtesies.

Whoever reads an answer for what it says (abstention, right answers, claims) reads ``unwrap`` of
it. Structure goes first: JSON and fences, tags and hidden reasoning, citations and lists of
sources. Then what opens and closes an answer: labels, greetings, « As an AI… », "According to the
document,", offers of help and sign-offs, in English, French, German and Spanish. An apology stays:
it says something. Every character kept knows where it stands in the answer.
"""

# ruff: noqa: E501, ISC004 - one kind of wording a pattern

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from html import unescape

Span = tuple[int, int]

CITATION = re.compile(r"\[(?=[^\[\]\n]*\d)[\w.:/#-]+(?:\s*[,;]\s*[\w.:/#-]+)*\](?!\()")
"""A bracket of references such as ``[R-012, M-0034]``, ``[3]`` or ``[Q3, Q5]``."""


@dataclass(frozen=True)
class Unwrapped:
    """An answer without its wrapping: ``text[i]`` stands at ``places[i]`` of the answer."""

    text: str
    places: tuple[int, ...]

    def span(self, start: int, end: int) -> Span:
        """The code points of the answer that ``text[start:end]`` covers, ends included."""
        if start >= end:
            return (self.places[start],) * 2 if start < len(self.places) else (0, 0)
        return self.places[start], self.places[end - 1] + 1


_ANSWER_KEYS = frozenset(
    (
        "answer",
        "final_answer",
        "response",
        "reply",
        "output",
        "result",
        "text",
        "content",
        "message",
        "completion",
        "reponse",
        "réponse",
        "antwort",
        "respuesta",
    )
)
_FENCE = re.compile(r"\s*(```+|~~~+)[ \t]*\w*[ \t]*\n(?P<body>.*?)\n?[ \t]*\1\s*\Z", re.DOTALL)
_HIDDEN = re.compile(
    r"<(think(?:ing)?|reasoning|scratchpad|sources?|citations?|references?|metadata)\b[^<>\n]*>"
    r".*?(?:</\1\s*>|\Z)",
    re.IGNORECASE | re.DOTALL,
)
_TAG = re.compile(r"</?[a-zA-Z][\w:-]{0,30}(?:\s[^<>\n]{0,200})?/?>")
_MARKS = re.compile(
    rf"[ \t]?(?:{CITATION.pattern}"
    r"|\[\^[\w-]{1,20}\]|【[^【】\n]{1,80}】|(?:(?<=[a-zà-ÿ]{4})|(?<=[.,;»”)]))[¹²³⁴⁵⁶⁷⁸⁹⁰]+(?=[\s.,;]|\Z)"
    r"|[(\[](?:(?:cf\.?|see|voir|siehe|véase|d['’]après|according to)\s|(?:sources?|quellen?|fuentes?"
    r"|références?|references?)\b\s*:?|(?:p|pp|page|§|art|article|section|doc(?:ument)?|passage)"
    r"\b[.°]?\s*(?:n°\s*)?\d)[^()\[\]\n]{0,120}[)\]])",
    re.IGNORECASE,
)
_SOURCES = re.compile(
    r"(?m)^[ \t>*_#-]*(?:sources?|références?|references?|citations?|quellen?|fuentes?|referencias?"
    r"|bibliographie|documents? (?:consultés?|cités?|used|consulted)"
    r"|(?:confidence(?: score| level)?|confiance|konfidenz|confianza)(?=[*_ \t\u00a0\u202f]*:[*_ \t]*"
    r"(?:\d|high|medium|low|élevée?|moyenne?|faible|hoch|mittel|niedrig|alta|media|baja)))"
    r"(?:[ \t]+(?:used|cited|utilisées?|citées?))?[*_]*"
    r"[ \t\u00a0\u202f]*:[*_]*[ \t]*[^\n]*"
    r"(?:\n[ \t]*(?:[-*•–]|\[?\d{1,3}[\].)]|https?:)[^\n]*|\n[ \t]*(?=\n))*",
    re.IGNORECASE,
)
_LABEL = re.compile(
    r"(?m)^[ \t>*_#]*(?:(?:final |short |my |the )?(?:answer|response|reply)|réponse(?: finale)?"
    r"|antwort|respuesta(?: final)?|assistant|assistante?|assistent|asistente|chatbot|bot|ai|ia|a"
    r"|output|result|résultat)[*_]*[ \t\u00a0\u202f]*:[*_]*[ \t]*",
    re.IGNORECASE,
)

_READ = (
    r"(?:documents?|texte?s?|contexte?s?|kontext|passages?|extraits?|excerpts?|articles?|sources?"
    r"|rapports?|reports?|information(?:s|en)?|éléments|provided|content|dokument(?:e|en|s)?|texto"
    r"|textes|quellen?|angaben|documentos?|contexto|fuentes?|informaci[óo]n|informe|bericht)"
)
_OPENINGS = (
    # Greetings and thanks, with whom they greet.
    r"(?:hello|hi|hey|good (?:morning|afternoon|evening|day)|dear \w+|greetings|bonjour|bonsoir"
    r"|salut|cher \w+|chère \w+|guten (?:tag|morgen|abend)|hallo|sehr geehrte[rs]?|hola"
    r"|buen(?:os|as) (?:d[íi]as|tardes|noches)|estimad[oa]s?)(?:[ ,]+(?:there|everyone|all|again|à"
    r" (?:tous|vous)|madame|monsieur|mesdames|messieurs|dear|[A-ZÀ-Ý][\w’'-]+)){0,4}\s*[,.!:–—-]+",
    r"(?:many |vielen |muchas )?(?:thank you|thanks|merci|danke|dank|gracias)(?: (?:very much|so much"
    r"|beaucoup))?(?: (?:for|pour|de|d['’]avoir|für|por)\b[^.!,;:\n]{0,80})?\s*[,.!:]+",
    # Having understood.
    r"i (?:completely |fully |do )?(?:understand|see|hear|appreciate|acknowledge)(?: (?:your|the|that"
    r"|what|how)\b[^.!?\n]{0,100}?)?(?:[.!]|, (?:but|however|and)\b,?)",
    r"(?:understood|noted|got it|bien (?:reçu|compris)|c['’]est (?:noté|compris)|verstanden|entendido"
    r"|(?:what a |that['’]s an? )?(?:great|good|excellent|interesting) question|(?:très )?bonne"
    r" question|gute frage|(?:muy )?buena pregunta)\s*[,.!:]+",
    r"(?:je|j['’]ai bien) (?:comprends|compris|vois|entends)(?: (?:bien|tout à fait))?(?: (?:votre|ta|"
    r"la|que)\b[^.!?\n]{0,100}?)?(?:[.!]|, mais\b)",
    r"ich (?:verstehe|habe)(?: (?:ihre|deine|die))? (?:frage|anliegen)(?: verstanden)?\s*[.!,]+",
    r"(?:entiendo|comprendo)(?: (?:su|tu|la) \w+)?\s*[.!,]+",
    r"(?:sure(?: thing)?|of course|certainly|absolutely|okay|ok|alright|bien sûr|bien entendu"
    r"|certainement|avec plaisir|volontiers|d['’]accord|natürlich|selbstverständlich|gerne|klar"
    r"|claro|por supuesto|con mucho gusto|desde luego)\s*[,.!:]+",
    # What answers.
    r"(?:as|being) an? (?:ai|artificial intelligence|(?:large )?language model|assistant|chatbot"
    r"|virtual assistant)[^,.!?\n]{0,80},",
    r"en tant qu['’](?:ia|intelligence artificielle|assistante?|modèle|outil)[^,.!?\n]{0,80},",
    r"als (?:ki|künstliche intelligenz|sprachmodell|assistent)[^,.!?\n]{0,80},",
    r"como (?:una? )?(?:ia|inteligencia artificial|modelo|asistente)[^,.!?\n]{0,80},",
    # What is read, where it is named by what it is only.
    rf"(?:according to|based (?:solely |only |strictly |purely )?(?:up)?on|from|as per|per|in)\s+(?:the\s+)?"
    rf"(?:\w+\s+){{0,2}}?{_READ}(?:\s+(?:provided|given|above|available|you (?:provided|gave|shared)))?\s*,",
    rf"(?:selon|d['’]après|sur la base (?:du|de|des)|à partir (?:du|de|des)|dans)\s*(?:les? |la |l['’]|ce |cet |votre )?"
    rf"(?:\w+\s+){{0,1}}?{_READ}(?:\s+(?:fournis?|fournies?|donnée?s?|ci-dessus|transmis|disponibles?))?\s*,",
    rf"(?:según|de acuerdo con|con base en|seg[úu]n)\s+(?:el |la |los |las )?{_READ}(?:\s+\w+)?\s*,",
)
_CLOSINGS = (
    r"(?:please )?(?:feel free|let me know|do(?: not|n['’]t) hesitate|i (?:sincerely )?hope (?:this|that|it)"
    r"|hope (?:this|that) helps|if (?:you|there)(?:['’]d| would| have| need| want| is)? ?(?:like|any"
    r"|more|further|other|another|additional|anything|something else|help|questions)\b"
    r"|is there (?:anything|something) else|anything else|how (?:else )?(?:can|may) i (?:help|assist)"
    r"|(?:can|may) i (?:help|assist)|would you like (?:me|to know|more|help)|do you (?:want|need) (?:me|any)"
    r"|have a (?:nice|great|good|lovely)|(?:best|kind|warm) (?:regards|wishes)|regards\b|sincerely\b"
    r"|yours \w+|cheers\b|take care\b|i['’]m (?:always )?(?:here|happy|glad) to (?:help|assist)"
    r"|(?:i['’]d|i would) be (?:happy|glad) to (?:help|assist)|happy to (?:help|assist)|thank you|thanks\b)",
    r"(?:n['’]hésite[sz]?|si (?:vous|tu) (?:avez|as) (?:d['’]autres|une autre|des|la moindre)"
    r"|si vous (?:souhaitez|voulez|désirez) (?:plus|davantage|d['’]autres|en savoir)|si besoin"
    r"|je (?:reste|me tiens|suis) (?:à|là)|j['’]espère|(?:souhaitez|voulez)[- ]vous que je"
    r"|(?:puis|pourrais)[- ]je vous aider|(?:très )?bonne (?:journée|soirée|continuation)|cordialement"
    r"|bien (?:cordialement|à vous)|sincères salutations|à bientôt|merci\b|au plaisir)",
    r"(?:zögern sie|melden sie sich|(?:wenn|falls) (?:sie|du) (?:weitere|noch|mehr)|ich hoffe|kann ich ihnen"
    r"|(?:möchten|wollen) sie,? dass ich|mit freundlichen|(?:viele|beste|freundliche|liebe) grüße"
    r"|(?:einen )?schönen tag|danke\b|ich helfe (?:ihnen )?gerne?|bei (?:weiteren )?fragen)",
    r"(?:no dud[ea]|si (?:tiene|necesita|desea|quiere)s? (?:m[áa]s|alguna|otra|algo|ayuda)|espero que"
    r"|¿?(?:puedo|en qué puedo) ayudar|¿?hay algo más|¿?(?:quiere|desea)s? que|(?:un )?(?:cordial )?"
    r"saludos?\b|atentamente|gracias\b|que tenga|quedo a)",
)
_OPENING = re.compile(rf"[\s*_\"«“—–-]*(?:{'|'.join(_OPENINGS)})[*_]*\s*", re.IGNORECASE)
_CLOSING = re.compile(rf"[\s*_\"«“¿¡—–-]*(?:{'|'.join(_CLOSINGS)})", re.IGNORECASE)
_LAST = re.compile(r"(?<=[.!?…»\"”)\]])\s+(?=\S)|\n\s*(?=\S)")
_WORD = re.compile(r"\w")
_LONGEST = 40
"""Words of a closing; a longer sentence says something."""


def unwrap(answer: str) -> Unwrapped:
    """``answer`` without what surrounds it; the whole answer where nothing would be left."""
    text, places = _opened(answer)
    for found in (_hidden, _sources, _openings, _closings):
        text, places = _without(text, places, found(text))
    if "&" in text:
        text, places = _unescaped(text, places)
    if not re.search(r"\w", text):
        return Unwrapped(answer, tuple(range(len(answer))))
    return Unwrapped(text, tuple(places))


def bare(answer: str) -> str:
    """``answer`` without what surrounds it, as text alone."""
    return unwrap(answer).text.strip()


def _opened(answer: str) -> tuple[str, list[int]]:
    """The text inside fences and JSON, and the place of each character."""
    start, end = 0, len(answer)
    if fence := _FENCE.match(answer):
        start, end = fence.span("body")
    inner = answer[start:end]
    if inner.lstrip()[:1] == "{" and (found := _json_answer(inner)):
        places = [start + place for place in found[1]]
        return found[0], places
    return inner, list(range(start, end))


def _json_answer(text: str) -> tuple[str, list[int]] | None:
    """The answer that a JSON object holds: by the name of its field, else its longest text."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict):
        return None
    texts = {key: inner for key, inner in value.items() if isinstance(inner, str) and inner.strip()}
    named = [key for key in texts if key.casefold() in _ANSWER_KEYS]
    chosen = named[0] if named else max(texts, key=lambda key: len(texts[key]), default=None)
    if chosen is None:
        return None
    literal = re.search(rf'"{re.escape(chosen)}"\s*:\s*"((?:[^"\\]|\\.)*)"', text)
    return _decoded(text, *literal.span(1)) if literal else None


_ESCAPE = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.|.",
    re.DOTALL,
)


def _decoded(text: str, start: int, end: int) -> tuple[str, list[int]]:
    shown, places = [], []
    for match in _ESCAPE.finditer(text, start, end):
        escaped = match.group().startswith("\\")
        shown.append(json.loads(f'"{match.group()}"') if escaped else match.group())
        places.append(match.start())
    return "".join(shown), places


_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z]\w{1,31});|.", re.DOTALL)


def _unescaped(text: str, places: list[int]) -> tuple[str, list[int]]:
    """``text`` with its HTML entities as the characters they stand for."""
    shown, kept = [], []
    for match in _ENTITY.finditer(text):
        written = unescape(match.group())
        shown.append(written)
        kept += [places[match.start()]] * len(written)
    return "".join(shown), kept


def _without(text: str, places: list[int], spans: Iterable[Span]) -> tuple[str, list[int]]:
    kept_text, kept_places, position = [], [], 0
    for start, end in sorted(spans):
        if end <= position:
            continue
        kept_text.append(text[position : max(start, position)])
        kept_places += places[position : max(start, position)]
        position = end
    return "".join([*kept_text, text[position:]]), kept_places + places[position:]


def _hidden(text: str) -> Iterator[Span]:
    for pattern in (_HIDDEN, _TAG, _MARKS):
        yield from (match.span() for match in pattern.finditer(text))


def _sources(text: str) -> Iterator[Span]:
    for pattern in (_SOURCES, _LABEL):
        yield from (match.span() for match in pattern.finditer(text))


def _openings(text: str) -> Iterator[Span]:
    position = 0
    while (match := _OPENING.match(text, position)) and match.end() > position:
        if not _WORD.search(text, match.end()):
            return
        yield match.span()
        position = match.end()


def _closings(text: str) -> Iterator[Span]:
    """The last sentences, as long as they say nothing."""
    end = len(text.rstrip())
    breaks = [0, *(match.end() for match in _LAST.finditer(text, 0, end))]
    for start in reversed(breaks):
        last = text[start:end]
        if last.strip("»”\"')] \u00a0\u202f\n") == "":  # it closes what the sentence before says
            return
        if re.search(r"\w", last):
            signs = start > 0 and len(last.split()) <= 3 and _is_signature(text, start)
            if not (signs or (_CLOSING.match(last) and len(last.split()) <= _LONGEST)):
                return
        if start == 0:
            return
        yield start, end
        end = start


def _is_signature(text: str, start: int) -> bool:
    """Whether the line before is a sign-off, such as "Best regards,"."""
    before = text[max(0, start - 100) : start].rstrip().rpartition("\n")[2]
    return (
        len(before.split()) <= 4 and before.rstrip().endswith(",") and bool(_CLOSING.match(before))
    )
