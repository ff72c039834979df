"""Ancrage: evals for assistants whose answers must be anchored in their sources."""


def __getattr__(name: str) -> str:
    """``__version__``, looked up only when asked for: that alone costs a tenth of start-up."""
    if name != "__version__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("ancrage")
    except PackageNotFoundError:  # run from a source tree that was never installed
        return "0.0.0"
