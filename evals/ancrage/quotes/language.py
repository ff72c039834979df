"""Which of a few languages a short text is written in, told only when it is clear."""

import re
import tempfile
from collections import Counter
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier

MINIMUM_TOKENS = 5
"""Shorter texts have no language here: ``ok merci`` would be Hungarian."""
DEFAULT_LANGUAGES = ("fr", "en", "de", "es", "it", "pt", "nl")
NAMES = {
    "fr": "French",
    "en": "English",
    "de": "German",
    "es": "Spanish",
    "it": "Italian",
    "pt": "Portuguese",
    "nl": "Dutch",
}

_FUNCTION_WORDS = {
    "fr": "le la les un une des du de d l et est sont ce c cet cette ces je j tu il elle on nous "
    "vous ils elles me m te se s ne n pas plus que qu qui quoi dont où mais ou donc car pour par "
    "avec sans sur sous dans en y au aux à mon ma mes ton son sa ses notre nos votre vos leur "
    "leurs très trop bien tout tous toute toutes rien jamais être avoir ai as a avons avez ont "
    "était étaient fait faire peut quand comme si aussi encore chaque même moins",
    "en": "the a an and or but of to in on at by for with without from is are was were be been "
    "being am i you he she it we they me him her us them my your his its our their this that "
    "these those there not no don't doesn't isn't can't won't it's i'm i've i'd do does did have "
    "has had will would can could should may might must which who what when where why how if so "
    "as than then too very just more most much many some any all every each about into out up",
    "de": "der die das den dem des ein eine einen einem einer und oder aber nicht kein keine ist "
    "sind war waren sein haben hat hatte habe ich du er sie es wir ihr mich mir dich uns euch "
    "mein meine meinem unser unsere auf aus bei mit nach von vom zu zum zur für über unter durch "
    "ohne um am im in an dass weil wenn als wie was wer wo auch nur noch schon sehr mehr zu man "
    "wird werden wurde kann könnte muss soll will sich so da dann immer viel viele",
    "es": "el la los las un una unos unas de del al y o u pero que qué quien cual como cuando "
    "donde porque por para con sin sobre en entre a es son era fue ser estar está están hay no "
    "ni sí yo tú él ella nosotros ellos me te se nos le les lo mi mis tu su sus nuestro nuestra "
    "este esta esto estos estas ese esa eso muy más menos mucho muchos todo todos toda nada "
    "siempre nunca he ha han había tiene tengo puede si también ya",
    "it": "il lo la i gli le un uno una di del dello della dei degli delle da dal dalla in nel "
    "nella con su sul sulla per tra fra e ed o ma che chi cui non è sono era ho hai ha abbiamo "
    "hanno essere avere mi ti si ci vi lo mio mia nostro questo questa quello quella molto più "
    "meno tutto tutti anche ancora come quando perché se già sempre mai troppo",
    "pt": "o a os as um uma uns umas de do da dos das em no na nos nas por pelo pela para com sem "
    "e ou mas que quem qual como quando onde porque não é são era foi ser estar está estão há eu "
    "ele ela nós eles me te se meu minha nosso nossa seu sua este esta isto esse isso muito mais "
    "menos tudo todos nada sempre nunca também já tem tenho pode se ao aos à às",
    "nl": "de het een en of maar van in op aan met zonder voor door bij naar uit om te is zijn was "
    "waren ben heb heeft hebben had ik jij hij zij wij jullie me mij je mijn ons onze hun haar "
    "dit dat deze die niet geen wel ook nog al zeer meer veel alles niets als dan wat wie waar "
    "hoe wordt worden kan moet wil zou er zo altijd nooit",
}
_SETS = {language: frozenset(words.split()) for language, words in _FUNCTION_WORDS.items()}
_SENTENCE = re.compile(r"[^.!?…\n;:()]+")
_TOKEN = re.compile(r"[^\W\d_]+(?:['’](?:t|s|m|re|ve|ll|d)\b)?", re.IGNORECASE)


def tokens(text: str) -> list[str]:
    """The words of ``text`` in lower case, numbers and punctuation left out."""
    return [token.lower().replace("’", "'") for token in _TOKEN.findall(text)]


def evidence(text: str, languages: Sequence[str] = DEFAULT_LANGUAGES) -> dict[str, float]:
    """The share of each language in the evidence for ``text``; the shares add up to 1.

    Function words, each weighed by how few of the languages have it, times the probability that
    py3langid gives once restricted to ``languages``.
    """
    known = tuple(language for language in languages if language in _SETS)
    words = Counter(tokens(text))
    votes = dict.fromkeys(known, 0.0)
    for word, count in words.items():
        having = [language for language in known if word in _SETS[language]]
        for language in having:
            votes[language] += count / len(having) ** 2
    prior = dict(_identifier(known).rank(text))
    length = max(1, words.total())
    weights = {
        language: prior[language] * 20.0 ** (6 * votes[language] / (length + 3))
        for language in known
    }
    total = sum(weights.values()) or 1.0
    return {language: weight / total for language, weight in weights.items()}


def detect(
    text: str, languages: Sequence[str] = DEFAULT_LANGUAGES, minimum: float = 0.8
) -> str | None:
    """The language of ``text``, or None where it is short, mixed or unclear."""
    if len(tokens(text)) < MINIMUM_TOKENS:
        return None
    shares = evidence(text, languages)
    best = max(shares, key=lambda language: shares[language])
    return best if shares[best] >= minimum else None


def languages_in(text: str, languages: Sequence[str] = DEFAULT_LANGUAGES) -> set[str]:
    """The languages of ``text`` as a whole and of each of its sentences, where they are clear."""
    parts = (text, *_SENTENCE.findall(text))
    return {found for part in parts if (found := detect(part, languages))}


@cache
def _identifier(languages: tuple[str, ...]) -> "LanguageIdentifier":
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    try:
        identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    except OSError as error:  # it is unpacked in a temporary file, which a full disk leaves unnamed
        error.filename = error.filename or tempfile.gettempdir()
        raise
    identifier.set_languages(languages)
    return identifier
