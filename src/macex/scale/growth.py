"""A folder of answers that grows with the files of rows: those that were read are left alone.

The mark of a whole folder says which files it was made from. A run that adds to it puts that aside,
explains the files that are new into further parts, and writes a mark over all of them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from macex.errors import DataError, OptionError
from macex.scale.parts import DONE, JOB, NOTES, PART, Folder, PartFiles
from macex.scale.places import Place
from macex.scale.sources import Origin, content_marks, names_of

BEFORE = "before.json"
ANY = "files"  # where rows may be others than before


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
    begun = [name for name, _ in noted.get("rows") or ()] if _is_round(noted) else []
    new = [name for name in dict.fromkeys([*begun, *marks]) if name in marks]
    new = [name for name in new if name not in before.files]
    files = names_of(origin)
    return Round(before, [files[name] for name in new], {name: marks[name] for name in new})


def _is_round(noted: Mapping[str, Any]) -> bool:
    return isinstance(noted.get("rows"), list)


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
