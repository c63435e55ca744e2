"""Audit records in the database instead of a file.

What the records of a project have in common, such as its columns, is kept once.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

from sqlalchemy import Engine, insert, select
from sqlalchemy.exc import IntegrityError

from macex.audit import COMMON, Audit
from macex.server.projects.parts import Parts
from macex.server.projects.series import SeriesParts
from macex.server.storage import tables

ASKED_BY: ContextVar[Sequence[Mapping[str, Any]]] = ContextVar("asked by", default=())
"""Who asked, for each row of the call that is being answered, in order."""
HELD: ContextVar[list[AuditLines] | None] = ContextVar("held", default=None)
"""Where records are gathered that are stored later, together with something else."""


@dataclass(frozen=True)
class StoredAudit(Audit):
    """An audit whose lines go to a database."""

    engine: Engine | None = None
    project: str = ""

    def write(self, records: Sequence[dict[str, Any]]) -> None:
        """Add records, all or none: to the database, or to what `held` gathers."""
        if self.engine is None or not records:
            return
        written = audit_lines(self.project, _signed(records))
        gathered = HELD.get()
        if gathered is not None:
            gathered.append(written)
            return
        keep_common(self.engine, written)
        with self.engine.begin() as connection:
            connection.execute(insert(tables.audit), list(written.lines))


@dataclass(frozen=True)
class AuditLines:
    """Records as the tables have them: what they have in common, and a line each."""

    digest: str
    common: str
    lines: Sequence[dict[str, Any]]


def audit_lines(project: str, records: Sequence[dict[str, Any]]) -> AuditLines:
    """Records of one project, ready to be stored."""
    common = _dumps({part: records[0][part] for part in COMMON if part in records[0]})
    digest = sha256(common.encode()).hexdigest()
    lines = [
        {
            "id": record["id"],
            "time": record["time"],
            "project": project,
            "status": record["status"],
            "common": digest,
            "body": _dumps({k: v for k, v in record.items() if k not in COMMON}),
        }
        for record in records
    ]
    return AuditLines(digest, common, lines)


def keep_common(engine: Engine, written: AuditLines) -> None:
    """Store what records have in common, unless it is there."""
    known = tables.audit_common.c.sha256 == written.digest
    try:
        with engine.begin() as connection:
            if connection.execute(select(tables.audit_common.c.sha256).where(known)).first():
                return
            line = {"sha256": written.digest, "body": written.common}
            connection.execute(insert(tables.audit_common), line)
    except IntegrityError:
        return  # another process was quicker


@contextmanager
def held() -> Iterator[list[AuditLines]]:
    """Gather the records that are written meanwhile, to store them with the answers."""
    gathered: list[AuditLines] = []
    token = HELD.set(gathered)
    try:
        yield gathered
    finally:
        HELD.reset(token)


def stored_audit(engine: Engine, project: str, parts: Parts | SeriesParts) -> StoredAudit:
    """The audit of a project."""
    return StoredAudit(
        "", model=parts.model_file, data=parts.data_file, engine=engine, project=project
    )


def records(
    engine: Engine,
    project: str | None = None,
    *,
    since: datetime | None = None,
    start: int = 0,
    size: int | None = None,
) -> Iterator[dict[str, Any]]:
    """The records as an audit file has them, oldest first: all, or some of those since a time."""
    found = select(tables.audit.c.body, tables.audit_common.c.body.label("common")).join(
        tables.audit_common, tables.audit.c.common == tables.audit_common.c.sha256
    )
    if project is not None:
        found = found.where(tables.audit.c.project == project)
    if since is not None:
        earliest = since.astimezone(UTC).isoformat(timespec="milliseconds")
        found = found.where(tables.audit.c.time >= earliest)
    found = found.order_by(tables.audit.c.time, tables.audit.c.id).offset(start).limit(size)
    with engine.connect() as connection:
        for body, common in connection.execution_options(yield_per=500).execute(found):
            yield json.loads(body) | json.loads(common)


@contextmanager
def asked_by(who: Sequence[Mapping[str, Any]]) -> Iterator[None]:
    """Records that are written meanwhile say who asked: one entry a row."""
    token = ASKED_BY.set(who)
    try:
        yield
    finally:
        ASKED_BY.reset(token)


def _signed(records: Sequence[dict[str, Any]]) -> Sequence[dict[str, Any]]:
    who = ASKED_BY.get()
    return [
        {**record, "by": dict(who[record["row"]])} if record["row"] < len(who) else record
        for record in records
    ]


def _dumps(document: Any) -> str:
    return json.dumps(document, allow_nan=False, ensure_ascii=False)
