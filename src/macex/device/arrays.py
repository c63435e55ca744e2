"""Arrays of NumPy or torch, by the array API, and the few operations it lacks.

No other file in this room asks which library an array belongs to. Everything is deterministic on
every device: ranked keys are unique, and of equal entries the first is taken.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import Any, NamedTuple, TypeVar, TypeVarTuple

import numpy as np
from array_api_compat import array_namespace, is_torch_array
from array_api_compat import device as device_of

from macex.errors import OptionError, needed

Array = Any  # NumPy's or torch's
ON_HOST = 1 << 29  # bytes that are used at a time without a GPU
PLENTY = 1 << 35  # bytes
MOST_WIDTHS = 64  # of lines for which a step is compiled

Given = TypeVarTuple("Given")
Made = TypeVar("Made")

_FUSING: ContextVar[bool] = ContextVar("fusing", default=False)


@contextmanager
def fusing(*, on: bool) -> Iterator[None]:
    """Have torch compile what is `fused`, as long as this is open."""
    before = _FUSING.set(on)
    try:
        yield
    finally:
        _FUSING.reset(before)


def fused(step: Callable[[*Given], Made]) -> Callable[[*Given], Made]:
    """A function of arrays that torch may compile, so that its operations share their passes.

    Each of them reads and writes all its cells otherwise, which is most of the time on a GPU. Such
    a function calls no other one of this kind.
    """
    compiled: list[Callable[[*Given], Made]] = []

    @wraps(step)
    def run(*args: *Given) -> Made:
        if not _FUSING.get():
            return step(*args)
        torch, dynamo = needed("torch", "torch"), needed("torch._dynamo", "torch")
        if not compiled:
            compiled.append(torch.compile(step, dynamic=False, fullgraph=True))
        for array in _arrays_in(args):  # lines vary in number, not in width
            dynamo.maybe_mark_dynamic(array, 0)
        with dynamo.config.patch(recompile_limit=MOST_WIDTHS):
            return compiled[0](*args)

    return run


def _arrays_in(given: Any) -> Iterator[Array]:
    """The arrays of torch among what is given, in tuples and lists, too."""
    if isinstance(given, tuple | list):
        for one in given:
            yield from _arrays_in(one)
    elif is_torch_array(given):
        yield given


class ArrayPlace(NamedTuple):
    """Where arrays live: a library, and a device of it."""

    xp: Any
    device: Any

    def array(self, values: Any) -> Array:
        """An array here, of whatever is given."""
        return self.xp.asarray(values, device=self.device)

    def arange(self, count: int) -> Array:
        """0 to count - 1, to index with."""
        return self.xp.arange(count, dtype=self.xp.int64, device=self.device)

    def zeros(self, shape: tuple[int, ...] | int, dtype: Any) -> Array:
        """Zeros."""
        return self.xp.zeros(shape, dtype=dtype, device=self.device)

    def full(self, shape: tuple[int, ...] | int, value: float) -> Array:
        """The same number everywhere."""
        return self.xp.full(shape, value, dtype=self.xp.float64, device=self.device)


def place_of(array: Array) -> ArrayPlace:
    """Where an array lives."""
    return ArrayPlace(array_namespace(array), device_of(array))


def place_named(device: Any) -> ArrayPlace:
    """NumPy without a device, torch with one."""
    if device is None:
        return place_of(np.zeros(0))
    torch = needed("torch", "torch")
    try:
        return place_of(torch.zeros(0, device=device))
    except (AssertionError, RuntimeError, TypeError) as error:
        said = str(error).splitlines()[0]
        raise OptionError(f"there is no torch device {device!r} here: {said}") from error


def on_host(array: Array) -> np.ndarray[Any, Any]:
    """The same in NumPy."""
    return array.detach().cpu().numpy() if is_torch_array(array) else np.asarray(array)


def memory(place: ArrayPlace) -> int:
    """The bytes that may be used at a time: half of what is free on a GPU."""
    if getattr(place.device, "type", "") != "cuda":
        return ON_HOST
    torch = needed("torch", "torch")
    free = torch.cuda.mem_get_info(place.device)[0]
    kept = torch.cuda.memory_reserved(place.device) - torch.cuda.memory_allocated(place.device)
    return int(free + kept) // 2


def at_once(place: ArrayPlace, count: int) -> int:
    """How many rows or cells to work on at once: more if there is enough memory.

    A launch costs the host as much time as some million cells cost the GPU.
    """
    return 4 * count if memory(place) >= PLENTY else count


def lowest(keys: Array, count: int) -> Array:
    """Positions of the `count` lowest entries of each line, lowest first; keys are unique.

    >>> lowest(np.array([[5.0, 3.0, 4.0]]), 2).tolist()
    [[1, 2]]
    """
    count = min(count, keys.shape[1])
    if is_torch_array(keys):
        return keys.topk(count, dim=1, largest=False, sorted=True).indices
    if count < keys.shape[1]:
        near = np.argpartition(keys, count - 1, axis=1)[:, :count] if count else keys[:, :0] > 0
        order = np.argsort(np.take_along_axis(keys, near.astype(np.int64), axis=1), axis=1)
        return np.take_along_axis(near.astype(np.int64), order, axis=1)
    return np.argsort(keys, axis=1)


def first_lowest(table: Array) -> tuple[Array, Array]:
    """The lowest entry of each line, and where it stands first.

    >>> [part.tolist() for part in first_lowest(np.array([[5.0, 3.0, 3.0]]))]
    [[3.0], [1]]
    """
    if is_torch_array(table):
        found = table.min(dim=1)
        return found.values, found.indices
    index = table.argmin(axis=1)
    return table[np.arange(len(table)), index], index


def smallest(table: Array, count: int) -> Array:
    """The `count` smallest entries of each line, for a small count; quicker than by sorting.

    >>> smallest(np.array([[5.0, 3.0, 4.0, 3.0]]), 2).tolist()
    [[3.0, 3.0]]
    """
    if not is_torch_array(table):
        return np.sort(np.partition(table, count - 1, axis=1)[:, :count], axis=1)
    left, found = table.clone(), []
    for _ in range(count):
        value, lead = first_lowest(left)
        found.append(value)
        left = without(left, lead)
    return array_namespace(table).stack(found, axis=1)


def without(table: Array, index: Array) -> Array:
    """The table with infinity in one entry of each line, `index` (q,); it is changed in place."""
    place = place_of(table)
    if compiling(table):
        taken = place.arange(table.shape[1]) == index[:, None]
        return place.xp.where(taken, place.xp.inf, table)
    table[place.arange(table.shape[0]), index] = float("inf")
    return table


def compiling(array: Array) -> bool:
    """Whether torch is compiling: single cells are then written with all others."""
    return is_torch_array(array) and bool(sys.modules["torch"].compiler.is_compiling())


def rows_at(table: Array, index: Array) -> Array:
    """The rows of a narrow table (n, w) at `index` (m,).

    On a GPU an index for every cell is several times quicker than one for every row.
    """
    return table[index[:, None], place_of(table).arange(table.shape[1])]


def changed_rows(rows: Array, columns: Array, values: Array) -> Array:
    """Rows (n, d) in which `values` are written, (n, S), each into the column (n, S) it is for.

    >>> changed_rows(np.zeros((1, 3)), np.array([[2, 0]]), np.array([[5.0, 6.0]])).tolist()
    [[6.0, 0.0, 5.0]]
    """
    place = place_of(rows)
    line, together = place.arange(rows.shape[0]), compiling(rows)
    for slot in range(columns.shape[1]):
        if together:
            mine = columns[:, slot, None] == place.arange(rows.shape[1])
            rows = place.xp.where(mine, values[:, slot, None], rows)
        else:
            rows[line, columns[:, slot]] = values[:, slot]
    return rows


def position(ranked: Array, values: Array, side: str) -> Array:
    """Where values belong in a sorted line, before or after equal ones (`side`)."""
    whole = values.contiguous() if is_torch_array(values) else values
    return array_namespace(ranked).searchsorted(ranked, whole, side=side)


def along(table: Array, index: Array, axis: int = 1) -> Array:
    """The entries of each line at `index` (q, n)."""
    if is_torch_array(table):
        return table.gather(axis, index)
    return array_namespace(table).take_along_axis(table, index, axis=axis)


def at_each(table: Array, index: Array) -> Array:
    """One entry of each line, `index` (q,)."""
    return along(table, index[:, None])[:, 0]


def first_of_each(keys: Array) -> Array:
    """Where a key stands for the first time in its line.

    >>> first_of_each(np.array([[7, 8, 7]])).tolist()
    [[True, True, False]]
    """
    xp = array_namespace(keys)
    order = xp.argsort(keys, axis=1, stable=True)
    ranked = along(keys, order)
    new = xp.ones_like(ranked, dtype=xp.bool)
    new[:, 1:] = ranked[:, 1:] != ranked[:, :-1]
    return along(new, xp.argsort(order, axis=1))


@fused
def best_of(real: Array, *keys: Array) -> Array:
    """The position in each line of the lowest real entry, by the first key, then the next.

    >>> real = np.array([[False, True, True]])
    >>> best_of(real, np.array([[0, 1, 1]]), np.array([[0.0, 5.0, 4.0]])).tolist()
    [2]
    """
    xp = array_namespace(real)
    left = real
    for key in keys:
        masked = xp.where(left, xp.astype(key, xp.float64), xp.inf)
        left = left & (masked == xp.min(masked, axis=1, keepdims=True))
    return xp.argmax(xp.astype(left, xp.int32), axis=1)


@fused
def ranked_keys(values: Array) -> Array:
    """Keys (q, n) that rank numbers of four decimals highest first, and equal ones by position."""
    place = place_of(values)
    unit = 2.0 ** int(values.shape[1]).bit_length()
    return place.xp.astype(place.arange(values.shape[1]), place.xp.float64) - unit * place.xp.round(
        values * 1e4
    )
