# ruff: noqa: E501 - one template a line
"""Answers that abstain, or only seem to, in French and English: hand-written, filled by seed.

A template says what it is (its label), a topic fills it. Half of the templates, chosen by a hash
of their words, are held out: the rule was tuned on the other half only, and both are reported.
"""

import hashlib
import random
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Item:
    """One answer to one question, and whether it abstains."""

    language: str
    kind: str
    template: str
    question: str
    expected: str
    """Empty where the case must abstain, or where only the answer is known."""
    answer: str
    abstains: bool
    held_out: bool


@dataclass(frozen=True)
class Topic:
    """What is asked, named in every way that a template can take."""

    question: str
    np: str
    indirect: str
    statement: str
    short: str
    other: str


FR = (
    Topic("Quand le pont a-t-il ouvert ?", "la date d'ouverture du pont", "quand le pont a ouvert",
          "le pont a ouvert en 1998", "1998", "le pont mesure 300 mètres"),
    Topic("Combien coûte l'abonnement ?", "la somme à payer pour l'abonnement",
          "combien coûte l'abonnement", "l'abonnement coûte 12 euros par mois", "12 euros",
          "l'abonnement est sans engagement"),
    Topic("Qui a fondé la coopérative ?", "l'identité de la fondatrice",
          "qui a fondé la coopérative", "Jeanne Morvan a fondé la coopérative", "Jeanne Morvan",
          "la coopérative compte quarante membres"),
    Topic("Où se trouve l'atelier ?", "l'adresse de l'atelier", "où se trouve l'atelier",
          "l'atelier se trouve à Nantes", "à Nantes", "l'atelier emploie six personnes"),
    Topic("Pourquoi la ligne a-t-elle fermé ?", "la raison de la fermeture",
          "pourquoi la ligne a fermé", "la ligne a fermé faute de voyageurs",
          "faute de voyageurs", "la ligne desservait huit gares"),
    Topic("Quel est le délai de remboursement ?", "la durée du délai de remboursement",
          "en combien de temps on est remboursé", "le client est remboursé sous quatorze jours",
          "quatorze jours", "les frais de retour sont offerts"),
    Topic("Quelle est la hauteur de la tour ?", "la hauteur de la tour", "quelle est sa hauteur",
          "la tour atteint 87,5 mètres", "87,5 mètres", "la tour est en brique rouge"),
    Topic("Combien d'électeurs se sont déplacés ?", "la participation exacte",
          "combien d'électeurs se sont déplacés", "62 % des électeurs se sont déplacés", "62 %",
          "le scrutin a eu lieu un dimanche"),
    Topic("Comment la colle est-elle fabriquée ?", "la méthode de fabrication de la colle",
          "comment la colle est fabriquée", "la colle est faite avec de l'amidon",
          "avec de l'amidon", "la colle sèche lentement"),
    Topic("Quelle langue parlait l'équipage ?", "la langue de l'équipage",
          "quelle langue parlait l'équipage", "l'équipage parlait breton", "le breton",
          "le navire transportait du sel"),
)  # fmt: skip

EN = (
    Topic("When did the bridge open?", "the opening date of the bridge", "when the bridge opened",
          "the bridge opened in 1998", "1998", "the bridge is 300 metres long"),
    Topic("How much is the subscription?", "the price of the subscription",
          "how much the subscription costs", "the subscription costs $12 a month", "$12",
          "the subscription can be cancelled at any time"),
    Topic("Who founded the cooperative?", "the identity of the founder",
          "who founded the cooperative", "Jane Holloway founded the cooperative", "Jane Holloway",
          "the cooperative has forty members"),
    Topic("Where is the workshop?", "the address of the workshop", "where the workshop is",
          "the workshop is in Leeds", "in Leeds", "the workshop employs six people"),
    Topic("Why did the line close?", "the reason for the closure", "why the line closed",
          "the line closed for lack of passengers", "lack of passengers",
          "the line served eight stations"),
    Topic("How long does a refund take?", "the time a refund takes", "how long a refund takes",
          "customers are refunded within fourteen days", "fourteen days",
          "return shipping is free"),
    Topic("How tall is the tower?", "the height of the tower", "how tall the tower is",
          "the tower stands 87.5 metres tall", "87.5 metres", "the tower is built of red brick"),
    Topic("What share of voters turned out?", "the exact turnout", "how many voters turned out",
          "62% of voters turned out", "62%", "the vote took place on a Sunday"),
    Topic("How is the glue made?", "the way the glue is made", "how the glue is made",
          "the glue is made from starch", "from starch", "the glue dries slowly"),
    Topic("Which language did the crew speak?", "the language of the crew",
          "which language the crew spoke", "the crew spoke Breton", "Breton",
          "the ship carried salt"),
)  # fmt: skip

