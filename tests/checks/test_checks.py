"""Each code check on answers about the study of ``tests.builders``."""

from pathlib import Path

import pytest

from ancrage.checks import CodeCheck, Unscorable, load_checks
from ancrage.config import Config
from ancrage.domain import Output, OutputState, ScoreState
from ancrage.errors import UsageError
from ancrage.evaluator import Subject
from tests.builders import case, subject

CHECKS = {each.name: each for each in load_checks(Config(None, {}))}


async def found(name: str, text: str) -> list[tuple[str, str | None]]:
    """(passage, diagnosis) of each finding of one check; the score must count them."""
    evaluation = await CHECKS[name].evaluate(subject(text))
    (score,) = evaluation.scores
    assert score.value == len(evaluation.findings)
    return [(each.evidence.text, each.details.get("diagnosis")) for each in evaluation.findings]  # type: ignore[misc]


def test_there_is_one_check_for_each_mode_and_its_version_is_a_hash() -> None:
    assert list(CHECKS) == [
        "distorted_quote",
        "malformed_citation",
        "non_verbatim_quote",
        "uncited_quote",
        "unknown_message_id",
        "unknown_ref",
        "wrong_respondent_id",
    ]
    assert all(len(each.version) == 12 for each in CHECKS.values())


def test_a_version_changes_with_the_tables_it_depends_on() -> None:
    other = load_checks(Config(None, {"ids": {"ignore_case": False}}))
    assert all(CHECKS[each.name].version != each.version for each in other)
    unrelated = load_checks(Config(None, {"gate": {"x": 1}}))
    assert all(CHECKS[each.name].version == each.version for each in unrelated)


CLEAN = """## Synthèse

Les clients aiment la rapidité [Q1] : **« L’appli est rapide, j’adore\u00a0! »** [R-001, M-0001].
One of them struggles: “the login screen crashes every single morning” [R2, M2] (see [Q2]).
> « rien à dire, 2 ans […] l'utilise sans souci » [R-003, M-0003]
"""


@pytest.mark.parametrize("name", CHECKS)
async def test_a_clean_answer_has_no_finding(name: str) -> None:
    assert await found(name, CLEAN) == []


async def test_unknown_ref(tmp_path: Path) -> None:
    text = "Voir [Q1, Q9] et [q02] puis [Q3]."
    assert await found("unknown_ref", text) == [("Q9", None), ("Q3", None)]


async def test_unknown_message_id(tmp_path: Path) -> None:
    text = "« rien à dire » [R-003, M-0300] et « rien à dire » [R-003, M-3]"
    assert await found("unknown_message_id", text) == [("M-0300", None)]
    assert await found("non_verbatim_quote", text) == []
    assert await found("wrong_respondent_id", text) == []


async def test_wrong_respondent_id(tmp_path: Path) -> None:
    text = "« rien à dire » [R-001, M-0003], « rien à dire » [R-404, M-0003], selon [R-405]"
    expected: list[tuple[str, str | None]] = [("R-001", None), ("R-404", None), ("R-405", None)]
    assert await found("wrong_respondent_id", text) == expected
    assert await found("non_verbatim_quote", text) == []


@pytest.mark.parametrize(
    ("text", "passage", "diagnosis"),
    [
        ("« L'appli est lente » [R-001, M-0001]", "L'appli est lente", "altered"),
        ("« 3 ans que je l'utilise » [R-003, M-0003]", "3 ans que je l'utilise", "altered"),
        (
            "« le prix est clair du tout » [R-001, M-0001]",
            "le prix est clair du tout",
            "altered",
        ),
        (
            "« l'écran de connexion plante tous les matins avant le travail » [R-002, M-0002]",
            "l'écran de connexion plante tous les matins avant le travail",
            "translated",
        ),
        ("« rien à dire » [R-001, M-0001]", "rien à dire", "elsewhere"),
        (
            "« je recommande vivement ce fromage à mes voisins » [R-001, M-0001]",
            "je recommande vivement ce fromage à mes voisins",
            "absent",
        ),
    ],
)
async def test_non_verbatim_quote(text: str, passage: str, diagnosis: str) -> None:
    assert await found("non_verbatim_quote", text) == [(passage, diagnosis)]


