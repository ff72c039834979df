"""Replace what identifies respondents, in answers and studies alike, so that quotes still match.

Pseudonyms keep the form of the ids they replace, so that a citation still parses as one.
"""

import re
from collections import Counter
from collections.abc import Iterator

from ancrage.domain import Answer, Case, JsonValue, Study
from ancrage.ids import IdIndex, IdPolicy
from ancrage.quotes.surface import fold
from ancrage.snapshot.manifest import PseudonymMode
from ancrage.snapshot.pseudonyms import Pseudonymiser
from ancrage.snapshot.scrub import Found, Terms, find_birth_dates, find_personal

DIGITS = "123456789"
"""No zero: padding is presentation, and must not make two pseudonyms read alike."""
LETTERS = "abcdefghijklmnopqrstuvwxyz"
NUMBERED = re.compile(r"([A-Za-z]{1,16})([-_.]?)([0-9]{1,12})")
CODED = re.compile(r"([A-Za-z]+[-_.](?=.)|[G-Zg-z]+)?([0-9A-Za-z]+(?:-[0-9A-Za-z]+)*)")
HEXADECIMAL = re.compile(r"(?=.*[0-9])[0-9a-fA-F]{6,}")
WORDS = r"(?:r[ée]pondant(?:e|\(e\)|·e)?|respondent|participant(?:e|\(e\)|·e)?|panelist|panéliste)"
PERSON_KEY = re.compile(
    r"(?:respondent|r[ée]pondant|participant|panelist|person|user|author)s?(?:[-_ ]?ids?)"
    r"|respondent|r[ée]pondant|participant|panelist",
    re.IGNORECASE,
)
"""Fields that name a person by id; ``respondents`` alone is a count."""
BRACKET = re.compile(r"[\[【［〔(]([^\[\]【】［］〔〕()]{1,300})[\]】］〕)]")
BLANK = r"[ \u00a0\u202f]"
SEPARATOR = r"[-_.#\u00ad\u200b-\u200d\u2010-\u2015\u2060\u2212\ufeff]"
LISTED = re.compile(
    rf"(?<![^\W_]){WORDS}s{BLANK}?(?:n°|nº|nos?\.?|#)?{BLANK}?"
    rf"([0-9]{{1,12}}(?:{BLANK}?(?:,|et|and|ou|or|&){BLANK}?[0-9]{{1,12}}){{1,50}})"
    rf"(?![^\W_]|{BLANK}?(?:ans|years|fois|times|[%‰€$£]))",
    re.IGNORECASE,
)
"""« les répondants 12, 13 et 14 »; one number alone is a count."""


