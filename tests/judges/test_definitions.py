"""Definitions: those shipped, one's own, and what their versions depend on."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import ancrage
from ancrage.config import load
from ancrage.errors import UsageError
from ancrage.judges import definitions, load_judges
from ancrage.judges.definition import read_definition
from ancrage.judges.judge import judge_version
from ancrage.judges.select import Settings
from ancrage.llm import Models, Tier
from tests.judges.scripted import definition
from tests.servers.openai_server import OpenAIServer, Say

EXPECTED = {
    "boilerplate_answer",
    "unranked_findings",
    "quote_out_of_context",
    "unsupported_figure",
    "overgeneralisation",
    "off_question",
    "language_mismatch",
}
OWN = """
name = "tone"
task = "You check the tone."
context = ["question"]
[[modes]]
name = "rude_answer"
title = "Rude"
definition = "The answer is rude."
counts = ["insults"]
counts_not = ["bluntness"]
[[modes.examples]]
language = "en"
answer = "You fool."
passage = "You fool."
reason = "An insult."
"""


def test_three_judges_own_the_seven_modes_with_examples_in_both_languages(workplace: Path) -> None:
    found = definitions(load())
    assert len(found) == 3
    assert {mode.name for judge in found.values() for mode in judge.modes} == EXPECTED
    for judge in found.values():
        for mode in judge.modes:
            assert {example.language for example in mode.examples} == {"fr", "en"}
            assert {example.passage is None for example in mode.examples} == {True, False}


def test_the_single_judge_has_the_same_modes_word_for_word(workplace: Path) -> None:
    with OpenAIServer([Say("")]) as server:
        (workplace / "evals.toml").write_text(
            f'[tiers.judge]\nmodel = "m"\nendpoint = "{server.url}"\n'
        )
    models = Models(load(workplace), cache=None)
    three, one = load_judges("three", models), load_judges("one", models)
    assert [m for judge in three for m in judge.modes] == list(one[0].modes)
    assert [judge.name for judge in one] == ["single"]
    assert [judge.name for judge in load_judges("anchoring, relevance", models)] == [
        "anchoring",
        "relevance",
    ]


@pytest.mark.parametrize(
    ("tables", "tier"),
    [
        ("", "judge"),
        ("tier = 'strong'", "strong"),
        ("tier = 'strong'\ntiers = { relevance = 'judge' }", "judge"),
    ],
)
def test_the_configuration_chooses_tiers(workplace: Path, tables: str, tier: str) -> None:
    (workplace / "evals.toml").write_text(
        f"[judges]\n{tables}\n[tiers.judge]\nmodel = 'judge'\n[tiers.strong]\nmodel = 'strong'\n"
    )
    (judge,) = load_judges("relevance", Models(load(workplace), cache=None))
    assert judge.tier.model == tier


def test_ones_own_judge_is_one_file(workplace: Path) -> None:
    (workplace / "tone.toml").write_text(OWN)
    (workplace / "evals.toml").write_text(
        "[judges]\nfiles = ['tone.toml']\n[tiers.judge]\nmodel = 'm'\n"
    )
    judges = load_judges("three", Models(load(workplace), cache=None))
    assert [judge.name for judge in judges] == ["anchoring", "relevance", "synthesis", "tone"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("context", "contexts"), "context"),
        (('["question"]', '["answers"]'), "context.0"),
        (('passage = "You fool."', 'passage = "you"'), "must stand in the example's answer"),
        (('name = "rude_answer"', 'name = "Rude answer"'), "name"),
        (('counts = ["insults"]', "counts = []"), "counts"),
        (("task = ", "task "), "not valid TOML"),
        (('name = "rude_answer"', 'name = "off_question"'), "both own 'off_question'"),
        (('name = "tone"', 'name = "single"'), "is the name of --judges one"),
        ((OWN, ""), "name"),
    ],
)
def test_a_fault_in_a_definition_names_file_and_field(
    workplace: Path, change: tuple[str, str], words: str
) -> None:
    (workplace / "tone.toml").write_text(OWN.replace(*change))
    (workplace / "evals.toml").write_text("[judges]\nfiles = ['tone.toml']\n")
    with pytest.raises(UsageError) as fault:
        definitions(load(workplace))
    assert words in str(fault.value)
    assert "tone" in str(fault.value)


def test_a_definition_that_is_not_there_says_so(workplace: Path) -> None:
    (workplace / "evals.toml").write_text("[judges]\nfiles = ['no.toml']\n")
    with pytest.raises(UsageError, match=r"no\.toml: No such file"):
        definitions(load(workplace))


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("is rude", "is very rude"),
        lambda text: text.replace("bluntness", "irony"),
        lambda text: text.replace("An insult.", "Insult."),
        lambda text: text.replace("the tone", "tones"),
        lambda text: text.replace('["question"]', '["question", "study"]'),
    ],
)
def test_every_part_of_a_definition_is_in_its_version(
    tmp_path: Path, change: Callable[[str], str]
) -> None:
    def version(text: str) -> str:
        path = tmp_path / "tone.toml"
        path.write_text(text)
        return judge_version(read_definition(path), Tier(model="m"))

    assert version(OWN) == version(f"# a comment\n{OWN}")
    assert version(change(OWN)) != version(OWN)


@pytest.mark.parametrize(
    "change",
    [
        {"model": "n"},
        {"temperature": 0.0},
        {"reasoning_effort": "low"},
        {"endpoint": "http://127.0.0.1:1/v1"},
        {"api": "responses"},
        {"structured": "none"},
        {"extra": {"top_k": 1}},
    ],
)
def test_model_and_parameters_are_in_the_version(change: dict[str, object]) -> None:
    base = Tier(model="m")
    other = Tier.model_validate({**base.model_dump(), **change})
    judge = definition("vague")
    assert judge_version(judge, base) != judge_version(judge, other)


PROGRAM = """
import ast, json, sys
from pathlib import Path
from ancrage.config import Config
from ancrage import fingerprint
from ancrage.judges import definitions
from ancrage.judges.judge import judge_version
from ancrage.llm import Tier

