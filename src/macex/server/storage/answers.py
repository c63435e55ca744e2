"""Answers that are given again to a request that is sent again."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import Engine, and_, delete, insert, or_, select, update
from sqlalchemy.exc import IntegrityError

from macex.server.storage import tables

KEPT_S = 24 * 3600
WORKED_S = 600  # after which one who began to answer is thought to be gone


@dataclass(frozen=True)
class StoredAnswer:
    """An answer, or the place of one that is not there yet: its status is None."""

    asked: str
    status: int | None
    headers: Mapping[str, str]
    body: bytes


class StoredAnswers:
    """The answers in a database."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def begin(self, identity: str, asked: str) -> StoredAnswer | None:
        """What is stored; None for the first who asks, and who has to answer."""
        self._forget_old()
        line = {"id": identity, "asked": asked, "created": int(time.time())}
        try:
            with self._engine.begin() as connection:
                connection.execute(insert(tables.answers), line)
        except IntegrityError:
            return self._get(identity)
        return None

    def keep(self, identity: str, status: int, headers: Mapping[str, str], body: bytes) -> None:
        """The answer, to be given again."""
        said = {"status": status, "headers": json.dumps(dict(headers)), "body": body}
        mine = update(tables.answers).where(tables.answers.c.id == identity)
        with self._engine.begin() as connection:
            connection.execute(mine.values(said))

    def forget(self, identity: str) -> None:
        """There was no answer worth keeping: the next who asks is answered again."""
        with self._engine.begin() as connection:
            connection.execute(delete(tables.answers).where(tables.answers.c.id == identity))

    def _get(self, identity: str) -> StoredAnswer | None:
        found = select(tables.answers).where(tables.answers.c.id == identity)
        with self._engine.connect() as connection:
            line = connection.execute(found).mappings().first()
        if line is None:
            return None
        headers = json.loads(line["headers"] or "{}")
        return StoredAnswer(line["asked"], line["status"], headers, line["body"] or b"")

    def _forget_old(self) -> None:
        columns, now = tables.answers.c, int(time.time())
        stuck = and_(columns.status.is_(None), columns.created < now - WORKED_S)
        old = delete(tables.answers).where(or_(columns.created < now - KEPT_S, stuck))
        with self._engine.begin() as connection:
            connection.execute(old)