class Rewriter:
    """Rewrites what belongs to one study, or to none that is left."""

    def __init__(self, pseudonymiser: Pseudonymiser, study: Study | None) -> None:
        self._of = pseudonymiser
        messages = study.messages if study else ()
        ids = sorted({message.respondent_id for message in messages} - {""})
        self._message_ids = {message.id for message in messages}
        self._ids = IdIndex(ids, IdPolicy())
        self._prefixes = _shared_prefixes(ids, pseudonymiser.prefixes)
        self._styles: dict[str, str] = {}
        for each in ids:
            match = NUMBERED.fullmatch(each)
            if match and match[1].casefold() in self._prefixes:
                self._styles.setdefault(match[1].casefold(), match[1] + match[2])
        if not ids:
            self._styles = {prefix.casefold(): f"{prefix}-" for prefix in pseudonymiser.prefixes}
        self._known = self._assign(ids)
        self._taken = set(self._known.values())
        self._terms = Terms(each for each in ids if not (self._numbered(each) or _weak(each)))
        self._weak = any(_weak(each) for each in ids)
        self._pattern = self._written_forms(ids)
        # A date is a birth by the words before it, which a quote of it may leave out.
        hidden = messages if pseudonymiser.mode is PseudonymMode.TEXT else ()
        self._births = Terms(
            message.text[found.start : found.end]
            for message in hidden
            for found in find_birth_dates(message.text)
        )

    def text(self, text: str) -> str:
        """``text`` with every id, and in mode ``text`` every personal detail, replaced."""
        pieces: list[str] = []
        end = 0
        for found in sorted(self._found(text), key=lambda each: (each.start, -each.end)):
            if found.start < end:
                continue
            self._of.replaced[found.kind] += 1
            pieces += text[end : found.start], self._replacement(found)
            end = found.end
        return "".join([*pieces, text[end:]]) if pieces else text

    def json(self, value: JsonValue, key: str = "") -> JsonValue:
        """``value`` with every text in it rewritten, names of fields included."""
        if (
            isinstance(value, str | int)
            and not isinstance(value, bool)
            and PERSON_KEY.fullmatch(key)
        ):
            known = self._known.get(str(value))
            if known is not None:
                self._of.replaced["respondent"] += 1
                return known
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            return [self.json(each, key) for each in value]
        if isinstance(value, dict):
            return {self.text(name): self.json(each, name) for name, each in value.items()}
        return value

    def study(self, study: Study) -> Study:
        """The study rewritten; ids of messages and refs too, where they hold a respondent's id."""
        return study.model_copy(
            update={
                "title": self.text(study.title),
                "questions": tuple(
                    each.model_copy(
                        update={"ref": self.text(each.ref), "text": self.text(each.text)}
                    )
                    for each in study.questions
                ),
                "messages": tuple(
                    each.model_copy(
                        update={
                            "id": self.text(each.id),
                            "respondent_id": self._known.get(each.respondent_id, ""),
                            "text": self.text(each.text),
                            "question_ref": each.question_ref and self.text(each.question_ref),
                        }
                    )
                    for each in study.messages
                ),
            }
        )

    def case(self, case: Case) -> Case:
        """The case rewritten in all that the assistant read or wrote; its own id stays."""
        given = case.input
        return case.model_copy(
            update={
                "input": given.model_copy(
                    update={
                        "question": self.text(given.question),
                        "history": tuple(
                            turn.model_copy(
                                update={
                                    "content": self.text(turn.content),
                                    "sent": turn.sent and self.json(turn.sent),
                                }
                            )
                            for turn in given.history
                        ),
                        "tool_calls": tuple(
                            call.model_copy(
                                update={
                                    "arguments": self.json(call.arguments),
                                    "output": self.json(call.output),
                                    "error": call.error and self.text(call.error),
                                }
                            )
                            for call in given.tool_calls
                        ),
                        "system_prompt": given.system_prompt and self.text(given.system_prompt),
                        "context": self.json(given.context),
                    }
                ),
                "output": case.output and self._answer(case.output),
                "metadata": self.json(case.metadata),
            }
        )

    def _answer(self, answer: Answer) -> Answer:
        return answer.model_copy(update={"text": self.text(answer.text)})

    def _found(self, text: str) -> Iterator[Found]:
        if self._pattern:
            yield from self._listed(text)
            for match in self._pattern.finditer(fold(text)):
                group = match.lastgroup or ""
                written = match.group(group)
                known = (self._numbered_as if group == "number" else self._ids.find)(written)
                invented = group == "id" and not re.search(BLANK, written)
                if known is not None or invented:
                    yield Found(*match.span(group), "respondent", known or written)
        for start, end, term in self._terms.find(text):
            yield Found(start, end, "respondent", term)
        if self._weak:
            yield from self._cited(text)
        if self._of.mode is PseudonymMode.TEXT:
            yield from find_personal(text, self._of.names, self._births)

    def _numbered_as(self, number: str) -> str | None:
        """The id that a respondent's number alone means."""
        written = (number, *(prefix + number for prefix in self._styles))
        return next(filter(None, map(self._ids.find, written)), None)

    def _listed(self, text: str) -> Iterator[Found]:
        """Numbers after "the respondents", where every one of them is a respondent's."""
        for match in LISTED.finditer(text):
            numbers = list(re.finditer("[0-9]+", match[1]))
            known = [self._numbered_as(number.group()) for number in numbers]
            for number, each in zip(numbers, known, strict=True):
                if each is not None and None not in known:
                    start = match.start(1) + number.start()
                    yield Found(start, start + len(number.group()), "respondent", each)

    def _cited(self, text: str) -> Iterator[Found]:
        """Ids too plain to be looked for anywhere, where a bracket cites them with a message."""
        for bracket in BRACKET.finditer(text):
            tokens = list(re.finditer(r"[^\s,;]+", bracket[1]))
            ids_alone = all(re.search("[0-9]", token.group()) for token in tokens)
            if ids_alone and any(token.group() in self._message_ids for token in tokens):
                for token in tokens:
                    if token.group() in self._known and token.group() not in self._message_ids:
                        start = bracket.start(1) + token.start()
                        yield Found(start, start + len(token.group()), "respondent", token.group())

    def _replacement(self, found: Found) -> str:
        if found.kind == "respondent":
            return self._known.get(found.key) or self._unknown(found.key)
        # Letters only: a pseudonym must not read as a figure of the text.
        return f"{found.kind.upper()}-{self._of.draw(found.kind, found.key, [LETTERS] * 10)}"

    def _assign(self, ids: list[str]) -> dict[str, str]:
        """A pseudonym for each id, none the same as another or as an id."""
        known: dict[str, str] = {}
        taken = {each.casefold() for each in ids}
        for each in ids:
            attempt = 0
            while (drawn := self._draw(each, attempt)).casefold() in taken:
                attempt += 1
            taken.add(drawn.casefold())
            known[each] = drawn
        return known

    def _unknown(self, written: str) -> str:
        """For what looks like an id and is none: a pseudonym that nobody has."""
        attempt = 0
        while (drawn := self._draw(written, attempt)) in self._taken:
            attempt += 1
        return drawn

    def _numbered(self, written: str) -> tuple[str, int] | None:
        """Prefix and number of an id such as ``R-012``, in any presentation."""
        match = NUMBERED.fullmatch(re.sub(SEPARATOR, "-", written))
        if match and match[1].casefold() in self._styles:
            return match[1].casefold(), int(match[3])
        return None

    def _draw(self, written: str, attempt: int) -> str:
        if numbered := self._numbered(written):
            prefix, number = numbered
            drawn = self._of.draw("id", f"{prefix}{number}", [DIGITS] * 10, attempt)
            return self._styles[prefix] + drawn
        key = written.casefold()
        if written.isdecimal():
            return self._of.draw("id", key, [DIGITS] * 10, attempt)
        coded = self._coded(written)
        if coded and sum(map(str.isalnum, coded[2])) >= 8 and any(map(str.isdigit, coded[2])):
            return (coded[1] or "") + self._of.draw("id", key, _alphabets(coded[2]), attempt)
        return "R-" + self._of.draw("id", key, [DIGITS] * 10, attempt)

    def _coded(self, written: str) -> re.Match[str] | None:
        """An id such as ``Reb28d425``: a prefix, or none, and a code."""
        match = CODED.fullmatch(written)
        return match if match and _letters(match[1]) in {"", *self._prefixes} else None

    def _written_forms(self, ids: list[str]) -> re.Pattern[str] | None:
        """Every way in which a numbered or coded id is written, known or invented."""
        forms = [
            rf"{re.escape(prefix)}(?:{SEPARATOR}|{BLANK}){{0,3}}[0-9]{{1,12}}"
            for prefix in self._styles
        ]
        coded = set()
        for each in ids:
            match = self._coded(each)
            if match and match[1] and HEXADECIMAL.fullmatch(match[2]):
                coded.add(rf"{re.escape(match[1])}[0-9a-f]{{{len(match[2])}}}")
        if not ids:
            # A digit somewhere: "refaced" is a word.
            coded |= {
                rf"{re.escape(prefix)}(?=[a-f]{{0,32}}[0-9])[0-9a-f]{{6,32}}"
                for prefix in self._styles
            }
        forms += sorted(coded)
        parts = [rf"(?P<id>{'|'.join(forms)})"] if forms else []
        if self._styles or self._weak:
            parts.append(
                rf"(?:{WORDS}(?:{BLANK}|[-_])?(?:n°|nº|no\.?|#)?{BLANK}?)(?P<number>[0-9]{{1,12}})"
            )
        if self._weak:
            parts.append(rf"R{SEPARATOR}?(?P<plain>[0-9]{{1,12}})")
            parts.append(rf'(?:{WORDS}[_-]?id)"?\s{{0,4}}[:=]\s{{0,4}}"?(?P<field>[0-9]{{1,12}})')
        if not parts:
            return None
        return re.compile(rf"(?<![^\W_])(?:{'|'.join(parts)})(?![^\W_])", re.IGNORECASE)


