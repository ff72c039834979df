"""The table ``[prove]``, and the kinds that are planted."""

from ancrage.config import Config
from ancrage.domain import Frozen
from ancrage.errors import UsageError
from ancrage.plugins import installed, load_module
from ancrage.prove import answers, edits, faults, quotes
from ancrage.prove.model import Kind


class ProveSettings(Frozen):
    """What must be found for ``prove`` to pass."""

    modules: tuple[str, ...] = ()
    """Modules with kinds of your own, beside those of the entry-point group ``ancrage.faults``."""
    detection: float = 0.95
    """The share of each kind of fault that must be found, by whichever mode may own it."""
    false_alarms: float = 0.0
    """The share of each harmless kind that may raise something."""
    floors: dict[str, float] = {}
    """Other shares for single kinds: found for a fault, left alone for a harmless one."""

    def floor(self, kind: Kind) -> float:
        """The share of answers that must come out right."""
        usual = self.detection if kind.is_fault else 1 - self.false_alarms
        return self.floors.get(kind.name, usual)


def read_settings(config: Config) -> ProveSettings:
    """The table ``[prove]`` of the configuration.

    Raises:
        UsageError: it is not valid.
    """
    return config.table("prove", ProveSettings)


def load_kinds(settings: ProveSettings, names: str = "") -> list[Kind]:
    """The kinds to plant: ours and the user's; ``names`` (commas between) keeps those alone.

    Raises:
        UsageError: a module cannot be imported, two kinds share a name, or a name is not known.
    """
    kinds = {
        kind.name: kind
        for kind in (*faults.FAULTS, *quotes.FAULTS, *answers.FAULTS, *edits.HARMLESS)
    }
    places = [(name, "[prove] modules") for name in settings.modules]
    places += [
        (entry.module, f"entry point {name!r} of ancrage.faults")
        for name, entry in installed("ancrage.faults").items()
    ]
    for place, setting in places:
        for kind in vars(load_module(place, setting=setting)).values():
            if isinstance(kind, Kind) and kinds.setdefault(kind.name, kind) is not kind:
                raise UsageError(f"{setting}: a kind named {kind.name!r} exists already")
    wanted = [name.strip() for name in names.split(",") if name.strip()]
    if unknown := [name for name in [*wanted, *settings.floors] if name not in kinds]:
        raise UsageError(f"no kind of fault or edit is named {unknown[0]!r}")
    return [kinds[name] for name in wanted] if wanted else list(kinds.values())
