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

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from functools import wraps
from importlib import import_module
from inspect import signature
from numbers import Integral, Real
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, ParamSpec, TypeVar

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


P = ParamSpec("P")
R = TypeVar("R")
Hints = Mapping[str, str]

ONLY = 'constraints={"only": [...]} names what may change'
FIXED = 'constraints={"fixed": [...]} names what may not change'
RANGES = 'constraints={"ranges": {"age": (18, 65)}} bounds what a change may set'
COUNT = "n=3 gives each row three counterfactuals"
WANT = 'want="yes" names the class that is wanted'
SEED = "random_state=0 on the explainer is the seed; answers are the same in every call"
JOBS = "explain_file(..., jobs=-1) uses all cores; explain itself needs no workers"
CONSTRAINTS_OF_CALLS: Hints = {
    "features_to_vary": ONLY,
    "actionable_features": ONLY,
    "immutable_features": FIXED,
    "always_fixed": FIXED,
    "permitted_range": RANGES,
    "feature_range": RANGES,
    "n_jobs": JOBS,
    "random_seed": SEED,
    "seed": SEED,
}
EXPLAIN: Hints = {
    **CONSTRAINTS_OF_CALLS,
    "desired_class": WANT,
    "target_class": WANT,
    "desired_target": WANT,
    "y": WANT,
    "desired_range": "want=mx.between(low, high) asks for a score",
    "target_proba": "want=mx.at_least(0.7, label=...) asks for a score",
    "total_CFs": COUNT,
    "num_explanations": COUNT,
    "k": COUNT,
    "max_iter": "max_rows= bounds the rows that the model may score for a query",
    "time_limit": "timeout_s= bounds the seconds of a call",
    "proximity_weight": 'Explainer(prefer="nearest") puts near answers first',
    "diversity_weight": "n=3 gives different answers; Explainer(selection=) says how they differ",
    "verbose": "progress=True shows a bar",
}
EXPLAINER: Hints = {
    **CONSTRAINTS_OF_CALLS,
    "X": "data is the second argument: Explainer(model, X_train)",
    "training_data": "data is the second argument: Explainer(model, X_train)",
    "dataframe": "data is the second argument: Explainer(model, X_train)",
    "backend": "any model with predict_proba or predict, or a function, will do",
    "mode": "classes= names the outputs of a function; without it the outputs are scores",
    "outcome_name": "data is without the label: data.drop(columns=label)",
    "continuous_features": 'schema={"age": "continuous"} corrects what is inferred',
    "categorical_features": 'schema={"job": "categorical"} corrects what is inferred',
    "feature_names": "data is a frame with named columns, and names= says how people call them",
    "class_names": 'classes=("no", "yes") names the outputs',
    "target_names": 'classes=("no", "yes") names the outputs',
}
CONSTRAINTS: Hints = {
    "fix": 'fixed=["age"]',
    "frozen": 'fixed=["age"]',
    "freeze": 'fixed=["age"]',
    "immutable": 'fixed=["age"]',
    "vary": 'only=["hours"]',
    "features_to_vary": 'only=["hours"]',
    "permitted_range": 'ranges={"hours": (20, 60)}',
    "range": 'ranges={"hours": (20, 60)}',
    "bounds": 'ranges={"hours": (20, 60)}',
    "monotone": 'increase=["age"] or decrease=[...]',
    "max_features": "max_changes=2",
}
ON_EXPLAINER: Hints = {
    "predict": "ask your model; .score(rows) gives scores, .what_if(row, hours=45) tries values",
    "predict_proba": "ask your model; .score(rows) gives scores",
    "generate_counterfactuals": "use .explain(rows, n=3)",
    "get_counterfactuals": "use .explain(rows, n=3)",
    "explain_instance": "use .explain(row)",
    "explain_local": "use .explain(rows)",
    "fit": "an explainer needs no fitting: ask .explain(rows)",
    "whatif": "use .what_if(row, hours=45)",
}
ON_EXPLANATIONS: Hints = {
    "to_dataframe": "use .to_frame()",
    "to_df": "use .to_frame()",
    "to_pandas": "use .to_frame()",
    "visualize_as_dataframe": "use .to_frame(), or the explanations themselves in a notebook",
    "cf_examples_list": "found[0].counterfactuals are those of the first row",
    "counterfactuals": "found[0].counterfactuals are those of the first row",
    "to_xlsx": 'use .to_excel("answers.xlsx")',
    "save": 'use .to_json("answers.json") or .to_parquet("answers.parquet")',
}
ON_RESULT: Hints = {
    "to_dataframe": "use .to_frame()",
    "to_df": "use .to_frame()",
    "cf": "use .counterfactuals, best first",
    "cfs": "use .counterfactuals, best first",
    "changes": "each of .counterfactuals has .changes",
    "final_cfs_df": "use .to_frame()",
}


def hinted(hints: Hints) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Refuse an unknown keyword argument with a word on what is meant.

    >>> @hinted({"total_CFs": "n=3"})
    ... def explain(rows, *, n=1): ...
    >>> explain([], total_CFs=3)
    Traceback (most recent call last):
    ...
    macex.errors.ArgumentError: explain() takes no 'total_CFs': n=3
    """

    def wrapped(function: Callable[P, R]) -> Callable[P, R]:
        known = frozenset(signature(function).parameters)

        @wraps(function)
        def checked(*args: P.args, **kwargs: P.kwargs) -> R:
            for name in kwargs.keys() - known:
                refuse(function, name, hints, known - {"self"})
            return function(*args, **kwargs)

        return checked

    return wrapped


def hinted_options(hints: Hints) -> Callable[[type[R]], type[R]]:
    """The same for the options of a class."""

    def wrapped(kind: type[R]) -> type[R]:
        setattr(kind, "__init__", hinted(hints)(kind.__init__))  # noqa: B010 - of the class
        return kind

    return wrapped


def refuse(function: Any, name: str, hints: Hints, known: frozenset[str]) -> NoReturn:
    """Raise for an argument that a function does not take."""
    called = function.__qualname__.removesuffix(".__init__").rpartition("<locals>.")[2]
    hint = f": {hints[name]}" if name in hints else closest(name, sorted(known))
    raise ArgumentError(f"{called}() takes no {name!r}{hint}")


def missing(owner: object, name: str, hints: Hints) -> NoReturn:
    """Raise for an attribute that an object does not have."""
    kind = type(owner)
    fields = getattr(kind, "__dataclass_fields__", ())
    public = sorted({known for known in [*fields, *dir(kind)] if not known.startswith("_")})
    hint = f": {hints[name]}" if name in hints else ""
    if not hint and not name.startswith("_"):
        hint = closest(name, public)
    raise AttributeMissingError(f"{kind.__name__} has no {name!r}{hint}", name=name, obj=owner)


def needed(module: str, extra: str) -> Any:
    """A module of, or on, an optional library, or an error that says how to install it.

    >>> needed("a_library_nobody_has", "trees")
    Traceback (most recent call last):
    ...
    ImportError: a_library_nobody_has is not installed: pip install macex[trees]
    """
    try:
        return import_module(module)
    except ImportError as error:
        name = error.name or module.partition(".")[0]
        raise ImportError(f"{name} is not installed: pip install macex[{extra}]") from error
