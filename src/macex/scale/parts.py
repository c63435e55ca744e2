"""The parts of an output: in a folder beside it until they are joined, or the output themselves.

A folder of answers may grow with the files of rows. Its mark says which files it was made from. A
run that adds to it puts the mark aside, explains the files that are new into further parts, and
writes a mark over all of them.
"""

from __future__ import annotations

import errno
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from macex.errors import DataError, OptionError, RunError
from macex.scale.forms import Form
from macex.scale.places import LOCK, Place
from macex.scale.sources import Origin, content_marks, names_of
from macex.scale.task import Done, completed, digests, intention

JOB = "job.json"
DONE = "_SUCCESS"
NOTES = "_macex"
PART = re.compile(r"part-\d{6,}\.parquet")
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
BEFORE = "before.json"
ANY = "files"  # where rows may be others than before


@dataclass(frozen=True)
class PartFiles:
    """One file a chunk, and beside it a note of what it holds, written last."""

    out: Place
    form: Form

    @property
    def folder(self) -> Place:
        """Where the parts are."""
        return self.out.beside(f"{self.out.name}.parts")

    @contextmanager
    def begun(self, job: dict[str, Any], *, resume: bool, force: bool) -> Iterator[None]:
        """Make the folder, or go on with one that was made for the same job; no other run may."""
        if self.folder.exists() and not (resume or force):
            raise OptionError(
                f"{self.folder} holds an unfinished run: go on with --resume (resume=True), or "
                "start over with --force (force=True)"
            )
        with ExitStack() as held:
            try:
                with self._room():
                    self.folder.make()
                    held.enter_context(self.folder.held())
                    self._begin(job, resume=resume)
            except RunError:
                if self._bare():
                    self.folder.remove()
                raise
            try:
                yield
            except BaseException:
                self._leave()
                raise

    def _begin(self, job: dict[str, Any], *, resume: bool) -> None:
        """Write down what the run is to do; what a run that was killed was writing is removed."""
        place = self.folder.within(JOB)
        if resume and place.exists():
            self._refuse_other(json.loads(place.read()), job)
        else:
            self._forget()
        self._sweep()
        place.write(json.dumps(job, sort_keys=True).encode())

    def _sweep(self) -> None:
        """Remove what a run that was killed was writing."""
        self.out.sweep()
        self.folder.sweep(inside=True)

    def _bare(self) -> bool:
        """Whether no part of a run is left."""
        return not any(name.endswith((".note", ".audit")) for name in self.folder.files())

    def _leave(self) -> None:
        """A run that ends before its first part is whole leaves nothing to go on with."""
        if self._bare():
            self._forget()
            self.folder.remove()

    def _forget(self) -> None:
        """Remove what an earlier run has left."""
        for name in self.folder.files():
            if name != LOCK:
                self.folder.within(name).remove()

    def _refuse_other(self, before: dict[str, Any], now: dict[str, Any]) -> None:
        if before.get("rows") is None:
            raise OptionError(
                f"{self.folder} was begun with rows from a stream, which nobody can tell from "
                "others: start over with --force (force=True)"
            )
        for name in sorted(before.keys() | now.keys()):
            was, is_ = before.get(name), now.get(name)
            more = isinstance(was, list) and isinstance(is_, list) and is_[: len(was)] == was
            if was != is_ and not (more and name == "rows"):
                said = "" if len(f"{was}{is_}") > 80 else f" ({was!r} then, {is_!r} now)"
                raise OptionError(
                    f"{self.folder} was begun with another {name}{said}: finish it with the same, "
                    "or start over with --force (force=True)"
                )

    def note(self, at: int) -> dict[str, Any] | None:
        """What part `at` holds; None where it is still to be made, or is not what was written."""
        try:
            noted: dict[str, Any] = json.loads(self._beside(at, "note").read())
            content = {within: self.part(at, within).read() for within in noted["sha256"]}
        except (FileNotFoundError, ValueError, KeyError):
            return None
        return noted if noted["sha256"] == digests(content) else None

    def add(self, done: Done, audit: Path | None = None) -> None:
        """Write one part, whole or not at all, and record what is to be recorded, once.

        A part that has a note was recorded before: it is made again because it was damaged.
        """
        note, meant = self._beside(done.at, "note"), self._beside(done.at, "audit")
        recording = audit is not None and done.records and not note.exists()
        with self._room():
            for within, content in done.content.items():
                self.part(done.at, within).write(content)
            if recording and audit is not None:
                intended = intention(audit, done.note, done.records)
                meant.write(intended)
                completed(audit, intended)
            note.write(json.dumps(done.note).encode())
            if recording:
                meant.remove()

    def recovered(self, at: int, audit: Path | None) -> dict[str, Any] | None:
        """What part `at` holds, its records completed if the run died while it wrote them."""
        found, meant = self.note(at), self._beside(at, "audit")
        if found is None and audit is not None and meant.exists():
            note = completed(audit, meant.read())
            self._beside(at, "note").write(json.dumps(note).encode())
            meant.remove()
            return self.note(at)
        return found

    @contextmanager
    def _room(self) -> Iterator[None]:
        """Says what to do when there is no room on the disk."""
        try:
            yield
        except OSError as error:
            if error.errno not in FULL:
                raise
            whole = sum(name.endswith(".note") for name in self.folder.files())
            raise RunError(
                f"{error.filename}: {error.strerror}. {whole} parts are written and whole: make "
                "room, then go on with --resume (resume=True)"
            ) from error

    def finish(self, count: int, told: dict[str, Any]) -> None:
        """Join the parts under the final name, at once, and remove them."""
        del told
        with self._room(), self.out.written() as file:
            self.form.join([self.part(at) for at in range(count)], file)
        self.folder.remove()

    def part(self, at: int, within: str = "") -> Place:
        """Where part `at` is."""
        del within
        return self._beside(at, "part")

    def _beside(self, at: int, ending: str) -> Place:
        return self.folder.within(f"{at:06d}.{ending}")


