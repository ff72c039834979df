"""Small projects as people have them, each with the mapping that a person would choose."""

import csv
import io
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ASKED = {
    "fr": ["Que pensent les clients du livreur ?", "Quels délais sont cités ?", "Et le prix ?"],
    "en": ["What do people say of delivery?", "Which delays are named?", "And the price?"],
}
SAID = {
    "fr": ["Le livreur était très souriant", "Trois semaines pour un colis", "Trop cher pour moi",
           "La boîte est arrivée abîmée", "Je recommande sans hésiter ce service",
           "Personne ne répond au téléphone"],
    "en": ["The driver was smiling all along", "Three weeks for one parcel", "Too dear for me",
           "The box came damaged", "I gladly recommend this service", "Nobody answers the phone"],
}  # fmt: skip
TOPICS = {
    "fr": ["Que pensez-vous de la livraison ?", "Que pensez-vous du prix ?"],
    "en": ["How was the delivery?", "What of the price?"],
}


@dataclass(frozen=True)
class Project:
    """What to write, and what is to be found: our fields, each with the column of it."""

    name: str
    answers: str
    """File of answers; its ending says the kind."""
    row: dict[str, Any]
    """A row of it: ``$id``, ``$question``, ``$answer``, ``$time``, ``$study`` are filled in."""
    expected: dict[str, str]
    messages: str = ""
    message: dict[str, Any] = field(default_factory=dict)
    """``$id``, ``$who``, ``$text``, ``$topic`` (its text), ``$ref`` (its code), ``$lang``…"""
    expected_message: dict[str, str] = field(default_factory=dict)
    questions: str = ""
    question: dict[str, str] = field(default_factory=dict)
    expected_question: dict[str, str] = field(default_factory=dict)
    language: str = "fr"
    cite: str = "({who}, {id})"
    id: Callable[[int], str] = "verbatim_{}".format
    who: Callable[[int], str] = "client-{}".format
    wrap: str = ""
    """Name of the list that holds the questions, where they stand in one."""
    encoding: str = "utf-8"
    separator: str = ","
    reads: bool = True
    """Whether the citations of every answer are to be read."""

    def write(self, folder: Path) -> list[str]:
        """Write the files; their names."""
        said, asked, topics = SAID[self.language], ASKED[self.language], TOPICS[self.language]
        rows = []
        for rank in range(12):
            cited = self.cite.format(who=self.who(1 + rank % 4), id=self.id(10 + rank))
            quote = f"« {said[rank % 6]} »" if self.language == "fr" else f'"{said[rank % 6]}"'
            rows.append(_filled(self.row, {
                "$id": f"e-{rank:03}", "$question": f"{asked[rank % 3]} ({rank}) ?",
                "$answer": f"Plusieurs points reviennent souvent : {quote} {cited}.",
                "$time": f"2026-03-{rank + 1:02}T10:00:00Z", "$study": "s1", "$n": rank,
            }))  # fmt: skip
        self._file(folder / self.answers, rows)
        names = [self.answers]
        if self.messages:
            rows = [
                _filled(self.message, {
                    "$id": self.id(10 + rank), "$who": self.who(1 + rank % 4), "$study": "s1",
                    "$text": said[rank % 6], "$topic": topics[rank % 2], "$ref": f"T{rank % 2 + 1}",
                    "$lang": self.language, "$time": f"2026-02-{rank + 1:02}", "$n": rank,
                })
                for rank in range(24)
            ]  # fmt: skip
            self._file(folder / self.messages, rows)
            names.append(self.messages)
        if self.questions:
            rows = [
                _filled(self.question, {"$ref": f"T{rank + 1}", "$text": topics[rank]})
                for rank in range(2)
            ]
            self._file(folder / self.questions, rows, self.wrap)
            names.append(self.questions)
        return names

    def _file(self, path: Path, rows: Sequence[dict[str, Any]], wrap: str = "") -> None:
        if path.suffix == ".json":
            text = json.dumps({wrap: rows} if wrap else rows, ensure_ascii=False)
        elif path.suffix in (".jsonl", ".ndjson"):
            text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        else:
            out = io.StringIO()
            table = csv.DictWriter(
                out, list(rows[0]), delimiter="\t" if path.suffix == ".tsv" else self.separator
            )
            table.writeheader()
            table.writerows(rows)
            text = out.getvalue()
        path.write_bytes(text.encode(self.encoding))


