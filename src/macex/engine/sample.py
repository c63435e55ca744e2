"""A sample of the training rows that covers labels and categories.

Every label that the model gives keeps its rows, up to an equal share; every category that occurs is
in at least one sampled row, as far as there is room. The other rows are drawn at random with the
seed. The schema is that of all rows: ranges, categories and their frequencies.
"""

from __future__ import annotations

import numpy as np

from macex.schema import Array, Schema


def covering(schema: Schema, codes: Array, label: Array, most: int, seed: int) -> Array:
    """Positions of at most `most` of the rows (T, d), in order.

    >>> import pandas as pd
    >>> data = pd.DataFrame({"town": ["Ulm"] * 999 + ["Bonn"], "age": range(1000)})
    >>> schema = Schema.infer(data)
    >>> label = (data["age"] >= 990).to_numpy(int)
    >>> kept = covering(schema, schema.read(data).codes, label, 50, seed=0)
    >>> len(kept), int(label[kept].sum()), 999 in kept
    (50, 10, True)
    """
    draw = np.random.default_rng(seed % 2**32).permutation(len(codes))
    rank = np.empty(len(codes), np.int64)  # the turn of each row
    rank[draw] = np.arange(len(codes))
    rank[_one_of_each(schema, codes, draw)] -= len(codes)
    chosen = []
    for value, share in _shares(label, most).items():
        mine = np.flatnonzero(label == value)
        chosen.append(mine[np.argsort(rank[mine], kind="stable")[:share]])
    return np.sort(np.concatenate(chosen))


def _one_of_each(schema: Schema, codes: Array, draw: Array) -> Array:
    """For every category the first row drawn that has it."""
    found = [
        np.unique(codes[draw, place], return_index=True)[1]
        for place, column in enumerate(schema.columns)
        if column.discrete
    ]
    return draw[np.unique(np.concatenate([np.zeros(0, np.intp), *found]))]


def _shares(label: Array, most: int) -> dict[int, int]:
    """How many rows each label keeps: equal shares, what some cannot use going to the others.

    >>> _shares(np.array([0] * 90 + [1] * 8 + [2] * 2), 20)
    {2: 2, 1: 8, 0: 10}
    """
    values, counts = np.unique(label, return_counts=True)
    shares, left = {}, most
    for turn, at in enumerate(np.argsort(counts, kind="stable").tolist()):
        shares[int(values[at])] = share = min(int(counts[at]), left // (len(values) - turn))
        left -= share
    return shares
