"""From constraints as people write them to the arrays of a `Space`."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from macex.ask.constraints import Constraints
from macex.ask.expressions import Formula, compile_formula, compile_rule, parse, topological
from macex.ask.rules import NOTHING, FrameRule, TextRule, kin_of, structural_rules
from macex.ask.space import Bounds, Caused, Menu, Space
from macex.ask.units import Ground, Unit, unit_codes
from macex.errors import ConstraintError, SchemaError
from macex.schema import MISSING, Array, Column, Rows, Schema, special
from macex.structure.enforcement import Follower, Keeping

MOST_SUPPORTED = 1000  # values of one column that `min_support` leaves
_ANY = object()


def build_space(
    ground: Ground,
    rows: Rows,
    per_query: Sequence[Constraints],
    keeping: Keeping | None = None,
    caused: Mapping[int, Caused] | None = None,
) -> Space:
    """The space of a batch: one `Constraints` per row, all with the same groups and formulas.

    `keeping` is the structure that rows keep as far as their queries do, `caused` the columns that
    follow from causes unless they are set.
    """
    caused = caused or {}
    schema, own = ground.schema, rows.codes
    kin = NOTHING if keeping is None else kin_of(keeping, per_query[0])
    bound = kin is not NOTHING or bool(caused)
    groups = tuple(tuple(schema.position(n) for n in group) for group in per_query[0].groups)
    units = ground.units(groups)
    computed = {**dict(_derived(schema, per_query[0].derived)), **dict(kin.dependents)}
    derived = _joined({**computed, **caused})
    follows = _follows(own, computed)
    bounds = _bounds(ground, own, per_query, follows)
    joint = {
        place: _combinations(unit, own, bounds)
        for place, unit in enumerate(units)
        if unit.table is not None
    }
    return Space(
        ground=ground,
        rows=rows,
        units=units,
        queries=unit_codes(units, own),
        own=own,
        bounds=bounds,
        changeable=_any_member(units, bounds.changeable),
        reason=_any_member(units, bounds.reason),
        joint=joint,
        rules=(
            *(structural_rules(schema, own, per_query, bounds.admit, kin, caused) if bound else ()),
            *_rules(schema, rows, per_query),
        ),
        derived=derived,
        implied=kin.implied,
        follows=follows,
        caused=caused,
    )


def _follows(own: Array, computed: Mapping[int, Formula | Follower]) -> Array:
    """Which columns follow others, (Q, d) bool; by structure, if the query keeps the relation."""
    follows = np.zeros(own.shape, bool)
    for column, one in computed.items():
        follows[:, column] = one.test(own) if isinstance(one, Follower) else True
    return follows


def _joined(
    left: dict[int, Formula | Follower | Caused],
) -> tuple[tuple[int, Formula | Follower | Caused], ...]:
    """Columns that the caller computes and columns that follow, inputs first."""
    done: list[tuple[int, Formula | Follower | Caused]] = []
    while left:
        ready = [c for c, one in left.items() if not (set(one.columns) & set(left)) - {c}]
        done += [(column, left.pop(column)) for column in ready or list(left)]
    return tuple(done)


def _any_member(units: tuple[Unit, ...], marks: Array) -> Array:
    """Marks by column as marks by unit, (Q, U) bool: a group is marked if one of its columns is."""
    found = marks.take([unit.members[0] for unit in units], axis=1)
    for place, unit in enumerate(units):
        if unit.joint:
            found[:, place] = marks[:, list(unit.members)].any(axis=1)
    return found


def check(constraints: Constraints, ground: Ground) -> None:
    """Raise for a constraint that names nothing or contradicts itself."""
    schema = ground.schema
    for part, names in _named(constraints):
        for name in names:
            if name not in schema.names:
                raise ConstraintError(f"{part} names no column {name!r}{schema.hint(name)}")
    grouped = [name for group in constraints.groups for name in group]
    twice = sorted(name for name, count in Counter(grouped).items() if count > 1)
    if twice:
        raise ConstraintError(f"column {twice[0]!r} is in two groups: it can move with one only")
    if grouped and ground.private:
        raise ConstraintError(
            "groups move to combinations seen in training, and this explainer was saved without "
            "its rows (private=True)"
        )
    _check_derived(constraints)
    _check_blanks(schema, constraints.may_blank)
    empty = np.empty((0, len(schema.columns)))
    _bounds(ground, empty, [constraints], np.zeros(empty.shape, bool))
    _derived(schema, constraints.derived)
    for rule in constraints.rules:
        if isinstance(rule, str):
            compile_rule(rule, schema.columns)


def _check_derived(constraints: Constraints) -> None:
    for part in ("fixed", "protected", "increase", "decrease", "ranges", "allowed", "may_blank"):
        for name in constraints.derived:
            if name in getattr(constraints, part):
                raise ConstraintError(
                    f"{name!r} is derived, so {part} cannot bind it: state what must hold as a "
                    f"rule, such as rules=['{name} <= 10']"
                )
    for group in constraints.groups:
        for name in group:
            if name in constraints.derived:
                raise ConstraintError(f"{name!r} is derived and cannot be in a group")


def _check_blanks(schema: Schema, names: Sequence[str]) -> None:
    for name in names:
        if not schema.columns[schema.position(name)].storage.nullable:
            raise ConstraintError(
                f"may_blank names {name!r}, whose dtype in training cannot hold a missing value"
            )


def _named(constraints: Constraints) -> list[tuple[str, Sequence[str]]]:
    found: list[tuple[str, Sequence[str]]] = [
        (part, tuple(getattr(constraints, part) or ()))
        for part in ("fixed", "only", "increase", "decrease", "may_blank", "protected")
    ]
    found += [
        (part, tuple(getattr(constraints, part)))
        for part in ("ranges", "allowed", "weights", "derived")
    ]
    return found + [("groups", group) for group in constraints.groups]


def _bounds(ground: Ground, own: Array, per_query: Sequence[Constraints], follows: Array) -> Bounds:
    shape = own.shape
    bounds = Bounds(
        changeable=np.ones(shape, bool),
        reason=np.ones(shape, bool),
        floor=np.full(shape, -np.inf),
        ceiling=np.full(shape, np.inf),
        blank=np.zeros(shape, bool),
        menus=_menus(ground, own, per_query),
        weights=np.ones(shape),
        max_changes=np.full(len(own), shape[1]),
        strict=np.zeros(len(own), bool),
        support=np.zeros(len(own), int),
    )
    for constraints, at in _distinct(per_query, len(own)):
        _write_bounds(bounds, ground.schema, own, constraints, at)
    return replace(bounds, changeable=bounds.changeable & ~follows, reason=bounds.reason & ~follows)


def _distinct(per_query: Sequence[Constraints], count: int) -> list[tuple[Constraints, Array]]:
    """Each distinct constraints object with the queries it is for."""
    if len(per_query) == 1 or all(one is per_query[0] for one in per_query):
        return [(per_query[0], np.arange(count))]
    places: dict[int, list[int]] = {}
    for query, one in enumerate(per_query):
        places.setdefault(id(one), []).append(query)
    return [(per_query[at[0]], np.array(at)) for at in places.values()]


def _write_bounds(b: Bounds, schema: Schema, own: Array, one: Constraints, at: Array) -> None:
    positions = {name: place for place, name in enumerate(schema.names)}
    closed = {*one.fixed, *one.protected}
    if one.only is not None:
        closed |= set(schema.names) - set(one.only)
    b.changeable[at[:, None], [positions[n] for n in closed]] = False
    b.blank[at[:, None], [positions[n] for n in one.may_blank]] = True
    for name, weight in one.weights.items():
        b.weights[at, positions[name]] = weight
    for name, (low, high) in one.ranges.items():
        column = positions[name]
        b.floor[at, column], b.ceiling[at, column] = _ends(schema.columns[column], low, high)
    for names, ends, tighter in (
        (one.increase, b.floor, np.maximum),
        (one.decrease, b.ceiling, np.minimum),
    ):
        for name in names:
            column = positions[name]
            _bound(schema.columns[column], None, "direction")
            here = own[at, column]
            tight = tighter(ends[at, column], here)
            ends[at, column] = np.where(special(here), ends[at, column], tight)
    if one.max_changes is not None:
        b.max_changes[at] = one.max_changes
    b.strict[at] = one.strict
    b.support[at] = one.min_support or 0


def _ends(column: Column, low: object, high: object) -> tuple[float, float]:
    """The codes between which a change may set; several ends all bind."""
    lows, highs = (end if isinstance(end, tuple) else (end,) for end in (low, high))
    floor = max(-np.inf if end is None else _bound(column, end, "range") for end in lows)
    ceiling = min(np.inf if end is None else _bound(column, end, "range") for end in highs)
    if floor > ceiling:
        raise ConstraintError(f"the range of {column.name!r} is empty: {low!r} is above {high!r}")
    return floor, ceiling


def _bound(column: Column, value: object, what: str) -> float:
    if column.kind == "categorical":
        raise ConstraintError(
            f"{column.name!r} is categorical and has no order, so it can have no {what}: "
            "use allowed=, or declare it ordered in the schema"
        )
    code = 0.0 if value is None else _code(column, value)
    if code == MISSING:
        raise ConstraintError(
            f"the range of {column.name!r} has an end that is not a value of it: {value!r}"
        )
    return code


def _code(column: Column, value: object) -> float:
    try:
        return column.code(value)
    except SchemaError as error:
        raise ConstraintError(f"in the constraints: {error}") from error


def _menus(ground: Ground, own: Array, per_query: Sequence[Constraints]) -> dict[int, Menu]:
    schema, menus = ground.schema, dict[int, Menu]()
    names = {name for constraints in per_query for name in constraints.allowed}
    if any(constraints.min_support for constraints in per_query):
        names |= set(schema.names)
    for name in sorted(names):
        place = schema.position(name)
        column = schema.columns[place]
        entries = [
            (
                _supported(ground, place, one, _transitions(column, one.allowed.get(name, _ANY))),
                at,
            )
            for one, at in _distinct(per_query, len(own))
            if name in one.allowed or one.min_support
        ]
        offered = [to for menu, _ in entries for _, to in menu]
        values = np.unique(np.concatenate([*offered, np.zeros(0)]))
        allowed = np.zeros((len(own), len(values)), bool)
        menu = Menu(values, allowed, np.zeros(len(own), bool), np.ones(len(own), bool))
        for transitions, at in entries:
            menu.allowed[at] = _permitted(transitions, own[at, place], values)
            menu.bound[at] = True
        for one, at in _distinct(per_query, len(own)):
            menu.stays[at] = _may_stay(column, one.allowed.get(name, _ANY), own[at, place])
        menus[place] = menu
    return menus


def _may_stay(column: Column, allowed: Any, present: Array) -> Array:
    """Whether an allowed set holds the present value; transitions say nothing of one that stays."""
    if allowed is _ANY or isinstance(allowed, Mapping):
        return np.ones(len(present), bool)
    return np.isin(present, _codes(column, allowed)) | (present == MISSING)


def _supported(
    ground: Ground, place: int, one: Constraints, transitions: list[tuple[float | None, Array]]
) -> list[tuple[float | None, Array]]:
    """The transitions to values that enough training rows have; of very many the most frequent.

    Missing is a value like any other: enough rows must miss it, too.
    """
    if not one.min_support:
        return transitions
    column = ground.schema.columns[place]
    held = np.flatnonzero(column.counts >= one.min_support)
    held = held[np.lexsort((held, -column.counts[held]))][:MOST_SUPPORTED]
    values = column.seen[held]
    if np.count_nonzero(ground.codes[:, place] == MISSING) >= one.min_support:
        values = np.append(values, MISSING)
    return [(when, to[np.isin(to, values)]) for when, to in transitions]


def _transitions(column: Column, allowed: Any) -> list[tuple[float | None, Array]]:
    """(present value or None for any, values it may become)."""
    if allowed is _ANY:
        return [(None, np.append(column.seen, MISSING))]
    if isinstance(allowed, Mapping):
        return [(_present(column, key), _codes(column, to)) for key, to in allowed.items()]
    return [(None, _codes(column, allowed))]


def _present(column: Column, key: object) -> float:
    """The code of a present value; a written form has keys as text, such as "47" or "true"."""
    if isinstance(key, str) and (not column.discrete or key not in column.table):
        try:
            return _code(column, json.loads(key))
        except (ValueError, ConstraintError):
            pass
    return _code(column, key)


def _codes(column: Column, values: Sequence[object]) -> Array:
    return np.array([_code(column, value) for value in values], dtype=float)


def _permitted(
    transitions: list[tuple[float | None, Array]], present: Array, values: Array
) -> Array:
    ok = np.zeros((len(present), len(values)), bool)
    for when, to in transitions:
        applies = np.ones(len(present), bool) if when is None else present == when
        ok |= applies[:, None] & np.isin(values, to)[None, :]
    return ok


def _combinations(unit: Unit, own: Array, bounds: Bounds) -> Array:
    """Which combinations of a group each query may take, (Q, v) bool."""
    table = unit.table
    if table is None:
        raise TypeError("only a group has combinations")
    ok = unit.counts >= bounds.support[:, None]
    at = np.repeat(np.arange(len(own)), len(table))
    for place, column in enumerate(unit.members):
        values = np.tile(table[:, place], len(own))
        free = bounds.admit(own, at, column, values) & bounds.changeable[at, column]
        ok &= (free | (values == own[at, column])).reshape(ok.shape)
    return ok


def _derived(schema: Schema, derived: Mapping[str, Any]) -> tuple[tuple[int, Formula], ...]:
    for name, formula in derived.items():
        if not isinstance(formula, str):
            raise ConstraintError(
                f"derived[{name!r}] must be an expression such as 'debt / income', not {formula!r}"
            )
    if not derived:
        return ()
    order = topological({name: parse(text) for name, text in derived.items()})
    return tuple(
        (
            schema.position(name),
            compile_formula(
                derived[name], schema.columns, target=schema.columns[schema.position(name)]
            ),
        )
        for name in order
    )


def _rules(schema: Schema, rows: Rows, per_query: Sequence[Constraints]) -> Any:
    bound: dict[Any, Array] = {}
    for one, at in _distinct(per_query, len(rows.codes)):
        for rule in one.rules:
            bound.setdefault(rule, np.zeros(len(rows.codes), bool))[at] = True
    return tuple(
        (TextRule(compile_rule(rule, schema.columns)), mask, repr(rule))
        if isinstance(rule, str)
        else (FrameRule(rule, schema, rows), mask, getattr(rule, "__name__", repr(rule)))
        for rule, mask in bound.items()
    )
