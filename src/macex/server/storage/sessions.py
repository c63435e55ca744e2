"""Sessions that are not over: one that was ended, or whose time is up, is no longer here."""

from __future__ import annotations

import secrets
import time

from sqlalchemy import delete, insert, select

from macex.server.storage import tables
from macex.server.storage.store import Store


class StoredSessions(Store):
    """The sessions in a database."""

    def add(self, key_id: str, lifetime_s: float) -> str:
        """A new session of a key; its id."""
        identity, now = secrets.token_hex(16), time.time()
        line = {"id": identity, "key": key_id, "until": int(now + lifetime_s)}
        old = delete(tables.sessions).where(tables.sessions.c.until < now)
        self._run(old, insert(tables.sessions).values(line))
        return identity

    def key_id(self, identity: str) -> str | None:
        """Whose session it is; None for one that is over."""
        line = self._line(select(tables.sessions).where(tables.sessions.c.id == identity))
        return None if line is None or line["until"] < time.time() else str(line["key"])

    def end(self, identity: str) -> None:
        """The session is over."""
        self._run(delete(tables.sessions).where(tables.sessions.c.id == identity))
