"""What may change for each query of a batch, as arrays: the constraints put to work.

Everything a constraint says about one value at a time is decided where values are offered
(`Space.admits`); what it says about a whole row is decided before the row is scored
(`Space.holds`), and both again at the end.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from macex.ask.expressions import Formula, Rule, compile_formula, compile_rule, parse, topological
from macex.ask.ground import Ground, Unit, column_codes, special, unit_codes
from macex.errors import ConstraintError, SchemaError, closest
from macex.schema import MISSING

if TYPE_CHECKING:
    from collections.abc import Callable

    from macex.ask.constraints import Constraints
    from macex.schema import Column, Rows, Schema

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True)
class Bounds:
    """What a change may set, for every query (first axis) and column (second axis)."""

    changeable: Array  # (Q, d) bool
    reason: Array  # (Q, d) bool: may be named as a reason although it may not change
    floor: Array  # (Q, d)
    ceiling: Array  # (Q, d)
    blank: Array  # (Q, d) bool: may be set to missing
    menus: Mapping[int, tuple[Array, Array]]  # column -> values (v,), allowed (Q, v) bool
    weights: Array  # (Q, d)
    max_changes: Array  # (Q,)
    strict: Array  # (Q,) bool

    def admit(self, own: Array, at: Array, column: int, values: Array) -> Array:
        """Whether a change of `column` may set `values`; `at` says for which query."""
        low, high = self.floor[at, column], self.ceiling[at, column]
        number = (values >= low) & (values <= high)
        ok = np.where(values == MISSING, self.blank[at, column], number)
        if column in self.menus:
            ok &= _on_menu(self.menus[column], at, values)
        result: Array = ok & (values != own[at, column])
        return result


@dataclass(frozen=True)
class Space:
    """A batch of queries and what may change in each.

    `queries` are the rows by unit, `own` the same rows by column.
    """

    ground: Ground
    rows: Rows
    units: tuple[Unit, ...]
    queries: Array  # (Q, U)
    own: Array  # (Q, d)
    bounds: Bounds
    changeable: Array  # (Q, U) bool
    reason: Array  # (Q, U) bool
    joint: Mapping[int, Array]  # group -> allowed combinations (Q, v) bool
    rules: tuple[tuple[RowTest, Array, str], ...]  # test, (Q,) bool: for whom, text
    derived: tuple[tuple[int, Formula], ...]  # column, how it is computed

    def __len__(self) -> int:
        return len(self.queries)

    @property
    def width(self) -> int:
        """The number of units."""
        return len(self.units)

    def closed(self, queries: Array) -> Space:
        """The same space with nothing to change in some queries (Q,) bool."""
        if not queries.any():
            return self
        closed = self.changeable & ~queries[:, None]
        return replace(self, changeable=closed, reason=self.reason & ~queries[:, None])

    def admits_one(self, at: Array, place: int, values: Array) -> Array:
        """Whether a change of unit `place` may set `values`, if that unit may change at all."""
        unit = self.units[place]
        if unit.table is None:
            return self.bounds.admit(self.own, at, unit.members[0], values)
        known = values >= 0
        allowed = self.joint[place][at, np.where(known, values, 0).astype(np.intp)]
        result: Array = known & allowed & (values != self.queries[at, place])
        return result

    def columns(self, codes: Array, at: Array) -> Array:
        """Codes by column, with derived columns recomputed where an input changed."""
        if self.identity:
            return codes[:, self._places]
        own = self.own[at]
        full = column_codes(self.units, codes, own)
        for column, formula in self.derived:
            inputs = list(formula.columns)
            moved = (full[:, inputs] != own[:, inputs]).any(axis=1)
            if moved.any():
                full[moved, column] = formula(full[moved], own[moved])
        return full

    def holds(self, full: Array, at: Array) -> Array:
        """Whether whole rows, by column, satisfy the rules and strict bounds of their queries."""
        ok = np.ones(len(at), bool)
        for test, bound, _ in self.rules:
            todo = ok & bound[at]
            if todo.any():
                ok[todo] = test(full[todo], self.own[at[todo]], at[todo])
        todo = ok & self.bounds.strict[at]
        if todo.any():
            ok[todo] = self._inside(full[todo], at[todo])
        return ok

    def broken(self, full: Array, query: int) -> list[str]:
        """The rules, in words, that a single row breaks."""
        at = np.array([query])
        texts = [
            text
            for test, bound, text in self.rules
            if bound[query] and not test(full[None], self.own[at], at)[0]
        ]
        if self.bounds.strict[query] and not self._inside(full[None], at)[0]:
            texts.append("strict bounds")
        return texts

    def snap(self, place: int, values: Array) -> Array:
        """Values of one number put on its grid and into its range."""
        return self.ground.schema.columns[self.units[place].members[0]].snap(values)

    def changed(self, codes: Array, at: Array) -> Array:
        """Which units differ from the query, (n, U) bool."""
        differs: Array = codes != self.queries[at]
        return differs

    @property
    def bound_rows(self) -> bool:
        """Whether any whole row is tested at all."""
        return bool(self.rules) or bool(self.bounds.strict.any())

    @property
    def identity(self) -> bool:
        """Whether units are columns in another order and nothing is derived."""
        return not self.joint and not self.derived

    @property
    def _places(self) -> Array:
        """For every column, which unit it is."""
        return np.argsort([unit.members[0] for unit in self.units])

    def _inside(self, full: Array, at: Array) -> Array:
        bounds, ok = self.bounds, np.ones(len(at), bool)
        for column in range(full.shape[1]):
            values = full[:, column]
            low, high = bounds.floor[at, column], bounds.ceiling[at, column]
            ok &= ((values >= low) & (values <= high)) | special(values)
            if column in bounds.menus:
                ok &= _on_menu(bounds.menus[column], at, values) | special(values)
        return ok


def build_space(ground: Ground, rows: Rows, wished: Sequence[Constraints]) -> Space:
    """The space of a batch: one `Constraints` per row, all with the same groups and formulas."""
    schema, own = ground.schema, rows.codes
    groups = tuple(tuple(schema.position(n) for n in group) for group in wished[0].groups)
    units = ground.units(groups)
    derived = _derived(schema, wished[0].derived)
    bounds = _bounds(schema, own, wished, {column for column, _ in derived})
    joint = {
        place: _combinations(unit, own, bounds)
        for place, unit in enumerate(units)
        if unit.table is not None
    }
    members = [list(unit.members) for unit in units]
    return Space(
        ground=ground,
        rows=rows,
        units=units,
        queries=unit_codes(units, own),
        own=own,
        bounds=bounds,
        changeable=np.stack([bounds.changeable[:, m].any(axis=1) for m in members], axis=1),
        reason=np.stack([bounds.reason[:, m].any(axis=1) for m in members], axis=1),
        joint=joint,
        rules=_rules(schema, rows, wished),
        derived=derived,
    )


def check(constraints: Constraints, ground: Ground) -> None:
    """Raise for a constraint that names nothing or contradicts itself."""
    schema = ground.schema
    for part, names in _named(constraints):
        for name in names:
            if name not in schema.names:
                raise ConstraintError(
                    f"{part} names no column {name!r}{closest(name, schema.names)}"
                )
    grouped = [name for group in constraints.groups for name in group]
    twice = sorted({name for name in grouped if grouped.count(name) > 1})
    if twice:
        raise ConstraintError(f"column {twice[0]!r} is in two groups: it can move with one only")
    for name in (*constraints.derived,):
        if name in grouped or name in constraints.increase or name in constraints.decrease:
            raise ConstraintError(f"{name!r} is derived and cannot be constrained as a change")
    empty = np.empty((0, len(schema.columns)))
    _bounds(schema, empty, [constraints], set())
    _derived(schema, constraints.derived)
    for rule in constraints.rules:
        if isinstance(rule, str):
            compile_rule(rule, schema.columns)


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


def _bounds(schema: Schema, own: Array, wished: Sequence[Constraints], derived: set[int]) -> Bounds:
    shape = own.shape
    bounds = Bounds(
        changeable=np.ones(shape, bool),
        reason=np.ones(shape, bool),
        floor=np.full(shape, -np.inf),
        ceiling=np.full(shape, np.inf),
        blank=np.zeros(shape, bool),
        menus=_menus(schema, own, wished),
        weights=np.ones(shape),
        max_changes=np.full(len(own), shape[1]),
        strict=np.zeros(len(own), bool),
    )
    for constraints, at in _distinct(wished, len(own)):
        _write_bounds(bounds, schema, own, constraints, at)
    bounds.changeable[:, sorted(derived)] = False
    bounds.reason[:, sorted(derived)] = False
    return bounds


def _distinct(wished: Sequence[Constraints], count: int) -> list[tuple[Constraints, Array]]:
    """Each distinct constraints object with the queries it is for."""
    if len(wished) == 1 or all(one is wished[0] for one in wished):
        return [(wished[0], np.arange(count))]
    places: dict[int, list[int]] = {}
    for query, one in enumerate(wished):
        places.setdefault(id(one), []).append(query)
    return [(wished[at[0]], np.array(at)) for at in places.values()]


def _write_bounds(b: Bounds, schema: Schema, own: Array, wish: Constraints, at: Array) -> None:
    positions = {name: place for place, name in enumerate(schema.names)}
    closed = {*wish.fixed, *wish.protected}
    if wish.only is not None:
        closed |= set(schema.names) - set(wish.only)
    b.changeable[np.ix_(at, [positions[n] for n in closed])] = False
    b.blank[np.ix_(at, [positions[n] for n in wish.may_blank])] = True
    for name, weight in wish.weights.items():
        b.weights[at, positions[name]] = weight
    for name, (low, high) in wish.ranges.items():
        column = positions[name]
        b.floor[at, column] = (
            -np.inf if low is None else _bound(schema.columns[column], low, "range")
        )
        b.ceiling[at, column] = (
            np.inf if high is None else _bound(schema.columns[column], high, "range")
        )
    for names, ends, tighter in (
        (wish.increase, b.floor, np.maximum),
        (wish.decrease, b.ceiling, np.minimum),
    ):
        for name in names:
            column = positions[name]
            _bound(schema.columns[column], None, "direction")
            here = own[at, column]
            tight = tighter(ends[at, column], here)
            ends[at, column] = np.where(special(here), ends[at, column], tight)
    if wish.max_changes is not None:
        b.max_changes[at] = wish.max_changes
    b.strict[at] = wish.strict


def _bound(column: Column, value: object, what: str) -> float:
    if column.kind == "categorical":
        raise ConstraintError(
            f"{column.name!r} is categorical and has no order, so it can have no {what}: "
            "use allowed=, or declare it ordered in the schema"
        )
    return 0.0 if value is None else _code(column, value)


def _code(column: Column, value: object) -> float:
    try:
        return column.code(value)
    except SchemaError as error:
        raise ConstraintError(f"in the constraints: {error}") from error


def _menus(
    schema: Schema, own: Array, wished: Sequence[Constraints]
) -> dict[int, tuple[Array, Array]]:
    menus: dict[int, tuple[Array, Array]] = {}
    names = {name for constraints in wished for name in constraints.allowed}
    for name in sorted(names):
        place = schema.position(name)
        column = schema.columns[place]
        entries = [
            (_menu_entries(column, wish.allowed.get(name)), at)
            for wish, at in _distinct(wished, len(own))
        ]
        values = np.unique(
            np.concatenate([column.seen, *(to for menu, _ in entries for _, to in menu)])
        )
        allowed = np.ones((len(own), len(values)), bool)
        for menu, at in entries:
            allowed[at] = _permitted(menu, own[at, place], values)
        menus[place] = (values, allowed)
    return menus


def _menu_entries(column: Column, allowed: Any) -> list[tuple[float | None, Array]]:
    """(present value or None for any, values it may become); no entry means no restriction."""
    if allowed is None:
        return []
    if isinstance(allowed, Mapping):
        return [(_code(column, present), _codes(column, to)) for present, to in allowed.items()]
    return [(None, _codes(column, allowed))]


def _codes(column: Column, values: Sequence[object]) -> Array:
    return np.array([_code(column, value) for value in values], dtype=float)


def _permitted(menu: list[tuple[float | None, Array]], present: Array, values: Array) -> Array:
    if not menu:
        return np.ones((len(present), len(values)), bool)
    ok = np.zeros((len(present), len(values)), bool)
    for when, to in menu:
        applies = np.ones(len(present), bool) if when is None else present == when
        ok |= applies[:, None] & np.isin(values, to)[None, :]
    return ok


def _on_menu(menu: tuple[Array, Array], at: Array, values: Array) -> Array:
    offered, allowed = menu
    place = np.clip(np.searchsorted(offered, values), 0, len(offered) - 1)
    result: Array = (offered[place] == values) & allowed[at, place]
    return result


def _combinations(unit: Unit, own: Array, bounds: Bounds) -> Array:
    """Which combinations of a group each query may take, (Q, v) bool."""
    table = unit.table
    if table is None:
        raise TypeError("only a group has combinations")
    ok = np.ones((len(own), len(table)), bool)
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


def _rules(schema: Schema, rows: Rows, wished: Sequence[Constraints]) -> Any:
    bound: dict[Any, Array] = {}
    for wish, at in _distinct(wished, len(rows.codes)):
        for rule in wish.rules:
            bound.setdefault(rule, np.zeros(len(rows.codes), bool))[at] = True
    return tuple(
        (_TextRule(compile_rule(rule, schema.columns)), mask, repr(rule))
        if isinstance(rule, str)
        else (_FrameRule(rule, schema, rows), mask, getattr(rule, "__name__", repr(rule)))
        for rule, mask in bound.items()
    )


@dataclass(frozen=True)
class _TextRule:
    """An expression, used as a rule."""

    rule: Rule

    def __call__(self, new: Array, old: Array, at: Array) -> Array:
        return self.rule(new, old)


@dataclass(frozen=True)
class _FrameRule:
    """A Python function of one frame (the new rows), used as a rule."""

    test: Callable[[Any], Any]
    schema: Schema
    rows: Rows

    def __call__(self, new: Array, old: Array, at: Array) -> Array:
        verdict = np.asarray(self.test(self.schema.frame(new, self.rows, at)))
        if verdict.shape != (len(new),):
            name = getattr(self.test, "__name__", "rule")
            raise ConstraintError(f"the rule {name} returned {verdict.shape} for {len(new)} rows")
        return verdict.astype(bool)


RowTest = _TextRule | _FrameRule
