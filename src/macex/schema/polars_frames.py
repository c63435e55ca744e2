"""polars: frames into cells, codes into frames. The only file that imports polars."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from macex.schema.cells import BLANKS, Array, Cells, unsupported
from macex.schema.codes import integers, positions
from macex.schema.columns import MISSING, Column, Floats
from macex.schema.frames import Patch, Write

try:
    import polars as pl
except ImportError as error:
    raise ImportError("polars is not installed: pip install macex[polars]") from error

PLAIN = {
    str(dtype): dtype
    for dtype in (
        pl.Int8,
        pl.Int16,
        pl.Int32,
        pl.Int64,
        pl.UInt8,
        pl.UInt16,
        pl.UInt32,
        pl.UInt64,
        pl.Float32,
        pl.Float64,
        pl.Boolean,
        pl.String,
        pl.Categorical,
        pl.Date,
        pl.Null,
    )
}


class Polars:
    """What the engine needs from polars."""

    def labels(self, data: pl.DataFrame) -> list[Hashable]:
        """The column labels."""
        return list(data.columns)

    def cells(self, data: pl.DataFrame, names: Sequence[str]) -> Iterator[Cells]:
        """The columns one by one."""
        for name, series in zip(names, data.get_columns(), strict=True):
            yield _cells(series, name)

    def cell(self, data: pl.DataFrame, row: int, position: int) -> object:
        """One cell as it stands."""
        dtype = data.dtypes[position]
        if getattr(dtype, "time_unit", None) == "ns":  # Python's own moments have none
            stamps = _stamps(data.to_series(position).slice(row, 1))
            return pd.Series(_zoned(stamps, dtype)).iloc[0]
        cell: object = data.item(row, position)
        return cell

    def index(self, data: pl.DataFrame) -> None:
        """Polars has no labels of rows."""
        del data

    def builder(self, columns: Sequence[Column]) -> PolarsBuilder:
        """What builds frames for a model trained on these columns."""
        return PolarsBuilder(columns)

    def written(self, data: pl.DataFrame, at: Array, writes: Sequence[Write]) -> pl.DataFrame:
        """Rows `at` of a caller's frame with some cells written."""
        columns = data[at].get_columns()
        for write in writes:
            columns[write.position] = _overwritten(columns[write.position], write)
        return pl.DataFrame(columns)

    def dtype_to_dict(self, dtype: Any) -> object:
        """A dtype as JSON."""
        if isinstance(dtype, pl.Enum):
            return {"enum": dtype.categories.to_list()}
        if isinstance(dtype, pl.Datetime):
            return {"datetime": dtype.time_unit, "zone": dtype.time_zone}
        if isinstance(dtype, pl.Duration):
            return {"duration": dtype.time_unit}
        return str(dtype.base_type())

    def dtype_from_dict(self, stored: Any) -> object:
        """The dtype that was stored."""
        if isinstance(stored, str):
            return PLAIN[stored]()
        if "enum" in stored:
            return pl.Enum(stored["enum"])
        if "datetime" in stored:
            return pl.Datetime(stored["datetime"], stored["zone"])
        return pl.Duration(stored["duration"])


def _cells(series: pl.Series, name: str) -> Cells:
    dtype, missing = series.dtype, series.is_null().to_numpy()
    if dtype == pl.Null:
        return Cells("object", np.full(len(series), None), missing, dtype)
    if dtype == pl.Boolean:
        return Cells("bool", series.fill_null(value=False).to_numpy(), missing, dtype)
    if dtype.is_float():
        values = series.fill_null(0.0).to_numpy()
        return Cells("number", values, missing | np.isnan(values), dtype, several_blanks=True)
    if dtype.is_integer():
        if str(dtype).endswith("128"):  # NumPy has no such integers
            raise unsupported(name, dtype)
        values = series.fill_null(0).to_numpy()
        return Cells("number", values, missing, dtype)
    if dtype in (pl.String, pl.Categorical, pl.Enum):
        declared = tuple(dtype.categories.to_list()) if isinstance(dtype, pl.Enum) else None
        values = np.array(series.cast(pl.String).to_list(), dtype=object)
        return Cells("object", values, missing, dtype, declared=declared)
    if dtype in (pl.Date, pl.Datetime, pl.Duration):
        zone = getattr(dtype, "time_zone", None) or ""
        return Cells("time", _stamps(series), missing, dtype, zone=zone)
    raise unsupported(name, dtype)


def _stamps(series: pl.Series) -> Array:
    unit = "D" if series.dtype == pl.Date else series.dtype.time_unit  # type: ignore[attr-defined]
    kind = "m" if series.dtype == pl.Duration else "M"
    ticks = series.to_physical().cast(pl.Int64).fill_null(0).to_numpy()
    stamps = ticks.astype(f"{kind}8[{unit}]")
    stamps[series.is_null().to_numpy()] = np.array("NaT", dtype=stamps.dtype)
    return stamps


