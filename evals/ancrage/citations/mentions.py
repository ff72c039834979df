"""Marks that quote nobody: titles, themes, labels, the question itself, scare quotes."""

import re
from collections.abc import Sequence

from ancrage.citations import notes
from ancrage.citations.answer import AnswerText
from ancrage.citations.owners import SENTENCE_END
from ancrage.citations.pairing import Candidate

_BEFORE, _AFTER_END = 160, 120
_LABELS = {
    "question": "question questions énoncé intitulé libellé consigne relance formulation wording"
    " prompt",
    "option": "option options modalité modalités item items choix choice choices proposition"
    " propositions échelon échelons échelle scale case cases checkbox statement statements"
    " affirmation affirmations",
    "theme": "thème thèmes thématique thématiques theme themes topic topics sujet sujets catégorie"
    " catégories category categories code codes étiquette étiquettes label labels tag tags axe"
    " axes dimension dimensions critère critères criterion criteria cluster clusters rubrique"
    " rubriques segment segments profil profils profile profiles persona personas groupe groupes"
    " group groups famille familles type types registre registres volet volets pilier piliers"
    " pillar pillars pôle pôles",
    "term": "mot mots word words terme termes term terms expression expressions formule formules"
    " vocable notion notions concept concepts verbe verbes verb verbs adjectif adjectifs adjective"
    " adjectives nom noms name names acronyme acronymes phrase phrases",
    "title": "titre titres title titles titled intitulé intitulée intitulés intitulées section"
    " sections chapitre chapitres chapter chapters partie paragraphe annexe tableau figure"
    " graphique colonne colonnes column columns onglet onglets tab tabs page pages menu menus"
    " bouton boutons button buttons écran écrans screen screens champ champs field fields fichier"
    " file étude étude study enquête survey questionnaire rapport report brochure",
    "name": "produit produits product products offre offres offer offers forfait forfaits plan"
    " plans gamme gammes marque marques brand brands service services fonction fonctions"
    " fonctionnalité fonctionnalités feature features mode modes appli application applications"
    " app apps projet projets project projects programme programmes program programs campagne"
    " campagnes campaign campaigns opération slogan slogans baptisé baptisée nommé nommée appelé"
    " appelée dénommé dénommée called named dubbed labelled labeled surnommé surnommée version"
    " versions modèle model site sites magasin store société",
    "work": "livre livres book books roman novel film films movie movies série series chanson song"
    " article articles album émission show podcast jeu game loi law norme proverbe proverb dicton"
    " saying adage maxime motto devise",
    "distance": "so-called soi-disant prétendu prétendue effet effect syndrome logique",
}
_KIND = {word: kind for kind, words in _LABELS.items() for word in words.split()}
_PAIRS = {"known as": "name", "sorte de": "distance", "espèce de": "distance"} | {
    "kind of": "distance",
    "sort of": "distance",
    "réponses possibles": "option",
}
_AFTER_LABEL_TEXT = (
    "answer central centrale comme d de des du est fermé fermée following is l like of ouvert "
    "ouverte possible possibles principal principale réponse suivant suivante suivantes "
    "suivants was était "
)
_AFTER_LABEL = frozenset(_AFTER_LABEL_TEXT.split())
"""Words that may stand between a label and its marks."""
_WORD = re.compile(r"[\w-]+")
_AFTER = re.compile(
    r"\A[\s*_\u2060]*(?:,\s*)?(?:(?:est|sont|is|are|was|were|constitue|forme|arrive|reste)\s+"
    r"(?:(?:bien|le|la|les|un|une|l['’]|the|a|an|one of the|clearly|only|plus|premier|first)\s*)*"
    r"(?:thèmes?|titres?|noms?|questions?|options?|mots?|termes?|themes?|titles?|names?|words?"
    r"|terms?|topics?|labels?|slogans?|catégories?|categor(?:y|ies))"
    r"|\((?:option|modalité|titre|title|thème|theme|question|libellé|label|nom|name)\b)",
    re.IGNORECASE,
)
_PROPOSES_TEXT = (
    "propos suggér sugger suggest pourrai could might would devrai recommand recommend "
    "ajouter ajoutez ajoutons reformul rephras remplac replac relanc demander demandez "
    "demandons poser posez posons résumer summari summed instead plutôt lieu exemple example "
    "e.g "
)
_PROPOSES = tuple(_PROPOSES_TEXT.split())
_DENIED = re.compile(
    r"\b(?:personne (?:ne|n['’])|aucun\w*(?: \w+){0,3} (?:ne|n['’])|nul(?:le)? (?:ne|n['’])|nobody"
    r"|no one|none of|no (?:respondent|participant|customer|message|answer|one)"
    r"|not a single|never (?:says?|said|writes?|wrote)|jamais (?:dit|écrit)"
    r"|si (?:un|une|quelqu['’]un)|if (?:a|some)\w*)\b",
    re.IGNORECASE,
)
_ASKED = re.compile(
    r"\b(?:vous (?:demandez|demandiez|m['’]avez demandé)|votre question|you ask(?:ed)?"
    r"|your question|la question (?:posée|était)|on (?:leur|lui) (?:a )?demand\w+|were asked"
    r"|was asked|asked them|le questionnaire demand\w+|the survey ask\w*"
    r"|l['’]enquête demand\w+|interrogés? sur|invités? à (?:choisir|répondre)"
    r"|asked (?:about|to))\b",
    re.IGNORECASE,
)


