"""Words that turn a sentence into its contrary."""

import re

_BY_LANGUAGE = (
    "pas jamais aucun aucune ni rien ne n sans non nullement guère",
    "not no never none neither nor without cannot nothing nobody",
    "nicht kein keine keinen keinem keiner keines nie niemals ohne weder nichts",
    "nunca jamás ningún ninguna ninguno sin tampoco nada",
    "mai nessun nessuno nessuna senza né",
    "não nem nenhum nenhuma sem",
    "niet geen nooit zonder",
)
NEGATIONS = frozenset(word for words in _BY_LANGUAGE for word in words.split())
_WORD = re.compile(r"[^\W\d_]+(?:['’]t\b)?")
_REACH = 16


def is_negation(word: str) -> bool:
    """Whether ``word`` denies, in French, English, German, Spanish, Italian, Portuguese, Dutch."""
    word = word.lower()
    return word in NEGATIONS or word.endswith(("n't", "n’t"))


def negations(text: str) -> list[str]:
    """The negations of ``text``, in order."""
    return [word for word in _WORD.findall(text) if is_negation(word)]


def left_outside(text: str, start: int, end: int) -> str | None:
    """A negation that stands right before or after ``text[start:end]``, itself without any."""
    before = text[max(0, start - _REACH) : start].rstrip(" '’").rpartition(" ")[2]
    after = text[end : end + _REACH]
    after = after[1:].partition(" ")[0].rstrip(".,;:!?…)") if after[:1] == " " else ""
    for word in (before, after):
        if word and is_negation(word) and not negations(text[start:end]):
            return word
    return None
