"""Tiers and prices as the configuration states them, parameters as traces record them."""

from pathlib import Path

import pytest

from ancrage.config import Config, load
from ancrage.domain import Usage
from ancrage.errors import UsageError
from ancrage.llm import Parameters, Tier, find_tier, read_prices, read_tiers, recorded_parameters


def config(tmp_path: Path, text: str) -> Config:
    (tmp_path / "evals.toml").write_text(text, encoding="utf-8")
    return load(tmp_path)


def test_tiers_are_read(tmp_path: Path) -> None:
    tiers = read_tiers(
        config(
            tmp_path,
            """
            [tiers.advanced]
            model = "big"
            api = "responses"
            reasoning_effort = "high"
            [tiers.standard]
            model = "small"
            endpoint = "http://localhost:8000/v1/"
            temperature = 0.2
            """,
        )
    )
    assert tiers["advanced"].key_name == "OPENAI_API_KEY"
    assert tiers["standard"].key_name is None
    assert tiers["standard"].endpoint == "http://localhost:8000/v1"
    assert tiers["standard"].stated() == {"temperature": 0.2}
    with pytest.raises(UsageError, match=r"\[tiers.huge\] \(known: advanced, standard\)"):
        find_tier(tiers, "huge")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("modle = 'x'", "modle"),
        ("temperature = nan", "temperature"),
        ("max_output_tokens = 0", "max_output_tokens"),
        ("endpoint = 'https://me:secret@host/v1'", "no credentials"),
        ("endpoint = 'https://host/v1?api-key=secret'", "no credentials"),
        ("endpoint = 'host'", "not an http"),
        ("api = 'responses'\nseed = 3", "has no `seed`"),
    ],
)
def test_an_impossible_tier_is_one_line(tmp_path: Path, line: str, words: str) -> None:
    with pytest.raises(UsageError, match=words) as caught:
        read_tiers(config(tmp_path, f"[tiers.standard]\nmodel = 'm'\n{line}\n"))
    assert "\n" not in str(caught.value)
    assert "secret" not in str(caught.value)


def test_recorded_parameters_are_understood_and_the_rest_is_named() -> None:
    parameters, ignored = recorded_parameters(
        {
            "temperature": "0.3",
            "top_p": None,
            "max_tokens": 400,
            "reasoning": {"effort": "low", "summary": None},
            "text": {"verbosity": "low"},
            "stop": "FIN",
            "presence_penalty": "NaN",
            "langfuse_prompt": "x",
        }
    )
    assert parameters.stated() == {
        "temperature": 0.3,
        "max_output_tokens": 400,
        "reasoning_effort": "low",
        "verbosity": "low",
        "stop": ["FIN"],
    }
    assert set(ignored) == {"presence_penalty", "langfuse_prompt"}


def test_parameters_are_replaced_whole() -> None:
    tier = Tier(model="m", temperature=0.2, reasoning_effort="high", timeout=5)
    replaced = tier.with_parameters(Parameters(top_p=0.5))
    assert replaced.stated() == {"top_p": 0.5}
    assert (replaced.model, replaced.timeout) == ("m", 5)


def test_prices(tmp_path: Path) -> None:
    (tmp_path / "prices.toml").write_text(
        'currency = "EUR"\n[models."m"]\ninput = 1\noutput = 10\ncached_input = 0.1\n'
    )
    prices = read_prices(config(tmp_path, '[prices]\nfile = "prices.toml"\n'))
    assert prices.currency == "EUR"
    usage = Usage(calls=1, input_tokens=1_000_000, cached_tokens=500_000, output_tokens=100_000)
    assert prices.cost("m", usage) == pytest.approx(0.5 + 0.05 + 1)
    assert prices.cost("n", usage) is None
    assert prices.cost("m", Usage(calls=1)) is None


def test_a_price_file_that_cannot_be_read_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"absent\.toml"):
        read_prices(config(tmp_path, '[prices]\nfile = "absent.toml"\n'))
