"""Answers to answerable questions, labelled by hand: right in other words, wrong, or adding.

Each line: question | expected | support | answer | faithful ("yes", "no", "open": only a model
could tell, so either "yes" or unscored is right).
"""

# ruff: noqa: E501 - one case a line

LIBRARY = "La bibliothèque a ouvert en 1987 dans une ancienne halle. Elle prête 62 000 documents par an et emploie douze personnes. L'entrée est gratuite."
BRIDGE = "The footbridge was designed by Ada Lindqvist and opened in May 2011. It spans 140 metres and cost £4.2 million. Bicycles are not allowed on it."
SHOP = "Un article peut être retourné sous quatorze jours. Les frais de retour sont à la charge du magasin. Le remboursement prend environ une semaine."
SURVEY = "Turnout fell from 68% in 2014 to 62% in 2020. Younger voters stayed at home because polling stations closed early."

CASES: tuple[tuple[str, str, str, str, str], ...] = (
    ("Quand la bibliothèque a-t-elle ouvert ?", "1987", LIBRARY, "Elle a ouvert en 1987.", "yes"),
    ("Quand la bibliothèque a-t-elle ouvert ?", "1987", LIBRARY, "En 1988.", "no"),
    ("Quand la bibliothèque a-t-elle ouvert ?", "1987", LIBRARY, "Ce n'est pas en 1987.", "no"),
    ("Quand la bibliothèque a-t-elle ouvert ?", "1987", LIBRARY, "En 1987, et elle emploie douze personnes.", "yes"),
    ("Quand la bibliothèque a-t-elle ouvert ?", "1987", LIBRARY, "En 1987, et elle emploie quinze personnes.", "no"),
    ("Quand la bibliothèque a-t-elle ouvert ?", "1987", LIBRARY, "En 1987. Le maire Paul Rivière l'a inaugurée.", "no"),
    ("Quand la bibliothèque a-t-elle ouvert ?", "1987", LIBRARY, "En 1987. L'entrée n'est pas gratuite.", "no"),
    ("Quand la bibliothèque a-t-elle ouvert ?", "1987", LIBRARY, "En 1987. Les murs sont peints en vert pomme.", "no"),
    ("Quand la bibliothèque a-t-elle ouvert ?", "1987", LIBRARY, "Elle se trouve dans une ancienne halle.", "no"),
    ("Combien de documents prête-t-elle ?", "62 000", LIBRARY, "62.000 par an", "yes"),
    ("Combien de documents prête-t-elle ?", "62 000", LIBRARY, "Soixante-deux mille documents.", "yes"),
    ("Combien de documents prête-t-elle ?", "62 000", LIBRARY, "26 000 documents.", "no"),
    ("Combien de documents prête-t-elle ?", "62 000", LIBRARY, "Environ 62 000 documents par an.", "yes"),
    ("L'entrée est-elle gratuite ?", "Oui", LIBRARY, "Oui, l'entrée est gratuite.", "yes"),
    ("L'entrée est-elle gratuite ?", "Oui", LIBRARY, "L'entrée est gratuite.", "yes"),
    ("L'entrée est-elle gratuite ?", "Oui", LIBRARY, "Non.", "no"),
    ("L'entrée est-elle gratuite ?", "Oui", LIBRARY, "L'entrée n'est pas gratuite.", "no"),
    ("Où la bibliothèque est-elle installée ?", "dans une ancienne halle", LIBRARY, "Dans une halle ancienne.", "yes"),
    ("Où la bibliothèque est-elle installée ?", "dans une ancienne halle", LIBRARY, "Dans une gare.", "open"),
    ("Who designed the footbridge?", "Ada Lindqvist", BRIDGE, "Ada Lindqvist designed it.", "yes"),
    ("Who designed the footbridge?", "Ada Lindqvist", BRIDGE, "It was designed by ADA LINDQVIST.", "yes"),
    ("Who designed the footbridge?", "Ada Lindqvist", BRIDGE, "Eva Lund designed it.", "no"),
    ("Who designed the footbridge?", "Ada Lindqvist", BRIDGE, "It was not Ada Lindqvist.", "no"),
    ("Who designed the footbridge?", "Ada Lindqvist", BRIDGE, "Ada Lindqvist, who also built the Oslo opera.", "no"),
    ("When did it open?", "May 2011", BRIDGE, "It opened in 05/2011.", "open"),
    ("When did it open?", "May 2011", BRIDGE, "It opened in June 2011.", "no"),
    ("How long is it?", "140 metres", BRIDGE, "It is 140 m long.", "yes"),
    ("How long is it?", "140 metres", BRIDGE, "0.14 km", "yes"),
    ("How long is it?", "140 metres", BRIDGE, "It is 150 metres long.", "no"),
    ("How much did it cost?", "£4.2 million", BRIDGE, "The cost was £4,200,000.", "yes"),
    ("How much did it cost?", "£4.2 million", BRIDGE, "The cost was £42 million.", "no"),
    ("How much did it cost?", "£4.2 million", BRIDGE, "£4.2 million. The document does not say who paid.", "yes"),
    ("Are bicycles allowed?", "No", BRIDGE, "No, bicycles are not allowed on it.", "yes"),
    ("Are bicycles allowed?", "No", BRIDGE, "Bicycles are not allowed.", "yes"),
    ("Are bicycles allowed?", "No", BRIDGE, "Bicycles are allowed.", "no"),
    ("Are bicycles allowed?", "No", BRIDGE, "Yes, they are.", "no"),
    ("Sous quel délai retourner un article ?", "quatorze jours", SHOP, "Sous deux semaines.", "yes"),
    ("Sous quel délai retourner un article ?", "quatorze jours", SHOP, "Vous avez 14 jours.", "yes"),
    ("Sous quel délai retourner un article ?", "quatorze jours", SHOP, "Sous trente jours.", "no"),
    ("Qui paie les frais de retour ?", "le magasin", SHOP, "Les frais sont à la charge du magasin.", "yes"),
    ("Qui paie les frais de retour ?", "le magasin", SHOP, "C'est le magasin qui les paie.", "yes"),
    ("Qui paie les frais de retour ?", "le magasin", SHOP, "C'est le client qui les paie.", "open"),
    ("Qui paie les frais de retour ?", "le magasin", SHOP, "Le magasin, sauf pour les articles soldés à plus de 50 %.", "no"),
    ("What was the turnout in 2020?", "62%", SURVEY, "It was 62 per cent.", "yes"),
    ("What was the turnout in 2020?", "62%", SURVEY, "Turnout was 68%.", "no"),
    ("What was the turnout in 2020?", "62%", SURVEY, "62%, down from 68% in 2014.", "yes"),
    ("What was the turnout in 2020?", "62%", SURVEY, "62%, down from 71% in 2014.", "no"),
    ("How did turnout change?", "It fell from 68% to 62%", SURVEY, "It dropped from 68% to 62%.", "yes"),
    ("How did turnout change?", "It fell from 68% to 62%", SURVEY, "It rose from 62% to 68%.", "no"),
    ("Why did younger voters stay at home?", "polling stations closed early", SURVEY, "Because the polling stations closed early.", "yes"),
    ("Why did younger voters stay at home?", "polling stations closed early", SURVEY, "Polling stations did not close early.", "no"),
    ("Why did younger voters stay at home?", "polling stations closed early", SURVEY, "Because the places to vote shut too soon.", "open"),
)  # fmt: skip
