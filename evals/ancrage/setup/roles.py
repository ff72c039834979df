"""Which column plays which role: by words of its name, and by what it holds."""

from collections.abc import Callable, Mapping

from ancrage.setup.columns import Column

_WORDS = {
    "id": "id uid uuid identifiant identifier identificador key cle schluessel ref reference code "
    "codigo no nr num numero nummer number n case cas",
    "study": "study survey project etude enquete projet studie umfrage encuesta estudio proyecto "
    "campaign campagne",
    "question": "question questions q prompt query ask asked request demande requete entree enonce "
    "input user consigne frage pregunta consulta eingabe",
    "answer": "answer reply response completion output reponse assistant bot generated generation "
    "sortie production antwort ausgabe respuesta resultat resultado result",
    "people": "respondent repondant participant panelist panellist paneliste author auteur user "
    "usager utilisateur speaker locuteur person personne customer client cliente member membre "
    "reviewer interviewee employee salarie resp kunde teilnehmer befragter autor persona "
    "encuestado participante patient eleve student",
    "text": "text texte texto verbatim message msg body content contenu comment commentaire "
    "comentario kommentar quote extrait passage utterance review feedback propos avis answer "
    "response reponse antwort respuesta aussage opinion words reply remarque transcript",
    "wording": "label libelle intitule wording title titre titel titulo",
    "model": "model modele modell modelo",
    "language": "language lang langue sprache idioma locale",
    "history": "history historique messages conversation turns verlauf",
    "system": "system systeme",
    "tools": "tool tools outils calls",
}
"""French, English, and some German and Spanish; accents and case folded."""
_SETS = {role: frozenset(words.split()) for role, words in _WORDS.items()}
IDS, STUDY, QUESTION, ANSWER = (_SETS[role] for role in ("id", "study", "question", "answer"))
PEOPLE, TEXT, LANGUAGE = (_SETS[role] for role in ("people", "text", "language"))
LABEL = _SETS["wording"] | QUESTION

Score = Callable[[Column], float]
"""How well a column fits a role; 0 where it cannot play it."""


def named(column: Column, words: frozenset[str]) -> float:
    """2 where the last part of the path is such a word, 1 where one stands anywhere in it."""
    found = column.tokens
    last = [word for word in found if word in words]
    if not last:
        return 0.0
    return 2.0 if len(found) == 1 or found[-1] in words else 1.0


def answers(found: Mapping[str, Column]) -> dict[str, str]:
    """The roles of a file of answers; a file that is none lacks question or answer."""
    return _cast(found, {
        "answer": lambda column: _wordy(column) and (
            (2 * named(column, ANSWER) + 3 * column.cites + min(column.words, 60) / 60)
            * (named(column, ANSWER) > 0 or column.cites >= 0.3)
        ),
        "question": lambda column: (_wordy(column) or named(column, QUESTION) == 2) and (
            (2 * named(column, QUESTION) + 3 * column.asks)
            * (named(column, QUESTION) > 0 or column.asks >= 0.5)
        ),
        "id": lambda column: _id(column) and (
            1 + named(column, IDS) - 2 * bool(named(column, PEOPLE)) - column.path.count(".") / 10
        ),
        "study_id": lambda column: column.code and named(column, STUDY),
        "time": lambda column: float(column.times >= 0.9),
        "model": lambda column: column.code and named(column, _SETS["model"]) == 2,
        "history": lambda column: _listed(column) and named(column, _SETS["history"]),
        "tool_calls": lambda column: _listed(column) and named(column, _SETS["tools"]),
        "system_prompt": lambda column: _wordy(column) and named(column, _SETS["system"]),
    })  # fmt: skip


def messages(
    found: Mapping[str, Column], cited: frozenset[str], refs: frozenset[str] = frozenset()
) -> dict[str, str]:
    """The roles of a file of messages; ``cited`` are the words of answers that may be ids.

    Which column is the id and which the respondent is settled by uniqueness and by what answers
    cite, names come after. ``refs`` are the ids of the list of questions.
    """
    return _cast(found, {
        "study_id": lambda column: column.code and named(column, STUDY),
        "text": lambda column: (column.words >= 2) and (
            named(column, TEXT) + min(column.words, 30) / 10 + column.distinct
            - 2 * named(column, QUESTION) - 3 * column.asks
        ),
        "id": lambda column: _id(column) and (
            1 + 3 * column.cited(cited) + named(column, IDS) + bool(named(column, TEXT))
            - 2 * bool(named(column, PEOPLE))
        ),
        "respondent_id": lambda column: _person(column) and not _asked(column, refs) and (
            2 * named(column, PEOPLE) + 3 * column.cited(cited) or 0.5 * _repeated(column)
        ),
        "question_ref": lambda column: _asked(column, refs),
        "language": lambda column: column.code and named(column, LANGUAGE),
    })  # fmt: skip


def questions(found: Mapping[str, Column]) -> dict[str, str]:
    """The roles of a list of questions."""
    return _cast(found, {
        "study_id": lambda column: column.code and named(column, STUDY),
        "ref": lambda column: _id(column) and 1 + named(column, IDS) + named(column, QUESTION),
        "text": lambda column: column.words >= 2 and (
            1 + named(column, TEXT | LABEL) + 3 * column.asks
        ),
    })  # fmt: skip


def _cast(found: Mapping[str, Column], roles: Mapping[str, Score]) -> dict[str, str]:
    """Each role its column: the best fitting pair first, no column twice."""
    pairs = sorted(
        (
            (float(score(column)), role, path)
            for role, score in roles.items()
            for path, column in found.items()
        ),
        key=lambda pair: -pair[0],
    )
    cast: dict[str, str] = {}
    for fit, role, path in pairs:
        if fit > 0 and role not in cast and path not in cast.values():
            cast[role] = path
    return {role: cast[role] for role in roles if role in cast}


def _wordy(column: Column) -> bool:
    return column.words >= 2


def _id(column: Column) -> bool:
    return column.full and column.code and column.distinct == 1.0 and not column.times


def _person(column: Column) -> bool:
    return column.full and column.words <= 3 and not column.times and not named(column, LANGUAGE)


def _repeated(column: Column) -> bool:
    """Whether some stand in several rows, as people do who wrote more than once."""
    return (
        column.code
        and 0.02 < column.distinct < 1.0
        and len(set(column.texts)) > 2
        and all(
            any(sign.isdigit() for sign in text) and not text.isdigit() for text in column.texts
        )
    )


def _listed(column: Column) -> bool:
    return any(isinstance(value, list) for value in column.values)


def _asked(column: Column, refs: frozenset[str]) -> float:
    """How surely a column says to which question a message replies."""
    known = column.cited(refs)
    repeated = column.distinct < 1.0 or column.rows < 3
    name = "question" in column.tokens or column.tokens[:1] == ["q"] or "frage" in column.tokens
    if named(column, PEOPLE) or not repeated:
        return 0.0
    return 3 * known + 2 * name + 2 * (column.asks > 0.5)
