"""The distance that search, ranking and fine-tuning use, times the weights."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from macex.errors import OptionError
from macex.schema import Array

if TYPE_CHECKING:
    from macex.ask.space import Space
    from macex.engine.fitted import Fitted


def measure_of(fitted: Fitted, space: Space) -> Callable[[Array, Array], Array]:
    """How far rows of codes are from the queries they are made from."""
    custom = fitted.options.distance
    weights = np.where(space.follows, 0.0, space.bounds.weights)
    columns = space.set_columns if space.caused else space.columns  # what follows costs nothing
    even = bool((weights == 1.0).all())

    def built_in(codes: Array, at: Array) -> Array:
        after = columns(codes, at)
        return fitted.scales.total(space.own.take(at, axis=0), after, 1.0 if even else weights[at])

    def given(codes: Array, at: Array) -> Array:
        schema, rows = fitted.ground.schema, space.rows
        before = schema.frame(space.own[at], rows, at)
        after = schema.frame(columns(codes, at), rows, at)
        try:
            steps: Array = np.asarray(custom(before, after)).astype(float)  # type: ignore[operator]
        except Exception as fault:
            raise OptionError(f"the distance function raised {fault!r}") from fault
        return _read_distance(steps, weights[at])

    if callable(custom):
        return given
    return _of_units(fitted, space) if space.identity and even else built_in


def _of_units(fitted: Fitted, space: Space) -> Callable[[Array, Array], Array]:
    """The distance where every unit is a column: rows are compared as they are."""
    scales = fitted.scales.in_order(tuple(unit.members[0] for unit in space.units))
    return lambda codes, at: scales.total(space.queries.take(at, axis=0), codes)


def _read_distance(steps: Array, weights: Array) -> Array:
    if not np.isfinite(steps).all():
        raise OptionError("the distance function returned a number that is not finite")
    if steps.shape == weights.shape:
        total: Array = (steps * weights).sum(axis=1)
        return total
    if steps.shape == weights.shape[:1] and (weights == weights[:, :1]).all():
        return steps
    raise OptionError(
        f"the distance function returned shape {steps.shape} for {len(weights)} rows: "
        "(rows, columns) was expected, or (rows,) where no column has a weight of its own"
    )
