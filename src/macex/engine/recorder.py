"""What an audit keeps of each explanation, so that it can be made again.

The fingerprint of an engine, a hash of all that answers rest on, says whether two would answer
alike.
"""

from __future__ import annotations

import json
import platform
import uuid
from collections.abc import Callable
from copy import copy
from dataclasses import asdict
from datetime import UTC, datetime
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from macex.ask.goals import goal_stated
from macex.audit import Audit
from macex.engine.options import written_options
from macex.engine.robustness import ASKED, requirements_of
from macex.errors import OptionError
from macex.explanation.json import explanation_document, plain
from macex.schema.schema import stated
from macex.version import __version__

if TYPE_CHECKING:
    from macex.engine.batch import BatchOf
    from macex.engine.engine import Engine
    from macex.engine.fitted import Fitted


FORMAT = "macex.audit/1"


class Recorder:
    """Appends one line per explanation to an audit file."""

    format: ClassVar[str] = FORMAT

    def __init__(self, audit: Any, engine: Any) -> None:
        """Hash the files, once, and write down what all explanations share."""
        self._audit = audit if isinstance(audit, Audit) else Audit(audit)
        if not isinstance(self._audit.path, (str, PathLike)):
            raise OptionError(f"audit= takes the path of a file or an Audit, not {audit!r}")
        self.path = self._audit.path
        self._write: Callable[[list[dict[str, Any]]], None] = self._audit.write
        self._common = {"files": self._audit.files(), **self.shared(engine), "versions": versions()}

    def shared(self, engine: Engine) -> dict[str, Any]:
        """What all explanations of an engine share."""
        options = engine.options
        if callable(options.distance):
            raise OptionError("an explainer with a distance function of its own cannot be audited")
        return {
            "fingerprint": fingerprint(engine),
            "columns": stated(engine.schema),
            "library": engine.schema.library,
            "classes": plain(engine.classes),
            "options": plain(written_options(options)),
            **plain(relations_stated(engine.fitted)),
        }

    def asked(self, item: Any) -> Any:
        """The row that was asked about, as JSON."""
        return plain(item.source.rows.cells(item.source.query))

    def answer(self, item: Any) -> dict[str, Any]:
        """The answer, as JSON."""
        return explanation_document(item, canonical=True)

    def into(self, write: Callable[[list[dict[str, Any]]], None]) -> Self:
        """The same recorder, which hands its records over instead of appending them."""
        other = copy(self)
        other._write = write  # noqa: SLF001 - its own copy
        return other

    def of(self, batch: BatchOf[Any, Any]) -> Callable[[list[Any]], None]:
        """A function that records the answers to a question; what cannot be kept is an error."""
        written = {id(one): one.to_dict() for one in batch.constraints}
        call = {
            "n": batch.question.n,
            "margin": batch.question.margin,
            "max_rows": batch.question.max_rows,
            "timed": batch.deadline is not None,
            "diagnose": batch.question.diagnose,
            "on_error": "keep" if batch.question.keeps else "raise",
            **({} if batch.requirements.least is None else {"robust": batch.requirements.least}),
            **({} if batch.requirements.reach is None else {"reach": batch.requirements.reach}),
            **({"also": others} if (others := [*map(file_of, batch.question.also)]) else {}),
        }

        def record(items: list[Any]) -> None:
            now = datetime.now(UTC).isoformat(timespec="milliseconds")
            lines = [
                {
                    "format": self.format,
                    "id": str(uuid.uuid4()),
                    "time": now,
                    "row": place,
                    "name": plain(item.source.id),
                    "input": self.asked(item),
                    "goal": plain(goal_stated(item.goal)),
                    "constraints": plain(written[id(batch.constraints[place])]),
                    "call": call,
                    "output": self.answer(item),
                    "status": item.status,
                    "cost": plain(item.cost._asdict()),
                    **self._common,
                }
                for place, item in enumerate(items)
            ]
            self._write(lines)

        return record


def file_of(model: Any) -> dict[str, str | None]:
    """The file that a model was opened from, and its SHA-256; null for a live object."""
    path, digest = getattr(model, "path", None), getattr(model, "sha256", None)
    from_file = isinstance(path, Path) and isinstance(digest, str)
    return {"path": str(path) if from_file else None, "sha256": digest if from_file else None}


@cache
def versions() -> dict[str, str]:
    """The versions that answers may depend on."""
    libraries = {name: version(name) for name in ("numpy", "scipy", "scikit-learn", "pandas")}
    return {"python": platform.python_version(), "macex": __version__, **libraries}


def fingerprint(engine: Engine) -> str:
    """The SHA-256 of schema, options, training rows and the model's answers for them.

    Constraints are not in it. The model itself is known by its answers, so that a live object has
    a fingerprint, too.
    """
    fitted = engine.fitted
    document = {
        "schema": engine.schema.to_dict(),
        "options": written_options(fitted.options),
        "outlook": asdict(fitted.outlook),
        **relations_stated(fitted),
    }
    made = sha256(json.dumps(document, sort_keys=True, default=_called).encode())
    made.update(np.ascontiguousarray(fitted.ground.codes).tobytes())
    made.update(np.round(fitted.answers.scores, 6).tobytes())
    return made.hexdigest()


def relations_stated(fitted: Fitted) -> dict[str, Any]:
    """The relations that the caller gave, which no training row tells."""
    return {"relations": fitted.relations.to_list()} if fitted.stated else {}


def others_marked(engine: Engine, also: Any) -> list[str]:
    """What tells the models of `also=` apart: a SHA-256 of the answers of each."""
    fitted = engine.fitted
    frame = fitted.ground.schema.frame(codes := fitted.ground.codes[:ASKED])
    others = requirements_of(fitted, None, also).others
    scores = [np.round(other(frame, len(codes)).scores, 6) for other in others]
    return [sha256(answers.tobytes()).hexdigest() for answers in scores]


def _called(value: Any) -> str:
    return str(getattr(value, "__qualname__", value))