def _filled(template: Any, values: dict[str, Any]) -> Any:
    if isinstance(template, dict):
        return {name: _filled(item, values) for name, item in template.items()}
    return values.get(template, template) if isinstance(template, str) else template


SIMPLE = {"id": "$id", "question": "$question", "answer": "$answer"}
NATIVE = {"id": "$id", "respondent_id": "$who", "text": "$text"}

SEEN = [
    Project("nested-qid", "rep.jsonl",
            {"qid": "$id", "data": {"asked": "$question", "reply": "$answer"}},
            {"id": "qid", "question": "data.asked", "answer": "data.reply"},
            "messages.csv",
            {"N° verbatim": "$id", "Client": "$who", "Question posée": "$topic",
             "Verbatim": "$text"},
            {"id": "N° verbatim", "respondent_id": "Client", "question_ref": "Question posée",
             "text": "Verbatim"}, separator=";"),
    Project("id-verbatim", "a.jsonl", SIMPLE, {},
            "m.csv", {"id_verbatim": "$id", "client": "$who", "question": "$ref",
                      "verbatim": "$text"},
            {"id": "id_verbatim", "respondent_id": "client", "question_ref": "question",
             "text": "verbatim"},
            "q.json", {"code": "$ref", "intitulé": "$text"}, {"ref": "code", "text": "intitulé"},
            wrap="questions", separator=";"),
    Project("identifiant-cp1252", "reponses.csv",
            {"identifiant": "$id", "demande": "$question", "réponse": "$answer"},
            {"id": "identifiant", "question": "demande", "answer": "réponse"},
            "messages.csv", {"identifiant": "$id", "client_id": "$who", "question": "$topic",
                             "texte": "$text"},
            {"id": "identifiant", "respondent_id": "client_id", "question_ref": "question",
             "text": "texte"}, encoding="cp1252", separator=";"),
    Project("customer", "answers.csv", {"case": "$id", "prompt": "$question", "reply": "$answer"},
            {"id": "case", "question": "prompt", "answer": "reply"},
            "messages.csv", {"message_id": "$id", "customer": "$who", "question": "$ref",
                             "message": "$text"},
            {"id": "message_id", "respondent_id": "customer", "question_ref": "question",
             "text": "message"},
            "questions.json", {"code": "$ref", "label": "$text"}, {"ref": "code", "text": "label"},
            language="en", cite="[{id}, {who}]", id="msg-{}".format, who="cust-{}".format),
    Project("deep", "log.jsonl",
            {"trace": {"uuid": "$id", "at": "$time"},
             "turn": {"user": {"content": "$question"}, "assistant": {"content": "$answer"}}},
            {"id": "trace.uuid", "question": "turn.user.content",
             "answer": "turn.assistant.content", "time": "trace.at"},
            "v.jsonl", {"key": "$id", "author": {"id": "$who"}, "body": "$text"},
            {"id": "key", "respondent_id": "author.id", "text": "body"}, language="en",
            cite="[{id}]", id="V{}".format, who="P{}".format),
    Project("content-only", "x.jsonl", {"a": "$id", "b": "$question", "c": "$answer"},
            {"id": "a", "question": "b", "answer": "c"},
            "y.csv", {"c1": "$id", "c2": "$who", "c3": "$text"},
            {"id": "c1", "respondent_id": "c2", "text": "c3"}),
    Project("content-swapped", "x.csv", {"k": "$answer", "l": "$question", "m": "$id"},
            {"id": "m", "question": "l", "answer": "k"},
            "y.tsv", {"c": "$text", "b": "$who", "a": "$id"},
            {"id": "a", "respondent_id": "b", "text": "c"}, language="en", cite="[{id}]"),
    Project("two-languages", "reponses.json",
            {"numéro": "$id", "requête": "$question", "texte_réponse": "$answer",
             "étude": "$study"},
            {"id": "numéro", "question": "requête", "answer": "texte_réponse",
             "study_id": "étude"},
            "verbatims.csv", {"étude": "$study", "réf": "$id", "répondant": "$who",
                              "contenu": "$text", "langue": "$lang"},
            {"study_id": "étude", "id": "réf", "respondent_id": "répondant", "text": "contenu",
             "language": "langue"}, encoding="utf-8-sig"),
    Project("native", "answers.jsonl", SIMPLE, {}, "messages.csv",
            NATIVE | {"question_id": "$ref"}, {"question_ref": "question_id"}, cite="[{who}, {id}]",
            id="M-{:04}".format, who="R-{:03}".format),
    Project("german", "antworten.csv", {"Nr": "$id", "Frage": "$question", "Antwort": "$answer"},
            {"id": "Nr", "question": "Frage", "answer": "Antwort"},
            "aussagen.csv", {"Nummer": "$id", "Teilnehmer": "$who", "Text": "$text"},
            {"id": "Nummer", "respondent_id": "Teilnehmer", "text": "Text"}, language="en",
            separator=";"),
    Project("who-asked", "export.csv",
            {"trace_id": "$id", "user_id": "same", "question": "$question",
             "response": "$answer", "created_at": "$time"},
            {"id": "trace_id", "answer": "response", "time": "created_at"},
            "data.csv", {"comment_id": "$id", "user": "$who", "date": "$time",
                         "comment": "$text"},
            {"id": "comment_id", "respondent_id": "user", "text": "comment"}, language="en",
            cite="({id})", id="c{}".format, who="u{}".format),
    Project("braces", "a.jsonl", SIMPLE, {}, "m.jsonl", NATIVE, {}, cite="{{{id}}}",
            id="ref{}".format),
    Project("tags", "a.jsonl", SIMPLE, {}, "m.jsonl", NATIVE, {}, cite='<cite id="{id}"/>',
            id="msg_{}".format),
    Project("answers-alone", "a.csv",
            {"ID": "$id", "Question": "$question", "Réponse": "$answer"},
            {"id": "ID", "question": "Question", "answer": "Réponse"}, cite="[M-0001]"),
    Project("verbatim-label", "a.jsonl", SIMPLE, {}, "m.csv",
            {"num": "$id", "panéliste": "$who", "commentaire": "$text"},
            {"id": "num", "respondent_id": "panéliste", "text": "commentaire"},
            cite="[verbatim {id}]", id="{}".format, who="P-{}".format),
]  # fmt: skip
"""Looked at while the recognition was written."""

