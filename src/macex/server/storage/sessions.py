"""Sessions that are not over: one that was ended, or whose time is up, is no longer here."""

from __future__ import annotations

import secrets
import time

from sqlalchemy import Engine, delete, insert, select

from macex.server.storage import tables


class StoredSessions:
    """The sessions in a database."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def add(self, key_id: str, lifetime_s: float) -> str:
        """A new session of a key; its id."""
        identity, now = secrets.token_hex(16), time.time()
        line = {"id": identity, "key": key_id, "until": int(now + lifetime_s)}
        old = delete(tables.sessions).where(tables.sessions.c.until < now)
        with self._engine.begin() as connection:
            connection.execute(old)
            connection.execute(insert(tables.sessions), line)
        return identity

    def key_id(self, identity: str) -> str | None:
        """Whose session it is; None for one that is over."""
        chosen = tables.sessions.c.id == identity
        found = select(tables.sessions.c.key, tables.sessions.c.until).where(chosen)
        with self._engine.connect() as connection:
            line = connection.execute(found).first()
        return None if line is None or line.until < time.time() else str(line.key)

    def end(self, identity: str) -> None:
        """The session is over."""
        with self._engine.begin() as connection:
            connection.execute(delete(tables.sessions).where(tables.sessions.c.id == identity))
