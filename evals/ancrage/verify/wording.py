"""How a claim is worded: a judgement of value, a possibility, or plainly."""

import re

_STRONG = (
    r"best|worst|excellent\w*|amazing|awesome|wonderful|beautiful|gorgeous|stunning|superb\w*"
    r"|terrible|awful|horrible\w*|dreadful|fantastic|brilliant|outstanding|remarkabl[ey]|impressive"
    r"|exceptional|perfect|delicious|boring|mediocre|disappointing|delightful|charming|lovely|ugly"
    r"|incredible|magnificent|great|greatest|unfortunately|fortunately|sadly|luckily"
    r"|meilleure?s?|pires?|magnifiques?|merveilleu(?:x|ses?)|superbes?|formidables?|géniale?s?"
    r"|géniaux|fantastiques?|remarquables?|exceptionnel(?:le)?s?|impressionnante?s?|décevante?s?"
    r"|déplorables?|affreu(?:x|ses?)|parfaite?s?|sublimes?|délicieu(?:x|ses?)|ennuyeu(?:x|ses?)"
    r"|médiocres?|agréables?|charmante?s?|incroyables?|extraordinaires?|catastrophiques?"
    r"|malheureusement|heureusement|hélas|excellente?s?"
)
_MILD = (
    r"good|bad|nice|better|worse|like[sd]?|lov(?:e|es|ed|ing)|hat(?:e|es|ed)|prefer\w*|enjoy\w*"
    r"|satisf\w+|happy|unhappy|pleased|disappoint\w+|recommend\w*|poor|rich|well|top|cool|fun"
    r"|bon(?:ne)?s?|mauvaise?s?|bien|mieux|mal|nulle?s?|super|ador\w+|aim(?:e|es|ent|é|ons|ez)"
    r"|détest\w+|préfèr\w+|préfér\w+|content\w*|ravie?s?|déçu\w*|plaî\w*|apprécié?\w*|belles?|beaux?"
    r"|recommand\w+|qualité|quality|praise\w*|acclaim\w*|critici[sz]\w+|salu(?:é|e)\w*"
)
_JUDGES = re.compile(rf"\b(?:{_STRONG})\b")
_OPENER = re.compile(r"(?:\A|[.:!?]\s)\W*\w+")
_VALUES = re.compile(rf"\b(?:{_STRONG}|{_MILD})\b", re.IGNORECASE)
_POSSIBLE = re.compile(
    r"\b(?:may|might|could|perhaps|maybe|possibly|probably|presumably|supposedly|reportedly|likely"
    r"|seems?|appears? to|suggests? that|it is possible"
    r"|peut-être|peut être|pourrai(?:t|ent)|probablement|sans doute|possiblement|vraisemblablement"
    r"|apparemment|il semble(?:rait)?|sembl(?:e|ent|ait|aient)|semblerai(?:t|ent)|devrai(?:t|ent)"
    r"|aurai(?:t|ent)|serai(?:t|ent)|il est possible|il se peut|éventuellement)\b",
    re.IGNORECASE,
)


def subjective(statement: str) -> bool:
    """Whether ``statement`` judges rather than reports (words of praise, blame or regret).

    Capitals inside a sentence are names, such as Great Britain or the award for Best Picture.
    """
    return _JUDGES.search(_OPENER.sub(lambda m: m.group().lower(), statement)) is not None


def speculative(statement: str) -> bool:
    """Whether ``statement`` is worded as a possibility."""
    return _POSSIBLE.search(statement) is not None


def values(passage: str) -> bool:
    """Whether ``passage`` itself contains any judgement of value."""
    return _VALUES.search(passage) is not None
