"""Finding one-hot blocks that were not declared.

Columns count as a block only if their names share a prefix, all their values are 0 and 1, and in
every training row, of which there must be many, exactly one of them is 1. A block
whose first column was dropped looks like unrelated flags, so it must be declared.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence

import numpy as np

from macex.schema.cells import Array, Cells
from macex.schema.kinds import OneHot
from macex.schema.onehot import SEPARATORS, common_start

LEAST_ROWS = 20  # fewer may sum to one by chance


def find_blocks(cells: Mapping[str, Cells], told: Container[str]) -> dict[str, OneHot]:
    """The blocks among columns that the caller did not describe.

    A name in `told` is never a member or the name of a block.
    """
    flags = {
        name: column.values.astype(bool)
        for name, column in cells.items()
        if name not in told and _is_flag(column)
    }
    groups: dict[str, list[str]] = {}
    for name in flags:
        for start in _starts(name):
            groups.setdefault(start, []).append(name)
    found: dict[str, OneHot] = {}
    taken: set[str] = set()
    for start in sorted(groups, key=len):
        members = groups[start]
        if taken.isdisjoint(members) and _one_each([flags[name] for name in members]):
            name = common_start(members).rstrip(SEPARATORS) or start
            if name not in told and name not in cells and name not in found:
                found[name] = OneHot(members)
                taken.update(members)
    return found


def _starts(name: str) -> Iterator[str]:
    """What stands before each separator of a name.

    >>> list(_starts("onehot__edu_BSc"))
    ['onehot', 'onehot__edu']
    """
    for at in range(1, len(name) - 1):
        if name[at] in SEPARATORS and name[at - 1] not in SEPARATORS:
            yield name[:at]


def _is_flag(column: Cells) -> bool:
    if len(column.values) < LEAST_ROWS or column.family not in ("bool", "number"):
        return False
    if column.missing.any() or column.declared is not None:
        return False
    return column.family == "bool" or all(
        bool(((part == 0) | (part == 1)).all()) for part in (column.values[:64], column.values)
    )


def _one_each(flags: Sequence[Array]) -> bool:
    """Whether exactly one flag is on in every row, and not always the same one."""
    counts = [int(flag.sum()) for flag in flags]
    rows = len(flags[0])
    if sum(counts) != rows or max(counts) == rows:
        return False
    return bool((np.sum(flags, axis=0) == 1).all())
