"""As many people as are wanted: rows of a dataset drawn again, their numbers moved a little."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from macex.datasets import Dataset
from macex.scale.binary import arrow_module

NOISE = 0.05  # of a column's standard deviation
FRAME = 4096


def crowd(dataset: Dataset, count: int, size: int = FRAME) -> Iterator[pd.DataFrame]:
    """`count` rows, `size` at a time; each frame is drawn by its own number."""
    frame = dataset.frame
    spread = frame[list(dataset.continuous)].std()
    for start in range(0, count, size):
        draw = np.random.default_rng(start)
        rows = frame.iloc[draw.integers(len(frame), size=min(size, count - start))]
        rows = rows.reset_index(drop=True)
        for column in dataset.continuous:
            moved = rows[column] + draw.normal(0, NOISE * spread[column], len(rows))
            whole = frame[column].dtype.kind in "iu"
            kept = moved.clip(frame[column].min(), frame[column].max())
            rows[column] = (kept.round() if whole else kept).astype(frame[column].dtype)
        yield rows


def write_crowd(dataset: Dataset, count: int, path: Path) -> None:
    """The same rows, numbered, as a Parquet file."""
    arrow, parquet = arrow_module("pyarrow"), arrow_module("pyarrow.parquet")
    writer, start = None, 0
    for rows in crowd(dataset, count):
        rows.insert(0, "number", np.arange(start, start + len(rows)))
        table = arrow.Table.from_pandas(rows, preserve_index=False)
        writer = writer or parquet.ParquetWriter(path, table.schema)
        writer.write_table(table)
        start += len(rows)
    if writer is not None:
        writer.close()
