"""Which judges there are and which of them run: shipped ones, and those of ``[judges]``."""

from pathlib import Path

from pydantic import Field

from ancrage.config import Config
from ancrage.domain import Frozen
from ancrage.errors import UsageError
from ancrage.judges.definition import SHIPPED, SINGLE, Definition, read_definition, single
from ancrage.judges.judge import MAX_MATERIAL, Judge
from ancrage.llm import Models
from ancrage.plugins import installed, load_module

GROUP = "ancrage.judges"
"""Entry points whose value is a module or package that holds ``*.toml`` definitions."""


class Settings(Frozen):
    """The table ``[judges]``."""

    files: tuple[str, ...] = ()
    """Your own definitions, relative to the configuration; one with the name of a shipped judge
    takes its place."""
    tier: str | None = None
    """The tier of every judge, instead of the one its definition names."""
    tiers: dict[str, str] = {}
    """The tier of single judges, by name."""
    min_coverage: float = Field(default=0.9, ge=0, le=1)
    """The smallest share of verdicts that each judge must reach; below, the run exits 3."""
    max_material: int = Field(default=MAX_MATERIAL, ge=1000)
    """Characters that a judge may be shown; a longer material is unscored."""


def definitions(config: Config) -> dict[str, Definition]:
    """Every judge by name: shipped, then of entry points, then of the configuration.

    Raises:
        UsageError: a file cannot be used, or two judges own the same mode.
    """
    paths = sorted(SHIPPED.glob("*.toml"))
    for entry in installed(GROUP).values():
        module = load_module(entry.value, setting=f"entry point {entry.name!r} of {GROUP}")
        paths += sorted(Path(str(module.__file__)).parent.glob("*.toml"))
    paths += [config.root / each for each in config.table("judges", Settings).files]
    found: dict[str, Definition] = {}
    for path in paths:
        definition = read_definition(path)
        if definition.name == SINGLE:
            raise UsageError(f"{path}: {SINGLE!r} is the name of --judges one; choose another")
        found[definition.name] = definition
    owner: dict[str, str] = {}
    for definition in found.values():
        for mode in definition.modes:
            if other := owner.get(mode.name):
                raise UsageError(f"judges {other} and {definition.name} both own {mode.name!r}")
            owner[mode.name] = definition.name
    return found


def load_judges(
    choice: str, models: Models, config: Config | None = None, *, repeats: int = 1
) -> list[Judge]:
    """The judges that ``choice`` names: ``none``, ``three`` (all, each focused on its modes),
    ``one`` (a single judge with the modes of all), or names with commas between.

    Raises:
        UsageError: a name is not known, a tier is missing, or ``repeats`` is below 1.
    """
    if repeats < 1:
        raise UsageError(f"--judge-repeat {repeats}: give 1 or more")
    if choice == "none":
        return []
    config = config or models.config
    known = definitions(config)
    if choice == "three":
        chosen = list(known.values())
    elif choice == "one":
        chosen = [single(list(known.values()))]
    else:
        names = [name.strip() for name in choice.split(",") if name.strip()]
        unknown = [name for name in names if name not in known]
        if unknown or not names:
            raise UsageError(
                f"--judges {choice!r}: give none, three, one, or some of {', '.join(known)}"
            )
        chosen = [known[name] for name in dict.fromkeys(names)]
    settings = config.table("judges", Settings)
    if stray := set(settings.tiers) - set(known) - {SINGLE}:
        raise UsageError(f"[judges.tiers] {min(stray)!r} is no judge; known: {', '.join(known)}")
    return [
        Judge(
            definition,
            models.tier(settings.tiers.get(definition.name) or settings.tier or definition.tier),
            models,
            repeats,
            settings.max_material,
        )
        for definition in chosen
    ]