def versions():
    for cached in vars(fingerprint).values():
        getattr(cached, "cache_clear", int)()
    known = definitions(Config(None, {}))
    return {name: judge_version(each, Tier(model="m")) for name, each in known.items()}

def otherwise(code):
    tree = ast.parse(code)
    for node in ast.walk(tree):
        if isinstance(node, ast.Return):
            node.value = ast.List([node.value] if node.value else [], ast.Load())
    return ast.unparse(tree).encode()

before, moved = versions(), {}
for name in sys.argv[1:]:
    file = Path("ancrage", name)
    content = file.read_bytes()
    file.write_bytes(otherwise(content) if name.endswith(".py") else content + b"# changed")
    after = versions()
    moved[name] = sorted(judge for judge in before if before[judge] != after[judge])
    file.write_bytes(content)
print(json.dumps(moved))
"""
"""Changes files of the code in the current folder, one by one: whose versions change with each?"""


def test_the_code_that_decides_verdicts_is_in_the_version(tmp_path: Path) -> None:
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(Path(ancrage.__file__).parent, tmp_path / "ancrage", ignore=ignored)
    everyone = ["anchoring", "relevance", "synthesis"]
    expected = {
        "quotes/verify.py": everyone,
        "judges/contract.py": everyone,
        "llm/structured.py": everyone,
        "claims/figures.py": ["anchoring"],
        "claims/lexicon.toml": ["anchoring"],
        "citations/parse.py": ["anchoring"],
        "tools.py": ["anchoring", "synthesis"],
        "report/html.py": [],
    }
    said = subprocess.run(
        [sys.executable, "-c", PROGRAM, *expected],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        check=True,
        capture_output=True,
    )
    assert json.loads(said.stdout) == expected


def test_what_decides_no_verdict_is_not_in_the_version() -> None:
    judge = definition("vague")
    base = Tier(model="m")
    patient = Tier(model="m", timeout=5, retries=9, key="ANOTHER_KEY")
    renamed = judge.model_copy(update={"tier": "another"})
    assert judge_version(judge, base) == judge_version(renamed, patient)


def test_an_unknown_judge_in_the_tiers_is_refused(workplace: Path) -> None:
    (workplace / "evals.toml").write_text(
        "[judges]\ntiers = { relevence = 'x' }\n[tiers.judge]\nmodel = 'm'\n"
    )
    with pytest.raises(UsageError, match="'relevence' is no judge"):
        load_judges("three", Models(load(workplace), cache=None))


def test_settings_have_working_defaults() -> None:
    assert Settings().min_coverage == 0.9