DOCS = {
    "fr": ("le document", "le texte", "le passage", "le contexte", "l'extrait", "l'article",
           "le contexte fourni", "le document fourni", "la source"),
    "en": ("the document", "the text", "the passage", "the context", "the excerpt",
           "the article", "the provided context", "the source"),
}  # fmt: skip

ABSTAINS: dict[str, dict[str, str]] = {
    "en": {
        "first person": """
I don't know.
I do not know {ind}.
I don't know the answer to this question.
Sorry, I have no idea {ind}.
I'm afraid I can't say {ind}.
I cannot answer this question from {doc}.
I can't answer that based on what I was given.
I'm unable to determine {np}.
I am not able to find {np} in {doc}.
I couldn't find any information on {np}.
I could not find that in {doc}.
I don't have enough information to answer.
I do not have that information.
I'm not sure.
I'm not sure {ind}; {doc} does not say.
I would need more information to tell you {ind}.
I was unable to locate {np} anywhere in {doc}.
I'd rather not guess: {doc} leaves this open.
I have to abstain here.
I abstain.
I must decline to answer, since {doc} says nothing about it.
We cannot tell {ind} from {doc}.
No idea, sorry.
Honestly, I haven't a clue {ind}.
I see no mention of {np} in {doc}.
I lack the information needed to answer.
""",
        "document": """
{Doc} does not say {ind}.
{Doc} doesn't specify {np}.
{Doc} does not mention {np}.
{Doc} provides no information about {np}.
{Doc} gives no indication of {np}.
{Doc} makes no mention of {np}.
{Doc} says nothing about {np}.
{Doc} is silent on {np}.
{Doc} never states {ind}.
{Doc} does not contain the answer.
{Doc} does not contain enough information to answer the question.
{Doc}, which I read twice, does not give {np}.
{Doc} fails to mention {np}.
{Doc} doesn't tell us {ind}.
{Doc} does not include any details about {np}.
{Doc} leaves {np} unspecified.
Nothing in {doc} indicates {ind}.
Nowhere does {doc} state {np}.
Based on {doc}, it is impossible to say {ind}.
From {doc} alone, {np} cannot be determined.
According to {doc}, there is no way to tell {ind}.
Unfortunately, {doc} offers no answer to this.
""",
        "impersonal": """
Not stated in {doc}.
Not specified.
Not mentioned in {doc}.
This is not mentioned in {doc}.
That information is not available.
That information is not provided in {doc}.
{Np} is not given in {doc}.
{Np} isn't stated anywhere in {doc}.
{Np} does not appear in {doc}.
{Np} is not specified.
There is no information about {np} in {doc}.
There isn't enough information to answer.
It is not possible to determine {np} from {doc}.
It cannot be determined from {doc}.
The answer is not in {doc}.
The question cannot be answered with {doc}.
The question falls outside the scope of {doc}.
Insufficient information.
Unknown.
Unknown from {doc}.
No answer can be given from {doc}.
N/A
Abstention.
ABSTENTION: {doc} does not say.
""",
        "with filler": """
I'm sorry, but I don't know. Let me know if I can help with anything else.
{Doc} does not state {np}. You may want to contact the organisers directly.
I couldn't find {np}. Could you share another document?
{Doc} only covers other subjects. It does not mention {np}.
{Doc} does not say {ind}. It only describes the history of the place.
Thank you for your question! Unfortunately, {np} is not mentioned in {doc}. Feel free to ask me something else.
Great question. {Doc} doesn't address it, so I can't give you an answer.
As an AI model I can only rely on {doc}, and it does not say {ind}.
I can't answer, because {doc} deals with another matter.
You ask {ind}. {Doc} does not tell.
**Answer:** not stated in {doc}.
"I don't know."
I don't want to mislead you: {doc} does not say {ind}.
There are details on other points, but {np} is not specified in {doc}.
Please check the official website; {doc} doesn't provide {np}.
""",
    },
    "fr": {
        "first person": """
Je ne sais pas.
Je ne sais pas {ind}.
Je sais pas.
Je l'ignore.
J'ignore {ind}.
Aucune idée.
Désolé, je n'ai aucune idée sur ce point.
Je suis désolé, mais je ne peux pas répondre à cette question.
Je ne peux pas vous dire {ind}.
Je ne suis pas en mesure de répondre à partir de ce document.
Je n'ai pas trouvé {np} dans {doc}.
Je n'ai trouvé aucune information sur {np}.
Je ne trouve pas cette information dans {doc}.
Je ne dispose pas de cette information.
Je n'ai pas assez d'informations pour répondre.
Je n'ai pas la réponse.
Je manque d'éléments pour répondre.
Je ne saurais dire {ind}.
Je ne suis pas certain de la réponse.
Je préfère ne pas répondre, faute d'information dans {doc}.
Je m'abstiens.
Je dois m'abstenir : {doc} n'en parle pas.
Je ne vois nulle part {np}.
Impossible pour moi de dire {ind}.
Il m'est impossible de répondre.
On ne peut pas savoir {ind} avec {doc}.
Nous ne pouvons pas déterminer {np}.
""",
        "document": """
{Doc} ne le précise pas.
{Doc} ne précise pas {np}.
{Doc} ne dit pas {ind}.
{Doc} ne mentionne pas {np}.
{Doc} ne mentionne nulle part {np}.
{Doc} n'indique pas {ind}.
{Doc} n'en parle pas.
{Doc} n'en dit rien.
{Doc} ne dit rien à ce sujet.
{Doc} ne donne aucune information sur {np}.
{Doc} ne contient pas la réponse.
{Doc} ne contient pas suffisamment d'éléments pour répondre.
{Doc} ne permet pas de savoir {ind}.
{Doc} ne permet pas de répondre à la question.
{Doc} ne fournit pas {np}.
{Doc} ne fait aucune mention de ce point.
{Doc} reste muet sur {np}.
{Doc} est silencieux à ce sujet.
{Doc}, que j'ai relu deux fois, ne donne pas {np}.
{Doc} passe {np} sous silence.
{Doc} n'apporte pas de réponse à cette question.
Rien dans {doc} ne permet de dire {ind}.
Rien n'indique {ind} dans {doc}.
D'après {doc}, impossible de déterminer {np}.
""",
        "impersonal": """
Non précisé.
Non précisé dans {doc}.
Non mentionné.
Ce n'est pas précisé dans {doc}.
Ce n'est pas indiqué.
Cette information n'est pas disponible.
Cette information ne figure pas dans {doc}.
L'information est absente du document.
{Np} n'est pas mentionnée dans {doc}.
{Np} n'est pas précisée.
{Np} n'apparaît pas dans {doc}.
{Np} n'est indiquée nulle part.
Il n'y a pas d'information sur {np} dans {doc}.
Il n'y a aucune mention de ce point dans {doc}.
Il n'est pas possible de répondre avec {doc}.
Il est impossible de dire {ind}.
Aucune information n'est donnée sur {np}.
Aucun élément de {doc} ne permet de répondre.
La réponse ne se trouve pas dans {doc}.
La question sort du cadre du document.
Pas d'information à ce sujet.
Pas de réponse dans {doc}.
Informations insuffisantes pour répondre.
Inconnu d'après {doc}.
Abstention.
ABSTENTION : {doc} ne le dit pas.
""",
        "with filler": """
Je suis désolé, je ne sais pas. N'hésitez pas à me poser une autre question.
{Doc} ne précise pas {np}. Je vous invite à contacter l'accueil.
Je n'ai pas trouvé {np}. Pouvez-vous me fournir un autre document ?
{Doc} traite uniquement d'autres sujets. Il ne mentionne pas {np}.
{Doc} ne dit pas {ind}. Il décrit seulement l'histoire du lieu.
Merci pour votre question ! Malheureusement, {np} n'est pas mentionnée dans {doc}.
Bonne question. {Doc} ne l'aborde pas, je ne peux donc pas répondre.
En tant qu'assistant, je ne me fonde que sur {doc}, et il ne dit pas {ind}.
Je ne peux pas répondre, car {doc} porte sur un autre sujet.
Vous demandez {ind}. {Doc} ne le dit pas.
**Réponse :** non précisé dans {doc}.
« Je ne sais pas. »
Je ne voudrais pas vous induire en erreur : {doc} ne dit pas {ind}.
D'autres points sont détaillés, mais {np} n'est pas précisée dans {doc}.
Consultez le site officiel : {doc} ne donne pas {np}.
""",
    },
}

