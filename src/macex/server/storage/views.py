"""Saved views: a name for the state of a page, so that it can be found again."""

from __future__ import annotations

import json
import secrets
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Engine, delete, insert, select

from macex.server.storage import tables
from macex.server.storage.tables import now


@dataclass(frozen=True)
class SavedView:
    """What was looked at, under a name."""

    id: str
    project: str
    owner: str
    name: str
    state: Any
    created: str


class Views:
    """The saved views in a database."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def save(self, project: str, owner: str, name: str, state: Any) -> SavedView:
        """Keep a view."""
        view = SavedView(secrets.token_hex(8), project, owner, name, state, now())
        line = {**vars(view), "state": json.dumps(state)}
        with self._engine.begin() as connection:
            connection.execute(insert(tables.views), line)
        return view

    def of(self, project: str) -> list[SavedView]:
        """The views of a project, newest first."""
        found = select(tables.views).where(tables.views.c.project == project)
        with self._engine.connect() as connection:
            lines = connection.execute(found.order_by(tables.views.c.created.desc()))
            return [_view(dict(line)) for line in lines.mappings()]

    def get(self, project: str, identity: str) -> SavedView | None:
        """One view of a project."""
        return next((view for view in self.of(project) if view.id == identity), None)

    def remove_all(self, project: str) -> None:
        """Forget the views of a project."""
        with self._engine.begin() as connection:
            connection.execute(delete(tables.views).where(tables.views.c.project == project))

    def remove(self, project: str, identity: str) -> bool:
        """Forget a view; whether there was one."""
        chosen = (tables.views.c.id == identity) & (tables.views.c.project == project)
        with self._engine.begin() as connection:
            return bool(connection.execute(delete(tables.views).where(chosen)).rowcount)


def _view(line: dict[str, Any]) -> SavedView:
    return SavedView(**{**line, "state": json.loads(line["state"])})