async def test_a_quote_passes_if_it_stands_in_one_message_it_cites(tmp_path: Path) -> None:
    text = "« rien à dire » [R-001, M-0001; R-003, M-0003]"
    assert await found("non_verbatim_quote", text) == []


async def test_malformed_citation(tmp_path: Path) -> None:
    text = "« rien à dire » [R-003, M-] et « rien à dire » [R-003] mais selon [R-003]"
    expected: list[tuple[str, str | None]] = [("[R-003, M-]", None), ("[R-003]", None)]
    assert await found("malformed_citation", text) == expected
    assert await found("unknown_message_id", text) == []
    assert await found("uncited_quote", text) == []


@pytest.mark.parametrize(
    ("text", "passages"),
    [
        ("« 2 ans que je l'utilise sans souci ».", ["2 ans que je l'utilise sans souci"]),
        ("Une cliente écrit : « rien à dire ».", ["rien à dire"]),
        ("As one customer put it, “never again”.", ["never again"]),
        ("Le thème « prix » domine.", []),
        ("Le label « facile à vivre » est un thème.", []),
        ("Le thème « 2 ans que je l'utilise » domine.", ["2 ans que je l'utilise"]),
        ("Un autre ajoute « rien à dire, 2 ans » et rien de plus.", ["rien à dire, 2 ans"]),
        ("À la question « What should we change first? », peu répondent.", []),
        ("Vous demandez « Que pensent les clients de l'application ? ».", []),
    ],
)
async def test_uncited_quote(text: str, passages: list[str]) -> None:
    assert [passage for passage, _ in await found("uncited_quote", text)] == passages


@pytest.mark.parametrize("name", sorted(set(CHECKS) - {"malformed_citation"}))
async def test_without_its_study_an_answer_is_unscored(name: str) -> None:
    one = case("« rien » [R-1, M-1] [Q9]").model_copy(update={"source_missing": "study deleted"})
    output = Output(case_id=one.id, state=OutputState.OK, answer=one.output)
    evaluation = await CHECKS[name].evaluate(Subject(one, output, None))
    (score,) = evaluation.scores
    assert (score.state, score.reason) == (ScoreState.UNSCORED, "study deleted")
    assert evaluation.findings == ()


def test_a_check_of_ones_own_takes_one_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "my_checks.py").write_text(
        "from ancrage.checks import check, finding\n\n\n"
        "@check(title='Shouting', definition='An exclamation mark.')\n"
        "def shouting(subject):\n"
        "    for i, c in enumerate(subject.text):\n"
        "        if c == '!':\n"
        "            yield finding('shouting', subject, i, i + 1, 'Do not shout.')\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    config = Config(None, {"checks": {"modules": ["my_checks"], "skip": ["unknown_ref"]}})
    names = [each.name for each in load_checks(config)]
    assert "shouting" in names
    assert "unknown_ref" not in names


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"modules": ["nowhere"]}, "nowhere"),
        ({"skip": ["unknwon_ref"]}, "unknwon_ref"),
        ({"skips": []}, "skips"),
    ],
)
def test_wrong_configuration_says_what_is_wrong(table: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        load_checks(Config(None, {"checks": table}))


async def test_unscorable_is_a_state() -> None:
    def never(subject: Subject) -> list[object]:
        raise Unscorable("no way to tell")

    never_check = CodeCheck(CHECKS["unknown_ref"].mode, never, "1")  # type: ignore[arg-type]
    one = case("x")
    evaluation = await never_check.evaluate(
        Subject(one, Output(case_id="c1", state=OutputState.OK, answer=one.output), None)
    )
    assert evaluation.scores[0].reason == "no way to tell"
