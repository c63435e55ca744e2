"""Points in time and durations: between the codes of a column and whole ticks.

A code is a float: the seconds since the first moment of training. A tick is a whole nanosecond
where the dtype has those, and a microsecond elsewhere. Floats cannot tell the nanoseconds of more
than a hundred days apart, so every moment seen in training has a code of its own and its tick
beside it, and a moment never seen has the code of no other.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

Floats: TypeAlias = npt.NDArray[np.float64]
Ticks: TypeAlias = npt.NDArray[np.int64]
Unit: TypeAlias = Literal["ns", "us"]

DAY = 86_400.0
MICROSECONDS = 1_000_000  # a second
NANOSECONDS = 1_000  # a microsecond
LIMIT = 2**63 // 1000 - 1  # microseconds whose nanoseconds an integer holds
FARTHEST = 9e15  # the same between two moments
FINE = ("ns", "ps", "fs", "as")
RESOLUTIONS = {"D": DAY, "h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
STEPS = (DAY, 1.0, 1e-6)  # the grids that are looked for, beside the resolution of the dtype


@dataclass(frozen=True, eq=False)
class Clock:
    """What a datetime column knows of time: `origin` is the microseconds since 1970 of code 0."""

    numbers: np.dtype[Any]
    origin: int
    seen: Floats  # the codes of training, increasing
    ticks: Ticks  # their ticks; none where a schema was stored without

    @cached_property
    def unit(self) -> Unit:
        """What a tick is: "ns" or "us"."""
        return tick_unit(self.numbers)

    def ticks_of(self, codes: Floats) -> Ticks:
        """The ticks since 1970 of codes."""
        codes = np.asarray(codes, dtype=np.float64)
        with np.errstate(invalid="ignore", over="ignore"):
            micros: Ticks = self.origin + np.rint(codes * MICROSECONDS).astype(np.int64)
            found = micros if self.unit == "us" else self._fine(codes, micros)
        if not len(self.ticks):
            return found
        place = nearest(self.seen, codes)
        return np.where(self.seen[place] == codes, self.ticks[place], found)

    def codes_of(self, ticks: Ticks) -> Floats:
        """The codes of ticks since 1970."""
        ticks = np.asarray(ticks, dtype=np.int64)
        codes = seconds(ticks, self.origin, self.unit)
        if not len(self.ticks):
            return codes
        place = nearest(self.ticks, ticks)
        known = self.ticks[place] == ticks
        codes = np.where(known, self.seen[place], codes)
        place = nearest(self.seen, codes)
        taken = ~known & (self.seen[place] == codes)
        beside = np.nextafter(codes, np.where(ticks > self.ticks[place], np.inf, -np.inf))
        return np.where(taken, beside, codes)

    def restated(self, codes: Floats, other: Clock) -> Floats:
        """Codes of this column as codes of another one."""
        ticks = self.ticks_of(codes)
        if self.unit != other.unit:
            fine = np.clip(ticks, -LIMIT, LIMIT) * NANOSECONDS
            ticks = fine if self.unit == "us" else ticks // NANOSECONDS
        return other.codes_of(ticks)

    def stamps(self, codes: Floats) -> npt.NDArray[Any]:
        """Codes in the dtype of training; a timestamp of a zone in UTC."""
        kind = self.numbers.kind
        return self.ticks_of(codes).view(f"{kind}8[{self.unit}]").astype(self.numbers)

    def _fine(self, codes: Floats, micros: Ticks) -> Ticks:
        """Microseconds since 1970 in nanoseconds, and those of the codes where they are near."""
        start = self.origin * NANOSECONDS
        fine = start + np.rint(codes * MICROSECONDS * NANOSECONDS).astype(np.int64)
        far = np.abs(codes) * MICROSECONDS >= FARTHEST
        return np.where(far, micros * NANOSECONDS, fine)


def tick_unit(numbers: np.dtype[Any]) -> Unit:
    """What a tick of a dtype is: "ns" or "us".

    >>> tick_unit(np.dtype("M8[s]")), tick_unit(np.dtype("m8[ns]"))
    ('us', 'ns')
    """
    return "ns" if np.datetime_data(numbers)[0] in FINE else "us"


def resolution_of(numbers: np.dtype[Any]) -> float:
    """The seconds between neighbours of a dtype; of months and years, which differ, a tick."""
    return RESOLUTIONS.get(np.datetime_data(numbers)[0], 1e-6)


def ticks_in(values: npt.NDArray[Any], unit: str) -> Ticks:
    """Datetimes or durations of any resolution as whole ticks; the farthest ones as far as goes."""
    kind = values.dtype.kind
    if unit == "us" or tick_unit(values.dtype) == "ns":
        return values.astype(f"{kind}8[{unit}]").view(np.int64)
    micros = values.astype(f"{kind}8[us]").view(np.int64)
    return np.clip(micros, -LIMIT, LIMIT) * NANOSECONDS


def seconds(ticks: Ticks, origin: int, unit: str) -> Floats:
    """The seconds of ticks since the origin, in microseconds since 1970."""
    if unit == "us":
        return np.asarray((ticks - origin) / MICROSECONDS)
    micros = ticks // NANOSECONDS - origin
    fine = (micros * NANOSECONDS + ticks % NANOSECONDS) / (MICROSECONDS * NANOSECONDS)
    return np.where(np.abs(micros) < FARTHEST, fine, micros / MICROSECONDS)


def apart(codes: Floats) -> Floats:
    """Codes that do not fall, each above the one before.

    >>> bool(np.diff(apart(np.array([1.0, 1.0, 1.0, 2.0]))).min() > 0)
    True
    """
    codes = codes.copy()
    for at in range(1, len(codes) if (np.diff(codes) <= 0).any() else 0):
        if codes[at] <= codes[at - 1]:
            codes[at] = np.nextafter(codes[at - 1], np.inf)
    return codes


def step_of(ticks: Ticks, numbers: np.dtype[Any]) -> float:
    """The grid of moments, from the first of them on: whole days, seconds, or finer.

    >>> step_of(np.array([0, 3_000_000]), np.dtype("M8[us]"))
    1.0
    """
    unit = tick_unit(numbers)
    second = MICROSECONDS * (NANOSECONDS if unit == "ns" else 1)
    since, finest = ticks - ticks.min(), resolution_of(numbers)
    steps = [step for step in STEPS if step > finest]
    return next((s for s in steps if not np.any(since % round(s * second))), finest)


def nearest(known: npt.NDArray[Any], values: npt.NDArray[Any]) -> npt.NDArray[np.intp]:
    """Where each value is among the known ones, sorted, or would be."""
    return np.minimum(np.searchsorted(known, values), len(known) - 1)


def plain_moment(stamp: pd.Timestamp) -> Any:
    """A timestamp as Python's datetime, unless it has nanoseconds."""
    return stamp if stamp.nanosecond else stamp.to_pydatetime()


def plain_duration(span: pd.Timedelta) -> Any:
    """A duration as Python's timedelta, unless it has nanoseconds."""
    return span if span.nanoseconds else span.to_pytimedelta()
