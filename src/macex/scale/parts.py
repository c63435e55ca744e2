"""The parts of an unfinished output, in a folder beside it."""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from macex.errors import OptionError
from macex.render.files import write_whole
from macex.scale.writing import Form

JOB = "job.json"


@dataclass(frozen=True)
class Parts:
    """One file a chunk, and beside it a note of what it holds, written last."""

    out: Path
    form: Form

    @property
    def folder(self) -> Path:
        """Where the parts are."""
        return self.out.with_name(f"{self.out.name}.parts")

    def begin(self, job: dict[str, Any], *, resume: bool, force: bool) -> None:
        """Make the folder, or go on with one that was made for the same job."""
        if self.folder.exists() and force and not resume:
            shutil.rmtree(self.folder)
        if self.folder.exists() and not resume:
            raise OptionError(
                f"{self.folder} holds an unfinished run: go on with --resume (resume=True), or "
                "start over with --force (force=True)"
            )
        self.folder.mkdir(exist_ok=True)
        path = self.folder / JOB
        if path.exists():
            self._refuse_other(json.loads(path.read_text(encoding="utf-8")), job)
        write_whole(path, json.dumps(job, sort_keys=True).encode())

    def _refuse_other(self, before: dict[str, Any], now: dict[str, Any]) -> None:
        for name in sorted(before.keys() | now.keys()):
            was, is_ = before.get(name), now.get(name)
            if was != is_:
                said = "" if len(f"{was}{is_}") > 80 else f" ({was!r} then, {is_!r} now)"
                raise OptionError(
                    f"{self.folder} was begun with another {name}{said}: finish it with the same, "
                    "or start over with --force (force=True)"
                )

    def note(self, at: int) -> dict[str, Any] | None:
        """What part `at` holds; None where it is still to be made."""
        try:
            noted: dict[str, Any] = json.loads(self._path(at, "note").read_text(encoding="utf-8"))
        except (FileNotFoundError, ValueError):
            return None
        return noted

    def add(self, at: int, content: bytes, note: dict[str, Any]) -> None:
        """Write one part, whole or not at all."""
        write_whole(self._path(at, "part"), content)
        write_whole(self._path(at, "note"), json.dumps(note).encode())

    def finish(self, count: int) -> None:
        """Join the parts under the final name, at once, and remove them."""
        unfinished = self.out.with_name(f".{self.out.name}.{os.getpid()}.part")
        try:
            with unfinished.open("wb") as file:
                self.form.join([self._path(at, "part") for at in range(count)], file)
            unfinished.replace(self.out)
        except OSError as error:
            raise type(error)(error.errno, error.strerror, str(self.out)) from error
        finally:
            unfinished.unlink(missing_ok=True)
        shutil.rmtree(self.folder)

    def _path(self, at: int, ending: str) -> Path:
        return self.folder / f"{at:06d}.{ending}"
