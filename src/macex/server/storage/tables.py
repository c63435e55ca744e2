"""The tables, the same in SQLite and PostgreSQL, and how statements on them are run.

Times are ISO text in UTC.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    Column,
    Engine,
    Executable,
    ForeignKey,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
)

metadata = MetaData()

keys = Table(
    "macex_keys",
    metadata,
    Column("id", String(16), primary_key=True),
    Column("name", String(100), nullable=False, unique=True),
    Column("digest", String(64), nullable=False),
    Column("scopes", String(100), nullable=False),
    Column("created", String(40), nullable=False),
    Column("projects", Text),
)

sessions = Table(
    "macex_sessions",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("key", String(60), nullable=False),
    Column("until", Integer, nullable=False),
)

jobs = Table(
    "macex_jobs",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("project", String(100), nullable=False, index=True),
    Column("owner", String(100), nullable=False),
    Column("key", String(60)),
    Column("status", String(16), nullable=False, index=True),
    Column("created", String(40), nullable=False, index=True),
    Column("finished", String(40)),
    Column("question", Text, nullable=False),
    Column("source", LargeBinary, nullable=False),
    Column("fingerprint", String(64)),
    Column("total", Integer, nullable=False),
    Column("done", Integer, nullable=False),
    Column("chunk", Integer, nullable=False),
    Column("error", Text),
    Column("model", String(64)),
    Column("version", String(40)),
)

claims = Table(
    "macex_claims",
    metadata,
    Column("job", String(32), ForeignKey("macex_jobs.id", ondelete="CASCADE"), primary_key=True),
)
"""A line for each job. Who holds its lock works on the job; the job's own line stays free."""

parts = Table(
    "macex_parts",
    metadata,
    Column("job", String(32), ForeignKey("macex_jobs.id", ondelete="CASCADE"), primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("rows", Integer, nullable=False),
    Column("statuses", Text, nullable=False),
    Column("content", LargeBinary, nullable=False),
)

answers = Table(
    "macex_answers",
    metadata,
    Column("id", String(64), primary_key=True),
    Column("asked", String(64), nullable=False),
    Column("created", Integer, nullable=False),
    Column("status", Integer),
    Column("headers", Text),
    Column("body", LargeBinary),
)
"""Answers to requests with an `Idempotency-Key`; without a status while they are being made."""

audit_common = Table(
    "macex_audit_common",
    metadata,
    Column("sha256", String(64), primary_key=True),
    Column("body", Text, nullable=False),
)

audit = Table(
    "macex_audit",
    metadata,
    Column("id", String(36), primary_key=True),
    Column("time", String(40), nullable=False, index=True),
    Column("project", String(100), nullable=False, index=True),
    Column("status", String(16), nullable=False),
    Column("common", String(64), ForeignKey("macex_audit_common.sha256"), nullable=False),
    Column("body", Text, nullable=False),
)

views = Table(
    "macex_views",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("project", String(100), nullable=False, index=True),
    Column("owner", String(100), nullable=False),
    Column("name", String(200), nullable=False),
    Column("state", Text, nullable=False),
    Column("created", String(40), nullable=False),
)


def now() -> str:
    """The present moment as the tables hold it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


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