def _shared_prefixes(ids: list[str], configured: tuple[str, ...]) -> set[str]:
    """The prefixes that tell nothing of a person, so that a pseudonym may keep them.

    Those configured, those of a letter or two, and those that at least half of the ids share:
    the "anna" of ``anna12`` must not survive.
    """
    prefixes: Counter[str] = Counter()
    for each in ids:
        coded, numbered = CODED.fullmatch(each), NUMBERED.fullmatch(each)
        if coded and HEXADECIMAL.fullmatch(coded[2]):
            prefixes[_letters(coded[1])] += 1
        elif numbered:
            prefixes[numbered[1].casefold()] += 1
        elif coded:
            prefixes[_letters(coded[1])] += 1
    shared = {
        prefix
        for prefix, count in prefixes.items()
        if len(prefix) <= 2 or (count >= 2 and count * 2 >= len(ids))
    }
    return (shared | {prefix.casefold() for prefix in configured}) - {""}


def _letters(prefix: str | None) -> str:
    return (prefix or "").rstrip("-_.").casefold()


def _weak(written: str) -> bool:
    """Whether an id is too plain to be looked for in any text: a bare number, a letter or two."""
    return written.isdecimal() or sum(map(str.isalnum, written)) < 3


def _alphabets(code: str) -> list[str]:
    """For each character of ``code`` those that may replace it; separators stay."""
    hexadecimal = re.fullmatch(r"[0-9a-f-]+|[0-9A-F-]+", code) is not None
    letters = "abcdef" if hexadecimal else LETTERS
    alphabets = []
    for char in code:
        if not char.isalnum():
            alphabets.append(char)
            continue
        cased = letters.upper() if code.isupper() else letters
        if hexadecimal:
            alphabets.append(DIGITS + cased)
        else:
            alphabets.append(DIGITS if char.isdigit() else cased)
    return alphabets
