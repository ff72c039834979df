"""Generated claims with figures, beside a context that states, contradicts or ignores them.

Written apart from the comparison it tests: it formats numbers and dates by itself and knows
nothing of how they are parsed. Half of the facts were held out while the comparison was written;
at their first measure its F1 was .976 on them, and English inflections were mended since.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass

NBSP, NARROW = "\u00a0", "\u202f"


@dataclass(frozen=True)
class Item:
    """One pair to compare, what it should give, and how it was made."""

    claim: str
    context: str
    contradicts: bool
    how: str
    language: str
    held_out: bool


@dataclass(frozen=True)
class Fact:
    """One thing that can be measured: how a source states it, how an answer may."""

    language: str
    kind: str
    source: str
    said: tuple[str, ...]
    low: float
    high: float
    held_out: bool = False


FACTS = (
    Fact("fr", "EUR", "Le chiffre d'affaires de {e} a atteint {v} en 2021.", ("En 2021, {e} a réalisé un chiffre d'affaires de {v}.", "Le chiffre d'affaires de {e} était de {v} en 2021.", "{e} a enregistré {v} de chiffre d'affaires en 2021."), 1e5, 9e9),
    Fact("fr", "percent", "{v} des clients de {e} se disent satisfaits du service.", ("Chez {e}, {v} des clients sont satisfaits.", "{v} des clients de {e} sont satisfaits du service.", "La part de clients satisfaits du service atteint {v} chez {e}."), 3, 97),
    Fact("fr", "salariés", "{e} emploie {v} dans ses ateliers.", ("{e} compte {v}.", "L'entreprise {e} a {v}.", "On dénombre {v} chez {e}."), 20, 60000),
    Fact("fr", "year", "La société {e} a été fondée {v} par deux ingénieurs.", ("{e} a été créée {v}.", "La fondation de {e} a eu lieu {v}.", "{e} a été fondée {v} par deux ingénieurs."), 1880, 2020),
    Fact("fr", "day", "Le musée {e} a ouvert ses portes {v}.", ("Le musée {e} a été inauguré {v}.", "L'ouverture du musée {e} a eu lieu {v}."), 0, 0),
    Fact("en", "USD", "{e} reported revenue of {v} in 2021.", ("In 2021, {e} had revenue of {v}.", "The revenue of {e} reached {v} in 2021.", "{e} posted {v} in revenue in 2021."), 1e5, 9e9),
    Fact("en", "percent", "{v} of respondents at {e} prefer the new interface.", ("At {e}, {v} of respondents prefer the new interface.", "{v} of the people surveyed at {e} preferred the new interface."), 3, 97),
    Fact("en", "employees", "{e} has {v} across its plants.", ("{e} employs {v}.", "There are {v} at {e}."), 20, 60000),
    Fact("en", "year", "{e} was founded {v} by two engineers.", ("{e} was established {v}.", "The founding of {e} took place {v}.", "Two engineers created {e} {v}."), 1880, 2020),
    Fact("en", "km", "The {e} canal is {v} long.", ("The length of the {e} canal is {v}.", "The {e} canal stretches over {v}."), 2, 900),
    Fact("fr", "EUR", "Le budget de la ville de {e} s'élève à {v}.", ("La ville de {e} dispose d'un budget de {v}.", "{e} a un budget de {v}.", "Le budget de {e} atteint {v}."), 1e5, 9e9, True),
    Fact("fr", "percent", "Le taux de chômage à {e} s'établit à {v}.", ("À {e}, le chômage est de {v}.", "Le taux de chômage de {e} atteint {v}.", "{v} des actifs de {e} sont au chômage."), 3, 40, True),
    Fact("fr", "habitants", "La commune de {e} compte {v} selon le dernier recensement.", ("{e} a une population de {v}.", "{e} est peuplée de {v}.", "On recense {v} à {e}."), 300, 900000, True),
    Fact("fr", "day", "Le traité de {e} a été signé {v}.", ("La signature du traité de {e} date du {v0}.", "Le traité de {e} fut signé {v}."), 0, 0, True),
    Fact("fr", "minutes", "La traversée vers {e} dure {v}.", ("Il faut {v} pour la traversée vers {e}.", "La durée de la traversée vers {e} est de {v}."), 20, 170, True),
    Fact("en", "USD", "The bridge at {e} cost {v} to build.", ("Building the bridge at {e} cost {v}.", "The cost of the bridge at {e} was {v}.", "The price of the {e} bridge was {v}."), 1e5, 9e9, True),
    Fact("en", "percent", "Turnout in {e} was {v} at the last election.", ("The last election in {e} had a turnout of {v}.", "Turnout at the last election reached {v} in {e}."), 20, 95, True),
    Fact("en", "visitors", "The {e} museum welcomed {v} last season.", ("The {e} museum had {v} last season.", "Last season, {v} came to the {e} museum."), 300, 900000, True),
    Fact("en", "day", "The {e} treaty was signed {v}.", ("The signing of the {e} treaty took place {v}.", "Delegates signed the {e} treaty {v}."), 0, 0, True),
    Fact("en", "km", "The trail to {e} is {v} long.", ("The length of the trail to {e} is {v}.", "The trail to {e} measures {v}."), 2, 900, True),
)  # fmt: skip
# ruff: noqa: E501 - one fact a line reads best

UNSEEN = (
    Fact("fr", "EUR", "La rénovation du théâtre de {e} a englouti {v}.", ("Rénover le théâtre de {e} a nécessité {v}.", "La rénovation du théâtre de {e} a coûté {v}.", "Le chantier du théâtre de {e} représente {v}."), 1e5, 9e9),
    Fact("fr", "percent", "{v} des élèves de {e} viennent à vélo.", ("À {e}, {v} des élèves vont à l'école à vélo.", "{v} des élèves de {e} utilisent un vélo."), 3, 97),
    Fact("fr", "salariés", "L'usine {e} a licencié {v} avant l'été.", ("L'usine {e} s'est séparée de {v}.", "{v} ont perdu leur poste à l'usine {e}."), 20, 60000),
    Fact("fr", "day", "Le navigateur {e} est parti de Brest {v}.", ("Le départ de {e} a eu lieu {v}.", "{e} a quitté Brest {v}."), 0, 0),
    Fact("en", "USD", "Donors gave {v} to the {e} fund.", ("The {e} fund raised {v} from donors.", "Donations to the {e} fund came to {v}."), 1e5, 9e9),
    Fact("en", "percent", "Rain fell on {v} of the days in {e}.", ("In {e}, it rained on {v} of days.", "{v} of the days in {e} saw rain."), 3, 97),
    Fact("en", "visitors", "The {e} lighthouse drew {v} over the summer.", ("Over the summer, the {e} lighthouse attracted {v}.", "{v} climbed the {e} lighthouse."), 300, 900000),
    Fact("en", "day", "The explorer {e} reached the coast {v}.", ("{e} arrived at the coast {v}.", "The arrival of {e} at the coast was {v}."), 0, 0),
)  # fmt: skip
"""Written after the comparison, in words that its lists mostly lack. Contexts that state one of these
for a claim of another fact showed that events (dismissals) must be told apart; that was mended."""

FRESH = (
    Fact("fr", "EUR", "La mairie de {e} a versé {v} aux clubs sportifs.", ("Les clubs sportifs ont reçu {v} de la mairie de {e}.", "La mairie de {e} a subventionné les clubs sportifs à hauteur de {v}.", "À {e}, les clubs sportifs ont touché {v}."), 1e5, 9e9),
    Fact("fr", "percent", "{v} des arbres du parc {e} ont souffert de la sécheresse.", ("Dans le parc {e}, la sécheresse a abîmé {v} des arbres.", "{v} des arbres du parc {e} ont été touchés par la sécheresse."), 3, 97),
    Fact("fr", "habitants", "La crue a privé d'électricité {v} de {e}.", ("À {e}, {v} se sont retrouvés sans électricité après la crue.", "La crue a plongé dans le noir {v} de {e}."), 300, 900000),
    Fact("fr", "minutes", "L'ascension du pic {e} réclame {v} de marche.", ("Grimper au pic {e} prend {v}.", "On atteint le pic {e} après {v} de marche."), 20, 170),
    Fact("fr", "day", "La chanteuse {e} s'est produite à Dublin {v}.", ("Le concert de {e} à Dublin s'est tenu {v}.", "{e} a chanté à Dublin {v}."), 0, 0),
    Fact("fr", "year", "La ligne de tramway de {e} a été mise en service {v}.", ("Le tramway de {e} roule depuis l'inauguration de la ligne {v}.", "{e} exploite sa ligne de tramway, lancée {v}."), 1880, 2020),
    Fact("en", "USD", "The court ordered {e} to pay {v} in damages.", ("{e} must pay damages of {v}, the court ruled.", "The damages awarded against {e} amount to {v}.", "{e} owes {v} in damages."), 1e5, 9e9),
    Fact("en", "percent", "{v} of the vines in {e} were destroyed by frost.", ("Frost wiped out {v} of the vines in {e}.", "In {e}, frost killed {v} of vines."), 3, 97),
    Fact("en", "km", "The pipeline carries gas over {v} from the {e} field to the port.", ("Gas from the {e} field travels {v} by pipeline.", "The pipeline linking the {e} field to the port runs for {v}."), 2, 900),
    Fact("en", "employees", "A strike at the {e} plant involved {v}.", ("{v} walked out at the {e} plant.", "{v} went on strike at the {e} plant."), 20, 60000),
    Fact("en", "day", "The ferry {e} sank off Malta {v}.", ("The {e} ferry went down near Malta {v}.", "The sinking of the ferry {e} happened {v}."), 0, 0),
    Fact("en", "year", "The {e} library moved to its present building {v}.", ("The {e} library has occupied its building since it moved there {v}.", "The relocation of the {e} library to a new building happened {v}."), 1880, 2020),
)  # fmt: skip
"""Written before the alignment by shared words. Its first measure on them was F1 .940, with 47 false
contradictions in 1,996; counts of a part and prepositions were mended since."""

LAST = (
    Fact("fr", "EUR", "Le département de {e} a débloqué {v} pour réparer les digues.", ("Réparer les digues du département de {e} mobilise {v}.", "Le département de {e} consacre {v} à la réparation des digues."), 1e5, 9e9),
    Fact("fr", "percent", "{v} des ruches de {e} ont péri cet hiver.", ("L'hiver a décimé {v} des ruches de {e}.", "À {e}, {v} des ruches n'ont pas passé l'hiver."), 3, 97),
    Fact("fr", "salariés", "La grève au port de {e} a mobilisé {v}.", ("{v} ont cessé le travail au port de {e}.", "{v} ont débrayé lors de la grève au port de {e}."), 20, 60000),
    Fact("fr", "day", "Le cargo {e} s'est échoué devant Ouessant {v}.", ("L'échouage du cargo {e} est survenu {v}.", "Le cargo {e} a heurté les rochers de Ouessant {v}."), 0, 0),
    Fact("fr", "year", "Le phare de {e} a été électrifié {v}.", ("L'électrification du phare de {e} remonte à {v0}.", "Le phare de {e} fonctionne à l'électricité depuis son équipement {v}."), 1880, 2020),
    Fact("en", "USD", "Insurers paid out {v} after the {e} flood.", ("The {e} flood left insurers with a bill of {v}.", "Claims from the {e} flood cost insurers {v}."), 1e5, 9e9),
    Fact("en", "percent", "{v} of seats on the {e} council went to women.", ("Women won {v} of the seats on the {e} council.", "Women hold {v} of seats in the {e} council."), 3, 97),
    Fact("en", "km", "The ridge above {e} runs for {v}.", ("Hikers can follow the ridge above {e} for {v}.", "The {e} ridge extends {v}."), 2, 900),
    Fact("en", "visitors", "The garden festival at {e} sold tickets to {v}.", ("{v} bought tickets for the garden festival at {e}.", "The {e} garden festival was seen by {v}."), 300, 900000),
    Fact("en", "day", "Surgeons at {e} performed the first transplant {v}.", ("The first transplant at {e} took place {v}.", "{e} surgeons transplanted their first organ {v}."), 0, 0),
)  # fmt: skip
"""Written after everything in the comparison, and measured once."""

NAMES = ("Novalis", "Orphéo", "Castelmar", "Brindelac", "Tolbiac", "Merryweather", "Kestrel", "Valmorin", "Ostrava", "Pellegrin", "Haverford", "Zanzotto")  # fmt: skip
FR_MONTHS = [
    "janvier",
    "février",
    "mars",
    "avril",
    "mai",
    "juin",
    "juillet",
    "août",
    "septembre",
    "octobre",
    "novembre",
    "décembre",
]
EN_MONTHS = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]
OTHER = {
    "fr": ("Le bénéfice net de {e} a atteint {x} millions de yens.", "Une étude a été menée auprès de {x} foyers."),
    "en": ("The archive of {e} holds {x} manuscripts.", "A separate survey covered {x} households."),
}  # fmt: skip


def grouped(number: int, language: str, rng: random.Random) -> str:
    if language == "en":
        return f"{number:,}"
    return f"{number:,}".replace(",", rng.choice([" ", NBSP, NARROW]))


def decimal(value: float, places: int, language: str) -> str:
    text = f"{value:.{places}f}"
    return text.replace(".", ",") if language == "fr" else text


def words(number: int, language: str) -> str:
    """A whole number below a thousand, in words."""
    return _fr(number) if language == "fr" else _en(number)


def _en(n: int) -> str:
    small = [
        "zero",
        "one",
        "two",
        "three",
        "four",
        "five",
        "six",
        "seven",
        "eight",
        "nine",
        "ten",
        "eleven",
        "twelve",
        "thirteen",
        "fourteen",
        "fifteen",
        "sixteen",
        "seventeen",
        "eighteen",
        "nineteen",
    ]
    tens = [".", ".", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
    if n < 20:
        return small[n]
    if n < 100:
        return tens[n // 10] + (f"-{small[n % 10]}" if n % 10 else "")
    return f"{small[n // 100]} hundred" + (f" and {_en(n % 100)}" if n % 100 else "")


def _fr(n: int) -> str:
    small = [
        "zéro",
        "un",
        "deux",
        "trois",
        "quatre",
        "cinq",
        "six",
        "sept",
        "huit",
        "neuf",
        "dix",
        "onze",
        "douze",
        "treize",
        "quatorze",
        "quinze",
        "seize",
        "dix-sept",
        "dix-huit",
        "dix-neuf",
    ]
    tens = {20: "vingt", 30: "trente", 40: "quarante", 50: "cinquante", 60: "soixante"}
    if n < 20:
        return small[n]
    if n < 70:
        ten, rest = n // 10 * 10, n % 10
        return tens[ten] + ("" if not rest else " et un" if rest == 1 else f"-{small[rest]}")
    if n < 80:
        return "soixante et onze" if n == 71 else f"soixante-{small[n - 60]}"
    if n < 100:
        return "quatre-vingts" if n == 80 else f"quatre-vingt-{small[n - 80]}"
    hundreds = "cent" if n < 200 else f"{small[n // 100]} cent" + ("s" if n % 100 == 0 else "")
    return hundreds + (f" {_fr(n % 100)}" if n % 100 else "")


UNIT = {
    ("fr", "salariés"): "salariés", ("fr", "habitants"): "habitants", ("en", "employees"): "employees",
    ("en", "visitors"): "visitors", ("fr", "minutes"): "minutes", ("en", "km"): "km",
}  # fmt: skip


def exact(fact: Fact, value: float, rng: random.Random) -> str:
    """``value`` as a careful source writes it."""
    fr = fact.language == "fr"
    match fact.kind:
        case "EUR":
            return f"{grouped(round(value), 'fr', rng)}{NBSP}€"
        case "USD":
            return f"${grouped(round(value), 'en', rng)}"
        case "percent":
            return decimal(value, 1, fact.language) + (
                f"{rng.choice([NBSP, NARROW, ' '])}%" if fr else "%"
            )
        case "km":
            return f"{decimal(value, 1, fact.language)} km"
    return f"{grouped(round(value), fact.language, rng)} {UNIT[fact.language, fact.kind]}"


def shortened(fact: Fact, value: float, rng: random.Random) -> tuple[str, str]:
    """``value`` rounded as prose rounds it, and the name of the way."""
    fr = fact.language == "fr"
    if fact.kind in ("EUR", "USD"):
        scale, names = (1e9, ("milliards d'euros", "Md€", "billion", "bn")) if value >= 1e9 else (1e6, ("millions d'euros", "M€", "million", "m"))  # fmt: skip
        if value < 1e6:
            scale, names = 1e3, ("k€", "k€", "thousand", "k")
        number = decimal(value / scale, rng.choice([1, 2]), fact.language)
        if fr:
            return f"{number} {rng.choice(names[:2])}", "rounding"
        name = rng.choice(names[2:])
        return f"${number}{name if len(name) < 3 else ' ' + name}", "rounding"
    if fact.kind == "percent":
        number = str(round(value))
        return (f"{number} {rng.choice(['%', 'pour cent'])}" if fr else f"{number}{rng.choice(['%', ' percent', ' per cent'])}"), "rounding"  # fmt: skip
    if fact.kind == "km":
        return (f"{round(value)} kilometres", "rounding") if rng.random() < 0.5 else (f"{grouped(round(value * 1000), 'en', rng)} metres", "conversion")  # fmt: skip
    unit = UNIT[fact.language, fact.kind]
    digits = len(str(round(value))) - 2
    about = round(value / 10**digits) * 10**digits if digits > 0 else round(value)
    word = rng.choice(["environ", "près de", "à peu près", "autour de"] if fr else ["about", "around", "approximately", "roughly"])  # fmt: skip
    return f"{word} {grouped(about, fact.language, rng)} {unit}", "approximation"


def bound(fact: Fact, value: float, holds: bool, rng: random.Random) -> str:
    """A bound or a range that ``value`` keeps to, or not."""
    fr = fact.language == "fr"
    over, under = rng.uniform(1.15, 1.6), rng.uniform(0.5, 0.85)
    style = rng.choice(["more", "less", "range"])
    if style == "range":
        low, high = (value * under, value * over) if holds else (value * over, value * over * 1.2)
        joined = [number(fact, x, rng) for x in (low, high)]
        template = rng.choice(["entre {} et {}", "de {} à {}"]) if fr else rng.choice(["between {} and {}", "from {} to {}"])  # fmt: skip
        return template.format(*joined)
    if style == "more":
        text = number(fact, value * (under if holds else over), rng)
        return (rng.choice(["plus de", "au moins"]) if fr else rng.choice(["more than", "at least", "over"])) + " " + text  # fmt: skip
    text = number(fact, value * (over if holds else under), rng)
    return (rng.choice(["moins de", "au plus"]) if fr else rng.choice(["less than", "at most", "under"])) + " " + text  # fmt: skip


def number(fact: Fact, value: float, rng: random.Random) -> str:
    if fact.kind == "percent":
        return (
            f"{round(min(value, 99))} %" if fact.language == "fr" else f"{round(min(value, 99))}%"
        )
    if fact.kind in ("EUR", "USD"):
        return exact(fact, float(f"{value:.2g}"), rng)
    return exact(fact, round(value), rng)


def wrong(fact: Fact, value: float, rng: random.Random) -> tuple[str, str]:
    """Another value than ``value``, too far from it to be its rounding."""
    how = rng.choice(["value", "value", "value", "scale", "bound"])
    if how == "bound":
        return bound(fact, value, False, rng) if fact.kind != "percent" or value < 80 else number(fact, value * 0.6, rng), "bound"  # fmt: skip
    if how == "scale" and fact.kind != "percent":
        return shortened(fact, value * rng.choice([10, 100, 0.1]) if fact.kind != "minutes" else value * 3, rng)[0], "scale"  # fmt: skip
    factor = rng.choice([rng.uniform(0.4, 0.83), rng.uniform(1.2, 1.9)])
    if fact.kind == "percent" and value * factor > 99:
        factor = 0.6
    off = value * factor
    if abs(off - value) < 1.6:
        off = value + 2.4
    return (shortened(fact, off, rng)[0] if rng.random() < 0.5 else exact(fact, off, rng)), "value"


@dataclass(frozen=True)
class Day:
    year: int
    month: int
    day: int


def dated(fact: Fact, d: Day, style: str) -> str:
    fr = fact.language == "fr"
    month = (FR_MONTHS if fr else EN_MONTHS)[d.month - 1]
    match style, fr:
        case "year", _:
            return f"{'en' if fr else 'in'} {d.year}"
        case "month", True:
            return f"en {month} {d.year}"
        case "month", False:
            return f"in {month} {d.year}"
        case "iso", _:
            return f"{'le' if fr else 'on'} {d.year}-{d.month:02}-{d.day:02}"
        case _, True:
            return f"le {'1er' if d.day == 1 else d.day} {month} {d.year}"
    return f"on {d.day} {month} {d.year}" if style == "british" else f"on {month} {d.day}, {d.year}"


def moved(d: Day, style: str, rng: random.Random) -> Day:
    """Another date, seen at the granularity of ``style``."""
    fields = {"year": ["year"], "month": ["year", "month"]}.get(style, ["year", "month", "day"])
    field = rng.choice(fields)
    if field == "year":
        return Day(d.year + rng.choice([-11, -3, -2, -1, 1, 2, 5, 10]), d.month, d.day)
    if field == "month":
        return Day(d.year, (d.month - 1 + rng.randint(1, 11)) % 12 + 1, d.day)
    return Day(d.year, d.month, (d.day - 1 + rng.randint(1, 26)) % 28 + 1)


def items(count: int, seed: int, facts: tuple[Fact, ...] = FACTS) -> Iterator[Item]:
    """``count`` items, half of them contradictions, over all facts in turn."""
    rng = random.Random(seed)
    for index in range(count):
        yield make(facts[index % len(facts)], rng, contradicts=index // len(facts) % 2 == 0)


def make(fact: Fact, rng: random.Random, *, contradicts: bool) -> Item:
    entity, other = rng.sample(NAMES, 2)
    said = rng.choice(fact.said)
    if fact.kind in ("year", "day"):
        source, claim, how = _dates(fact, said, rng, contradicts)
    else:
        value = rng.uniform(fact.low, fact.high) if fact.kind in ("percent", "km", "minutes") else 10 ** rng.uniform(len(str(int(fact.low))) - 1, len(str(int(fact.high))) - 0.2)  # fmt: skip
        value = round(value, 1) if fact.kind in ("percent", "km") else float(round(value))
        source = exact(fact, value, rng)
        claim, how = _numbers(fact, value, source, rng, contradicts)
    context = fact.source.format(e=entity, v=source)
    statement = said.format(e=entity, v=claim, v0=claim.removeprefix("le ").removeprefix("en "))
    if not contradicts and rng.random() < 0.2:
        statement = said.format(e=other, v=(wrong(fact, value, rng)[0] if fact.kind not in ("year", "day") else claim), v0=claim.removeprefix("le ").removeprefix("en "))  # fmt: skip
        how = "other entity"
    pool = FACTS + UNSEEN + (FRESH if fact in FRESH else LAST if fact in LAST else ())
    rivals = [f for f in pool if f.kind == fact.kind and f.language == fact.language and f != fact]  # fmt: skip
    if not contradicts and how != "other entity" and rivals and rng.random() < 0.2:
        rival = rng.choice(rivals)
        if fact.kind in ("year", "day"):
            shown = dated(rival, Day(rng.randint(1890, 2020), rng.randint(1, 12), rng.randint(1, 28)), "long")  # fmt: skip
        else:
            shown = exact(rival, value * rng.uniform(1.3, 1.8) if fact.kind != "percent" else rng.uniform(3, 97), rng)  # fmt: skip
        context, how = rival.source.format(e=entity, v=shown), "other attribute"
    extra = rng.choice(OTHER[fact.language]).format(e=other, x=rng.randint(20, 900))
    context = rng.choice([context, f"{context} {extra}", f"{extra} {context}"])
    return Item(
        _capital(statement), _capital(context), contradicts, how, fact.language, fact.held_out
    )


def _dates(fact: Fact, said: str, rng: random.Random, contradicts: bool) -> tuple[str, str, str]:
    d = Day(rng.randint(1890, 2020), rng.randint(1, 12), rng.randint(1, 28))
    full = "year" if fact.kind == "year" else rng.choice(["long", "british"])
    styles = ["year"] if fact.kind == "year" else ["long", "british", "iso", "month", "year"]
    if "{v0}" in said:
        styles = ["long"]
    style = rng.choice(styles)
    if contradicts:
        return dated(fact, d, full), dated(fact, moved(d, style, rng), style), "date"
    return dated(fact, d, full), dated(fact, d, style), "granularity" if style != full else "same"


def _numbers(
    fact: Fact, value: float, source: str, rng: random.Random, contradicts: bool
) -> tuple[str, str]:
    if contradicts:
        return wrong(fact, value, rng)
    way = rng.choice(["same", "format", "shortened", "shortened", "bound"])
    if way == "shortened":
        return shortened(fact, value, rng)
    if way == "bound" and (fact.kind != "percent" or 5 < value < 60):
        return bound(fact, value, True, rng), "bound"
    if way == "format" and fact.kind not in ("EUR", "USD", "km", "percent") and value < 1000:
        return f"{words(round(value), fact.language)} {UNIT[fact.language, fact.kind]}", "words"
    return (exact(fact, value, rng) if way == "format" else source), "format"


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]
