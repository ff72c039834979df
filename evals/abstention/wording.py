"""The patterns of ``wording.toml``, compiled."""

import re
import tomllib
from importlib.resources import files

_LISTS: dict[str, dict[str, list[str]]] = tomllib.loads(
    files("evals.abstention").joinpath("wording.toml").read_text(encoding="utf-8")
)


def _filled(pattern: str) -> str:
    return re.sub(
        r"<([a-z_]+)>",
        lambda m: "(?:" + "|".join(_filled(each) for each in _LISTS["parts"][m[1]]) + ")",
        pattern,
    )


def _compiled(table: str, name: str) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{_filled(each)})" for each in _LISTS[table][name]))


ABSTAINS = _compiled("segments", "abstaining")
ABSTAINS_BY_PRONOUN = _compiled("segments", "abstaining_pronoun")
IS_SCOPE = _compiled("segments", "scope")
IS_COURTESY = _compiled("segments", "courtesy")
IS_LEAD = _compiled("segments", "lead")
IS_ADVICE = _compiled("segments", "advice")
HEDGE = _compiled("marks", "hedge")
UNDENIED = _compiled("marks", "undenied")
EXCUSES = _compiled("marks", "excuses")
CONDITION = _compiled("marks", "condition")
CLAUSE = _compiled("marks", "clause")
DENIAL = _compiled("marks", "denial")
READING = _compiled("marks", "reading")
ATTRIBUTED = _compiled("marks", "attributed")
REPORTED = _compiled("marks", "reported")
BREAK = _compiled("marks", "break")
CONTINUES = _compiled("marks", "continues")
OPENER = _compiled("marks", "opener")
POLAR = _compiled("marks", "polar")
WH = _compiled("marks", "wh")
ASKED_OF_YOU = _compiled("marks", "asked_of_you")
ABOUT_DOCUMENT = _compiled("marks", "about_document")
YES_NO = _compiled("marks", "yes_no")
ABSENCE = _compiled("marks", "absence")
DOCUMENT = _compiled("marks", "document")
