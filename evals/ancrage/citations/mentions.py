"""Marks that quote nobody: titles, themes, labels, the question itself, scare quotes."""

import re

_LABELS = {
    "question": r"questions?|énoncé|intitulé|libellé|consigne|relance|formulation|wording|prompt",
    "option": r"options?|modalités?|items?|choix|choices?|propositions?|réponses? possibles?"
    r"|answer options?|échelons?|échelle|scale|cases?|checkbox|statements?|affirmations?",
    "theme": r"thèmes?|thématiques?|themes?|topics?|sujets?|catégories?|categor(?:y|ies)|codes?"
    r"|étiquettes?|labels?|tags?|axes?|dimensions?|critères?|criteri(?:on|a)|clusters?|rubriques?"
    r"|segments?|profils?|profiles?|personas?|groupes?|groups?|familles?|types?|registres?"
    r"|familles?|volet|pôles?|volets|piliers?|pillars?",
    "term": r"mots?|words?|termes?|terms?|expressions?|formules?|vocables?|notions?|concepts?"
    r"|verbes?|verbs?|adjectifs?|adjectives?|noms?|names?|acronymes?|phrases?(?= )|phrase",
    "title": r"titres?|titles?|titled|intitulée?s?|sections?|chapitres?|chapters?|parties?"
    r"|paragraphes?|annexes?|tableaux?|figures?|graphiques?|colonnes?|columns?|onglets?|tabs?"
    r"|pages?|menus?|boutons?|buttons?|écrans?|screens?|champs?|fields?|fichiers?|files?"
    r"|études?|stud(?:y|ies)|enquêtes?|surveys?|questionnaires?|rapports?|reports?",
    "name": r"produits?|products?|offres?|offers?|forfaits?|plans?|gammes?|marques?|brands?"
    r"|services?|fonctions?|fonctionnalités?|features?|modes?|options?|applis?|applications?"
    r"|apps?|projets?|projects?|programmes?|programs?|campagnes?|campaigns?|opérations?"
    r"|slogans?|baptisée?s?|nommée?s?|appelée?s?|dénommée?s?|called|named|dubbed|labelled|labeled"
    r"|known as|surnommée?s?|versions?|modèles?|models?|sites?|magasins?|stores?|sociétés?",
    "work": r"livres?|books?|romans?|novels?|films?|movies?|séries?|series|chansons?|songs?"
    r"|articles?|albums?|émissions?|shows?|podcasts?|jeux?|games?|lois?|laws?|norme|proverbes?"
    r"|proverb|dicton|saying|adage|maxime|motto|devise",
    "distance": r"so-called|soi-disant|prétendue?s?|sorte de|espèce de|kind of|sort of"
    r"|une forme d[e']|a form of|effet|effect|syndrome|logique",
}
_LABEL = re.compile(
    r"(?:^|[^\w-])(?:"
    + "|".join(f"(?P<{name}>{words})" for name, words in _LABELS.items())
    + r")(?:\s+\w{1,3}\.?\s?\d{1,3})?(?:\s+(?:est|is|was|était|of|de|d|du|des|type|centrale?"
    r"|ouverte?|fermée?|principale?|suivante?s?|following|like|comme|\[?Q\d+\]?))?"
    r"[\s*_(,]*(?P<colon>:?)[\s*_\u2060]*(?:l|d)?['’]?[\s*_\u2060]*\Z",
    re.IGNORECASE,
)
_AFTER = re.compile(
    r"\A[\s*_\u2060]*(?:,\s*)?(?:(?:est|sont|is|are|was|were|constitue|forme|arrive|reste)\s+"
    r"(?:(?:bien|le|la|les|un|une|l['’]|the|a|an|one of the|clearly|only|plus|premier|first)\s*)*"
    r"(?:thèmes?|titres?|noms?|questions?|options?|mots?|termes?|themes?|titles?|names?|words?"
    r"|terms?|topics?|labels?|slogans?|catégories?|categor(?:y|ies))"
    r"|\((?:option|modalité|titre|title|thème|theme|question|libellé|label|nom|name)\b)",
    re.IGNORECASE,
)
_PROPOSED = re.compile(
    r"\b(?:propos\w+|sugg[eé]r\w*|suggest\w*|pourrai(?:t|ent|ons|ez)|could|might|would|devrai(?:t|ent"
    r"|ons|ez)|recomm[ae]nd\w*|ajout(?:er|ez|ons)|add|reformul\w+|rephras\w+|remplac\w+"
    r"|replac\w+|relanc\w+|demand(?:er|ez|ons)|ask(?:ing)?|pos(?:er|ez|ons)|par exemple|for example"
    r"|e\.g\.|such as|instead of|plutôt que|au lieu de|résumer|summed up|summari[sz]ed?)\b",
    re.IGNORECASE,
)
_DENIED = re.compile(
    r"\b(?:personne (?:ne|n['’])|aucun\w*(?: \w+){0,3} (?:ne|n['’])|nul(?:le)? (?:ne|n['’])|nobody"
    r"|no one|none of|no (?:respondent|participant|customer|message|answer|one)"
    r"|not a single|never (?:says?|said|writes?|wrote)|jamais (?:dit|écrit)"
    r"|si (?:un|une|quelqu['’]un)|if (?:a|some)\w*)\b",
    re.IGNORECASE,
)
_ASKED = re.compile(
    r"\b(?:vous (?:demandez|demandiez|m['’]avez demandé)|votre question|you ask(?:ed)?"
    r"|your question"
    r"|la question (?:posée|était)|on (?:leur|lui) (?:a )?demand\w+|were asked|was asked|asked them"
    r"|le questionnaire demand\w+|the survey ask\w*|l['’]enquête demand\w+|interrogés? sur"
    r"|invités? à (?:choisir|répondre)|asked (?:about|to))\b",
    re.IGNORECASE,
)


def mention(before: str, after: str, words: str, cited: bool) -> str | None:
    """Why marks around ``words`` quote nobody, told by their sentence; None where they may quote.

    ``before`` and ``after`` are the rest of the sentence; ``cited`` says that a citation stands
    right beside the marks.
    """
    label = _LABEL.search(before[-80:])
    if label:
        kind = next(name for name in _LABELS if label[name])
        leads = len(before[: label.start()].strip("*_ -•\u2060").split()) > 2
        if label["colon"] and leads and not (kind == "question" and words.rstrip().endswith("?")):
            return _by_context(before, after, words, cited)
        if not cited:
            return kind
        if len(words.split()) <= 3 and not label["colon"]:
            return kind
        if kind in ("question", "option", "title", "work", "name") and not label["colon"]:
            return kind
    return _by_context(before, after, words, cited)


def _by_context(before: str, after: str, words: str, cited: bool) -> str | None:
    if _AFTER.match(after[:80]):
        return "label"
    if cited:
        return None
    if words.rstrip().endswith("?") and _ASKED.search(before):
        return "question"
    if _DENIED.search(before):
        return "said by nobody"
    if _PROPOSED.search(before):
        return "proposed"
    return None
