"""Words and turns of phrase, French and English, that govern what others say."""

import re
from collections.abc import Callable
from functools import lru_cache


def words(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w'-])(?:{pattern})(?![\w-])", re.IGNORECASE)


_ALTERNATIVE = re.compile(r"(?:[^|()]|\([^()]*\))+")
_TOKEN = re.compile(r"\w+(?:'t(?!\w))?")


def first_words(*patterns: str) -> Callable[[str], bool]:
    """From a text to whether a word of it may begin one of the alternatives of ``patterns``.

    Where none may, none of them stands in the text: told ten times sooner than by searching.
    """
    turns = [turn for pattern in patterns for turn in _ALTERNATIVE.findall(pattern)]
    heads = {turn if "n't" in turn else re.split("[ '-]", turn)[0] for turn in turns}
    head = re.compile("|".join(sorted(heads)), re.IGNORECASE)
    begins = lru_cache(maxsize=65_536)(lambda word: head.fullmatch(word) is not None)
    return lambda text: any(map(begins, _TOKEN.findall(text)))


NEGATION = (
    r"pas|jamais|aucune?s?|rien|ni|ne|n'\w*|sans|non|guère|nullement|personne|nulle?|not|no|never"
    r"|none|neither|nor|without|nobody|no one|nothing|nowhere|cannot|\w+n't|cant|dont|doesnt|didnt"
    r"|wont|isnt|arent|wouldnt|shouldnt|couldnt|hardly|barely|scarcely|far from|loin de"
)
DOUBT = (
    r"doubt(?:s|ed|ful)?|disagrees?|den(?:y|ies|ied)|refuses?|refused|reject(?:s|ed)?|wish(?:es)?"
    r"|pretends?|false|untrue|myth|oppose[ds]?|against|unlikely|instead of|rather than|as if"
    r"|as though"
    r"|lest|unable|fails? to|avoid(?:s|ed|ing)?|doute[sz]?|doutent|douteux|refuse[sz]?|refusent"
    r"|nie[sz]?|conteste|faux|contre|au lieu de?|plutôt que?|comme si|incapables?|évite[rz]?"
    r"|impossible|improbable"
)
HEDGE = (
    r"maybe|perhaps|probably|possibly|presumably|supposedly|allegedly|apparently|seemingly"
    r"|sometimes|occasionally|rarely|seldom|i suppose|i guess|i'm not sure|not sure|unsure"
    r"|it seems|seems? like|might|in theory|peut-être|peut être|probablement|sans doute"
    r"|possiblement|éventuellement|apparemment|soi-disant|prétendument|parfois|quelquefois"
    r"|rarement|je suppose|j'imagine|il paraît|il semble(?:rait)?|on dirait|en théorie|pas sûre?"
    r"|a priori"
)
CONDITION = (
    r"if|unless|provided|providing that|as long as|so long as|only when|in case|on condition"
    r"|assuming"
    r"|except|otherwise|until|si|s'il|s'ils|sauf|à condition|a condition|à moins|pourvu|tant que"
    r"|en cas"
    r"|hormis|excepté|sinon|sous réserve|dès lors que|quitte à"
)
ONLY = (
    r"only|solely|merely|exclusively|seulement|uniquement|exclusivement|juste pour|que pour|qu'en"
    r"|qu'à|qu'avec|que si|que quand"
)
QUANTITY = (
    r"few|a few|some|several|many|most|half|all|every|everyone|everybody|part of|a lot of|much"
    r"|little|less|more|fewer|least|almost|nearly|about|around|roughly|approximately|under|over"
    r"|up to"
    r"|at least|at most|one of|two of|certaine?s?|quelques|plusieurs|beaucoup|peu|la plupart"
    r"|la moitié|moitié|une partie|tous|toutes|tout|chaque|moins|plus|presque|quasi(?:ment)?"
    r"|environ|près de|autour de|à peine|au moins|au plus|jusqu'à|au maximum|au minimum|minorité"
    r"|majorité|minority|majority|always|toujours|often|souvent|usually"
)
DENIES = words(f"{NEGATION}|{DOUBT}")
HEDGES, CONDITIONS = words(HEDGE), words(CONDITION)
ONLYS = words(ONLY)
GOVERNS = (
    ("hedge", HEDGES),
    ("negation", DENIES),
    ("quantity", ONLYS),
)
_COUNTED = (
    r"few|a few|some|several|many|most|half|all|almost all|part of|at least"
    r"|at most"
    r"|up to|one of|two of|certaine?s?|quelques|plusieurs|peu|la plupart|la moitié|une partie|tous"
    r"|toutes|chaque|less than|more than|moins de|plus de|au moins|au plus|à peine|presque tous"
    r"|seule?s?|minorité|majorité|minority|majority"
)
COUNTS = re.compile(
    rf"(?:(?<![\w'-])(?:{_COUNTED})"
    r"(?:\s+(?:of|de|d'|des|du|than|the|my|our|les|mes|nos|your|these|those|ces))*|[<>≤≥~±≈])\s*\Z",
    re.IGNORECASE,
)
_COMPARED = (
    r"less than|more than|fewer than|moins de|plus de|under|over|almost|nearly|about"
    r"|around|roughly|approximately|at least|at most|up to|only|presque|environ|près de|à peine"
    r"|au moins|au plus|jusqu'à|seulement|not even|même pas"
)
COMPARES = re.compile(
    rf"(?:(?<!\w)(?:{_COMPARED})|[<>≤≥~±≈])\s*\Z",
    re.IGNORECASE,
)
SENTENCE = re.compile(r"[.!?…;](?=\s|\Z)|\n")
CLAUSE = re.compile(
    r"[,;:—()\[\]\"]|(?<!\w)(?:but|and|because|so|while|whereas|although|though|however|then|when"
    r"|since|who|which|or|mais|et|car|donc|parce que?|alors|quand|lorsque|cependant|pourtant|puis"
    r"|puisque|bien que?|qui|ou|comme)(?!\w)",
    re.IGNORECASE,
)
JOINS = re.compile(
    rf"\s*[,—(]?\s*(?:but |mais )?(?P<word>(?:even |même )?(?:{CONDITION})(?!\w)"
    r"|(?:only|seulement|uniquement|exclusively|solely) (?=(?:if|when|for|in|on|with|during|by"
    r"|after"
    r"|pour|si|quand|dans|en|à|au|avec|le|la|les|sur)(?!\w))|(?:qu'en|qu'à|qu'avec|que si"
    r"|que quand|que pour)"
    r"(?!\w)|(?:but|mais|and|et|or|ou) (?:not|pas|never|jamais|no|non)(?!\w)|à l'exception"
    r"|apart from|other than|à part)",
    re.IGNORECASE,
)
IDLES = (
    "par contre", "en revanche", "au contraire", "not only", "non seulement", "no doubt",
    "no matter", "sans parler", "why not", "pourquoi pas", "n'importe", "nothing but", "rien que",
    "if only", "not to mention", "n'est-ce pas", "n'empêche", "sans compter", "by no means",
    "no wonder", "if you ask me", "if possible", "si possible", "s'il vous plaît",
    "s'il te plaît", "si vous voulez", "if you will", "as if by", "sans cesse", "sans arrêt",
    "without a doubt", "without doubt", "sans aucun doute", "nonetheless", "non-stop",
    "more or less", "plus ou moins",
)  # fmt: skip
"""Turns of phrase whose words deny or condition nothing."""
IDLE = re.compile(rf"(?<!\w)(?:{'|'.join(IDLES)})(?!\w)", re.IGNORECASE)
DIRECT = re.compile(
    r" (?P<word>(?:pas|jamais|guère|plus (?=\w+ant\b)|aucune?|rien|not|never|no|nothing"
    r"|nobody)(?!\w))"
)
MAY_GOVERN = first_words(NEGATION, DOUBT, HEDGE, CONDITION, ONLY)
MAY_COUNT = first_words(_COUNTED, _COMPARED)
SIGN = re.compile("[<>≤≥~±≈]")
CONCEDES = re.compile(r"\A(?:even|même)\b", re.IGNORECASE)
ASKS = re.compile(
    r"\A\W*(?:why|what|how|who|whom|whose|where|when|which|is|are|was|were|do|does|did|can|could"
    r"|should|would|will|has|have|pourquoi|que|qu'|quel|quelle|comment|qui|où|quand|combien|est-ce"
    r"|a-t|est-il|faut-il|peut-on|dois-je)(?!\w)|\w-(?:t-)?(?:il|elle|on|vous|tu|nous|ce|ils|elles)\b",
    re.IGNORECASE,
)
NUMBER = re.compile(
    r"\d+(?:[.,]\d+)*|(?<!\w)(?:zero|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
    r"|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen|twenty|thirty|forty|fifty"
    r"|sixty|seventy|eighty|ninety|hundred|thousand|million|deux|trois|quatre|cinq|sept|huit|neuf"
    r"|dix|onze|douze|treize|quatorze|quinze|seize|vingt|trente|quarante|cinquante|soixante|cent"
    r"|mille)s?(?!\w)",
    re.IGNORECASE,
)
ADJUNCT = re.compile(
    r"(?:pour|dans|sur|à|au|aux|de|du|des|avec|en|chez|par|for|in|on|at|to|of|with|from|by)(?!\w)",
    re.IGNORECASE,
)
"""What begins with a preposition goes with the clause that was cut, or with the one kept."""
UNIT = re.compile(r"\d\s?\w{1,4}\Z")

SCALE = (
    r"all|every|everyone|everybody|always|most|usually|often|many|much|some|sometimes|few|little"
    r"|rarely|seldom|less|more|fewer|half|several|tous|toutes|tout le monde|toujours|la plupart"
    r"|souvent|beaucoup|certains|certaines|parfois|peu|rarement|moins|plus|quelques|plusieurs"
    r"|moitié|best|worst|better|worse|mieux|pire"
)
SCALES = words(SCALE)


# What a sentence of the answer can say to give back what its quote left out.
GIVES_BACK = {
    "negation": re.compile(
        rf"(?<![\w'-])(?:{NEGATION}|{DOUBT}|lacks?|manque|rejet\w*|oppos\w+|hostil\w+|critiqu\w+"
        r"|dis(?:like|trust|miss)\w*|défian\w+|méfi\w+|sceptic\w*|skeptic\w*|sceptique\w*"
        r"|no longer|ex"
        r"clu\w*|den\w+|réfut\w+|dément\w*|nuanc\w+)(?!\w)",
        re.IGNORECASE,
    ),
    "hedge": re.compile(
        rf"(?<![\w'-])(?:{HEDGE}|hesita\w+|hésit\w+|uncertain\w*|incertain\w*|wonder\w*|suppos\w+"
        r"|suggest\w*|could|may|pourrait|doute\w*|doubt\w*|tentativ\w*|prud\w+|hypoth\w+)(?!\w)",
        re.IGNORECASE,
    ),
    "condition": re.compile(
        rf"(?<![\w'-])(?:{CONDITION}|{ONLY}|condition\w*|conditional\w*|provid\w+|réserve\w*"
        r"|exception\w*|dépend\w*|depend\w*|limit\w+|restrict\w+)(?!\w)",
        re.IGNORECASE,
    ),
    "quantity": re.compile(
        rf"(?<![\w'-])(?:{QUANTITY}|{ONLY}|minorit\w+|major\w+)(?!\w)|[<>≤≥~±≈]", re.IGNORECASE
    ),
    "question": re.compile(
        r"\?|(?<!\w)(?:ask\w*|wonder\w*|question\w*|demand\w+|interrog\w+|whether|if|si)(?!\w)",
        re.IGNORECASE,
    ),
}
WITHOUT_CONDITION = re.compile(
    r"(?:sans|without|no|aucune?)\s+(?:\w+\s+)?(?:conditions?|réserves?|reservations?|exceptions?"
    r"|limites?|limits?|restrictions?|hésit\w+|doute|doubt)|uncondition\w+|inconditionnel\w*",
    re.IGNORECASE,
)