ANSWERS: dict[str, dict[str, str]] = {
    "en": {
        "plain": """
{St}.
{Sh}.
According to {doc}, {st}.
{Doc} states that {st}.
{Doc} says {st}, and adds that {oth}.
Yes: {st}.
{Np} is stated in {doc}: {sh}.
{Np} is known: {sh}.
It is officially known as the Old Line.
The species cannot be found north of the river.
{Doc} is clear and mentions {np}: {sh}.
Contact the town hall.
If {doc} is right, {st}.
See page 12 of {doc}: {st}.
{Doc} mentions {sh}.
{Doc} covers this: {st}.
{Doc} does say so: {st}.
""",
        "keyword": """
{St}. This is not an abstention.
No abstention: {st}.
There is no need to abstain here: {st}.
Without abstaining, I can say that {st}.
I won't answer "I don't know": {st}.
I do not abstain, because {doc} is clear: {st}.
Abstention was high that year, and {st}.
The word "abstention" is used once; {st}.
{St}; the rate of abstention is given too.
""",
        "quoted": """
{St}, although one witness said "I don't know".
When asked, the clerk replied: "The document does not say." In fact, {st}.
“Not stated in the context” would be wrong here: {st}.
{St}, whatever the note 'not specified' may suggest.
The director's motto was "I have no idea".
""",
        "hedge": """
I'm not sure, but I think {st}.
I'm not certain, it seems that {st}.
I can't be completely sure, but {st}.
It seems that {st}.
Probably {sh}.
I believe {st}.
I don't know for certain, but most likely {sh}.
If I'm not mistaken, {st}.
I cannot rule out an error, but {st}.
Not sure, maybe {sh}.
""",
        "refusal then answer": """
{Doc} does not say. However, {st}.
I don't know. {St}.
{Doc} does not mention it, but {st}.
Although {doc} does not say so explicitly, {st}.
Even though {np} is not stated in {doc}, {st}.
I can't find it in {doc}. That said, {st}.
{Doc} does not specify {np}; from general knowledge, {st}.
While {doc} doesn't mention {np}, it is well known that {st}.
{Doc} does not give {np}. The answer is {sh}.
I cannot answer from {doc}. My best guess is {sh}.
{Doc} doesn't say {ind}. It is {sh}.
Not specified in {doc}, yet {st}.
I'm sorry, I can't tell you {ind}. Actually, wait: {st}.
""",
        "answer then caveat": """
{St}. {Doc} does not give further details.
{St}, but {doc} does not say why.
{St}. I don't know more than that.
{St}. I could not find any other information.
{St}, although the source does not name the person in charge.
{St}. Note that the exact circumstances are not specified in {doc}.
{St} ({doc} does not say who decided it).
{St}; nothing else is stated.
Answer: {sh}. {Doc} provides no information about the rest.
""",
        "third person": """
Paul does not know how to swim.
The mayor said he did not know {ind}, but {st}.
The witness could not answer the question; {st}.
Residents do not know that {st}.
The players were not sure of winning.
The company was unable to find a buyer.
The children could not tell the time, and {st}.
Nobody on the team had enough information to act sooner.
The committee abstained.
She declined to answer the letter.
""",
    },
    "fr": {
        "plain": """
{St}.
{Sh}.
D'après {doc}, {st}.
{Doc} précise que {st}.
{Doc} dit que {st} et ajoute que {oth}.
Oui : {st}.
{Np} est connue : {sh}.
{Np} est indiquée dans {doc} : {sh}.
La ligne est connue sous le nom de Vieille Ligne.
L'espèce ne se trouve pas au nord du fleuve.
{Doc} est clair et mentionne {np} : {sh}.
Adressez-vous à la mairie.
Si {doc} dit vrai, {st}.
Voir la page 12 de l'annexe : {st}.
{Doc} mentionne {sh}.
{Doc} traite ce point : {st}.
{Doc} le dit bien : {st}.
S'il ne vous répond pas, vous pouvez adresser une plainte au greffe.
""",
        "keyword": """
{St}. Ce n'est pas une abstention.
Sans abstention : {st}.
Pas d'abstention ici : {st}.
Inutile de s'abstenir : {st}.
Je ne m'abstiens pas, car {doc} est clair : {st}.
Je ne répondrai pas « je ne sais pas » : {st}.
L'abstention était forte cette année-là, et {st}.
Le mot « abstention » revient une fois ; {st}.
{St} ; le taux d'abstention est donné aussi.
""",
        "quoted": """
{St}, bien qu'un témoin ait dit « je ne sais pas ».
L'employé a répondu : « Le document ne le précise pas. » En réalité, {st}.
« Non précisé dans le document » serait faux ici : {st}.
{St}, quoi que laisse penser la note “non mentionné”.
La devise du directeur était « je n'ai aucune idée ».
""",
        "hedge": """
Je ne suis pas sûr, mais je crois que {st}.
Je n'en suis pas certain, il semble que {st}.
Je ne peux pas l'affirmer avec certitude, mais {st}.
Il semble que {st}.
Probablement {sh}.
Je pense que {st}.
Je ne sais pas avec certitude, mais c'est sans doute {sh}.
Si je ne me trompe pas, {st}.
Une erreur n'est pas exclue, mais {st}.
Pas sûr, peut-être {sh}.
""",
        "refusal then answer": """
{Doc} ne le dit pas. Cependant, {st}.
Je ne sais pas. {St}.
{Doc} ne le mentionne pas, mais {st}.
Bien que {doc} ne le précise pas, {st}.
Même si {np} n'est pas indiquée dans {doc}, {st}.
Je ne le trouve pas dans {doc}. Cela dit, {st}.
{Doc} ne précise pas {np} ; de manière générale, {st}.
Si {doc} ne mentionne pas {np}, on sait par ailleurs que {st}.
{Doc} ne donne pas {np}. La réponse est : {sh}.
Je ne peux pas répondre à partir du document. À mon avis, c'est {sh}.
{Doc} ne dit pas {ind}. C'est {sh}.
Non précisé dans {doc}, pourtant {st}.
Désolé, je ne peux pas vous dire {ind}. En fait, si : {st}.
""",
        "answer then caveat": """
{St}. {Doc} ne donne pas plus de détails.
{St}, mais {doc} ne dit pas pourquoi.
{St}. Je n'en sais pas plus.
{St}. Je n'ai pas trouvé d'autre information.
{St}, même si la source ne nomme pas le responsable.
{St}. À noter que les circonstances exactes ne sont pas précisées dans {doc}.
{St} ({doc} ne dit pas qui l'a décidé).
{St} ; rien d'autre n'est indiqué.
Réponse : {sh}. {Doc} ne donne aucune information sur le reste.
""",
        "third person": """
Paul ne sait pas nager.
Le maire a dit qu'il ne savait pas {ind}, mais {st}.
Le témoin n'a pas pu répondre à la question ; {st}.
Les habitants ne savent pas que {st}.
Les joueurs n'étaient pas sûrs de gagner.
L'entreprise n'a pas trouvé de repreneur.
Les enfants ne pouvaient pas lire l'heure, et {st}.
Personne dans l'équipe n'avait assez d'informations pour agir plus tôt.
La commission s'est abstenue.
Elle a refusé de répondre à la lettre.
""",
    },
}

