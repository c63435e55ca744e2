"""Parts of a population: the values of a column, or labels that the caller gives."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
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
    """What a row's group is called: its value, or the part of the range its number lies in.

    Parts are cut at the quartiles of training, so that they are the same for any rows.
    """
    if column.discrete or len(column.seen) <= FEW:
        known = {float(code): _value(column, float(code)) for code in np.unique(codes)}
        return [known[float(code)] for code in codes]
    shares = np.cumsum(column.counts) / column.counts.sum()
    cuts = np.searchsorted(shares, np.arange(1, PARTS) / PARTS - 1e-9)
    edges = np.unique(column.seen[cuts])
    texts = [shown(column.value(float(edge))) for edge in edges]
    between = [f"over {low} to {high}" for low, high in pairwise(texts)]
    called = [f"up to {texts[0]}", *between, f"over {texts[-1]}"]
    part = np.searchsorted(edges, codes, side="left")
    return [
        _value(column, code) if code in (MISSING, UNKNOWN) else called[which]
        for code, which in zip(codes.tolist(), part.tolist(), strict=True)
    ]


def _value(column: Column, code: float) -> str:
    return "unknown" if code == UNKNOWN else shown(column.value(code))


def members(names: Sequence[str]) -> dict[str, Array]:
    """The positions of every group, in the order in which the groups first appear."""
    found: dict[str, list[int]] = {}
    for place, name in enumerate(names):
        found.setdefault(name, []).append(place)
    return {name: np.array(places) for name, places in found.items()}
