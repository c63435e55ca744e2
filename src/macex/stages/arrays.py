"""The few array operations that stages need and NumPy does not have.

Everything here is deterministic: equal keys keep their order.
"""

from __future__ import annotations

import numpy as np

from macex.schema import Array, row_keys

SMALL = 1024  # entries that are sooner sorted than partitioned


def first_of_each(keys: Array) -> Array:
    """Where a key stands for the first time in its line.

    >>> first_of_each(np.array([[7, 8, 7]])).tolist()
    [[True, True, False]]
    """
    order = np.argsort(keys, axis=1, kind="stable")
    ranked = np.take_along_axis(keys, order, axis=1)
    new = np.ones(keys.shape, bool)
    new[:, 1:] = ranked[:, 1:] != ranked[:, :-1]
    first = np.empty_like(new)
    np.put_along_axis(first, order, new, axis=1)
    return first


def highest(table: Array, count: int) -> Array:
    """Positions of the `count` highest entries of each line, highest first, ties by position.

    >>> highest(np.array([[1.0, 3.0, 2.0, 3.0]]), 3).tolist()
    [[1, 3, 2]]
    """
    lines, width = table.shape
    if count >= width or table.size <= SMALL:
        return np.argsort(-table, axis=1, kind="stable")[:, :count]
    chosen = _highest_cells(table, count)
    place = (chosen % width).reshape(lines, count)
    worth = -table.reshape(-1).take(chosen).reshape(lines, count)
    order = np.argsort(worth, axis=1)  # quicker than a stable sort, which ties need
    ranked = np.take_along_axis(worth, order, axis=1)
    tied = np.flatnonzero((ranked[:, 1:] == ranked[:, :-1]).any(axis=1))
    order[tied] = np.argsort(worth[tied], axis=1, kind="stable")
    return np.take_along_axis(place, order, axis=1)


def among_highest(table: Array, count: int) -> Array:
    """Whether each entry is one of the `count` highest of its line, ties by position.

    >>> among_highest(np.array([[1.0, 3.0, 2.0, 3.0]]), 1).tolist()
    [[False, True, False, False]]
    """
    if count >= table.shape[1]:
        return np.ones(table.shape, bool)
    chosen = np.zeros(table.shape, bool)
    if table.size <= SMALL:
        np.put_along_axis(chosen, highest(table, count), values=True, axis=1)
    else:
        chosen.reshape(-1)[_highest_cells(table, count)] = True
    return chosen


def _highest_cells(table: Array, count: int) -> Array:
    """Where the `count` highest entries of each line lie in the flat table, line by line.

    Which of equal entries are taken must not be left to a partition, which varies by processor.
    So all that reach the `edge`, the last value that counts, are found first. If they are too many,
    those above the edge are all kept, and those at it as far as there is room, first come first.

    Two of the line 9 3 5 3 5 8 5 are wanted beyond 9 and 8: the edge is 5, six cells were found for
    four, one of the three fives has to go, and it is the last.

    >>> _highest_cells(np.array([[9.0, 3.0, 5.0, 3.0, 5.0, 8.0, 5.0]]), 4).tolist()
    [0, 2, 4, 5]
    """
    lines, width = table.shape
    edge = np.partition(table, -count, axis=1)[:, -count]
    cell = np.flatnonzero(table >= edge[:, None])
    if len(cell) == lines * count:
        return cell
    line = cell // width
    level = table.reshape(-1).take(cell) == edge.take(line)
    room = count - np.bincount(line[~level], minlength=lines)
    turn, first = np.cumsum(level), np.searchsorted(line, np.arange(lines))
    turn -= (turn[first] - level[first]).take(line)
    return cell[~level | (turn <= room.take(line))]


def counted(table: Array) -> Array:
    """How many entries of each line (n, m) bool are true; for short lines quicker than a sum.

    >>> counted(np.array([[True, True], [False, True]])).tolist()
    [2, 1]
    """
    if table.size <= SMALL:
        return np.asarray(table.sum(axis=1))
    counts: Array = np.einsum("nm->n", table.view(np.uint8), dtype=np.intp, casting="unsafe")
    return counts


