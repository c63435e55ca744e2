"""The projects of a server, by name, and how they are opened in the background.

A name that comes with a request is looked up here and never becomes a path. While a project is
opened, its pages say that they are loading.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import shutil
import time
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from threading import Lock, RLock
from typing import Any

from macex.audit import Audit
from macex.errors import DataError, closest
from macex.models.files.model_file import load_model
from macex.server.projects.demo import NAME, TITLE, demo_parts
from macex.server.projects.parts import FILE, OpenModel, Parts, read_description, read_parts
from macex.server.projects.project import Project
from macex.server.projects.series import SeriesProject, read_series
from macex.server.workers.pool import Workers

LOG = logging.getLogger("macex.server")
REMEMBERED_S = 1.0
AuditFor = Callable[[str], Callable[[Any], Audit] | None]
AT_ONCE = 2
SOON_S = 0.3  # within which a page is worth waiting for


class UnknownProjectError(DataError):
    """There is no project of this name."""


class Catalogue:
    """All projects of a folder, and one from elsewhere or the demo."""

    def __init__(
        self,
        folder: Path,
        single: Path | None,
        audit: AuditFor,
        workers: Workers | None = None,
        *,
        demo: bool = True,
    ) -> None:
        """Folders are listed, and described, but not opened; the demo comes last.

        Models run in `workers`, or here.
        """
        self.folder, self._workers = folder, workers
        self._open_model: OpenModel = load_model if workers is None else workers.open_model
        self._audit = audit
        self._lock = RLock()
        self._projects: dict[str, Project] = {}
        self._places: dict[str, Path] = {}
        self._left_out: set[Path] = set()
        self._looked = 0.0
        self._look()
        if single is not None:
            self._list(slug(read_description(single).title, set(self._projects)), single)
        if demo and single is None:
            name = slug(NAME, set(self._projects))
            self._projects[name] = Project(name, TITLE, self._demo, audit(name))

    def _demo(self) -> Parts:
        if self._workers is None:
            return demo_parts()
        return demo_parts(partial(self._workers.make_model, demo_parts.__module__))

    def __iter__(self) -> Iterator[Project]:
        with self._lock:
            self._look()
            return iter(list(self._projects.values()))

    def _look(self) -> None:
        """Take note of projects that another server of this folder made or removed."""
        self._looked = time.monotonic()
        there = _folders(self.folder)
        for name, place in list(self._places.items()):
            if place.parent == self.folder and place not in there:
                del self._projects[name], self._places[name]
        for place in there:
            if place in self._places.values() or place in self._left_out:
                continue
            try:
                self._list(slug(place.name, set(self._projects)), place)
            except DataError as error:
                self._left_out.add(place)
                LOG.warning("project left out", extra={"project": place.name, "why": str(error)})

    def known(self, name: str) -> Project | None:
        """A project without a look at the disk, for a moment after the last look."""
        recent = time.monotonic() - self._looked < REMEMBERED_S
        return self._projects.get(name) if recent else None

    def __getitem__(self, name: str) -> Project:
        known = {project.name: project for project in self}
        if name not in known:
            raise UnknownProjectError(f"there is no project {name!r}{closest(name, known)}")
        return known[name]

    def get(self, name: str) -> Project | None:
        """The project of a name, if there is one."""
        return next((project for project in self if project.name == name), None)

    def model_hash(self, name: str) -> str | None:
        """The SHA-256 of the model file of a project that is open; nothing is read for this."""
        project = self._projects.get(name)
        return None if project is None else project.model_hash

    def add(self, title: str, fill: Callable[[Path], None]) -> Project:
        """A new project of the folder; `fill` puts its files there, or raises and leaves none."""
        with self._lock:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            there = {place.name for place in self.folder.iterdir()}
            name = slug(title, {*self._projects, *there})
            place = self.folder / name
            place.mkdir()
        try:
            fill(place)
            read_description(place)
        except BaseException:
            shutil.rmtree(place, ignore_errors=True)
            raise
        return self._list(name, place)

    def removable(self, name: str) -> bool:
        """Whether a project lies in the folder, so that it may be renamed and removed here."""
        place = self._places.get(name)
        return place is not None and place.parent == self.folder

    def rename(self, name: str, title: str) -> None:
        """Give a project of the folder another title; its name in addresses stays."""
        with self._lock:
            project = self[name]
            if not self.removable(project.name):
                raise DataError(f"project {name!r} was not uploaded and cannot be renamed here")
            place = self._places[project.name]
            replace(read_description(place), title=title).write(place)
            project.title = title

    def remove(self, name: str) -> None:
        """Forget a project of the folder and delete its files."""
        with self._lock:
            project = self[name]
            place = self._places.get(project.name)
            if place is None or place.parent != self.folder:
                raise DataError(f"project {name!r} was not uploaded and cannot be removed here")
            model = place / read_description(place).model
            (place / FILE).unlink()  # what is left is no project any more, to no server
            del self._projects[project.name], self._places[project.name]
        if self._workers is not None:
            self._workers.forget(model)
        shutil.rmtree(place)

    def list_live(self, project: Project) -> Project:
        """List a project that stands on what is in memory."""
        with self._lock:
            self._projects[project.name] = project
        return project

    def _list(self, name: str, place: Path) -> Project:
        told = read_description(place)
        kind, read = (
            (SeriesProject, read_series) if told.kind == "series" else (Project, read_parts)
        )
        load = partial(read, place, self._open_model)
        project = kind(name, told.title, load, self._audit(name))
        with self._lock:
            self._projects[name], self._places[name] = project, place
        return project


def slug(title: str, taken: Collection[str] = ()) -> str:
    """A name for addresses: small letters, digits and hyphens, not taken yet.

    >>> slug("Crédit 2024 / EU")
    'cr-dit-2024-eu'
    """
    kept = "".join(c if c.isascii() and c.isalnum() else " " for c in title.lower())
    plain = "-".join(kept.split())[:48].strip("-") or "project"
    numbered = (f"{plain}-{turn}" for turn in range(2, 1_000_000))
    return plain if plain not in taken else next(name for name in numbered if name not in taken)


def _folders(folder: Path) -> list[Path]:
    if not folder.is_dir():
        return []
    return sorted(place for place in folder.iterdir() if (place / FILE).is_file())


def settle() -> None:
    """Let the collector of garbage leave alone what is there now, which stays.

    A look at all objects of the libraries stops every thread for more than a tenth of a second.
    """
    gc.collect()
    gc.freeze()


class Opening:
    """Opens projects, each once at a time."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(max_workers=AT_ONCE, thread_name_prefix="open")
        self._lock = Lock()
        self._running: dict[str, Future[Project]] = {}

    def begin(self, project: Project) -> Future[Project]:
        """Open a project, unless that is being done already."""
        with self._lock:
            running = self._running.get(project.name)
            if running is None:
                running = self._running[project.name] = self._pool.submit(self._open, project)
        return running

    async def soon(self, project: Project) -> bool:
        """Whether a project is there within a moment; one that cannot be opened says so later."""
        if project.ready():
            return True
        running = asyncio.wrap_future(self.begin(project))
        done, _ = await asyncio.wait([running], timeout=SOON_S)
        if done:
            running.exception()  # which whoever opens it meets again, and shows
        return bool(done)

    def _open(self, project: Project) -> Project:
        try:
            opened = project.open()
            settle()
            return opened
        finally:
            with self._lock:
                self._running.pop(project.name, None)

    def close(self) -> None:
        """Begin nothing more."""
        self._pool.shutdown(wait=False, cancel_futures=True)
