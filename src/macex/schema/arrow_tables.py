"""Arrow tables (of pyarrow, DuckDB and other libraries) as pandas frames.

Columns come through the Arrow PyCapsule interface, so this file imports none of those libraries.
"""

from __future__ import annotations

from typing import Any

import pandas as pd

from macex.errors import SchemaError

SPEAKS = ("__arrow_c_stream__", "__arrow_c_array__")
OWN = ("pandas", "polars", "numpy")


def frame_of(data: Any) -> Any:
    """An Arrow table as a frame; anything else is returned unchanged.

    Whole numbers stay whole beside a missing one, and decimals become numbers. A stream of record
    batches is used up.

    >>> import pyarrow as pa
    >>> frame_of(pa.table({"age": [30, None]}))["age"].tolist()
    [30, <NA>]
    """
    if not any(hasattr(data, name) for name in SPEAKS):
        return data
    kind = type(data)
    if kind.__module__.partition(".")[0] in OWN or issubclass(kind, pd.DataFrame | pd.Series):
        return data
    try:
        import pyarrow as pa
    except ImportError as error:
        raise SchemaError(
            f"the rows are a {kind.__name__}, which is read by pyarrow: pip install macex[files]"
        ) from error
    try:
        table = pa.table(data)
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise SchemaError(f"the rows are a {kind.__name__}, but no table: {error}") from error
    return pandas_frame(_undecimal(table))


def pandas_frame(table: Any) -> pd.DataFrame:
    """A table or batch of Arrow as a frame; whole numbers stay whole beside a missing one."""
    from pyarrow import types

    frame = table.to_pandas()
    for name, column in zip(table.schema.names, table.columns, strict=True):
        holed = column.null_count and types.is_integer(column.type) and name in frame
        if holed and isinstance(frame[name], pd.Series) and frame[name].dtype.kind == "f":
            whole = "UInt64" if types.is_uint64(column.type) else "Int64"
            frame[name] = pd.array(column.to_pylist(), dtype=whole)
    return frame


def _undecimal(table: Any) -> Any:
    """Decimals, as databases have them, as numbers."""
    import pyarrow as pa

    fields = [
        field.with_type(pa.float64()) if pa.types.is_decimal(field.type) else field
        for field in table.schema
    ]
    return table.cast(pa.schema(fields, table.schema.metadata))
