"""Everything macex raises on purpose.

    MacexError
    ├── SchemaError         the rows: a column, a dtype or a value that does not fit
    ├── GoalError           what was asked for cannot be asked of this model
    ├── ConstraintError     a constraint that names nothing or contradicts itself
    │   └── ExpressionError     a rule or derived column that cannot be read; shows where
    ├── OptionError         an option of the explainer or of a stage
    ├── ArgumentError       an argument that a function does not take
    ├── AttributeMissingError   an attribute that a result does not have
    ├── PlaceError          a place in a batch that it does not have
    ├── ModelError          the model raised, or answered what no model may answer
    ├── ModelFileError      a model file that is broken, unknown, or may run code
    ├── DataError           a dataset that cannot be found or is not what it should be
    ├── SavedError          a saved explainer that cannot be read
    ├── RunError            a run over many rows that stopped: no room, or a worker that died
    ├── UnavailableError    a model that cannot be asked now: its process is busy, or has ended
    ├── RenderError         a page or file that cannot be made
    └── ServerError         a server that cannot be reached, or refuses

Errors are for wrong *calls*. A question without an answer is not an error but an answer: an
explanation whose status says why.
"""

from __future__ import annotations

from difflib import get_close_matches
from numbers import Integral, Real
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


class MacexError(Exception):
    """The root of all errors raised by macex."""


class SchemaError(MacexError, ValueError):
    """The rows do not fit the schema: the message names the column and what to do."""


class GoalError(MacexError, ValueError):
    """The goal cannot be asked of this model."""


class ConstraintError(MacexError, ValueError):
    """A constraint names an unknown column or value, or contradicts itself."""


class ExpressionError(ConstraintError):
    """A rule or derived column cannot be read; the message marks the place."""


class OptionError(MacexError, ValueError):
    """An option has a value it cannot have."""


class ArgumentError(MacexError, TypeError):
    """A function does not take an argument: the message says what is meant, where that is known."""


class AttributeMissingError(MacexError, AttributeError):
    """An object has no such attribute: the message says which one is meant."""


class PlaceError(MacexError, IndexError):
    """A batch has no such place."""


class ModelError(MacexError, RuntimeError):
    """The model raised, or returned something that is not a score.

    `row` is the first offending row as a one-row frame, `partial` the explanations that were
    finished before. `advice` ends the message; a caller who knows better sets another.
    """

    def __init__(
        self, message: str, *, row: Any = None, partial: Any = None, advice: str = ""
    ) -> None:
        super().__init__(message)
        self.row = row
        self.partial = partial
        self.advice = advice

    def __str__(self) -> str:
        """The message, and what to do."""
        return "; ".join(part for part in (super().__str__(), self.advice) if part)


class ModelFileError(MacexError, ValueError):
    """A model file cannot be opened, or not without running what it may hold."""


class DataError(MacexError, LookupError):
    """A dataset cannot be found, or its file is not what it should be."""


class SavedError(MacexError, ValueError):
    """A saved explainer cannot be read."""


class RunError(MacexError, RuntimeError):
    """A run over many rows stopped; what it has written is whole, and it can go on."""


class UnavailableError(MacexError, RuntimeError):
    """A model that runs in a process of its own cannot be asked now; in `retry_s` it may be.

    `lost` says what became of the process, if it was lost at this very question.
    """

    def __init__(self, message: str, *, retry_s: float = 1, lost: str = "") -> None:
        super().__init__(message)
        self.retry_s, self.lost = retry_s, lost


class RenderError(MacexError, RuntimeError):
    """A page or a file cannot be made: the message says what is missing."""


class ServerError(MacexError, RuntimeError):
    """A server cannot be reached, or refuses; `status` is that of HTTP, 0 without an answer."""

    def __init__(self, message: str, *, status: int = 0) -> None:
        super().__init__(message)
        self.status = status


LARGEST = 1e300  # an option is not computed with beyond it
LONGEST = 200  # characters of a name that are compared, which may be a stranger's


def closest(name: object, known: Iterable[object]) -> str:
    """A hint that ends an error message: the known name nearest to the one given.

    >>> closest("educatoin", ["age", "education"])
    "; did you mean 'education'?"
    >>> closest("zzz", ["age", "education"])
    "; known are 'age', 'education'"
    """
    names = [str(k)[:LONGEST] for k in known]
    near = get_close_matches(str(name)[:LONGEST], names, n=1)
    if near:
        return f"; did you mean {near[0]!r}?"
    shown = ", ".join(repr(n) for n in names[:8])
    return f"; known are {shown}{', …' if len(names) > 8 else ''}" if names else ""


def require_count(option: str, value: object, least: int = 1) -> int:
    """The value of an option that counts something, as an `int`; raises for anything else.

    NumPy's integers are whole numbers. Truth values and floats are not, even 1.0.

    >>> require_count("n", 1.0)
    Traceback (most recent call last):
    ...
    macex.errors.OptionError: n must be a whole number of 1 or more, not 1.0
    """
    if isinstance(value, bool) or not isinstance(value, Integral) or int(value) < least:
        raise OptionError(f"{option} must be a whole number of {least} or more, not {value!r}")
    return int(value)


def require_choice(option: str, value: object, choices: Sequence[str]) -> None:
    """Raise for a value that is not one of the choices of an option."""
    if value not in choices:
        known = ", ".join(map(repr, choices))
        raise OptionError(f"{option}={value!r} is none of {known}{closest(value, choices)}")


def require_number(option: str, value: object) -> float:
    """The value of an option that is a finite number; raises for anything else."""
    number: Any = value
    real = isinstance(value, Real) and not isinstance(value, bool)
    if not real or not abs(number) <= LARGEST:
        raise OptionError(f"{option} must be a finite number, not {value!r}")
    return float(number)


def require_pair(option: str, value: object) -> tuple[float, float]:
    """The value of an option that is two numbers; raises if it is not."""
    if not isinstance(value, (tuple, list)) or len(value) != 2:
        raise OptionError(f"{option} must be (small, large), not {value!r}")
    return require_number(option, value[0]), require_number(option, value[1])


def require_flag(option: str, value: object) -> bool:
    """The value of an option that is true or false; raises if it is neither."""
    if type(value).__name__ not in ("bool", "bool_"):  # Python's and NumPy's
        raise OptionError(f"{option} is True or False, not {value!r}")
    return bool(value)


def require_path(option: str, value: object) -> Path:
    """The value of an option that names a file; raises if it is not a path."""
    if not isinstance(value, (str, PathLike)) or "\0" in str(value):
        raise OptionError(f"{option} takes the path of a file, not {value!r}")
    return Path(value)


def require_counts(stage: object, *names: str) -> None:
    """Make these options of a stage `int`s; raises unless each is a whole number of 1 or more."""
    for name in names:
        count = require_count(f"{type(stage).__name__}({name}=)", getattr(stage, name))
        object.__setattr__(stage, name, count)
