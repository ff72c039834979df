"""Find what identifies a person in free text: addresses, telephone and account numbers, names.

Patterns find candidates, in time linear in the text; ``phonenumbers`` (libphonenumber's rules),
``stdnum`` (the check digits of the official numbers) and ``ipaddress`` decide. What is found is
a function of the passage alone, never of its place, so that a quote and the message it copies are
treated alike; ``SAID`` lists what only the words before it tell, and ``find_said`` gives its values
for a second look.
"""

import ipaddress
import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from stdnum import luhn
from stdnum.exceptions import ValidationError
from stdnum.fr import nir
from stdnum.iban import validate as validate_iban
from stdnum.us import ssn

_GAP = r"[ \u00a0\u202f.\-\u2010\u2011]?"
_BLANK = r"[ \u00a0\u202f]"
_START = re.compile(r"(?<![^\W_])\S")
"""Where a listed term can begin: not inside a word or a number."""


class Found(NamedTuple):
    """A passage to replace; passages with equal ``kind`` and ``key`` mean the same thing."""

    start: int
    end: int
    kind: str
    key: str


class Terms:
    """A list of terms, found in one pass however many there are; case is ignored."""

    def __init__(self, terms: Iterable[str]) -> None:
        self._terms = {term.lower(): term for term in terms if term.strip()}
        self._lengths = sorted({len(term) for term in self._terms.values()}, reverse=True)

    def find(self, text: str) -> Iterator[tuple[int, int, str]]:
        """Start, end and the listed term of each occurrence that is a whole word or words."""
        if not self._terms:
            return
        for match in _START.finditer(text):
            start = match.start()
            for length in self._lengths:
                end = start + length
                term = self._terms.get(text[start:end].lower())
                if term is not None and (end >= len(text) or not text[end].isalnum()):
                    yield start, end, term
                    break


def find_personal(text: str, names: Terms, said: Terms | None = None) -> Iterator[Found]:
    """What identifies a person, of the kinds in ``KINDS`` and the names listed.

    Args:
        said: dates of birth told elsewhere (``find_birth_dates``), found wherever they stand.
    """
    for kind, pattern, key_of in _PATTERNS:
        for match in pattern.finditer(text):
            found = key_of(match.group())
            if found is not None:
                key, length = found
                yield Found(match.start(), match.start() + length, kind, key)
    yield from _ips(text)
    yield from _phones(text)
    yield from find_birth_dates(text)
    for start, end, date in said.find(text) if said else ():
        yield Found(start, end, "birth", date.lower())
    for start, end, name in names.find(text):
        yield Found(start, end, "name", name.lower())


def find_birth_dates(text: str) -> Iterator[Found]:
    """Dates that the words before them say to be somebody's birth."""
    for match in _BORN.finditer(text):
        yield Found(*match.span("date"), "birth", match["date"].lower())


Key = tuple[str, int] | None
"""What a passage means, whatever its typography, and how much of it; None when it is no detail."""


def _alphanumerics(found: str) -> str:
    return "".join(filter(str.isalnum, found)).upper()


def _whole(found: str) -> Key:
    return found.lower(), len(found)


def _url(found: str) -> Key:
    """Addresses that lead to one page, or carry a secret; a bare domain is a company's name."""
    scheme, _, rest = found.rpartition("//")
    host, _, path = rest.partition("/")
    public = host.lower().startswith("www.") and not re.search("[?#~@]", rest)
    if public and not any(len(part) >= 20 and re.search("[0-9]", part) for part in path.split("/")):
        return None
    personal = path or "@" in host or "?" in rest or "#" in rest or scheme
    return (found, len(found)) if personal else None


def _iban(found: str) -> Key:
    """ISO 13616, with its check digits and the length of its country; words may follow it."""
    ends = [match.start() for match in re.finditer(rf"{_BLANK}|-|\Z", found)]
    for end in reversed(ends):
        number = _alphanumerics(found[:end])
        if len(number) < 15:
            return None
        try:
            validate_iban(number, check_country=False)  # banks come and go
        except ValidationError:
            continue
        return number, end
    return None


def _card(found: str) -> Key:
    """ISO/IEC 7812: issued by a bank or a merchant, the Luhn sum a multiple of 10."""
    number = _alphanumerics(found)
    return (number, len(found)) if number[0] in "23456" and luhn.is_valid(number) else None


def _nir(found: str) -> Key:
    """The French social security number; its key need not be written."""
    number = _alphanumerics(found)
    return (number[:13], len(found)) if len(number) == 13 or nir.is_valid(number) else None


def _ssn(found: str) -> Key:
    number = _alphanumerics(found[-11:])
    return (number, len(found)) if ssn.is_valid(number) else None


def _nino(found: str) -> Key:
    """As HMRC issues them (NIM39110)."""
    number = _alphanumerics(found)
    issued = re.fullmatch("(?!BG|GB|KN|NK|NT|TN|ZZ)[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z].*", number)
    return (number, len(found)) if issued else None


