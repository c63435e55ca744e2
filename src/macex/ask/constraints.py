"""What may change, and how: the constraints as people write them.

`Constraints` is a plain value: it can be written in TOML or JSON, merged, compared and taken
apart. It knows column names but no data; `macex.ask.space` turns it into arrays.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from html import escape
from numbers import Integral, Real
from typing import Any

import numpy as np

from macex.errors import CONSTRAINTS, ConstraintError, closest, hinted_options

Rule = str | Callable[..., Any]
LARGEST = 2**31


@hinted_options(CONSTRAINTS)
@dataclass(frozen=True, slots=True)
class Constraints:
    """What a counterfactual may change.

    Parameters
    ----------
    fixed : columns that never change.
    only : the only columns that may change.
    ranges : column -> (low, high) that a change may set; `None` leaves an end open.
    increase, decrease : columns that may only move up, or down.
    allowed : column -> values that a change may set, or -> {present value: values}.
    groups : sets of columns that move together, to a combination seen in training; count once.
    rules : expressions every answer must satisfy, e.g. `"debt <= income"`.
    derived : column -> expression, recomputed when one of its inputs changed.
    weights : column -> how much a change of it weighs in the distance (1 by default).
    max_changes : the most columns an answer may change.
    may_blank : columns that may be set to missing.
    protected : columns that are never an action but may still be a reason.
    min_support : a change may only set values that at least this many training rows have.
    strict : a present value outside its range, direction or allowed set must change, too.

    >>> Constraints(fixed=["race"], ranges={"hours": (None, 60)}).merge(
    ...     Constraints(fixed=["age"], ranges={"hours": (20, 80)}))
    Constraints(fixed=('race', 'age'), ranges={'hours': (20, 60)})
    """

    fixed: tuple[str, ...] = ()
    only: tuple[str, ...] | None = None
    ranges: Mapping[str, tuple[Any, Any]] = field(default_factory=dict)
    increase: tuple[str, ...] = ()
    decrease: tuple[str, ...] = ()
    allowed: Mapping[str, Any] = field(default_factory=dict)
    groups: tuple[tuple[str, ...], ...] = ()
    rules: tuple[Rule, ...] = ()
    derived: Mapping[str, Rule] = field(default_factory=dict)
    weights: Mapping[str, float] = field(default_factory=dict)
    max_changes: int | None = None
    may_blank: tuple[str, ...] = ()
    protected: tuple[str, ...] = ()
    strict: bool = False
    min_support: int | None = None

    def __post_init__(self) -> None:
        """Bring every part into one form, so that equal constraints are equal values."""
        set_ = object.__setattr__
        for name in ("fixed", "increase", "decrease", "may_blank", "protected"):
            set_(self, name, _names(name, getattr(self, name)))
        if self.only is not None:
            set_(self, "only", _names("only", self.only))
        set_(self, "ranges", {c: _range(c, r) for c, r in _mapping("ranges", self.ranges).items()})
        set_(
            self,
            "allowed",
            {c: _allowed(c, v) for c, v in _mapping("allowed", self.allowed).items()},
        )
        set_(self, "groups", tuple(_group(g) for g in _listed("groups", self.groups)))
        set_(self, "rules", tuple(_rule(r) for r in _listed("rules", self.rules)))
        set_(self, "derived", {c: _rule(r) for c, r in _mapping("derived", self.derived).items()})
        set_(
            self,
            "weights",
            {c: _weight(c, w) for c, w in _mapping("weights", self.weights).items()},
        )
        for name in ("max_changes", "min_support"):
            set_(self, name, _count(name, getattr(self, name)))
        if not isinstance(self.strict, bool):
            raise ConstraintError(f"strict must be True or False, not {self.strict!r}")
        _check_directions(self)

    def __repr__(self) -> str:
        """Only what was said."""
        said = (f"{f.name}={getattr(self, f.name)!r}" for f in self._said())
        return f"Constraints({', '.join(said)})"

    def _repr_html_(self) -> str:
        said = {f.name: _worded(f.name, getattr(self, f.name)) for f in self._said()}
        lines = "".join(
            f'<tr><th scope="row">{part}</th><td>{escape(text)}</td></tr>'
            for part, text in said.items()
        )
        head = '<tr><th scope="col">constraint</th><th scope="col">on</th></tr>'
        table = f"<table><thead>{head}</thead><tbody>{lines}</tbody></table>"
        return table if said else "<p>no constraints</p>"

    def __bool__(self) -> bool:
        """Whether anything is constrained at all."""
        return any(True for _ in self._said())

    def merge(self, other: Constraints | None) -> Constraints:
        """Both at once: a change must be allowed by each of them."""
        if other is None:
            return self
        return Constraints(
            fixed=_union(self.fixed, other.fixed),
            only=_both(self.only, other.only),
            ranges=_merge(self.ranges, other.ranges, _narrow),
            increase=_union(self.increase, other.increase),
            decrease=_union(self.decrease, other.decrease),
            allowed=_merge(self.allowed, other.allowed, _intersect),
            groups=_union(self.groups, other.groups),
            rules=_union(self.rules, other.rules),
            derived=_merge(self.derived, other.derived, _same_formula),
            weights=_merge(self.weights, other.weights, lambda _, a, b: a * b),
            max_changes=_least(self.max_changes, other.max_changes),
            may_blank=_union(self.may_blank, other.may_blank),
            protected=_union(self.protected, other.protected),
            strict=self.strict or other.strict,
            min_support=_most(self.min_support, other.min_support),
        )

    def parts(self) -> Iterator[tuple[str, Constraints]]:
        """Every single constraint in words, with the constraints that remain without it.

        >>> [text for text, _ in Constraints(fixed=["a", "b"], max_changes=1).parts()]
        ["fixed 'a'", "fixed 'b'", 'max_changes 1']
        """
        for name in ("fixed", "protected", "increase", "decrease"):
            for column in getattr(self, name):
                left = tuple(c for c in getattr(self, name) if c != column)
                yield f"{name} {column!r}", self._without(name, left)
        for name in ("ranges", "allowed"):
            for column in getattr(self, name):
                left_out = {c: v for c, v in getattr(self, name).items() if c != column}
                yield f"{name} of {column!r}", self._without(name, left_out)
        for name in ("groups", "rules"):
            for part in getattr(self, name):
                rest = tuple(p for p in getattr(self, name) if p != part)
                yield f"{name[:-1]} {_shown(part)}", self._without(name, rest)
        if self.only is not None:
            yield f"only {', '.join(map(repr, self.only)) or 'nothing'}", replace(self, only=None)
        for name, nothing in (("max_changes", None), ("min_support", None), ("strict", False)):
            value = getattr(self, name)
            if value is not nothing:
                text = "strict bounds" if name == "strict" else f"{name} {value}"
                yield text, self._without(name, nothing)

    def _without(self, part: str, left: Any) -> Constraints:
        kept: dict[str, Any] = {part: left}
        return replace(self, **kept)

    def to_dict(self) -> dict[str, Any]:
        """A JSON-able form; callables cannot be written down and are an error."""
        for rule in (*self.rules, *self.derived.values()):
            if not isinstance(rule, str):
                raise ConstraintError(
                    f"the rule {_shown(rule)} is a Python function and cannot be written down: "
                    "state it as an expression such as 'debt <= income'"
                )
        return {f.name: _plain(getattr(self, f.name)) for f in self._said()}

    @staticmethod
    def from_dict(parts: Mapping[str, Any]) -> Constraints:
        """Constraints from their written form; an unknown part is an error.

        >>> Constraints.from_dict({"fixd": ["age"]})
        Traceback (most recent call last):
        macex.errors.ConstraintError: constraints have no part 'fixd'; did you mean 'fixed'?
        """
        known = {f.name for f in fields(Constraints)}
        for name in parts:
            if name not in known:
                raise ConstraintError(
                    f"constraints have no part {name!r}{closest(name, sorted(known))}"
                )
        return Constraints(**parts)

    def _said(self) -> Iterator[Any]:
        nothing: tuple[Any, ...] = ((), {}, None, False)
        return (
            f for f in fields(self) if getattr(self, f.name) not in nothing or self._empty_only(f)
        )

    def _empty_only(self, f: Any) -> bool:
        return f.name == "only" and self.only is not None


def _worded(part: str, value: Any) -> str:
    """What a part of the constraints says, without the marks of Python.

    >>> _worded("ranges", {"hours": (None, 60), "age": (18, 65)}), _worded("fixed", ("age", "race"))
    ('hours: up to 60; age: 18 to 65', 'age, race')
    """
    if isinstance(value, Mapping):
        return "; ".join(f"{key}: {_worded(part, entry)}" for key, entry in value.items())
    if part == "ranges":
        low, high = value
        return (
            f"up to {high}"
            if low is None
            else f"from {low}"
            if high is None
            else f"{low} to {high}"
        )
    if isinstance(value, tuple):
        return ", ".join(_worded(part, entry) for entry in value)
    return str(getattr(value, "__name__", value))


def _names(part: str, value: Any) -> tuple[str, ...]:
    return tuple(dict.fromkeys(str(v) for v in _listed(part, value)))


def _listed(part: str, value: Any) -> tuple[Any, ...]:
    if isinstance(value, str) or callable(value):
        return (value,)
    if not isinstance(value, Iterable) or isinstance(value, Mapping):
        raise ConstraintError(f"{part}= takes a list, not {type(value).__name__} {value!r}")
    return tuple(value)


def _mapping(part: str, value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise ConstraintError(
            f"{part}= takes a mapping from column, not {type(value).__name__} {value!r}"
        )
    return {str(column): entry for column, entry in value.items()}


def _range(column: str, value: Any) -> tuple[Any, Any]:
    if isinstance(value, str) or not isinstance(value, Iterable) or len(pair := tuple(value)) != 2:
        raise ConstraintError(f"the range of {column!r} must be (low, high), not {value!r}")
    low, high = (tuple(end) if isinstance(end, list) else end for end in pair)
    if _above(column, low, high):
        raise ConstraintError(f"the range of {column!r} is empty: {low!r} is above {high!r}")
    return low, high


def _above(column: str, low: Any, high: Any) -> bool:
    """Whether a range is empty; of text the column alone knows the order."""
    if low is None or high is None or isinstance(low, str | tuple):
        return False
    try:
        return bool(low > high)
    except TypeError as error:
        raise ConstraintError(
            f"the ends of the range of {column!r}, {low!r} and {high!r}, cannot be compared"
        ) from error


def _allowed(column: str, value: Any) -> Any:
    if isinstance(value, Mapping):
        return {present: _listed(f"allowed[{column!r}]", to) for present, to in value.items()}
    values = _listed(f"allowed[{column!r}]", value)
    if not values:
        raise ConstraintError(
            f"allowed values of {column!r} are empty: use fixed=[{column!r}] instead"
        )
    return values


def _group(value: Any) -> tuple[str, ...]:
    names = _names("groups", value)
    if len(names) < 2:
        raise ConstraintError(f"a group needs at least two columns, not {list(names)!r}")
    return tuple(sorted(names))


def _rule(value: Any) -> Rule:
    if isinstance(value, str) or callable(value):
        return value
    raise ConstraintError(f"a rule is an expression or a function of frames, not {value!r}")


def _weight(column: str, value: Any) -> float:
    number: Any = value.item() if isinstance(value, np.number) else value
    real = isinstance(number, Real) and not isinstance(number, bool)
    if not real or not 0 <= number <= sys.float_info.max:
        raise ConstraintError(
            f"the weight of {column!r} must be a number of 0 or more, not {value!r}"
        )
    return float(number)


def _count(part: str, value: Any) -> int | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, Integral) or int(value) < 0:
        raise ConstraintError(f"{part} must be a whole number of 0 or more, not {value!r}")
    if int(value) > LARGEST:
        raise ConstraintError(f"{part} must be at most {LARGEST:,}")
    return int(value)


def _check_directions(self: Constraints) -> None:
    for column in self.increase:
        if column in self.decrease:
            raise ConstraintError(
                f"{column!r} may only increase and only decrease: use fixed=[{column!r}] to keep it"
            )


def _union(a: tuple[Any, ...], b: tuple[Any, ...]) -> tuple[Any, ...]:
    return (*a, *(x for x in b if x not in a))


def _both(a: tuple[str, ...] | None, b: tuple[str, ...] | None) -> tuple[str, ...] | None:
    if a is None or b is None:
        return b if a is None else a
    return tuple(name for name in a if name in b)


def _least(a: int | None, b: int | None) -> int | None:
    given = [x for x in (a, b) if x is not None]
    return min(given) if given else None


def _most(a: int | None, b: int | None) -> int | None:
    given = [x for x in (a, b) if x is not None]
    return max(given) if given else None


def _merge(a: Mapping[str, Any], b: Mapping[str, Any], join: Callable[..., Any]) -> dict[str, Any]:
    return {c: join(c, a[c], b[c]) if c in a and c in b else a.get(c, b.get(c)) for c in {**a, **b}}


def _narrow(column: str, a: tuple[Any, Any], b: tuple[Any, Any]) -> tuple[Any, Any]:
    low, high = _tightest(a[0], b[0], max), _tightest(a[1], b[1], min)
    if _above(column, low, high):
        raise ConstraintError(f"the ranges of {column!r}, {a} and {b}, have nothing in common")
    return low, high


def _tightest(a: Any, b: Any, of: Callable[..., Any]) -> Any:
    """The tighter of two ends; two of text are both kept, since the column knows their order."""
    if a is None or b is None or a == b:
        return b if a is None else a
    if isinstance(a, str | tuple):
        return (*((a,) if isinstance(a, str) else a), *((b,) if isinstance(b, str) else b))
    return of(a, b)


def _intersect(column: str, a: Any, b: Any) -> Any:
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        return {
            present: tuple(v for v in a[present] if v in b[present])
            for present in a
            if present in b
        }
    if isinstance(a, Mapping):
        return {present: tuple(v for v in to if v in b) for present, to in a.items()}
    if isinstance(b, Mapping):
        return _intersect(column, b, a)
    common = tuple(v for v in a if v in b)
    if not common:
        raise ConstraintError(
            f"the allowed values of {column!r}, {a} and {b}, have nothing in common"
        )
    return common


def _same_formula(column: str, a: Rule, b: Rule) -> Rule:
    if a != b:
        raise ConstraintError(f"{column!r} is derived in two ways: {_shown(a)} and {_shown(b)}")
    return a


def _shown(part: Any) -> str:
    return repr(getattr(part, "__name__", part)) if callable(part) else repr(part)


def _plain(value: Any) -> Any:
    """A value as JSON has it: dates as text, keys as text."""
    if isinstance(value, Mapping):
        return {_key(k): _plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    if hasattr(value, "isoformat"):
        return value.isoformat()
    return value.item() if hasattr(value, "item") else value


def _key(key: Any) -> str:
    plain = _plain(key)
    return plain if isinstance(plain, str) else json.dumps(plain)
