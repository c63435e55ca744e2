"""Looking after the database, so that whether it answers is known without asking it."""

from __future__ import annotations

import threading
import time

from sqlalchemy import Engine, select
from sqlalchemy.exc import SQLAlchemyError

from macex.server.storage import tables

LOOK_S = 1.0
PATIENCE_S = 5.0  # after which a database that has not answered a look is thought to be gone


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