UNSEEN = [
    Project("pivot", "logs.ndjson",
            {"request": {"text": "$question"}, "completion": {"text": "$answer"},
             "meta": {"request_id": "$id"}},
            {"id": "meta.request_id", "question": "request.text", "answer": "completion.text"},
            "feedback.csv", {"feedback_id": "$id", "member_no": "$who", "feedback": "$text"},
            {"id": "feedback_id", "respondent_id": "member_no", "text": "feedback"},
            language="en", cite="[{id}]", id="FB-{}".format, who="MB{}".format),
    Project("spanish", "respuestas.csv",
            {"identificador": "$id", "pregunta": "$question", "respuesta": "$answer"},
            {"id": "identificador", "question": "pregunta", "answer": "respuesta"},
            "opiniones.csv", {"codigo": "$id", "cliente": "$who", "comentario": "$text"},
            {"id": "codigo", "respondent_id": "cliente", "text": "comentario"},
            language="en", cite="({id}, {who})", id="op_{}".format, separator=";"),
    Project("salarie", "bilan.jsonl",
            {"ref": "$id", "entrée": "$question", "sortie": "$answer"},
            {"id": "ref", "question": "entrée", "answer": "sortie"},
            "enquete.csv", {"Salarié": "$who", "N°": "$id", "Propos": "$text"},
            {"id": "N°", "respondent_id": "Salarié", "text": "Propos"},
            cite="[{who} ; {id}]", id="propos-{}".format, who="sal{}".format, separator=";"),
    Project("upper", "A.CSV", {"ID": "$id", "QUESTION": "$question", "ANSWER": "$answer"},
            {"id": "ID", "question": "QUESTION", "answer": "ANSWER"},
            "M.CSV", {"MSG_ID": "$id", "RESP_ID": "$who", "MSG": "$text"},
            {"id": "MSG_ID", "respondent_id": "RESP_ID", "text": "MSG"}, language="en",
            cite="[{who}, {id}]", id="M-{:04}".format, who="R-{:03}".format),
    Project("camel", "chat.jsonl",
            {"conversationId": "$id", "userMessage": "$question", "botMessage": "$answer"},
            {"id": "conversationId", "question": "userMessage", "answer": "botMessage"},
            "reviews.jsonl", {"reviewId": "$id", "reviewerId": "$who", "reviewText": "$text"},
            {"id": "reviewId", "respondent_id": "reviewerId", "text": "reviewText"},
            language="en", cite="[{id}]", id="rv{}".format),
    Project("wrapped-answers", "answers.json", SIMPLE, {}, "messages.csv", NATIVE, {},
            "questions.json", {"numéro": "$ref", "libellé": "$text"},
            {"ref": "numéro", "text": "libellé"}, wrap="items", cite="[{id}]", id="v.{}".format),
    Project("utf16", "a.csv", {"id": "$id", "question": "$question", "réponse": "$answer"},
            {"answer": "réponse"},
            "m.csv", {"id_message": "$id", "id_répondant": "$who", "message": "$text"},
            {"id": "id_message", "respondent_id": "id_répondant", "text": "message"},
            encoding="utf-16", separator=";"),
    Project("double-braces", "a.jsonl", SIMPLE, {}, "m.csv",
            {"uid": "$id", "speaker": "$who", "utterance": "$text"},
            {"id": "uid", "respondent_id": "speaker", "text": "utterance"}, language="en",
            cite="{{{{{id}}}}}", id="utt{}".format, who="spk{}".format),
    Project("noise", "a.csv",
            {"ligne": "$n", "case_id": "$id", "canal": "web", "question_utilisateur": "$question",
             "reponse_assistant": "$answer", "note": "5"},
            {"id": "case_id", "question": "question_utilisateur", "answer": "reponse_assistant"},
            "m.csv", {"ligne": "$n", "ville": "Lyon", "id_avis": "$id", "usager": "$who",
                      "avis": "$text", "date": "$time"},
            {"id": "id_avis", "respondent_id": "usager", "text": "avis"},
            cite="({who} / {id})", id="avis{}".format, who="usager{}".format),
    Project("content-only-refs", "f1.jsonl",
            {"f0": "$time", "f1": "$id", "f2": {"g1": "$question", "g2": "$answer"}},
            {"id": "f1", "question": "f2.g1", "answer": "f2.g2", "time": "f0"},
            "f2.csv", {"h1": "$who", "h2": "$text", "h3": "$id", "h4": "$time"},
            {"id": "h3", "respondent_id": "h1", "text": "h2"}, language="en",
            cite="[{who}, {id}]", id="k{}".format, who="w{}".format),
    Project("answers-of-people", "prod.jsonl",
            {"id": "$id", "query": "$question", "generated": "$answer", "model": "gpt-x"},
            {"question": "query", "answer": "generated"},
            "survey.csv", {"participant": "$who", "question": "$topic", "answer": "$text",
                           "answer_id": "$id"},
            {"id": "answer_id", "respondent_id": "participant", "question_ref": "question",
             "text": "answer"}, language="en", cite="({id})", id="ans-{}".format),
    Project("hex", "a.jsonl", SIMPLE, {}, "m.jsonl", NATIVE, {}, cite="[{id}]",
            id=lambda n: f"{n * 2654435761 % 2**32:08x}"),
    Project("list-question", "sortie.json",
            {"numero_cas": "$id", "énoncé": "$question", "production": "$answer"},
            {"id": "numero_cas", "question": "énoncé", "answer": "production"},
            "corpus.json", {"identifiant_extrait": "$id", "locuteur": "$who", "extrait": "$text"},
            {"id": "identifiant_extrait", "respondent_id": "locuteur", "text": "extrait"},
            cite="[{id}]", id="ext_{}".format, who="loc_{}".format),
    Project("pipes", "a.csv", {"id": "$id", "input": "$question", "output": "$answer"},
            {"question": "input", "answer": "output"},
            "m.csv", {"row_id": "$id", "panelist": "$who", "q": "$ref", "response": "$text"},
            {"id": "row_id", "respondent_id": "panelist", "question_ref": "q",
             "text": "response"}, language="en", separator="|", cite="[{who} {id}]",
            id="r#{}".format, who="p#{}".format, reads=False),
    Project("footnote-like", "a.jsonl", SIMPLE, {}, "m.csv",
            {"no": "$id", "name_code": "$who", "words": "$text"},
            {"id": "no", "respondent_id": "name_code", "text": "words"}, language="en",
            cite="[{id}]", id="{}".format, who="n-{}".format),
]  # fmt: skip
"""Kept aside until it was done."""
