"""One column: its kind, its values as codes, and the way between the two.

A code is a float64. Of a categorical or ordered column it is the position in `table`; of a
continuous column the number itself; of a datetime the seconds since the first one in training.
Two codes are reserved in every column: `MISSING`, and `UNKNOWN` for categories never seen.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from functools import cached_property
from math import isfinite, log10
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pandas as pd

from macex.errors import SchemaError, closest
from macex.schema.cells import is_number, plain
from macex.schema.kinds import KindName
from macex.schema.moments import (
    Clock,
    Ticks,
    plain_duration,
    plain_moment,
    resolution_of,
    ticks_in,
)

MISSING: float = -(2.0**100)
UNKNOWN: float = -(2.0**101)


def special(codes: Floats) -> npt.NDArray[np.bool_]:
    """Where a code is one of the reserved ones: a missing value or an unknown category."""
    return (codes == MISSING) | (codes == UNKNOWN)


def any_special(codes: Floats) -> bool:
    """Whether any code may be a reserved one: those are lower than nearly all others."""
    return bool(codes.min(initial=0.0) <= MISSING)


EXACT = 2.0**53
Floats = npt.NDArray[np.float64]
SAFE = 2.0**51  # up to here a product is right to the whole number


@dataclass(frozen=True)
class Storage:
    """What the engine must know about a native dtype.

    `numbers` is the NumPy type of the numbers, booleans or times (object for text), `objects`
    says that the native column holds Python objects, `blank` which missing value is meant by
    `MISSING` where the dtype knows several, `origin` the microseconds since 1970 of code 0.
    """

    numbers: np.dtype[Any]
    objects: bool = False
    nullable: bool = True
    blank: str = ""
    origin: int = 0
    zone: str = ""


@dataclass(frozen=True, eq=False)
class Column:
    """What is known of one column of the training data.

    `seen` are the distinct codes of training, sorted and without `MISSING`; `counts` says how
    often each occurs. A declared category that never occurs is in `table` but not in `seen`.
    """

    name: str
    label: Hashable
    kind: KindName
    dtype: object
    table: tuple[object, ...]
    seen: Floats
    counts: npt.NDArray[np.int64]
    low: float
    high: float
    step: float
    missing: bool
    storage: Storage
    ticks: Ticks = field(default_factory=lambda: np.zeros(0, np.int64))  # of `seen`, if datetimes

    @cached_property
    def discrete(self) -> bool:
        """Whether the codes are positions in `table`."""
        return self.kind in {"categorical", "ordered"}

    @property
    def constant(self) -> bool:
        """Whether training shows fewer than two states; missing is a state."""
        return len(self.seen) + self.missing < 2

    @cached_property
    def integer(self) -> bool:
        """Whether the numbers of this column can only be whole."""
        return self.storage.numbers.kind in "iu"

    def snap(self, values: Floats) -> Floats:
        """The nearest codes a frame can hold: on the grid, in the dtype, between low and high."""
        values = np.asarray(values, dtype=np.float64)
        inside = np.clip(self.held(values), self.low, self.high) + 0.0  # no -0.0
        return np.where(values <= MISSING, values, inside)

    def held(self, values: Floats) -> Floats:
        """Numbers as a frame would hold them: on the grid and in the dtype, in any range."""
        return self.in_dtype(on_grid(values, self.step))

    def in_dtype(self, values: Floats) -> Floats:
        """Numbers as the dtype holds them, on the grid or not."""
        numbers = self.storage.numbers
        if numbers.kind == "f":
            return values.astype(numbers).astype(np.float64)
        if self.kind == "datetime":
            return on_grid(values, resolution_of(numbers))
        return np.rint(values) if self.integer else values

    def fits(self, values: Floats) -> npt.NDArray[np.bool_]:
        """Whether the dtype can hold numbers: a computed one may be beyond its last."""
        numbers = self.storage.numbers
        if self.kind == "datetime" or numbers.kind not in "iuf":
            return np.ones(len(values), bool)
        ends = np.finfo(numbers) if numbers.kind == "f" else np.iinfo(numbers)
        return np.asarray((values >= float(ends.min)) & (values <= float(ends.max)))

    def value(self, code: float) -> object:
        """The Python value of a code; None for `MISSING`."""
        if code == MISSING:
            return None
        if code == UNKNOWN:
            raise SchemaError(f"column {self.name!r}: an unknown category has no value of its own")
        if self.discrete:
            return self.table[int(code)]
        if self.kind == "datetime":
            return self._moment(code)
        return int(code) if self.integer else self._number(code)

    def _number(self, code: float) -> float:
        rounded = round(float(code), self.decimals)
        near = abs(rounded - code) <= 1e-9 * max(1.0, abs(code))
        if self.step and near and (rounded == code or self._gridded(code)):
            return rounded
        return float(str(self.storage.numbers.type(code)))

    def _gridded(self, code: float) -> bool:
        """Whether a number is on the grid, up to the rounding error of its decimals."""
        return bool(self.held(np.array([code]))[0] == code)

    @cached_property
    def decimals(self) -> int:
        """The decimals that numbers on the grid need."""
        return max(0, -int(np.floor(log10(self.step) + 1e-9))) if self.step else 15

    @cached_property
    def clock(self) -> Clock:
        """The way between the codes of a datetime and ticks since 1970."""
        return Clock(self.storage.numbers, self.storage.origin, self.seen, self.ticks)

    def _moment(self, code: float) -> object:
        tick, unit = int(self.clock.ticks_of(np.array([code]))[0]), self.clock.unit
        if self.storage.numbers.kind == "m":
            return plain_duration(pd.Timedelta(np.timedelta64(tick, unit)))
        stamp = pd.Timestamp(np.datetime64(tick, unit))
        if self.storage.zone:
            stamp = stamp.tz_localize("UTC").tz_convert(self.storage.zone)
        moment = plain_moment(stamp)
        return moment.date() if self.storage.numbers == np.dtype("M8[D]") else moment

    def code(self, value: object) -> float:
        """The code of a value; an unknown category or another type is an error."""
        value = plain(value)
        if value is None:
            return self._blank()
        if self.discrete:
            found = self.lookup(value)
            if found is None:
                raise SchemaError(
                    f"column {self.name!r} has no value {value!r}{closest(value, self.table)}"
                )
            return found
        return self._time(value) if self.kind == "datetime" else self._quantity(value)

    def _blank(self) -> float:
        if not self.storage.nullable:
            raise SchemaError(
                f"column {self.name!r} cannot be missing, since its dtype in training cannot hold "
                "a missing value; give a value"
            )
        return MISSING

    def lookup(self, value: object) -> float | None:
        """The code of a category, matched by type and value first and by value alone then."""
        by_type, by_value = self._codes
        try:
            exact = by_type.get((type(value), value))
            return by_value.get(value) if exact is None else exact
        except TypeError:
            return None

    @cached_property
    def _codes(self) -> tuple[dict[tuple[type, object], float], dict[object, float]]:
        by_type = {(type(value), value): float(at) for at, value in enumerate(self.table)}
        by_value: dict[object, float] = {}
        for (_, value), code in by_type.items():
            by_value.setdefault(value, code)
        return by_type, by_value

    @cached_property
    def types(self) -> frozenset[type]:
        """The types of the categories."""
        return frozenset(map(type, self.table))

    def _quantity(self, value: object) -> float:
        if not (isinstance(value, bool) or is_number(type(value))):
            raise SchemaError(f"column {self.name!r} needs a number, not {value!r}")
        try:
            number = float(cast("float", value))
        except OverflowError:
            raise SchemaError(f"column {self.name!r} needs a smaller number") from None
        if not isfinite(number):
            raise SchemaError(f"column {self.name!r} needs a finite number, not {value!r}")
        if self.integer and number != np.rint(number):
            raise SchemaError(f"column {self.name!r} holds whole numbers; {value!r} is none")
        with np.errstate(over="ignore"):  # beyond the dtype it is infinite
            return float(self.in_dtype(np.array([number]))[0])

    def _time(self, value: object) -> float:
        duration = self.storage.numbers.kind == "m"
        try:
            moment = self._duration(value) if duration else self._stamp(value)
        except (TypeError, ValueError, OverflowError) as error:
            what = "a duration" if duration else "a date or time"
            hint = f" ({error})" if isinstance(error, SchemaError) else ""
            raise SchemaError(f"column {self.name!r} needs {what}, not {value!r}{hint}") from error
        return float(self.clock.codes_of(ticks_in(np.array([moment]), self.clock.unit))[0])

    def _duration(self, value: object) -> np.timedelta64:
        if is_number(type(value)):
            raise SchemaError("a bare number has no unit")
        return pd.Timedelta(cast("str", value)).to_timedelta64()

    def _stamp(self, value: object) -> np.datetime64:
        if is_number(type(value)):
            raise SchemaError("a bare number has no unit")
        stamp = pd.Timestamp(cast("str", value))
        if stamp.tzinfo is None and self.storage.zone:
            known = stamp.tz_localize(self.storage.zone, nonexistent="NaT", ambiguous="NaT")
            if not isinstance(known, pd.Timestamp):
                raise SchemaError(f"the clocks of {self.storage.zone} show it never or twice")
            stamp = known
        if stamp.tzinfo is not None and not self.storage.zone:
            raise SchemaError("the column has no time zone")
        if stamp.tzinfo is not None:
            stamp = stamp.tz_convert("UTC").tz_localize(None)
        return stamp.to_datetime64()


def on_grid(values: Floats, step: float) -> Floats:
    """The nearest multiples of the step, as decimals write them.

    >>> on_grid(np.array([0.31, 7.26]), 0.1).tolist()
    [0.3, 7.3]
    """
    if not step:
        return values
    parts = np.rint(1 / step)
    decimal = step < 1 and abs(parts * step - 1) < 1e-9
    with np.errstate(over="ignore", invalid="ignore"):
        snapped = np.rint(values * parts) / parts if decimal else np.rint(values / step) * step
        fits = np.abs(values) * (parts if decimal else 1.0) < (SAFE if decimal else EXACT)
    return np.where(fits, snapped, values)
