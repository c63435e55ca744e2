"""The parts of an output: in a folder beside it until they are joined, or the output themselves."""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from macex.errors import OptionError, RunError
from macex.render.files import kept, write_whole
from macex.scale.alone import LOCK, alone
from macex.scale.auditing import completed, intention
from macex.scale.task import Done, digest
from macex.scale.writing import Form

JOB = "job.json"
DONE = "_SUCCESS"
PART = re.compile(r"part-\d{6,}\.parquet")
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@dataclass(frozen=True)
class Parts:
    """One file a chunk, and beside it a note of what it holds, written last."""

    out: Path
    form: Form

    @property
    def folder(self) -> Path:
        """Where the parts are."""
        return self.out.with_name(f"{self.out.name}.parts")

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
                    self.folder.mkdir(parents=True, exist_ok=True)
                    held.enter_context(alone(self.folder))
                    self._begin(job, resume=resume)
            except RunError:
                if self._bare():
                    shutil.rmtree(self.folder, ignore_errors=True)
                raise
            try:
                yield
            except BaseException:
                self._leave()
                raise

    def _begin(self, job: dict[str, Any], *, resume: bool) -> None:
        """Write down what the run is to do; what a run that was killed was writing is removed."""
        path = self.folder / JOB
        if resume and path.exists():
            self._refuse_other(json.loads(path.read_text(encoding="utf-8")), job)
        else:
            self._forget()
        for place in (self.out.parent, self.part(0).parent, self.folder):
            for old in filter(self._unfinished, [*place.glob(".*.part")]):
                old.unlink(missing_ok=True)
        write_whole(path, json.dumps(job, sort_keys=True).encode())

    def _unfinished(self, file: Path) -> bool:
        """Whether a file is what this output, or a part of it, was being written to."""
        name, _, process = file.name.removeprefix(".").removesuffix(".part").rpartition(".")
        among = file.parent != self.out.parent
        return process.isdecimal() and (among or name == self.out.name)

    def _bare(self) -> bool:
        """Whether there is no part to go on with."""
        return not any(self.folder.glob("*.note")) and not any(self.folder.glob("*.audit"))

    def _leave(self) -> None:
        """A run that ends before its first part is whole leaves nothing to go on with."""
        if self._bare():
            self._forget()
            shutil.rmtree(self.folder)

    def _forget(self) -> None:
        """Remove what an earlier run has left."""
        for old in self.folder.iterdir():
            if old.name != LOCK:
                old.unlink()

    def _refuse_other(self, before: dict[str, Any], now: dict[str, Any]) -> None:
        if before.get("rows") is None:
            raise OptionError(
                f"{self.folder} was begun with rows from a stream, which nobody can tell from "
                "others: start over with --force (force=True)"
            )
        for name in sorted(before.keys() | now.keys()):
            was, is_ = before.get(name), now.get(name)
            if was != is_:
                said = "" if len(f"{was}{is_}") > 80 else f" ({was!r} then, {is_!r} now)"
                raise OptionError(
                    f"{self.folder} was begun with another {name}{said}: finish it with the same, "
                    "or start over with --force (force=True)"
                )

    def note(self, at: int) -> dict[str, Any] | None:
        """What part `at` holds; None where it is still to be made, or is not what was written."""
        try:
            noted: dict[str, Any] = json.loads(self._path(at, "note").read_text(encoding="utf-8"))
            content = self.part(at).read_bytes()
        except (FileNotFoundError, ValueError):
            return None
        return noted if noted.get("sha256") == digest(content) else None

    def add(self, done: Done, audit: Path | None = None) -> None:
        """Write one part, whole or not at all, and record what is to be recorded, once.

        A part that has a note was recorded before: it is made again because it was damaged.
        """
        recorded = self._path(done.at, "note").exists()
        with self._room():
            write_whole(self.part(done.at), done.content)
            if audit is not None and done.records and not recorded:
                intended = intention(audit, done.note, done.records)
                write_whole(self._path(done.at, "audit"), intended)
                completed(audit, intended)
            write_whole(self._path(done.at, "note"), json.dumps(done.note).encode())
            self._path(done.at, "audit").unlink(missing_ok=True)

    def recovered(self, at: int, audit: Path | None) -> dict[str, Any] | None:
        """What part `at` holds, its records completed if the run died while it wrote them."""
        meant = self._path(at, "audit")
        if self.note(at) is None and audit is not None and meant.exists():
            note = completed(audit, meant.read_bytes())
            write_whole(self._path(at, "note"), json.dumps(note).encode())
            meant.unlink()
        return self.note(at)

    @contextmanager
    def _room(self) -> Iterator[None]:
        """Says what to do when there is no room on the disk."""
        try:
            yield
        except OSError as error:
            if error.errno not in FULL:
                raise
            whole = len(list(self.folder.glob("*.note")))
            raise RunError(
                f"{error.filename}: {error.strerror}. {whole} parts are written and whole: make "
                "room, then go on with --resume (resume=True)"
            ) from error

    def finish(self, count: int) -> None:
        """Join the parts under the final name, at once, and remove them."""
        with self._room():
            self._join(count)
        shutil.rmtree(self.folder)

    def _join(self, count: int) -> None:
        unfinished = self.out.with_name(f".{self.out.name}.{os.getpid()}.part")
        try:
            with unfinished.open("wb") as file:
                self.form.join([self.part(at) for at in range(count)], file)
                kept(file)
            unfinished.replace(self.out)
        except OSError as error:
            raise type(error)(error.errno, error.strerror, str(self.out)) from error
        finally:
            unfinished.unlink(missing_ok=True)

    def part(self, at: int) -> Path:
        """Where part `at` is."""
        return self._path(at, "part")

    def _path(self, at: int, ending: str) -> Path:
        return self.folder / f"{at:06d}.{ending}"


@dataclass(frozen=True)
class Folder(Parts):
    """Parts that are the output: a folder of Parquet files, whole when `_SUCCESS` is in it.

    Names that begin with `_` are no data to those who read such a folder.
    """

    @property
    def folder(self) -> Path:
        """Where the notes are, as long as the run is not over."""
        return self.out / "_macex"

    def _forget(self) -> None:
        """The mark goes first: it never stands over a folder that is not whole."""
        (self.out / DONE).unlink(missing_ok=True)
        for old in [file for file in self.out.iterdir() if PART.fullmatch(file.name)]:
            old.unlink()
        super()._forget()

    def part(self, at: int) -> Path:
        """Where part `at` is."""
        return self.out / f"part-{at:06d}.parquet"

    def finish(self, count: int) -> None:
        """Mark the folder as whole."""
        del count
        with self._room():
            write_whole(self.out / DONE, b"")
        shutil.rmtree(self.folder)
