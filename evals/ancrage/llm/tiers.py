"""Tiers: which model is called where and with which parameters, always stated, never guessed."""

from collections.abc import Mapping
from functools import cached_property
from typing import Any, Literal, Self
from urllib.parse import urlsplit

from pydantic import Field, field_validator, model_validator

from ancrage.config import Config, secret
from ancrage.domain import Frozen, JsonValue
from ancrage.errors import UsageError

OPENAI = "https://api.openai.com/v1"


def default_endpoint() -> str:
    """``OPENAI_BASE_URL``, as the OpenAI SDK reads it, or else OpenAI's own."""
    return (secret("OPENAI_BASE_URL") or OPENAI).rstrip("/")


class Parameters(Frozen):
    """What is sent beside model, messages and tools; a field that is None is not sent at all."""

    reasoning_effort: str | None = None
    verbosity: str | None = None
    temperature: float | None = None
    top_p: float | None = None
    max_output_tokens: int | None = Field(default=None, ge=1)
    seed: int | None = None
    presence_penalty: float | None = None
    frequency_penalty: float | None = None
    stop: tuple[str, ...] | None = None
    parallel_tool_calls: bool | None = None
    service_tier: str | None = None

    def stated(self) -> dict[str, JsonValue]:
        """The parameters that have a value, by field name."""
        return self.model_dump(mode="json", include=set(Parameters.model_fields), exclude_none=True)


class Tier(Parameters):
    """One entry ``[tiers.NAME]`` of the configuration."""

    model: str = Field(min_length=1)
    api: Literal["chat", "responses"] = "chat"
    endpoint: str = Field(default_factory=default_endpoint, validate_default=True)
    """Base URL, up to and including ``/v1``; unset: ``OPENAI_BASE_URL``, else OpenAI's own."""
    key: str | None = None
    """Name of the environment variable that holds the key. Unset: ``OPENAI_API_KEY`` for OpenAI
    itself and for ``OPENAI_BASE_URL``, none for any other endpoint, so that no key reaches a
    server it is not for."""
    drop: tuple[str, ...] = ()
    """Parameters never sent to this model, whatever a case or an assistant states: those that it
    refuses. Reports say so."""
    store: bool | None = None
    """Responses API: whether the server may keep the exchange; its own default when unset."""
    output_limit_name: Literal["max_completion_tokens", "max_tokens"] = "max_completion_tokens"
    """How this endpoint's Chat Completions call the maximum output."""
    structured: Literal["json_schema", "json_object", "none"] = "json_schema"
    """What the endpoint offers for structured output."""
    timeout: float = Field(default=120.0, gt=0)
    """Seconds that one call may take, answer included."""
    retries: int = Field(default=4, ge=0)
    """Further tries after a failure that may pass (5xx, timeout, connection). A 429 waits as the
    server asks and does not use one up."""
    patience: float = Field(default=600.0, ge=0)
    """Seconds that one call may spend waiting out 429s."""
    extra: dict[str, JsonValue] = {}
    """Sent in the request as is, for what this endpoint alone knows."""

    def stated(self) -> dict[str, JsonValue]:
        """The parameters that are sent, by field name."""
        return dict(self._stated)

    @cached_property
    def _stated(self) -> dict[str, JsonValue]:
        stated = super().stated()
        return {name: value for name, value in stated.items() if name not in self.drop}

    def identity(self) -> dict[str, JsonValue]:
        """All of the tier that decides an answer: keys, patience and retries do not."""
        return {
            "model": self.model,
            "api": self.api,
            "endpoint": self.endpoint,
            "structured": self.structured,
            "parameters": self.stated(),
            "extra": self.extra,
        }

    @field_validator("endpoint")
    @classmethod
    def _is_a_bare_url(cls, value: str) -> str:
        url = urlsplit(value)
        if url.scheme not in ("http", "https") or not url.hostname:
            raise ValueError("not an http(s) URL")
        if url.username or url.password or url.query:
            raise ValueError("no credentials or query here: name the key's variable in `key`")
        return value.rstrip("/")

    @field_validator("drop")
    @classmethod
    def _drops_parameters(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if unknown := set(value) - set(Parameters.model_fields):
            known = ", ".join(Parameters.model_fields)
            raise ValueError(f"{min(unknown)!r} is no parameter; known: {known}")
        return value

    @model_validator(mode="after")
    def _fits_its_api(self) -> Self:
        if self.api == "responses":
            for name in ("seed", "stop", "presence_penalty", "frequency_penalty"):
                if getattr(self, name) is not None and name not in self.drop:
                    raise ValueError(f"the Responses API has no `{name}`")
        return self

    @property
    def key_name(self) -> str | None:
        """The variable that holds the key, or None where none is sent."""
        own = self.endpoint in (OPENAI, default_endpoint())
        return self.key or ("OPENAI_API_KEY" if own else None)

    def with_parameters(self, parameters: Parameters) -> Self:
        """This tier's model and endpoint with all parameters replaced, also by nothing.

        Raises:
            ValueError: the tier's API has no such parameter (pydantic's ``ValidationError``).
        """
        fields = self.model_dump(exclude=set(Parameters.model_fields))
        return type(self).model_validate({**fields, **parameters.stated()})


def read_tiers(config: Config) -> dict[str, Tier]:
    """The tiers of the configuration, by name; none when the table is absent.

    Raises:
        UsageError: a tier has an unknown field or an impossible value.
    """
    return config.table("tiers", dict[str, Tier])


def find_tier(tiers: Mapping[str, Tier], name: str) -> Tier:
    """The tier ``name``.

    Raises:
        UsageError: there is none.
    """
    if name not in tiers:
        known = ", ".join(sorted(tiers)) or "none"
        raise UsageError(
            f"no tier {name!r} in the configuration: add [tiers.{name}] (known: {known})"
        )
    return tiers[name]


def headers_of(tier: Tier) -> dict[str, Any]:
    """The headers that let a tier's calls in.

    Raises:
        UsageError: its key is not set, or no header can hold it.
    """
    if tier.key_name is None:
        return {}
    key = secret(tier.key_name)
    if key is None:
        raise UsageError(
            f"model {tier.model!r} needs a key: set {tier.key_name} in the environment or in .env"
        )
    if not key.isascii():
        raise UsageError(f"{tier.key_name}: a character that no key has within it; write it anew")
    return {"authorization": f"Bearer {key}"}