def _handle(found: str) -> Key:
    return None if found[1:].lower() in _CODE else _whole(found)


_CODE = frozenset(
    {
        "abstractmethod", "cached_property", "charset", "classmethod", "container", "dataclass",
        "deprecated", "fixture", "import", "keyframes", "layer", "media", "namespace", "nullable",
        "override", "page", "param", "property", "return", "returns", "staticmethod", "supports",
        "test", "throws", "type",
    }
)  # fmt: skip
"""Decorators, annotations, at-rules and documentation tags of the usual languages."""


def _ips(text: str) -> Iterator[Found]:
    """Addresses of one host; not its own machine's, a mask, or a version with four parts."""
    for match in _IP.finditer(text):
        try:
            address = ipaddress.ip_address(match.group())
        except ValueError:
            continue
        mask = str(address).startswith("255.") or address.is_multicast
        if not (address.is_loopback or address.is_unspecified or mask):
            yield Found(*match.span(), "ip", str(address))


def _phones(text: str) -> Iterator[Found]:
    """Numbers that libphonenumber holds for valid and well grouped in France, Britain or the
    United States, and those of a number's form: with a plus or two zeros, in French pairs, or a
    British mobile's, which are issued faster than any list of them.

    Ten digits in a row without a zero or a plus before them are a telephone number only after a
    word that says so.
    """
    if not _DIGITS.search(text):
        return
    import phonenumbers

    plain = text.translate(_PLAIN)
    strict, possible = phonenumbers.Leniency.STRICT_GROUPING, phonenumbers.Leniency.POSSIBLE
    for region, leniency in (
        ("FR", possible), ("GB", possible), ("FR", strict), ("GB", strict), ("US", strict),
    ):  # fmt: skip
        matcher = phonenumbers.PhoneNumberMatcher(plain, region, leniency)
        while matcher.has_next():
            found = matcher.next()
            written, before = found.raw_string, plain[max(0, found.start - 30) : found.start]
            if leniency == possible and not _FORMED.match(written):
                continue
            if written.isdecimal() and written[0] != "0" and not _CALLED.search(before):
                continue
            if before[-1:] not in ("-", "/", "#"):
                e164 = phonenumbers.PhoneNumberFormat.E164
                key = phonenumbers.format_number(found.number, e164)
                extension = _EXTENSION.match(plain, found.end)
                end = extension.end() if extension else found.end
                yield Found(found.start, end, "phone", key)


_PLAIN = str.maketrans("\u00a0\u202f\u2010\u2011\u2007", "  -- ")
_DIGITS = re.compile(r"[0-9](?:[^\w\n]{0,4}[0-9]){6}")
_CALLED = re.compile(
    r"(?:call|phone|cell|mobile|text|ring|dial|fax|tel|tél|whatsapp|portable|fixe|appel|joindre)"
    r".{0,20}$",
    re.IGNORECASE,
)
_EXTENSION = re.compile(r",? ?(?:poste|ext(?:ension)?\.?|x) ?[0-9]{1,6}(?!\w)", re.IGNORECASE)
_FORMED = re.compile(
    r"\+|00[1-9]|0[1-9](?:[ .-]?[0-9]{2}){4}(?![0-9])|07[0-9]{3} ?[0-9]{3} ?[0-9]{3}"
)
_IP = re.compile(
    r"(?<![\w.:])(?<!ersion )(?<!irmware )(?<!uild )(?<!elease )(?<![vV])"
    r"(?:[0-9]{1,3}(?:\.[0-9]{1,3}){3}|(?=[0-9a-fA-F]{0,4}:)[0-9a-fA-F:]{3,39})(?![\w.]?\w)",
)
_MONTH = (
    r"(?:jan|f[ée]v|feb|mar|a[vp]r|mai|may|ju[inl]|ao[uû]|aug|sep|oct|nov|d[ée]c)[a-zéû]{0,8}\.?"
)
_DATE = (
    rf"(?:[0-9]{{1,4}}[/.-][0-9]{{1,2}}[/.-][0-9]{{2,4}}"
    rf"|[0-9]{{1,2}}(?:er|st|nd|rd|th)?(?: of)? {_MONTH},? [0-9]{{4}}"
    rf"|{_MONTH} [0-9]{{1,2}}(?:st|nd|rd|th)?,? [0-9]{{4}})"
)
_BORN = re.compile(
    r"(?<!\w)(?:née?(?:\(e\)|·e)?|ddn|naissance|anniversaire|born|dob|d\.o\.b\.?|birth|birthday)"
    rf"(?!\w)[^\d\n]{{0,12}}?(?<!\w)(?P<date>{_DATE})(?!\w)",
    re.IGNORECASE,
)
_STREET = (
    r"(?:rue|avenue|av\.|boulevard|bd|bld|chemin|impasse|place|all[ée]es?|quai|cours|route|square|"
    r"passage|faubourg|r[ée]sidence|sentier|venelle|hameau|lotissement|mont[ée]e|esplanade)"
)
_ROAD = (
    r"(?:street|st|avenue|ave|road|rd|lane|ln|drive|dr|boulevard|blvd|close|row|terrace|court|ct|"
    r"way|place|pl|crescent|gardens?|grove|hill|mews|parade|park|square|walk)"
)
_NAMED = r"[A-ZÀ-ÖØ-Þ][\w'’-]{0,30}"
_TOWN = rf"{_NAMED}(?:[ -](?:{_NAMED}|l[eèa]s?|sur|sous|en|de|du)){{0,4}}"
_POSTED = (
    rf"(?:[,\n ]{{1,3}}(?:F-)?[0-9]{{5}} {_TOWN}"
    rf"|(?:,? ?(?:Apt|Apartment|Flat|Unit|Suite|Floor)\.? ?\w{{1,5}})?"
    rf"[,\n ]{{1,3}}{_TOWN}(?:,? [A-Z]{{2}},? [0-9]{{5}}(?:-[0-9]{{4}})?"
    rf"|,?[ \n][A-Z]{{1,2}}[0-9][0-9A-Z]? ?[0-9][A-Z]{{2}}))"
)

