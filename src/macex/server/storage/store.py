"""What all stores of a database share: statements, run and read."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Engine, Executable


class Store:
    """Runs statements on a database, each call in a transaction of its own."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def _run(self, *statements: Executable) -> int:
        """Run statements in one transaction; how many lines the last of them changed."""
        with self._engine.begin() as connection:
            for statement in statements:
                done = connection.execute(statement)
            return int(done.rowcount)

    def _lines(self, found: Executable) -> list[dict[str, Any]]:
        """The lines that a statement finds, by column."""
        with self._engine.connect() as connection:
            return [dict(line) for line in connection.execute(found).mappings()]

    def _line(self, found: Executable) -> dict[str, Any] | None:
        """The first of them, if there is any."""
        return next(iter(self._lines(found)), None)

    def _cells(self, found: Executable) -> list[Any]:
        """The first column of the lines that a statement finds."""
        with self._engine.connect() as connection:
            return list(connection.execute(found).scalars())
