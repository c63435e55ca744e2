"""Saved views: a name for the state of a page, so that it can be found again."""

from __future__ import annotations

import json
import secrets
from dataclasses import dataclass
from typing import Any

from sqlalchemy import delete, func, insert, select

from macex.errors import OptionError
from macex.server.storage import tables
from macex.server.storage.tables import Store, now

MOST = 200  # of a project: they are listed on its page
STATE_BYTES = 50_000


@dataclass(frozen=True)
class SavedView:
    """What was looked at, under a name."""

    id: str
    project: str
    owner: str
    name: str
    state: Any
    created: str


class Views(Store):
    """The saved views in a database."""

    def save(self, project: str, owner: str, name: str, state: Any) -> SavedView:
        """Keep a view; a project has room for so many."""
        text = json.dumps(state)
        if len(text) > STATE_BYTES:
            raise OptionError(f"the state of a view has at most {STATE_BYTES:,} characters as JSON")
        if self.count(project) >= MOST:
            raise OptionError(f"a project has at most {MOST} saved views: forget one of them first")
        view = SavedView(secrets.token_hex(8), project, owner, name, state, now())
        self._run(insert(tables.views).values({**vars(view), "state": text}))
        return view

    def of(self, project: str, start: int = 0, size: int = MOST) -> list[SavedView]:
        """The views of a project, newest first."""
        columns = tables.views.c
        found = select(tables.views).where(columns.project == project)
        found = found.order_by(columns.created.desc(), columns.id).offset(start).limit(size)
        return [_view(line) for line in self._lines(found)]

    def count(self, project: str) -> int:
        """How many views a project has."""
        return int(self._cells(select(func.count()).where(tables.views.c.project == project))[0])

    def get(self, project: str, identity: str) -> SavedView | None:
        """One view of a project."""
        columns = tables.views.c
        found = select(tables.views).where(columns.id == identity, columns.project == project)
        line = self._line(found)
        return None if line is None else _view(line)

    def remove_all(self, project: str) -> None:
        """Forget the views of a project."""
        self._run(delete(tables.views).where(tables.views.c.project == project))

    def remove(self, project: str, identity: str) -> bool:
        """Forget a view; whether there was one."""
        chosen = (tables.views.c.id == identity) & (tables.views.c.project == project)
        return bool(self._run(delete(tables.views).where(chosen)))


def _view(line: dict[str, Any]) -> SavedView:
    return SavedView(**{**line, "state": json.loads(line["state"])})
