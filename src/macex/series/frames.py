"""Cases in frames of pandas and polars, as arrays (cases, channels, time).

- nested: a line is a case, a column a channel, and a cell holds its values (Series, array or list)
- by index (pandas): the lines of a case share the first level of the index, the second is time; a
  column is a channel
- by columns: one names the case, one the time, and each of the others is a channel
- long: columns for case, time, channel and value
- wide, of one channel: a line is a case and a column a time point, named by a number or a date
- a list of frames, one a case: a line is a time point, a column a channel, or the time

Columns are known by what they are usually called (`CASES`, `TIMES`, `CHANNELS`, `VALUES`). Lines
that have a time in a column are put in its order; a value that is missing is a gap (NaN).
"""

from __future__ import annotations

import re
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
_NUMBERED = re.compile(r"(\D*?)(-?\d+(?:\.\d+)?)")


@dataclass(frozen=True, eq=False)
class Framed:
    """What a frame holds."""

    cases: list[Array]  # each (channels, time)
    channels: list[str]  # none where the frame does not name them
    times: Array | None = None  # of all cases
    unit: str = ""

    def ordered(self, names: Sequence[str]) -> Framed:
        """The same with channels in the order of `names`, if these are its channels."""
        if list(names) == self.channels or (not self.channels and len(names) == 1):
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
    """Whether cases are given as a frame, or as a list of frames."""
    if isinstance(given, list | tuple):
        return bool(given) and all(map(_framelike, given))
    if hasattr(type(given), "columns") and not _framelike(given):
        raise SchemaError(
            f"cases are given as {type(given).__name__}, of which macex does not know what its "
            "lines are: give a frame of pandas or polars, or an array"
        )
    return _framelike(given)


def _framelike(given: Any) -> bool:
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
        plain = _plain(given).set_axis(names, axis=1)
        channel, value = _called(names, CHANNELS), _called(names, VALUES)
        if channel is not None and value is not None:
            return _long(plain, case, time, channel, value)
        return _by_case(plain.set_index([case, time]), ordered=True)
    if isinstance(given, pd.DataFrame) and given.index.nlevels > 1:
        return _by_case(given, ordered=False)
    at = _times_named(given.columns)
    if at is not None and all(
        np.asarray(given[name]).dtype.kind in "fiub" for name in given.columns
    ):
        return _wide(given, at)
    columns = [list(given[name]) for name in given.columns]
    cases = [_nested(place, line) for place, line in enumerate(zip(*columns, strict=True))]
    return Framed(cases, names)


def _plain(given: Any) -> pd.DataFrame:
    """A frame of pandas."""
    if isinstance(given, pd.DataFrame):
        return given
    return pd.DataFrame({name: np.asarray(given[name]) for name in given.columns})


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
        part = lines.droplevel(list(range(lines.index.nlevels - 1)))
        part = _in_order(part, f"case {case!r}") if ordered else part
        cases.append(_numbers(part.to_numpy().T, f"case {case!r}"))
        times.append(part.index.to_numpy())
    if not cases:
        return Framed([], [str(name) for name in frame.columns])
    return Framed(cases, [str(name) for name in frame.columns], *shared(times))


def _wide(given: Any, times: Array) -> Framed:
    """A line for every case, and a column for every time point of its one channel."""
    order = np.argsort(times, kind="stable")
    values = np.asarray(_plain(given).to_numpy(), dtype=float)[:, order]
    return Framed([line[None] for line in values], [], *shared([times[order]]))


def _times_named(columns: Any) -> Array | None:
    """The times that columns are named by, as numbers or dates; None where one is something else.

    >>> _times_named(["t0", "t1", "t10"])
    array([ 0,  1, 10])
    >>> _times_named(["sensor 0", "sensor 1"]) is None
    True
    """
    labels: Array = np.asarray(columns)
    if labels.dtype.kind in "OU":
        found = [_NUMBERED.fullmatch(str(label)) for label in labels]
        if not all(
            one is not None and one[1].strip("_ -").lower() in ("", *TIMES) for one in found
        ):
            return None
        texts = [one[2] for one in found if one is not None]
        return np.array([int(text) if text.isdecimal() else float(text) for text in texts])
    return labels if labels.dtype.kind in "fiuMm" else None


def _listed(given: Sequence[Any]) -> Framed:
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
    time = _called(names, TIMES)
    parts = [_one_case(one, time, f"case {place}") for place, one in enumerate(given)]
    channels = [name for name in names if name != time]
    return Framed([part for part, _ in parts], channels, *shared([at for _, at in parts]))


def _one_case(given: Any, time: str | None, what: str) -> tuple[Array, Array]:
    """The channels (d, time) of a frame of one case, and its times."""
    frame = _plain(given)
    if time is not None:
        frame = _in_order(frame.set_index(time), what)
    return _numbers(frame.to_numpy().T, what), frame.index.to_numpy()


def _in_order(lines: pd.DataFrame, what: str) -> pd.DataFrame:
    """The lines of a case in the order of time, which is their index."""
    at = lines.index
    if at.has_duplicates:
        raise SchemaError(f"{what} of the frame has two lines of time {at[at.duplicated()][0]!r}")
    return lines.iloc[at.argsort()]


def _nested(place: int, cells: tuple[Any, ...]) -> Array:
    """A line of a nested frame as (channels, time)."""
    channels = [np.asarray(cell) for cell in cells]
    flat = [channel for channel in channels if channel.ndim != 1]
    if flat:
        raise SchemaError(
            f"line {place} of the frame has a cell that is one value: a cell of a nested frame "
            "holds the values of a channel. A frame with a line for each time point needs an index "
            "of two levels, case and time, or columns of these names; a long one also the columns "
            "channel and value. A wide one of one channel has times for columns"
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