def _zoned(stamps: Array, dtype: Any) -> Any:
    zone = getattr(dtype, "time_zone", None)
    return pd.DatetimeIndex(stamps).tz_localize("UTC").tz_convert(zone) if zone else stamps


def _timed(values: list[object], dtype: Any) -> pl.Series:
    """Moments or durations in a dtype, to the last digit; what it cannot hold is an error."""
    kind = "m" if dtype == pl.Duration else "M"
    unit = "D" if dtype == pl.Date else dtype.time_unit
    ticks = [None if value is None else _tick(value, kind, unit) for value in values]
    physical = pl.Series(ticks, dtype=pl.Int64)
    return (physical.cast(pl.Int32) if dtype == pl.Date else physical).cast(dtype)


def _tick(value: Any, kind: str, unit: str) -> int:
    stamp: Any = pd.Timedelta(value) if kind == "m" else pd.Timestamp(value)
    if getattr(stamp, "tzinfo", None) is not None:
        stamp = stamp.tz_convert("UTC").tz_localize(None)
    exact = stamp.asm8
    held = exact.astype(f"{kind}8[{unit}]")
    if held != exact:
        raise ValueError(f"{value} is finer than {unit}")
    return int(held.astype(np.int64))


def _overwritten(series: pl.Series, write: Write) -> Any:
    """A caller's column with the chosen cells written, in a wider dtype only where needed."""
    trained, chosen = write.trained, pl.Series(write.chosen)
    if trained is not None and trained.dtype == series.dtype:
        return trained.zip_with(chosen, series).alias(series.name)
    values = write.values()
    if isinstance(series.dtype, pl.Enum):
        known = series.dtype.categories.to_list()
        grown = dict.fromkeys([*known, *(str(value) for value in values if value is not None)])
        series = series.cast(pl.Enum(list(grown)))
    fitting = _fitting(values, series.dtype)
    if fitting is not None:
        return series.scatter(np.flatnonzero(write.chosen), fitting)
    if trained is not None:
        return trained.alias(series.name)
    listed = series.to_list()
    for at, value in zip(np.flatnonzero(write.chosen), values, strict=True):
        listed[at] = value
    return pl.Series(series.name, listed, strict=False)


def _fitting(values: list[object], dtype: pl.DataType) -> pl.Series | None:
    """The values in a dtype, or None where it cannot hold them."""
    try:
        if dtype.is_temporal():
            return _timed(values, dtype)
        series = pl.Series(values, dtype=dtype)
    except (TypeError, ValueError, OverflowError, pl.exceptions.PolarsError):
        return None
    return series if series.to_list() == values else None


class PolarsBuilder:
    """Builds polars frames from codes."""

    def __init__(self, columns: Sequence[Column]) -> None:
        self.columns = columns
        self.decoders = [_decoder(column) for column in columns]

    def array(self, at: int, codes: Floats, patch: Patch | None = None) -> Any:
        """One column decoded; a patch (mask, values) goes over it."""
        series = self.decoders[at](codes)
        if patch is not None:
            series = series.scatter(np.flatnonzero(patch[0]), patch[1])
        return series.alias(str(self.columns[at].label))

    def originals(self, at: int, values: list[object]) -> pl.Series | None:
        """A caller's own values in the dtype of training; None for an Enum."""
        dtype: Any = self.columns[at].dtype
        if isinstance(dtype, pl.Enum):
            return None
        if dtype.is_temporal():
            return _timed(values, dtype)
        return pl.Series(values, dtype=dtype, strict=not dtype.is_float())

    def frame(self, codes: Floats, patches: Mapping[int, Patch]) -> pl.DataFrame:
        """The frame of all columns."""
        return pl.DataFrame(
            [self.array(at, codes[:, at], patches.get(at)) for at in range(len(self.columns))]
        )


def _decoder(column: Column) -> Any:
    if column.discrete:
        values = [*column.table, BLANKS[column.storage.blank or "None"]]
        table = pl.Series(values, dtype=column.dtype)  # type: ignore[arg-type]
        return partial(_chosen, table=table)
    return partial(_moments if column.kind == "datetime" else _numbers, column=column)


def _chosen(codes: Floats, table: pl.Series) -> pl.Series:
    return table.gather(positions(codes, len(table) - 1))


def _numbers(codes: Floats, column: Column) -> pl.Series:
    missing = codes == MISSING
    kind = column.storage.numbers
    filled = np.where(missing, 0.0, codes)
    series = pl.Series(integers(filled, kind) if column.integer else filled.astype(kind))
    if not missing.any():
        return series
    return series.scatter(
        np.flatnonzero(missing), float("nan") if column.storage.blank == "nan" else None
    )


def _moments(codes: Floats, column: Column) -> pl.Series:
    missing = codes == MISSING
    stamps = column.clock.stamps(np.where(missing, 0.0, codes)).view(np.int64)
    physical = pl.Series(stamps).scatter(np.flatnonzero(missing), None)
    dtype: Any = column.dtype
    return (physical.cast(pl.Int32) if dtype == pl.Date else physical).cast(dtype)
