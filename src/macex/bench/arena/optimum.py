"""The fewest changes that reach a goal, by trying every combination of seen values."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd

from macex.bench.arena.cells import ArenaCell
from macex.schema import Array, Schema

MOST = 20_000  # combinations that are tried


def fewest_changes(
    cell: ArenaCell, schema: Schema, codes: Array, queries: pd.DataFrame, own: Array
) -> Array:
    """For each query (predicted as `own`), NaN where there are too many combinations to try."""
    seen = [np.unique(codes[:, place]) for place in range(codes.shape[1])]
    if np.prod([float(len(values)) for values in seen]) > MOST:
        return np.full(len(queries), np.nan)
    every = np.array(list(product(*seen)))
    frame = _frame(cell, schema, codes, every)
    said = np.asarray(cell.model.predict(frame)).reshape(-1)
    fewest = np.full(len(queries), np.nan)
    for query, row in enumerate(schema.read(queries).codes):
        reached = cell.reached(np.repeat(own[query], len(said)), said)
        if reached.any():
            fewest[query] = (every[reached] != row).sum(axis=1).min()
    return fewest


def _frame(cell: ArenaCell, schema: Schema, codes: Array, every: Array) -> pd.DataFrame:
    """Combinations of codes as rows, each value taken from a training row that has it."""
    columns = {}
    for place, name in enumerate(schema.names):
        values, first = np.unique(codes[:, place], return_index=True)
        where = first[np.searchsorted(values, every[:, place])]
        columns[name] = cell.train[name].to_numpy()[where]
    return pd.DataFrame(columns)[list(cell.train)].astype(cell.train.dtypes.to_dict())