_PATTERNS: tuple[tuple[str, re.Pattern[str], Callable[[str], Key]], ...] = (
    (
        "url",
        re.compile(
            r"(?<![\w@.])(?:https?://|(?=[\w-]{1,63}(?:\.[\w-]{1,63}){1,5}/~?\w))"
            r"[^\s<>«»“”\"'\[\]()\u200b]{1,2000}(?<![.,;:!?’…`*_])",
            re.IGNORECASE,
        ),
        _url,
    ),
    (
        "handle",
        re.compile(
            r"(?<![\w.@/+\-])@[A-Za-z_][\w.]{0,29}(?:@[\w\-]{1,63}(?:\.[\w\-]{1,63}){1,8})?"
            r"(?<!\.)(?![\w/(]|['’]\w)"
        ),
        _handle,
    ),
    (
        "email",
        re.compile(
            r"(?<![\w.+\-@])(?!git@)[\w.+\-]{1,64}(?:['’][\w.+\-]{1,64})?"
            r"@(?:[\w\-]{1,63}\.){1,8}[^\W\d_]{2,63}(?![\w\-])"
        ),
        _whole,
    ),
    (
        "iban",
        re.compile(
            rf"(?<!\w)[A-Z]{{2}}[0-9]{{2}}(?:(?:{_BLANK}|-)?[A-Z0-9]{{1,4}}){{3,9}}(?!\w)"
            r"|(?<!\w)[A-Z]{2}[0-9]{2}[A-Z0-9]{11,30}(?!\w)",
            re.IGNORECASE,
        ),
        _iban,
    ),
    (
        "nir",
        re.compile(
            rf"(?<!\w)[12]{_GAP}[0-9]{{2}}{_GAP}(?:0[1-9]|1[0-2]|[2-9][0-9]){_GAP}"
            rf"(?:[0-9]{{2}}|2[ABab]){_GAP}[0-9]{{3}}{_GAP}[0-9]{{3}}"
            rf"(?:(?:{_GAP}| ?/ ?)[0-9]{{2}})?(?!\w)"
        ),
        _nir,
    ),
    (
        "ssn",
        re.compile(
            r"(?<![\w-])[0-9]{3}(?P<gap>[- ])[0-9]{2}(?P=gap)[0-9]{4}(?![\w-])"
            r"|(?<=ssn )[0-9]{9}(?!\w)|(?<=ssn: )[0-9]{9}(?!\w)",
            re.IGNORECASE,
        ),
        _ssn,
    ),
    (
        "nino",
        re.compile(
            rf"(?<!\w)[A-Z]{{2}}(?:{_BLANK}?[0-9]{{2}}){{3}}{_BLANK}?[A-D](?!\w)", re.IGNORECASE
        ),
        _nino,
    ),
    ("card", re.compile(rf"(?<!\w)[0-9](?:{_GAP}[0-9]){{12,18}}(?!\w)"), _card),
    (
        "address",
        re.compile(
            rf"(?<!\w)(?:Flat \w{{1,4}},? )?(?:[0-9]{{1,4}}(?: ?(?:bis|ter|quater|[A-Da-d]))?,? "
            rf"(?:(?i:{_STREET}) (?:(?:d[eu]s?|la|le|les|l['’]|d['’]) ?){{0,3}}{_TOWN}"
            r"|(?i:rue|avenue|boulevard|impasse|all[ée]e) "
            r"(?:de la |de l['’]|d[eu]s? |d['’])\w{3,30}"
            rf"|(?:{_NAMED} ){{1,3}}(?i:{_ROAD})(?!\w))"
            rf"|(?:BP|B\.P\.|CS|P\.?O\.? Box) ?[0-9]{{1,6}})(?:{_POSTED})?"
        ),
        _whole,
    ),
)
"""Kind, pattern, and what decides and says what a candidate means."""
