"""The question: what a call asks of every row, whichever way the call comes in.

Python, files, clusters, the command line, HTTP and pages all read their arguments into a `Question`
and hand it on. Its fields are the arguments of `Explainer.explain`; their checks, defaults and
descriptions stand here and nowhere else.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from numbers import Real
from typing import Any

import numpy as np

from macex.ask.constraints import Constraints
from macex.ask.goals import Goal, goal_read, goal_stated, resolve
from macex.errors import ConstraintError, OptionError, closest, require_count

LONGEST_S = 1e9  # a longer time limit is as good as none


@dataclass(frozen=True, kw_only=True)
class Question:
    """What is asked of every row of a call.

    `want` and `constraints` may be lists with one entry for each row. A value that no call can have
    is an `OptionError`.

    >>> Question(n=3, margin=0.1).to_dict()
    {'n': 3, 'margin': 0.1}
    >>> Question.from_dict({"n": 3, "margin": 0.1}) == Question(n=3, margin=0.1)
    True
    """

    n: int = field(default=1, metadata={"text": "Counterfactuals for each row."})
    want: Any = field(
        default=None,
        metadata={"text": "A label or a goal; None for any other decision. Or one for each row."},
    )
    constraints: Any = field(
        default=None, metadata={"text": "What may change, beyond the explainer's own. Or one each."}
    )
    max_rows: int | None = field(
        default=None, metadata={"text": "The most rows the model may score for a query."}
    )
    timeout_s: float | None = field(
        default=None, metadata={"text": "The most seconds the call may take."}
    )
    margin: float = field(
        default=1e-6,
        metadata={"text": "By how much the wanted class must lead, from 0 to below 1."},
    )
    diagnose: bool = field(
        default=False, metadata={"text": "Say which constraint, if dropped, would give an answer."}
    )
    on_error: str = field(
        default="raise",
        metadata={"text": "Raise, or keep a row the model fails on, with a reason."},
    )
    robust: float | None = field(
        default=None, metadata={"text": "The least share of neighbors that must hold, too."}
    )
    reach: float | None = field(
        default=None,
        metadata={
            "text": "With causes, the least probability that the goal is met when acted upon."
        },
    )
    also: Iterable[Any] = field(
        default=(), metadata={"text": "Other models that must agree with every answer."}
    )

    def __post_init__(self) -> None:
        plain: dict[str, Any] = {"n": require_count("n", self.n)}
        if self.max_rows is not None:
            plain["max_rows"] = require_count("max_rows", self.max_rows)
        if self.timeout_s is not None and not (_number(self.timeout_s) and self.timeout_s > 0):
            raise OptionError(
                f"timeout_s must be a positive number of seconds, not {self.timeout_s!r}"
            )
        if not _number(self.margin) or not 0 <= self.margin < 1:
            raise OptionError(f"margin must be a number from 0 to below 1, not {self.margin!r}")
        if not isinstance(self.diagnose, (bool, np.bool_)):
            raise OptionError(f"diagnose is True or False, not {self.diagnose!r}")
        if not isinstance(self.on_error, str) or self.on_error not in ("raise", "keep"):
            raise OptionError(f"on_error is 'raise' or 'keep', not {self.on_error!r}")
        if self.robust is not None and not (_number(self.robust) and 0 <= self.robust <= 1):
            raise OptionError(f"robust must be a share from 0 to 1, not {self.robust!r}")
        if self.reach is not None and not (_number(self.reach) and 0 <= self.reach <= 1):
            raise OptionError(f"reach must be a probability from 0 to 1, not {self.reach!r}")
        plain |= {"margin": float(self.margin), "also": _models(self.also)}
        for name, value in plain.items():
            object.__setattr__(self, name, value)

    @property
    def deadline(self) -> float | None:
        """When the time of a call that begins now is over, on the clock of `time.monotonic`."""
        limit = self.timeout_s
        return None if limit is None else time.monotonic() + float(min(limit, LONGEST_S))

    @property
    def keeps(self) -> bool:
        """Whether a row that goes wrong gets a reason instead of an error."""
        return self.on_error == "keep"

    @property
    def demands(self) -> bool:
        """Whether more is asked of answers than that they reach their goals."""
        return self.robust is not None or self.reach is not None or bool(self.also)

    def goals(self, count: int) -> list[Goal]:
        """One goal for each of `count` rows."""
        return resolve(self.want, count)

    def to_dict(self) -> dict[str, Any]:
        """The fields that differ from their defaults, as plain JSON."""
        if self.also:
            raise OptionError("also= holds models, which cannot be written down")
        written = {"want": _stated, "constraints": _written}
        return {
            one.name: written.get(one.name, _plain)(getattr(self, one.name))
            for one in fields(self)
            if getattr(self, one.name) is not one.default and getattr(self, one.name) != one.default
        }

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> Question:
        """The question that `to_dict` wrote; an unknown field is an error."""
        for name in document:
            if name not in FIELDS:
                raise OptionError(f"a question has no field {name!r}{closest(name, FIELDS)}")
        read = dict(document)
        if "want" in read:
            read["want"] = _goal(read["want"])
        if "constraints" in read:
            read["constraints"] = _constraints(read["constraints"])
        return cls(**read)


FIELDS: dict[str, str] = {one.name: one.metadata["text"] for one in fields(Question)}


def _number(given: Any) -> bool:
    return isinstance(given, (Real, np.number)) and not isinstance(given, bool)


def _models(given: Any) -> tuple[Any, ...]:
    if hasattr(given, "predict") or isinstance(given, str) or not isinstance(given, Iterable):
        raise OptionError("also takes a list of models that must agree, e.g. also=[last_years]")
    return tuple(given)


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _stated(want: Any) -> Any:
    if isinstance(want, (list, tuple, np.ndarray)):
        return [goal_stated(goal) for goal in resolve(want, len(want))]
    return goal_stated(resolve(want, 1)[0])


def _goal(stated: Any) -> Any:
    return [goal_read(one) for one in stated] if isinstance(stated, list) else goal_read(stated)


def _written(given: Any) -> Any:
    if isinstance(given, (list, tuple)):
        return [None if one is None else _written(one) for one in given]
    return given.to_dict() if isinstance(given, Constraints) else dict(given)


def _constraints(written: Any) -> Any:
    if isinstance(written, list):
        return [None if one is None else Constraints.from_dict(one) for one in written]
    return Constraints.from_dict(written)


def read_constraints(given: Any) -> Constraints:
    """Constraints from what a caller may pass: none, an object, or a mapping of its parts."""
    if given is None:
        return Constraints()
    if isinstance(given, Constraints):
        return given
    if isinstance(given, Mapping):
        return Constraints.from_dict(given)
    raise ConstraintError(f"constraints= takes Constraints(...), not {type(given).__name__}")
