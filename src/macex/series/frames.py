"""Cases in frames of pandas and polars, as arrays (cases, channels, time).

- nested: a line is a case, a column a channel, and a cell holds its values (Series, array or list)
- by index (pandas): the lines of a case share the first level of the index, the second is time; a
  column is a channel
- by columns: one names the case, one the time, and each of the others is a channel
- long: columns for case, time, channel and value
- a list of pandas frames, one a case: a line is a time point, a column a channel

Columns are known by what they are usually called (`CASES`, `TIMES`, `CHANNELS`, `VALUES`). Lines of
the last three forms are put in the order of time; a value that is missing is a gap (NaN).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from macex.errors import SchemaError
from macex.schema import Array
from macex.series.times import shared

CASES = ("case", "case_id", "instance", "instances", "sample", "series", "series_id", "unique_id")
TIMES = ("time", "timestamp", "timepoint", "timepoints", "time_id", "reading_id", "t", "ds")
CHANNELS = ("channel", "channel_id", "dim", "dim_id", "dimension", "variable", "sensor")
VALUES = ("value", "values")


@dataclass(frozen=True, eq=False)
class Framed:
    """What a frame holds."""

    cases: list[Array]  # each (channels, time)
    channels: list[str]
    times: Array | None = None  # of all cases
    unit: str = ""

    def ordered(self, names: Sequence[str]) -> Framed:
        """The same with channels in the order of `names`, if these are its channels."""
        if list(names) == self.channels:
            return self
        if sorted(names) != sorted(self.channels):
            absent = [name for name in names if name not in self.channels]
            raise SchemaError(
                f"the frame has the channels {', '.join(self.channels)}, and training "
                f"{', '.join(names)}" + (f": {absent[0]!r} is missing" if absent else "")
            )
        place = [self.channels.index(name) for name in names]
        return Framed([case[place] for case in self.cases], list(names), self.times, self.unit)


def is_frame(given: Any) -> bool:
    """Whether cases are given as a frame, or as a list of pandas frames."""
    if isinstance(given, list | tuple):
        return bool(given) and all(isinstance(one, pd.DataFrame) for one in given)
    return isinstance(given, pd.DataFrame) or hasattr(given, "get_column")


def framed(given: Any) -> Framed:
    """The cases of a frame, with the names of its channels and its times."""
    if isinstance(given, list | tuple):
        return _listed(given)
    if not len(given.columns):
        raise SchemaError("the frame of cases has no columns; every column is a channel")
    names = [str(name) for name in given.columns]
    case, time = _called(names, CASES), _called(names, TIMES)
    if case is not None and time is not None:
        plain = given if isinstance(given, pd.DataFrame) else given.to_pandas()
        plain = plain.set_axis(names, axis=1)
        channel, value = _called(names, CHANNELS), _called(names, VALUES)
        if channel is not None and value is not None:
            return _long(plain, case, time, channel, value)
        return _by_case(plain.set_index([case, time]), ordered=True)
    if isinstance(given, pd.DataFrame) and given.index.nlevels > 1:
        return _by_case(given, ordered=False)
    columns = [list(given[name]) for name in given.columns]
    cases = [_nested(place, line) for place, line in enumerate(zip(*columns, strict=True))]
    return Framed(cases, names)


def _called(names: list[str], known: tuple[str, ...]) -> str | None:
    """The one column that has one of the usual names."""
    found = [name for name in names if name.lower() in known]
    return found[0] if len(found) == 1 else None


def _long(frame: pd.DataFrame, case: str, time: str, channel: str, value: str) -> Framed:
    """A line for every value."""
    twice = frame.duplicated([case, time, channel])
    if twice.any():
        line = int(np.flatnonzero(twice)[0])
        told = ", ".join(f"{name} {frame[name].iloc[line]!r}" for name in (case, time, channel))
        raise SchemaError(f"line {line} of the frame has a second value of {told}")
    names = list(dict.fromkeys(frame[channel]))
    wide = frame.pivot(index=[case, time], columns=channel, values=value)  # noqa: PD010 - no table
    wide = wide[names]
    order = list(dict.fromkeys(frame[case]))
    wide.columns = pd.Index([str(name) for name in names])
    return _by_case(wide.loc[order], ordered=True)


def _by_case(frame: pd.DataFrame, *, ordered: bool) -> Framed:
    """A line for every time point, by an index of case and time."""
    cases, times = [], []
    for case, lines in frame.groupby(level=0, sort=False):
        part, at = lines, lines.index.get_level_values(lines.index.nlevels - 1)
        if ordered:
            if at.has_duplicates:
                again = at[at.duplicated()][0]
                raise SchemaError(f"case {case!r} of the frame has two lines of time {again!r}")
            part, at = lines.iloc[at.argsort()], at.sort_values()
        cases.append(_numbers(part.to_numpy().T, f"case {case!r}"))
        times.append(at.to_numpy())
    if not cases:
        return Framed([], [str(name) for name in frame.columns])
    return Framed(cases, [str(name) for name in frame.columns], *shared(times))


def _listed(given: Sequence[pd.DataFrame]) -> Framed:
    """A frame for every case."""
    names = [str(name) for name in given[0].columns]
    if all(isinstance(name, int | np.integer) for name in given[0].columns):
        raise SchemaError(
            "the frames in the list have numbers for columns, so that channels and time points "
            "cannot be told apart: name the columns after channels, or give arrays"
        )
    for place, frame in enumerate(given):
        if [str(name) for name in frame.columns] != names:
            raise SchemaError(
                f"frame {place} of the list has the columns {', '.join(map(str, frame.columns))}, "
                f"and frame 0 {', '.join(names)}"
            )
    cases = [_numbers(one.to_numpy().T, f"case {place}") for place, one in enumerate(given)]
    return Framed(cases, names, *shared([one.index.to_numpy() for one in given]))


def _nested(place: int, cells: tuple[Any, ...]) -> Array:
    """A line of a nested frame as (channels, time)."""
    channels = [np.asarray(cell) for cell in cells]
    flat = [channel for channel in channels if channel.ndim != 1]
    if flat:
        raise SchemaError(
            f"line {place} of the frame has a cell that is one value: a cell of a nested frame "
            "holds the values of a channel. A frame with a line for each time point needs an index "
            "of two levels, case and time, or columns of these names; a long one also the columns "
            "channel and value"
        )
    if len({len(channel) for channel in channels}) > 1:
        raise SchemaError(f"the channels of line {place} of the frame have unequal lengths")
    return _numbers(np.stack(channels), f"line {place}")


def _numbers(values: Array, what: str) -> Array:
    if values.dtype == object:
        try:
            return values.astype(float)
        except (TypeError, ValueError) as error:
            raise SchemaError(
                f"{what} of the frame holds a value that is not a number: {error}"
            ) from error
    return values
