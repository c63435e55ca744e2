"""Answers that are given again to a request that is sent again."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import and_, delete, insert, or_, select, update
from sqlalchemy.exc import IntegrityError

from macex.server.storage import tables
from macex.server.storage.tables import Store

KEPT_S = 24 * 3600
WORKED_S = 600  # after which one who began to answer is thought to be gone


@dataclass(frozen=True)
class StoredAnswer:
    """An answer, or the place of one that is not there yet: its status is None."""

    asked: str
    status: int | None
    headers: Mapping[str, str]
    body: bytes


class StoredAnswers(Store):
    """The answers in a database."""

    def begin(self, identity: str, asked: str) -> StoredAnswer | None:
        """What is stored; None for the first who asks, and who has to answer."""
        self._forget_old()
        line = {"id": identity, "asked": asked, "created": int(time.time())}
        try:
            self._run(insert(tables.answers).values(line))
        except IntegrityError:
            return self._get(identity)
        return None

    def keep(self, identity: str, status: int, headers: Mapping[str, str], body: bytes) -> None:
        """The answer, to be given again."""
        said = {"status": status, "headers": json.dumps(dict(headers)), "body": body}
        self._run(update(tables.answers).where(tables.answers.c.id == identity).values(said))

    def forget(self, identity: str) -> None:
        """There was no answer worth keeping: the next who asks is answered again."""
        self._run(delete(tables.answers).where(tables.answers.c.id == identity))

    def _get(self, identity: str) -> StoredAnswer | None:
        line = self._line(select(tables.answers).where(tables.answers.c.id == identity))
        if line is None:
            return None
        headers = json.loads(line["headers"] or "{}")
        return StoredAnswer(line["asked"], line["status"], headers, line["body"] or b"")

    def _forget_old(self) -> None:
        columns, now = tables.answers.c, int(time.time())
        stuck = and_(columns.status.is_(None), columns.created < now - WORKED_S)
        self._run(delete(tables.answers).where(or_(columns.created < now - KEPT_S, stuck)))