def spread_turns(count: int) -> Array:
    """An order of 0..count-1 whose every beginning is spread evenly: the turn of each position.

    >>> spread_turns(5).tolist()
    [0, 4, 2, 6, 1]
    """
    position, turn = np.arange(count), np.zeros(count, int)
    for bit in range(max(0, count - 1).bit_length()):
        turn = 2 * turn + ((position >> bit) & 1)
    return turn


def spread_over(real: Array, most: int) -> Array:
    """In each line up to `most` of the real entries, spread evenly over all of them.

    >>> spread_over(np.array([[True, False, True, True, True]]), 2).tolist()
    [[False, False, True, False, True]]
    """
    turn, total = np.cumsum(real, axis=1), np.maximum(real.sum(axis=1, keepdims=True), 1)
    return real & (turn * most // total != (turn - 1) * most // total)


def rank_within(group: Array, *keys: Array) -> Array:
    """The rank of every entry among those of its group, by the keys (first key first).

    >>> rank_within(np.array([1, 0, 1]), np.array([5.0, 1.0, 3.0])).tolist()
    [1, 0, 0]
    """
    order = np.lexsort((*keys[::-1], group))
    ranked = group[order]
    turn = np.arange(len(group))
    begins = np.ones(len(group), bool)
    begins[1:] = ranked[1:] != ranked[:-1]
    rank = np.empty(len(group), int)
    rank[order] = turn - np.maximum.accumulate(np.where(begins, turn, 0))
    return rank


def distinct(at: Array, codes: Array) -> Array:
    """Positions of the rows that are the first of their kind within their query."""
    keys = row_keys(np.column_stack([codes, at.astype(float)]))
    _, first = np.unique(keys, return_index=True)
    return np.sort(first)


def set_keys(changed: Array, at: Array | None = None) -> Array:
    """One 64-bit key per set of units, from (n, U) bool; with `at`, per set and query."""
    keys = row_keys(changed.astype(float))
    return keys if at is None else keys ^ (at.astype(np.uint64) << np.uint64(40))


def including(
    sets: Array, at: Array, others: Array, owner: Array, *, proper: bool = False
) -> Array:
    """Which sets (n, U) bool include all of one of their query's `others` (m, U), (n,) bool.

    `at` and `owner` say whose they are. With `proper` an equal set does not count.

    >>> one, both = [True, False], [True, True]
    >>> whose = np.array([0, 0])
    >>> including(np.array([one, both]), whose, np.array([one, both]), whose, proper=True).tolist()
    [False, True]
    """
    keys = set_keys(others)
    order = np.lexsort((keys, owner))
    keys, owner = keys[order], owner[order]
    new = np.ones(len(order), bool)
    new[1:] = (keys[1:] != keys[:-1]) | (owner[1:] != owner[:-1])
    others, owner = others[order][new], owner[new]
    found, start = np.zeros(len(at), bool), np.searchsorted(owner, at, side="left")
    for turn in range(int(np.bincount(owner).max(initial=0))):
        place = np.minimum(start + turn, len(owner) - 1)
        mine = (start + turn < len(owner)) & (owner[place] == at)
        included = (sets | ~others[place]).all(axis=1)
        if proper:
            included &= (sets != others[place]).any(axis=1)
        found |= mine & included
    return found


def alike_lines(queries: Array, table: Array) -> list[Array]:
    """Queries that have the same line in `table` (q, n), together.

    >>> [found.tolist() for found in alike_lines(np.array([4, 5, 6]), np.array([[1], [2], [1]]))]
    [[4, 6], [5]]
    """
    if len(queries) < 2:
        return [queries] if len(queries) else []
    keys = row_keys(table.astype(float))
    order = np.argsort(keys, kind="stable")
    cuts = np.flatnonzero(keys[order][1:] != keys[order][:-1]) + 1
    return np.split(queries[order], cuts)
