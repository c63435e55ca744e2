"""Jobs and their finished parts.

A part is stored in one transaction with the progress it makes, so that what is counted as done is
there, whatever happens to the server.
"""

from __future__ import annotations

import json
import secrets
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import ColumnElement, and_, delete, func, insert, select, true, update
from sqlalchemy.exc import IntegrityError

from macex.server.storage import tables
from macex.server.storage.audit import AuditLines, keep_common
from macex.server.storage.tables import Store, now
from macex.version import __version__

Status = Literal["queued", "running", "done", "failed", "cancelled"]
OPEN = ("queued", "running")
SAID = [column for column in tables.jobs.c if column.name != "source"]


@dataclass(frozen=True)
class Job:
    """A job as it stands; `question` is what is asked of its rows."""

    id: str
    project: str
    owner: str
    key: str | None
    status: Status
    created: str
    finished: str | None
    question: Mapping[str, Any]
    fingerprint: str | None
    total: int
    done: int
    chunk: int
    error: str | None
    model: str | None = None  # the SHA-256 of the model's file when the job was made
    version: str | None = None  # of macex then

    @property
    def ended(self) -> bool:
        """Whether nothing more will happen."""
        return self.status not in OPEN


class Jobs(Store):
    """The jobs in a database."""

    def add(
        self,
        project: str,
        owner: str,
        question: Mapping[str, Any],
        source: Mapping[str, Any],
        *,
        total: int,
        chunk: int,
        key: str | None = None,
        model: str | None = None,
    ) -> Job:
        """A new job of somebody's, and of their key, waiting for its turn."""
        identity = secrets.token_hex(12)
        line = {"id": identity, "project": project, "owner": owner, "key": key}
        line |= {"status": "queued", "created": now(), "question": json.dumps(question)}
        packed = zlib.compress(json.dumps(source).encode())
        counts = {"source": packed, "total": total, "done": 0, "chunk": chunk}
        line |= {"model": model, "version": __version__}
        job = insert(tables.jobs).values({**line, **counts})
        self._run(job, insert(tables.claims).values({"job": identity}))
        return self.get(identity)

    def get(self, identity: str) -> Job:
        """One job; `KeyError` if there is none."""
        line = self._line(select(*SAID).where(tables.jobs.c.id == identity))
        if line is None:
            raise KeyError(identity)
        return _job(line)

    def source(self, identity: str) -> Mapping[str, Any]:
        """Which rows a job is about: their cells, or their places in the table."""
        (packed,) = self._cells(select(tables.jobs.c.source).where(tables.jobs.c.id == identity))
        told: Mapping[str, Any] = json.loads(zlib.decompress(packed))
        return told

    def all(
        self,
        project: str | None = None,
        most: int = 100,
        *,
        start: int = 0,
        key: str | None = None,
        projects: Sequence[str] | None = None,
    ) -> list[Job]:
        """Some of the newest jobs: of a project, of a key, or of some projects."""
        found = select(*SAID).where(_chosen(project, key, projects))
        newest = found.order_by(tables.jobs.c.created.desc(), tables.jobs.c.id)
        return [_job(line) for line in self._lines(newest.offset(start).limit(most))]

    def count(
        self,
        project: str | None = None,
        *,
        key: str | None = None,
        projects: Sequence[str] | None = None,
    ) -> int:
        """How many jobs there are of a project, of a key, or of some projects."""
        chosen = select(func.count()).select_from(tables.jobs)
        return int(self._cells(chosen.where(_chosen(project, key, projects)))[0])

    def waiting(self) -> list[str]:
        """The projects with jobs that wait or run, the one with the oldest job first."""
        oldest = func.min(tables.jobs.c.created)
        found = select(tables.jobs.c.project).where(tables.jobs.c.status.in_(OPEN))
        return self._cells(found.group_by(tables.jobs.c.project).order_by(oldest))

    @contextmanager
    def claimed(self, project: str) -> Iterator[str | None]:
        """A project's oldest job that nobody works on, for nobody else until the block ends.

        The claim is a lock on a row, which PostgreSQL drops with the connection: a job of a server
        that was killed is free at once. SQLite has no such locks, and one server, which works on
        one job of a project at a time.
        """
        found = (
            select(tables.jobs.c.id)
            .join(tables.claims, tables.claims.c.job == tables.jobs.c.id)
            .where(tables.jobs.c.status.in_(OPEN), tables.jobs.c.project == project)
            .order_by(tables.jobs.c.created, tables.jobs.c.id)
            .limit(1)
            .with_for_update(of=tables.claims, skip_locked=True)
        )
        if self._engine.dialect.name == "sqlite":
            yield next(iter(self._cells(found)), None)
        else:
            with self._engine.begin() as connection:
                yield connection.execute(found).scalar()

    def make_claimable(self) -> None:
        """Jobs of an earlier version get their line to be claimed by."""
        claimed = select(tables.claims.c.job)
        lost = select(tables.jobs.c.id).where(tables.jobs.c.id.not_in(claimed))
        for identity in self._cells(lost):
            self._run(insert(tables.claims).values({"job": identity}))

    def unfinished(self, key: str) -> int:
        """How many jobs of a key wait or run."""
        chosen = (tables.jobs.c.key == key) & tables.jobs.c.status.in_(OPEN)
        return int(self._cells(select(func.count()).select_from(tables.jobs).where(chosen))[0])

    def of(self, project: str) -> list[str]:
        """The ids of all jobs of a project."""
        return self._cells(select(tables.jobs.c.id).where(tables.jobs.c.project == project))

    def begin(self, identity: str, fingerprint: str) -> bool:
        """Mark a job as running; False if it has ended meanwhile."""
        return self._mark(identity, {"status": "running", "fingerprint": fingerprint})

    def end(self, identity: str, status: Status, error: str | None = None) -> bool:
        """Mark the end of a job, once."""
        return self._mark(identity, {"status": status, "error": error, "finished": now()})

    def _mark(self, identity: str, values: Mapping[str, Any]) -> bool:
        still = (tables.jobs.c.id == identity) & tables.jobs.c.status.in_(OPEN)
        return bool(self._run(update(tables.jobs).where(still).values(values)))

    def remove(self, identity: str) -> None:
        """Forget a job and its parts."""
        theirs = [delete(one).where(one.c.job == identity) for one in (tables.parts, tables.claims)]
        self._run(*theirs, delete(tables.jobs).where(tables.jobs.c.id == identity))

    def finished_parts(self, identity: str) -> set[int]:
        """The numbers of the parts that are there."""
        return {*self._cells(select(tables.parts.c.number).where(tables.parts.c.job == identity))}

    def add_part(
        self,
        identity: str,
        number: int,
        content: bytes,
        statuses: Mapping[str, int],
        records: Sequence[AuditLines] = (),
    ) -> None:
        """Store a part with the audit records of its rows, and count it, all of it once.

        A job that was removed meanwhile has no parts.
        """
        rows = sum(statuses.values())
        line = {"job": identity, "number": number, "rows": rows}
        line |= {"statuses": json.dumps(statuses), "content": zlib.compress(content)}
        mine = update(tables.jobs).where(tables.jobs.c.id == identity)
        for one in records:
            keep_common(self._engine, one)
        try:
            with self._engine.begin() as connection:
                connection.execute(insert(tables.parts), line)
                connection.execute(mine.values(done=tables.jobs.c.done + rows))
                for one in records:
                    connection.execute(insert(tables.audit), list(one.lines))
        except IntegrityError:
            return  # the job is gone, or the part is there

    def parts(self, identity: str) -> Iterator[bytes]:
        """The content of the parts, in order, one at a time in memory."""
        for number in sorted(self.finished_parts(identity)):
            chosen = (tables.parts.c.job == identity) & (tables.parts.c.number == number)
            for content in self._cells(select(tables.parts.c.content).where(chosen)):
                yield zlib.decompress(content)

    def statuses(self, identity: str) -> dict[str, int]:
        """How many rows have which status so far."""
        columns = tables.parts.c
        found = select(columns.statuses, func.count().label("times")).where(columns.job == identity)
        counted: Counter[str] = Counter()
        for line in self._lines(found.group_by(columns.statuses)):
            for status, rows in json.loads(line["statuses"]).items():
                counted[status] += line["times"] * rows
        return dict(sorted(counted.items()))


def _chosen(
    project: str | None, key: str | None, projects: Sequence[str] | None
) -> ColumnElement[bool]:
    columns = tables.jobs.c
    parts = [
        *([] if project is None else [columns.project == project]),
        *([] if key is None else [columns.key == key]),
        *([] if projects is None else [columns.project.in_(projects)]),
    ]
    return and_(true(), *parts)


def _job(line: dict[str, Any]) -> Job:
    return Job(**{**line, "question": json.loads(line["question"])})