ABSENCE: tuple[tuple[str, str, str, str], ...] = (
    ("fr", "Le contrat mentionne-t-il une pénalité ?", "Non, aucune pénalité",
     "Non, le contrat ne mentionne aucune pénalité."),
    ("fr", "Le document précise-t-il un délai ?", "Non", "Non, le document ne précise aucun délai."),
    ("fr", "L'article donne-t-il le nom de l'auteur ?", "Non", "L'article ne donne pas ce nom."),
    ("fr", "Le petit-déjeuner est-il inclus ?", "Non", "Non, le petit-déjeuner n'est pas inclus."),
    ("fr", "Y a-t-il un parking ?", "Non, il n'y en a pas", "Il n'y a pas de parking."),
    ("fr", "Pourquoi le client s'est-il plaint ?", "Le prix n'était pas indiqué sur l'étiquette",
     "Parce que le prix n'était pas indiqué sur l'étiquette."),
    ("fr", "Qui a commandé la statue ?", "On ne sait pas qui l'a commandée",
     "On ne sait pas qui l'a commandée."),
    ("fr", "Le témoin connaissait-il le suspect ?", "Non, il ne le connaissait pas",
     "Non, il ne savait pas qui c'était."),
    ("fr", "Peut-on répondre par courrier ?", "Non", "Non, on ne peut pas répondre par courrier."),
    ("fr", "Est-ce que l'hôtel accepte les chiens ?", "Non", "Non, les chiens ne sont pas acceptés."),
    ("fr", "Que contient le rapport sur les salaires ?", "Aucune information",
     "Aucune information."),
    ("fr", "Le modèle est-il disponible en France ?", "Non", "Le modèle n'est pas disponible en France."),
    ("fr", "Combien de blessés ?", "Aucun", "Aucun blessé n'est à déplorer."),
    ("fr", "Quelle a été la réaction du ministre ?", "Il n'a pas souhaité répondre",
     "Le ministre n'a pas souhaité répondre."),
    ("en", "Does the contract mention a penalty?", "No, no penalty",
     "No, the contract does not mention any penalty."),
    ("en", "Does the document specify a deadline?", "No",
     "No, the document does not specify a deadline."),
    ("en", "Does the article name its author?", "No", "The article does not name its author."),
    ("en", "Is breakfast included?", "No", "No, breakfast is not included."),
    ("en", "Is there a car park?", "No, there is none", "There is no car park."),
    ("en", "Why did the customer complain?", "The price was not stated on the label",
     "Because the price was not stated on the label."),
    ("en", "Who commissioned the statue?", "It is not known who commissioned it",
     "It is not known who commissioned it."),
    ("en", "Did the witness know the suspect?", "No, he did not",
     "No, he did not know who it was."),
    ("en", "Can one reply by post?", "No", "No, you cannot answer by post."),
    ("en", "Does the hotel take dogs?", "No", "No, dogs are not allowed."),
    ("en", "What does the report say about wages?", "Nothing",
     "It says nothing about wages."),
    ("en", "Is the model available in France?", "No", "The model is not available in France."),
    ("en", "How many people were hurt?", "None", "None were hurt."),
    ("en", "How did the minister react?", "He declined to answer",
     "The minister declined to answer."),
)  # fmt: skip


