"""What may change, as tables on the device, made once for any number of queries.

Columns are in the order of the schema, as codes are; offers are in the order of their names, so
that ties break as they do everywhere else. The constraints are tables for every query at once: a
range is a floor and a ceiling, a direction makes the query's own value one of them, and the values
that may be set are listed, for each present value if need be.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from macex.ask.compilation import build_space
from macex.ask.constraints import Constraints
from macex.ask.space import Menu, Space
from macex.ask.units import Unit
from macex.device.arrays import Array, ArrayPlace
from macex.engine.fitted import Fitted
from macex.errors import ConstraintError, OptionError, SchemaError
from macex.schema import MISSING, Column
from macex.stages.candidates import Domain

NARROW = 256  # values of a unit up to which all are offered
UNSUPPORTED = ("groups", "rules", "derived", "may_blank", "strict")


class Offer(NamedTuple):
    """What is on offer for one column.

    `values` are the same for every query. Where there is a ladder, `rungs` values are spread over
    what each query may set; the neighbours' values are added where not all are on offer.
    """

    column: int
    values: Array  # (v,)
    permits: Array | None  # (1, v) bool, or a line for every present value and one for no category
    ladder: tuple[Array, Array] | None  # seen values, and how many rows lie below each
    rungs: int
    beside: int = 0  # seen values on either side of the query's own

    @property
    def wide(self) -> bool:
        """Whether not all seen values are on offer."""
        return self.rungs > 0

    @property
    def width(self) -> int:
        """About how many values each query is offered."""
        return int(self.values.shape[0]) + (0 if self.ladder is None else self.rungs + 10)


@dataclass(frozen=True)
class DeviceLayout:
    """The columns of a schema under some constraints; every array has an entry for each."""

    place: ArrayPlace
    number: Array  # bool: has a way back to the query's own value
    discrete: Array  # bool
    scale: Array  # what one unit of change is
    weight: Array
    low: Array
    high: Array
    step: Array  # 0 for none
    times: Array  # 1 / step where that is whole, else 1
    by: Array  # the step where 1 / step is not whole, else 1
    single: Array  # bool: holds numbers of 32 bits
    floor: Array
    ceiling: Array
    rises: Array  # bool
    falls: Array  # bool
    salt: Array  # int: a number of its own, so that a sum tells sets of columns apart
    offers: tuple[Offer, ...]
    max_changes: int
    gridless: bool  # whether any number has no step
    short: bool  # whether any number has 32 bits

    def bounds(self, own: Array) -> tuple[Array, Array]:
        """The lowest and highest values that each query (q, d) may set."""
        xp = self.place.xp
        plain = own > MISSING
        floor = xp.where(self.rises & plain, xp.maximum(own, self.floor), self.floor)
        return floor, xp.where(self.falls & plain, xp.minimum(own, self.ceiling), self.ceiling)

    def distances(self, own: Array, values: Array, columns: Array) -> Array:
        """How far values are from the queries' own, each of the column that `columns` says."""
        xp = self.place.xp
        differs = xp.astype(values != own, xp.float64)
        steps = xp.abs(values - own) / self.scale[columns]
        odd = self.discrete[columns] | (values <= MISSING) | (own <= MISSING)
        return xp.where(odd, differs, steps) * self.weight[columns]

    def snapped(self, values: Array, columns: Array) -> Array:
        """Numbers put on the grid and into the range of their columns."""
        xp, (times, by) = self.place.xp, (self.times[columns], self.by[columns])
        held = xp.round(values * times / by) * by / times
        if self.gridless:
            held = xp.where(self.step[columns] > 0, held, values)
        if self.short:
            brief = xp.astype(xp.astype(held, xp.float32), xp.float64)
            held = xp.where(self.single[columns], brief, held)
        return xp.minimum(xp.maximum(held, self.low[columns]), self.high[columns])


def layout_of(fitted: Fitted, constraints: Constraints, place: ArrayPlace) -> DeviceLayout:
    """The layout of an explainer's columns under constraints."""
    refuse_unsupported(constraints)
    if fitted.options.causes is not None:
        raise OptionError("causes cannot be followed on a device: ask explainer.explain")
    columns = fitted.ground.schema.columns
    space = _space(fitted, replace(constraints, increase=(), decrease=()))
    bounds, names = space.bounds, [column.name for column in columns]
    offers = [
        _offer(place, unit, space, fitted, constraints.allowed.get(unit.name))
        for at, unit in enumerate(space.units)
        if space.changeable[0, at]
    ]
    step, times, by, single = np.array([_grid(column) for column in columns], dtype=float).T
    listed = np.isin(np.arange(len(columns)), list(bounds.menus))
    discrete = np.array([column.discrete for column in columns], dtype=bool)
    return DeviceLayout(
        place=place,
        number=place.array(~discrete & ~listed),
        discrete=place.array(discrete),
        scale=place.array(fitted.scales.scale),
        weight=place.array(bounds.weights[0]),
        low=place.array(np.array([column.low for column in columns], dtype=float)),
        high=place.array(np.array([column.high for column in columns], dtype=float)),
        step=place.array(step),
        times=place.array(times),
        by=place.array(by),
        single=place.array(single > 0),
        floor=place.array(bounds.floor[0]),
        ceiling=place.array(bounds.ceiling[0]),
        rises=place.array(np.isin(names, constraints.increase)),
        falls=place.array(np.isin(names, constraints.decrease)),
        salt=place.array(np.random.default_rng(0).integers(1, 2**50, len(columns))),
        offers=tuple(offer for offer in offers if offer.wide or offer.values.shape[0]),
        max_changes=int(min(bounds.max_changes[0], space.changeable[0].sum())),
        gridless=bool((step == 0).any()),
        short=bool(single.any()),
    )


