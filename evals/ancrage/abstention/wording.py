"""The grammar of ``wording.toml``, compiled."""

import re
import tomllib
from importlib.resources import files

_LISTS: dict[str, dict[str, list[str]]] = tomllib.loads(
    files("ancrage.abstention").joinpath("wording.toml").read_text(encoding="utf-8")
)
_PARTS = _LISTS["words"] | _LISTS["phrases"]


def _filled(pattern: str) -> str:
    return re.sub(
        r"<([a-z_]+)>",
        lambda m: "(?:" + "|".join(_filled(each) for each in _PARTS[m[1]]) + ")",
        pattern,
    )


def _compiled(table: str, name: str) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{_filled(each)})" for each in _LISTS[table][name]))


ABSTAINS = _compiled("clauses", "abstaining")
ABSTAINS_BY_PRONOUN = _compiled("clauses", "abstaining_pronoun")
IS_SCOPE = _compiled("clauses", "scope")
IS_COURTESY = _compiled("clauses", "courtesy")
IS_LEAD = _compiled("clauses", "lead")
IS_LEAD_BY_PRONOUN = _compiled("clauses", "lead_pronoun")
IS_ADVICE = _compiled("clauses", "advice")
HEDGE = _compiled("marks", "hedge")
UNDENIED = _compiled("marks", "undenied")
EXCUSES = _compiled("marks", "excuses")
CONDITION = _compiled("marks", "condition")
CLAUSE = _compiled("marks", "clause")
DENIAL = _compiled("marks", "denial")
READING = _compiled("marks", "reading")
CONTRAST = _compiled("marks", "contrast")
CAUSE = _compiled("marks", "cause")
RESULT = _compiled("marks", "result")
BREAK = _compiled("marks", "break")
CONTINUES = _compiled("marks", "continues")
OPENER = _compiled("marks", "opener")
POLAR = _compiled("marks", "polar")
WH = _compiled("marks", "wh")
QUANTITY = _compiled("marks", "quantity")
ASKED_OF_YOU = _compiled("marks", "asked_of_you")
ABOUT_DOCUMENT = _compiled("marks", "about_document")
ASKS_LACK = _compiled("marks", "asks_lack")
ASKS_FAULT = _compiled("marks", "asks_fault")
NEUTRAL = re.compile(_filled("<doc>|<info>|<state_en>|<state_fr>|<adverb>|<neg_en>|<not_fr>"))
YES_NO = _compiled("marks", "yes_no")
ABSENCE = _compiled("marks", "absence")
DOCUMENT = _compiled("marks", "document")
