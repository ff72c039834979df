"""A connection to a database that is only read."""

from pathlib import Path
from typing import Any

from sqlalchemy import Engine, create_engine, event
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, NoSuchModuleError

from ancrage.config import secret
from ancrage.errors import UsageError


def read_only_engine(source: str, variable: str) -> Engine:
    """The engine of the address that an environment variable, or a line of ``.env``, holds.

    An SQLite file is opened for reading alone; other databases are, at each connection.

    Raises:
        UsageError: there is no address, or none that can be used.
    """
    address = secret(variable)
    if address is None:
        raise UsageError(
            f"[sources.{source}] set {variable} (environment or .env) to the database's "
            "address, such as postgresql://user:password@host/database"
        )
    try:
        url = make_url(address)
        if url.drivername in ("postgres", "postgresql"):
            # Its usual name means the driver that this project installs.
            url = url.set(drivername="postgresql+psycopg")
        if url.get_backend_name() == "sqlite":
            url = _read_only(url, variable)
        engine = create_engine(url, hide_parameters=True)
    except NoSuchModuleError as error:
        raise UsageError(f"{variable}: no such kind of database: {error}") from None
    except (ArgumentError, ValueError):  # a port that is no number
        raise UsageError(f"{variable} does not hold the address of a database") from None
    except ModuleNotFoundError as error:
        hint = "; pip install 'ancrage[postgres]'" if error.name == "psycopg" else ""
        raise UsageError(f"{variable}: the driver {error.name!r} is not installed{hint}") from None
    if url.get_backend_name() == "sqlite":
        event.listen(engine, "connect", _keep_undecodable_text)
    if url.drivername == "postgresql+psycopg":
        event.listen(engine, "connect", _keep_infinite_times)
    return engine


def _read_only(url: URL, variable: str) -> URL:
    """The address of an SQLite file that cannot be written, nor made by opening it.

    Raises:
        UsageError: there is no such file.
    """
    path = Path(url.database or "")
    if not path.is_file():
        raise UsageError(f"{variable}: no such file: {path}")
    return url.set(
        database=path.resolve().as_uri(), query={**url.query, "mode": "ro", "uri": "true"}
    )


def _keep_undecodable_text(connection: Any, _: object) -> None:
    """A text that is no UTF-8 costs the row that holds it, not those after it."""
    connection.text_factory = lambda data: data.decode(errors="surrogateescape")


def _keep_infinite_times(connection: Any, _: object) -> None:
    """PostgreSQL's ``infinity`` is no date of Python's: it comes as the text that it is."""
    from psycopg import DataError
    from psycopg.types.datetime import DateLoader, TimestampLoader, TimestamptzLoader

    loaders = {"date": DateLoader, "timestamp": TimestampLoader, "timestamptz": TimestamptzLoader}
    for name, base in loaders.items():

        def load(self: Any, data: Any, read: Any = base.load) -> Any:
            try:
                return read(self, data)
            except DataError:
                return bytes(data).decode()

        connection.adapters.register_loader(name, type(base.__name__, (base,), {"load": load}))
