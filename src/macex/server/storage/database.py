"""Opening the database, whichever it is, and looking after it."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, create_engine, event, inspect, select, text
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, SQLAlchemyError

from macex.errors import OptionError
from macex.server.storage import tables
from macex.server.storage.tables import metadata

BUSY_S = 30
CONNECTIONS = 20  # kept; each job that runs holds one
WAIT_S = 10  # for a connection
LOOK_S = 1.0
PATIENCE_S = 5.0  # after which a database that has not answered a look is thought to be gone


def open_database(url: str) -> Engine:
    """The database at an SQLAlchemy URL, with its tables.

    SQLite keeps a write-ahead log, so that reading goes on while something is written.
    """
    try:
        made = make_url(url)
        if made.get_backend_name() == "sqlite":
            engine = _sqlite(url, made.database)
        else:
            engine = create_engine(
                url, pool_pre_ping=True, pool_size=CONNECTIONS, pool_timeout=WAIT_S
            )
        metadata.create_all(engine)
        _add_columns(engine)
    except ModuleNotFoundError as error:
        raise OptionError(f"the database needs {error.name}: pip install {error.name}") from error
    except (ArgumentError, SQLAlchemyError) as error:
        said = str(getattr(error, "orig", None) or error).splitlines()[0]
        raise OptionError(f"the database cannot be opened: {said}") from error
    return engine


def _add_columns(engine: Engine) -> None:
    """Give the tables of an earlier version the columns that came later, which may all be empty."""
    there = inspect(engine)
    for table in metadata.sorted_tables:
        known = {column["name"] for column in there.get_columns(table.name)}
        for column in table.columns:
            if column.name in known:
                continue
            kind = column.type.compile(engine.dialect)
            with engine.begin() as connection:
                connection.execute(
                    text(f"ALTER TABLE {table.name} ADD COLUMN {column.name} {kind}")
                )


def _sqlite(url: str, path: str | None) -> Engine:
    if path and path != ":memory:":
        Path(path).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    engine = create_engine(url, connect_args={"timeout": BUSY_S, "check_same_thread": False})
    event.listen(engine, "connect", _configure)
    return engine


def _configure(connection: Any, _record: Any) -> None:
    cursor = connection.cursor()
    cursor.execute("PRAGMA journal_mode=WAL")
    cursor.execute("PRAGMA synchronous=NORMAL")
    cursor.execute("PRAGMA foreign_keys=ON")
    cursor.close()


class Watch:
    """Asks the database every second, on a thread of its own."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._fault, self._seen = "", time.monotonic()
        self._ending = threading.Event()

    def start(self) -> None:
        """Begin to look."""
        threading.Thread(target=self._watch, name="database", daemon=True).start()

    def stop(self) -> None:
        """Look no more."""
        self._ending.set()

    @property
    def fault(self) -> str:
        """What is wrong with the database; empty where it answers."""
        late = time.monotonic() - self._seen > PATIENCE_S
        return "no answer" if late and not self._fault else self._fault

    def _watch(self) -> None:
        while not self._ending.wait(LOOK_S):
            self.look()

    def look(self) -> None:
        """Ask for something that every database of a server has."""
        try:
            with self._engine.connect() as connection:
                connection.execute(select(tables.claims.c.job).limit(1)).first()
            self._fault = ""
        except SQLAlchemyError as error:
            self._fault = type(error).__name__
        self._seen = time.monotonic()
