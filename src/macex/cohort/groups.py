"""Parts of a population: values of columns, or labels that the caller gives.

Groups are in the order of the column's values, or of the labels' first appearance. Of more than
`MOST` groups the largest are kept and all others are one group: every group costs model calls, and
a thousand tables are too many to read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from macex.errors import OptionError, closest
from macex.render.values import shown
from macex.schema import MISSING, UNKNOWN, Array, Column, Rows, Schema

MOST = 60
UNFOLDED = 2**62  # more groups than there are
PARTS = 4  # how many parts a column of many numbers is cut into
FEW = 12  # numbers that are groups of their own
WORDS = {MISSING: "missing", UNKNOWN: "unknown"}
AND = ", "  # between the values of a combination
Bands = Mapping[str, Any]  # columns of numbers, and the edges at which they are cut
Groups = dict[str, Array]  # what each group is called, and the positions of its rows


def groups_of(rows: Rows, by: Any, bands: Bands | None = None, most: int = MOST) -> Groups:
    """The groups of rows; None is one group of all.

    `by` is a column, several columns (a group for each combination of their values), or labels,
    one per row. `bands` are the edges at which columns of numbers are cut. Of more than `most`
    groups the largest stand for themselves.
    """
    bands = read_bands(rows.schema, bands)
    if by is None:
        return {"all rows": np.arange(len(rows))} if len(rows) else {}
    if isinstance(by, str):
        return _of_column(rows, by, bands, most)
    if _names_columns(by, rows):
        crossed = _crossed([_of_column(rows, name, bands, UNFOLDED) for name in by], len(rows))
        return folded(crossed, most)
    return folded(_labelled(_labels(by, rows)), most)


def _of_column(rows: Rows, name: str, bands: Bands, most: int) -> Groups:
    names = rows.schema.names
    if name not in names:
        raise OptionError(f"by: there is no column {name!r}{closest(name, names)}")
    place = names.index(name)
    codes = rows.codes[:, place]
    return column_groups(rows.schema.columns[place], codes, bands.get(name), most=most)


def _names_columns(by: Any, rows: Rows) -> bool:
    """Whether these are names of columns and not labels of rows."""
    if not isinstance(by, (list, tuple)) or not by or not all(isinstance(n, str) for n in by):
        return False
    known = [name in rows.schema.names for name in by]
    return len(set(by)) == len(by) and (all(known) or (any(known) and len(by) != len(rows)))


def _crossed(several: Sequence[Groups], count: int) -> Groups:
    """A group for each combination that some row has, in the order of the first column."""
    names = [list(groups) for groups in several]
    which = np.zeros((count, len(several)), int)
    for at, groups in enumerate(several):
        for number, places in enumerate(groups.values()):
            which[places, at] = number
    keys, inverse = np.unique(which, axis=0, return_inverse=True)
    called = [AND.join(names[at][number] for at, number in enumerate(key)) for key in keys]
    order = np.argsort(inverse.ravel(), kind="stable")
    ends = np.cumsum(np.bincount(inverse.ravel(), minlength=len(keys)))
    return dict(zip(called, np.split(order, ends[:-1]), strict=True)) if called else {}


def read_bands(schema: Schema, bands: Any) -> dict[str, Array]:
    """The edges of columns of numbers, checked and in order."""
    if bands is None:
        return {}
    if not isinstance(bands, Mapping):
        raise OptionError(f"bands takes edges by column, e.g. {{'age': [25, 60]}}, not {bands!r}")
    return {name: _edges(schema, name, edges) for name, edges in bands.items()}


def _edges(schema: Schema, name: str, edges: Any) -> Array:
    if name not in schema.names:
        raise OptionError(f"bands: there is no column {name!r}{closest(name, schema.names)}")
    if schema.columns[schema.position(name)].kind != "continuous":
        raise OptionError(f"bands: {name!r} is not a column of numbers; its values are its groups")
    try:
        cut = np.unique(np.asarray(edges, dtype=float).ravel())
    except (TypeError, ValueError):
        cut = np.zeros(0)
    if not len(cut) or not np.isfinite(cut).all():
        raise OptionError(f"bands: {name!r} needs numbers at which to cut, not {edges!r}")
    return cut


def column_groups(
    column: Column,
    codes: Array,
    edges: Array | None = None,
    *,
    most: int = MOST,
    counts: Any = None,
) -> Groups:
    """Groups by value, or by the part of the range a number lies in; missing and unknown last.

    Without `edges` parts are cut at the quartiles of training, so that they are the same for any
    rows. Of more than `most` groups the largest stand for themselves, by `counts` of the codes.
    """
    if edges is None and (column.discrete or len(column.seen) <= FEW):
        return folded(_grouped(codes, lambda code: shown(column.value(code))), most, counts)
    if edges is None:
        shares = np.cumsum(column.counts) / column.counts.sum()
        edges = np.unique(column.seen[np.searchsorted(shares, np.arange(1, PARTS) / PARTS - 1e-9)])
        called = _ranges([shown(column.value(float(edge))) for edge in edges])
    else:
        called = _ranges([shown(int(edge) if edge == int(edge) else float(edge)) for edge in edges])
    part = np.searchsorted(edges, codes, side="left").astype(float)
    which = np.where(np.isin(codes, (MISSING, UNKNOWN)), codes, part)
    return folded(_grouped(which, lambda part: called[int(part)]), most, counts)


def numbered(groups: Groups, count: int) -> Array:
    """The number of each position's group, (count,)."""
    number = np.zeros(count, int)
    for at, places in enumerate(groups.values()):
        number[places] = at
    return number


