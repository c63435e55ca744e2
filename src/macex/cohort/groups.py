"""Parts of a population: the values of a column, or labels that the caller gives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from macex.errors import OptionError, closest
from macex.render.values import shown
from macex.schema import MISSING, UNKNOWN, Array, Rows

if TYPE_CHECKING:
    from macex.schema import Column

PARTS = 4  # how many parts a column of many numbers is cut into
FEW = 12  # numbers that are groups of their own


def group_names(rows: Rows, by: Any) -> list[str]:
    """The group of every row, by a column or by labels, one per row."""
    if not isinstance(by, str):
        return _labels(by, len(rows))
    names = rows.schema.names
    if by not in names:
        raise OptionError(f"by: there is no column {by!r}{closest(by, names)}")
    place = names.index(by)
    return column_groups(rows.schema.columns[place], rows.codes[:, place])


def _labels(by: Any, count: int) -> list[str]:
    known = isinstance(by, Sequence) or hasattr(by, "__array__")
    labels = [shown(label) for label in np.asarray(by, dtype=object).reshape(-1)] if known else []
    if not known or len(labels) != count:
        given = f"{len(labels)} labels" if known else repr(by)
        raise OptionError(f"by takes a column or a label for each of the {count} rows, not {given}")
    return labels


def column_groups(column: Column, codes: Array) -> list[str]:
    """What a row's group is called: its value, or the range its number lies in."""
    plain = codes[~np.isin(codes, (MISSING, UNKNOWN))]
    if column.discrete or len(np.unique(plain)) <= FEW:
        known = {float(code): _value(column, float(code)) for code in np.unique(codes)}
        return [known[float(code)] for code in codes]
    edges = np.unique(np.quantile(column.seen.repeat(column.counts), np.arange(1, PARTS) / PARTS))
    part = np.searchsorted(edges, codes, side="left")
    called = {}
    for which in np.unique(part):
        inside = codes[(part == which) & ~np.isin(codes, (MISSING, UNKNOWN))]
        if len(inside):
            low, high = (shown(column.value(float(end))) for end in (inside.min(), inside.max()))
            called[int(which)] = f"{low} to {high}"
    return [
        _value(column, code) if code in (MISSING, UNKNOWN) else called[int(which)]
        for code, which in zip(codes.tolist(), part, strict=True)
    ]


def _value(column: Column, code: float) -> str:
    return "unknown" if code == UNKNOWN else shown(column.value(code))


def members(names: Sequence[str]) -> dict[str, Array]:
    """The positions of every group, in the order in which the groups first appear."""
    found: dict[str, list[int]] = {}
    for place, name in enumerate(names):
        found.setdefault(name, []).append(place)
    return {name: np.array(places) for name, places in found.items()}