def mark_mentions(answer: AnswerText, found: Sequence[Candidate]) -> None:
    """Say of each quote by marks and still without citation whether it quotes nobody, and why."""
    surface = answer.surface
    for index, quote in enumerate(found):
        if quote.family in (">", "—", "|", "{") or quote.citations:
            continue
        block = answer.blocks[quote.block] if quote.block >= 0 else None
        start = max(block.start if block else 0, quote.start - _BEFORE)
        end = min(block.end if block else len(surface), quote.end + _AFTER_END)
        if index:
            start = max(start, found[index - 1].end)
        if index + 1 < len(found):
            end = max(quote.end, min(end, found[index + 1].start))
        before = SENTENCE_END.split(surface[start : quote.start])[-1]
        after = SENTENCE_END.split(surface[quote.end : end])[0]
        words = surface[quote.inner_start : quote.inner_end]
        beside = answer.citation_after(quote.end, end) is not None or (
            bool(answer.notes) and any(map(answer.notes.get, notes.called(surface, quote.end)))
        )
        quote.mention = mention(before, after, words, beside)


def mention(before: str, after: str, words: str, cited: bool) -> str | None:
    """Why marks around ``words`` quote nobody, told by their sentence; None where they may quote.

    ``before`` and ``after`` are the rest of the sentence; ``cited`` says that a citation stands
    right beside the marks.
    """
    if label := _label(before):
        kind, colon, leads = label
        if not (colon and leads) or (kind == "question" and words.rstrip().endswith("?")):
            if not cited:
                return kind
            if len(words.split()) <= 3 and not colon:
                return kind
            if kind in ("question", "option", "title", "work", "name") and not colon:
                return kind
    if _AFTER.match(after[:80]):
        return "label"
    if cited or not before.strip():
        return None
    if words.rstrip().endswith("?") and _ASKED.search(before):
        return "question"
    if _DENIED.search(before):
        return "said by nobody"
    told = _WORD.findall(before.lower())
    if "add" in told or any(word.startswith(_PROPOSES) for word in told):
        return "proposed"
    return None


def _label(before: str) -> tuple[str, bool, bool] | None:
    """The kind of label that leads to the marks, whether by a colon, and after other words."""
    held = before.rstrip("\u2060 \u00a0\u202f*_([\t\n")
    colon = held.endswith(":")
    if held[-1:] in (",", ";", ".", "—", "–", ")"):
        return None
    words = _WORD.findall(held[-100:].lower())
    last = len(words)
    for _ in range(3):
        if not last:
            return None
        word = words[last - 1]
        kind = _KIND.get(word) or (_PAIRS.get(f"{words[last - 2]} {word}") if last > 1 else None)
        if kind:
            return kind, colon, last - 1 > 2
        if not (word in _AFTER_LABEL or (len(word) <= 3 and word[-1].isdigit())):
            return None
        last -= 1
    return None