def _grouped(codes: Array, called: Callable[[float], str]) -> Groups:
    """The positions of every code, by what it is called."""
    order = np.argsort(codes, kind="stable")
    values, starts = np.unique(codes[order], return_index=True)
    places = dict(zip(values.tolist(), np.split(order, starts)[1:], strict=True))
    found: dict[str, list[Array]] = {}
    for code in sorted(places, key=lambda code: (code in WORDS, code)):
        name = WORDS[code] if code in WORDS else called(code)
        found.setdefault(name, []).append(places[code])
    return {name: np.sort(np.concatenate(parts)) for name, parts in found.items()}


def _ranges(edges: list[str]) -> list[str]:
    between = [f"over {low} to {high}" for low, high in pairwise(edges)]
    return [f"up to {edges[0]}", *between, f"over {edges[-1]}"]


def _labels(by: Any, rows: Rows) -> list[str]:
    known = isinstance(by, Sequence) or hasattr(by, "__array__")
    if known and isinstance(by, Sequence) and by and all(isinstance(one, tuple) for one in by):
        by = [AND.join(map(_label, one)) for one in by]
    labels = np.asarray(by, dtype=object) if known else np.zeros((0, 0))
    if labels.ndim == 1 and len(labels) == len(rows):
        return [_label(label) for label in labels]
    given = f"{len(labels)} labels" if labels.ndim == 1 else "a table" if known else repr(by)
    raise OptionError(
        f"by takes a column, several columns, or a label for each of the {len(rows)} rows, "
        f"not {given}"
    )


def _label(label: Any) -> str:
    return "missing" if _missing(label) else shown(label)


def _missing(label: Any) -> bool:
    return bool(np.ndim(label) == 0 and pd.isna(label))


def _labelled(names: Sequence[str]) -> Groups:
    found: dict[str, list[int]] = {}
    for place, name in enumerate(names):
        found.setdefault(name, []).append(place)
    return {name: np.array(places) for name, places in found.items()}


def folded(groups: Groups, most: int = MOST, counts: Array | None = None) -> Groups:
    """The largest groups, and the rest of the rows as one."""
    if len(groups) <= most:
        return groups
    return renamed(
        groups,
        largest(
            {
                name: len(places) if counts is None else int(counts[places].sum())
                for name, places in groups.items()
            },
            most,
        ),
    )


def largest(sizes: Mapping[str, int], most: int = MOST) -> dict[str, str]:
    """What each group is called if the largest stand for themselves, in their order.

    >>> largest({"a": 1, "b": 5, "c": 2}, 2)
    {'b': 'b', 'a': '2 other groups', 'c': '2 other groups'}
    """
    if len(sizes) <= most:
        return {name: name for name in sizes}
    kept = set(sorted(sizes, key=lambda name: (-sizes[name], name))[: most - 1])
    others = f"{len(sizes) - len(kept)} other groups"
    own = {name: name for name in sizes if name in kept}
    return own | {name: others for name in sizes if name not in kept}


def renamed(groups: Groups, names: Mapping[str, str]) -> Groups:
    """The groups as they are called, in the order of the names; those called the same are one."""
    found: dict[str, list[Array]] = {}
    for name, called in names.items():
        if name in groups:
            found.setdefault(called, []).append(groups[name])
    return {name: np.sort(np.concatenate(places)) for name, places in found.items()}