def refuse_unsupported(constraints: Constraints) -> None:
    """Raise for a constraint that only the explainer itself knows."""
    for part in UNSUPPORTED:
        if getattr(constraints, part):
            raise ConstraintError(
                f"{part} cannot be kept on a device: leave it out, or ask explainer.explain"
            )


def _space(fitted: Fitted, constraints: Constraints) -> Space:
    """The space of some made-up rows: row j has in every column of categories the j-th of them."""
    schema = fitted.ground.schema
    tables = [len(column.table) if column.discrete else 0 for column in schema.columns]
    codes = np.repeat(fitted.ground.codes[:1], max(1, *tables), axis=0)
    for place, count in enumerate(tables):
        if count:
            codes[:, place] = np.arange(len(codes)) % count
    rows = schema.read(schema.frame(codes))
    return build_space(fitted.ground, rows, [constraints] * len(codes))


def _offer(place: ArrayPlace, unit: Unit, space: Space, fitted: Fitted, allowed: Any) -> Offer:
    at = unit.members[0]
    menu = space.bounds.menus.get(at)
    if menu is not None:
        column = fitted.ground.schema.columns[at]
        return _listed(place, at, column, menu, allowed)
    domain: Domain = fitted.options.candidates.domain  # type: ignore[union-attr]
    per_unit = domain.per_unit(unit, space.changeable[:1].sum(axis=1))
    rungs = NARROW if per_unit is None else int(per_unit[0])
    if len(unit.seen) <= NARROW:
        return Offer(at, place.array(_in_order(unit)), None, None, 0)
    if unit.discrete and not unit.ordered:
        return Offer(at, place.array(_in_order(unit)[:rungs]), None, None, rungs)
    below = np.concatenate([[0.0], np.cumsum(unit.counts)])
    ladder = (place.array(unit.seen), place.array(below))
    beside = 0 if unit.discrete else domain.beside
    return Offer(at, place.array(unit.seen[:0]), None, ladder, rungs, beside)


def _listed(place: ArrayPlace, at: int, column: Column, menu: Menu, allowed: Any) -> Offer:
    """The values that `allowed` leaves, by the present value; the last line is for no category."""
    if len(menu.values) > NARROW:
        raise ConstraintError(
            f"{len(menu.values)} values are allowed for {column.name!r} by allowed or min_support; "
            f"on a device at most {NARROW} can be listed: use ranges, or ask explainer.explain"
        )
    moves = isinstance(allowed, Mapping)
    if moves and not column.discrete:
        raise ConstraintError(
            f"allowed[{column.name!r}] goes by the present value of a number, which cannot be kept "
            "on a device: list the values, or ask explainer.explain"
        )
    table = menu.allowed[: len(column.table)] if moves else menu.allowed[:1]
    if moves:
        table = np.concatenate([table, np.zeros((1, len(menu.values)), bool)])
    return Offer(at, place.array(menu.values), place.array(table), None, 0)


def _in_order(unit: Unit) -> Any:
    """The seen values: categories by how often they are seen, others by value."""
    if unit.discrete and not unit.ordered:
        return unit.seen[np.lexsort((unit.seen, -unit.counts))]
    return unit.seen


def _grid(column: Column) -> tuple[float, float, float, bool]:
    """How a column holds numbers: its step, the parts of one or else the step, and 32 bits."""
    if column.discrete:
        return 1.0, 1.0, 1.0, False
    kind = column.storage.numbers
    if kind == np.dtype(np.float16):
        raise SchemaError(f"column {column.name!r} holds float16, which is not known on a device")
    step = column.step or float(column.integer)
    parts = np.rint(1 / step) if step else 0.0
    if 0 < step < 1 and abs(parts * step - 1) < 1e-9:
        return step, float(parts), 1.0, kind == np.dtype(np.float32)
    return step, 1.0, step or 1.0, kind == np.dtype(np.float32)
