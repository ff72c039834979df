"""The demonstration assistant, over the studies of ``snapshots/demo``."""

from collections.abc import Mapping
from functools import cache

from ancrage.domain import JsonValue, Study
from ancrage.errors import UsageError
from ancrage.llm import Tool
from ancrage.replay.agent import ToolCallingAgent
from ancrage.setup.demonstration import demonstration

STUDIES = demonstration() / "studies"

_PROMPTS = {
    "fr": (
        "Tu es l'assistant d'analyse de l'étude « {title} ». Réponds en français, en Markdown. "
        "Chaque citation reprend mot pour mot la réponse d'un participant et est suivie de sa "
        "référence [participant, message]. Renvoie aux questions par [Q1]. N'avance aucun chiffre "
        "qui ne vienne d'un outil."
    ),
    "en": (
        'You are the research assistant for the study "{title}". Answer in English, in Markdown. '
        "Every quote repeats a respondent's words exactly, in their own language, and is followed "
        "by its reference [respondent, message]. Refer to questions as [Q1]. Give no figure that "
        "does not come from a tool."
    ),
}

_QUESTION: dict[str, JsonValue] = {"type": "string", "description": "Question, such as Q2."}

TOOLS = (
    Tool(
        name="search_messages",
        description="The respondents' messages that best match a query, with their ids.",
        parameters={
            "type": "object",
            "properties": {
                "query": {"type": "string", "description": "What to look for."},
                "question": _QUESTION,
                "language": {"type": "string", "description": "ISO 639-1 code."},
            },
            "required": ["query"],
        },
    ),
    Tool(
        name="count_theme",
        description="How many answers to a question speak of a theme, and out of how many.",
        parameters={
            "type": "object",
            "properties": {"question": _QUESTION, "theme": {"type": "string"}},
            "required": ["question", "theme"],
        },
    ),
    Tool(
        name="get_question",
        description="The wording of a question and how many answered it.",
        parameters={
            "type": "object",
            "properties": {"ref": _QUESTION},
            "required": ["ref"],
        },
    ),
)


def prompt(context: Mapping[str, JsonValue]) -> str:
    """The system prompt for a study and a locale.

    Raises:
        UsageError: the study is not one of the demonstration's.
    """
    locale = str(context.get("locale", "en"))
    title = titles().get(str(context.get("study_id")))
    if title is None or locale not in _PROMPTS:
        raise UsageError(
            f"the demonstration assistant knows no study {context.get('study_id')!r} in locale "
            f"{locale!r}; name your own assistant in [assistant] use"
        )
    return _PROMPTS[locale].format(title=title)


@cache
def titles() -> dict[str, str]:
    """Title by id of the demonstration's studies."""
    studies = [Study.model_validate_json(path.read_bytes()) for path in STUDIES.glob("*.json")]
    return {study.id: study.title for study in studies}


assistant = ToolCallingAgent("demonstration", prompt=prompt, tools=TOOLS, tier="standard")
