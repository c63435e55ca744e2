"""Cases in frames of pandas and polars, as arrays (cases, channels, time).

- nested: a line is a case, a column a channel, and a cell holds its values (Series, array or list)
- by index: the lines of a case share the first level of the index; a column is a channel, a line a
  time point

A polars frame is nested. The names of the channels are those of the columns.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from macex.errors import SchemaError
from macex.schema import Array


def is_frame(given: Any) -> bool:
    """Whether cases are given as a frame."""
    return isinstance(given, pd.DataFrame) or hasattr(given, "get_column")


def frame_channels(given: Any) -> list[str]:
    """The names of the channels of a frame."""
    return [str(name) for name in given.columns]


def frame_cases(given: Any) -> list[Array]:
    """The cases of a frame, each (channels, time)."""
    if not len(given.columns):
        raise SchemaError("the frame of cases has no columns; every column is a channel")
    if isinstance(given, pd.DataFrame) and given.index.nlevels > 1:
        return [
            _numbers(part.to_numpy().T, f"case {case!r}")
            for case, part in given.groupby(level=0, sort=False)
        ]
    columns = [list(given[name]) for name in given.columns]
    return [_nested(place, line) for place, line in enumerate(zip(*columns, strict=True))]


def _nested(place: int, cells: tuple[Any, ...]) -> Array:
    """A line of a nested frame as (channels, time)."""
    channels = [np.asarray(cell) for cell in cells]
    flat = [channel for channel in channels if channel.ndim != 1]
    if flat:
        raise SchemaError(
            f"line {place} of the frame has a cell that is one value: a cell of a nested frame "
            "holds the values of a channel. A frame with a line for each time point needs an index "
            "of two levels: case, time"
        )
    if len({len(channel) for channel in channels}) > 1:
        raise SchemaError(f"the channels of line {place} of the frame have unequal lengths")
    return _numbers(np.stack(channels), f"line {place}")


def _numbers(values: Array, what: str) -> Array:
    if values.dtype == object:
        try:
            return values.astype(float)
        except (TypeError, ValueError) as error:
            raise SchemaError(f"{what} of the frame holds what is no number: {error}") from error
    return values
