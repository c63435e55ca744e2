"""Parts of a population: the values of a column, or labels that the caller gives.

Groups stand in the order of the column's values, or as labels first appear. Where there are more
than `MOST`, the largest stand for themselves and all others together: what is asked of every group
costs model calls, and nobody reads a thousand tables.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from macex.errors import OptionError, closest
from macex.render.values import shown
from macex.schema import MISSING, UNKNOWN, Array, Rows

if TYPE_CHECKING:
    from macex.schema import Column

MOST = 60
PARTS = 4  # how many parts a column of many numbers is cut into
FEW = 12  # numbers that are groups of their own
WORDS = {MISSING: "missing", UNKNOWN: "unknown"}
Groups = dict[str, Array]  # what each group is called, and the positions of its rows


def groups_of(rows: Rows, by: Any) -> Groups:
    """The groups of rows, by a column or by labels, one per row; None is one group of all."""
    if by is None:
        return {"all rows": np.arange(len(rows))} if len(rows) else {}
    if not isinstance(by, str):
        return _folded(_labelled(_labels(by, rows)))
    names = rows.schema.names
    if by not in names:
        raise OptionError(f"by: there is no column {by!r}{closest(by, names)}")
    place = names.index(by)
    return column_groups(rows.schema.columns[place], rows.codes[:, place])


def column_groups(column: Column, codes: Array) -> Groups:
    """Groups by value, or by the part of the range a number lies in; missing and unknown last.

    Parts are cut at the quartiles of training, so that they are the same for any rows.
    """
    if column.discrete or len(column.seen) <= FEW:
        return _grouped(codes, lambda code: shown(column.value(code)))
    shares = np.cumsum(column.counts) / column.counts.sum()
    edges = np.unique(column.seen[np.searchsorted(shares, np.arange(1, PARTS) / PARTS - 1e-9)])
    called = _ranges([shown(column.value(float(edge))) for edge in edges])
    part = np.searchsorted(edges, codes, side="left").astype(float)
    which = np.where(np.isin(codes, (MISSING, UNKNOWN)), codes, part)
    return _grouped(which, lambda part: called[int(part)])


def _grouped(codes: Array, called: Callable[[float], str]) -> Groups:
    """The positions of every code, by what it is called."""
    order = np.argsort(codes, kind="stable")
    values, starts = np.unique(codes[order], return_index=True)
    places = dict(zip(values.tolist(), np.split(order, starts)[1:], strict=True))
    found: dict[str, list[Array]] = {}
    for code in sorted(places, key=lambda code: (code in WORDS, code)):
        name = WORDS[code] if code in WORDS else called(code)
        found.setdefault(name, []).append(places[code])
    return _folded({name: np.sort(np.concatenate(parts)) for name, parts in found.items()})


def _ranges(edges: list[str]) -> list[str]:
    between = [f"over {low} to {high}" for low, high in pairwise(edges)]
    return [f"up to {edges[0]}", *between, f"over {edges[-1]}"]


def _labels(by: Any, rows: Rows) -> list[str]:
    known = isinstance(by, Sequence) or hasattr(by, "__array__")
    labels = np.asarray(by, dtype=object) if known else np.zeros((0, 0))
    if labels.ndim == 1 and len(labels) == len(rows):
        return ["missing" if _missing(label) else shown(label) for label in labels]
    given = f"{len(labels)} labels" if labels.ndim == 1 else "a table" if known else repr(by)
    several = known and labels.ndim == 1 and set(labels.tolist()) <= set(rows.schema.names)
    raise OptionError(
        f"by takes a column or a label for each of the {len(rows)} rows, not {given}"
        + ("; for several columns join their values to one label a row" if several else "")
    )


def _missing(label: Any) -> bool:
    return bool(np.ndim(label) == 0 and pd.isna(label))


def _labelled(names: Sequence[str]) -> Groups:
    found: dict[str, list[int]] = {}
    for place, name in enumerate(names):
        found.setdefault(name, []).append(place)
    return {name: np.array(places) for name, places in found.items()}


def _folded(groups: Groups) -> Groups:
    """The largest groups, and the rest of the rows as one."""
    if len(groups) <= MOST:
        return groups
    kept = set(sorted(groups, key=lambda name: -len(groups[name]))[: MOST - 1])
    others = [places for name, places in groups.items() if name not in kept]
    large = {name: places for name, places in groups.items() if name in kept}
    return large | {f"{len(others)} other groups": np.sort(np.concatenate(others))}