@dataclass(frozen=True)
class Folder(PartFiles):
    """Parts that are the output: a folder of Parquet files, whole when `_SUCCESS` is in it.

    Readers of such a folder skip names that begin with `_`.
    """

    @property
    def folder(self) -> Place:
        """Where the notes are, as long as the run is not over."""
        return self.out.within(NOTES)

    def _sweep(self) -> None:
        self.out.sweep(inside=True)

    def _forget(self) -> None:
        """The mark goes first: it never stands over a folder that is not whole."""
        self.out.within(DONE).remove()
        for name in self.out.files():
            if PART.fullmatch(name.rpartition("/")[2]):
                self.out.within(name).remove()
        super()._forget()

    def part(self, at: int, within: str = "") -> Place:
        """Where part `at` is, or that of its files which is in a folder of its own."""
        return self.out.within(f"{within}{'/' if within else ''}part-{at:06d}.parquet")

    def finish(self, count: int, told: dict[str, Any]) -> None:
        """Mark the folder as whole, and say in the mark what it holds."""
        with self._room():
            self.out.within(DONE).write(json.dumps({**told, "parts": count}).encode())
        self.folder.remove()


@dataclass(frozen=True)
class Before:
    """What a folder held when the run began: files by their content, parts and rows."""

    files: Mapping[str, str] = field(default_factory=dict)
    parts: int = 0
    rows: int = 0
    job: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class Round:
    """The files that are to be explained now, with what tells their content, and what was before.

    Those that an interrupted run had begun with come first.
    """

    before: Before
    files: list[str | Path]
    marks: dict[str, str]


def begun_before(parts: PartFiles) -> Before:
    """What the folder of a run held when it began."""
    return parts.round.before if isinstance(parts, Growing) else Before()


def round_of(origin: Origin, out: Place) -> Round:
    """The files of an origin that an output was not made from; one that has changed is an error."""
    before, marks = _before(out), content_marks(origin)
    if not marks:
        raise OptionError("add=True needs files: it cannot tell which rows of a stream are new")
    for name, mark in marks.items():
        if before.files.get(name, mark) != mark:
            raise DataError(
                f"{name} was explained before and holds something else now: start over with "
                "--force (force=True), or give the rows that are new a file of their own"
            )
    noted = _noted(out.within(NOTES).within(JOB)) or {}
    begun = (
        [name for name, _ in noted.get("rows") or ()] if isinstance(noted.get("rows"), list) else []
    )
    new = [name for name in dict.fromkeys([*begun, *marks]) if name in marks]
    new = [name for name in new if name not in before.files]
    files = names_of(origin)
    return Round(before, [files[name] for name in new], {name: marks[name] for name in new})


def _before(out: Place) -> Before:
    for place in (out.within(NOTES).within(BEFORE), out.within(DONE)):
        if place.exists():
            noted = _noted(place)
            if noted is None:
                raise OptionError(
                    f"{place} does not say which files {out} was made from: start over with "
                    "--force (force=True)"
                )
            return Before(noted["files"], noted["parts"], noted["rows"], noted["job"])
    return Before()


def _noted(place: Place) -> dict[str, Any] | None:
    try:
        found: dict[str, Any] = json.loads(place.read())
    except (FileNotFoundError, ValueError):
        return None
    return found


@dataclass(frozen=True)
class Growing(Folder):
    """A folder to which the parts of a round are added."""

    round: Round = field(default_factory=lambda: Round(Before(), [], {}))

    def _begin(self, job: dict[str, Any], *, resume: bool) -> None:
        """Put aside what the folder holds; it is whole again at the end of the round."""
        if self.round.before.job is not None:
            self._refuse_other(dict(self.round.before.job), job | {"rows": ANY})
        mark, aside = self.out.within(DONE), self.folder.within(BEFORE)
        if mark.exists():
            aside.write(mark.read())
            mark.remove()
        super()._begin(job, resume=resume)

    def _forget(self) -> None:
        """Remove the parts of this round."""
        for name in self.out.files():
            part = name.rpartition("/")[2]
            if PART.fullmatch(part) and int(part[5:-8]) >= self.round.before.parts:
                self.out.within(name).remove()
        for name in self.folder.files():
            if name.endswith((".note", ".audit", JOB)):
                self.folder.within(name).remove()

    def _leave(self) -> None:
        """Without a new part the folder is as it was."""
        aside = self.folder.within(BEFORE)
        if self._bare() and aside.exists():
            self._forget()
            self.out.within(DONE).write(aside.read())
            self.folder.remove()
        else:
            super()._leave()