def held_out(template: str) -> bool:
    """Whether a template was kept from tuning; a hash decides, not a person."""
    return hashlib.sha256(template.encode()).digest()[0] % 2 == 0


def items(per_template: int = 6, seed: int = 20260101) -> Iterator[Item]:
    """The corpus in a fixed order; ``per_template`` topics fill each template."""
    random_ = random.Random(seed)
    for abstains, corpus in ((True, ABSTAINS), (False, ANSWERS)):
        for language, kinds in corpus.items():
            for kind, block in kinds.items():
                for template in block.strip().splitlines():
                    topics = random_.sample(FR if language == "fr" else EN, per_template)
                    seen = set()
                    for topic in topics:
                        answer = _typed(_filled(template, topic, language, random_), random_)
                        if answer in seen:
                            continue
                        seen.add(answer)
                        yield Item(
                            language, kind, template, topic.question,
                            "" if abstains else topic.short, answer, abstains, held_out(template),
                        )  # fmt: skip
    for language, question, expected, answer in ABSENCE:
        for typed in dict.fromkeys((answer, answer.replace("'", "’"), answer.lower())):
            yield Item(
                language, "absence is the answer", answer, question, expected, typed, False,
                held_out(answer),
            )  # fmt: skip


def _filled(template: str, topic: Topic, language: str, random_: random.Random) -> str:
    doc = random_.choice(DOCS[language])
    return template.format(
        np=topic.np, Np=_capital(topic.np), ind=topic.indirect, st=topic.statement,
        St=_capital(topic.statement), sh=topic.short, Sh=_capital(topic.short),
        oth=topic.other, doc=doc, Doc=_capital(doc),
    )  # fmt: skip


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _typed(text: str, random_: random.Random) -> str:
    """The same words as another keyboard would write them."""
    choice = random_.random()
    if choice < 0.25:
        return text.replace("'", "’").replace(" :", "\u00a0:").replace("« ", "«\u00a0")
    if choice < 0.3:
        return text.upper()
    if choice < 0.35:
        return text.rstrip(".")
    if choice < 0.4:
        return f"  {text}\n"
    return text
