"""A random sample of the rows of files, by their numbers: the same one each time it is drawn."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from macex.errors import OptionError, require_count
from macex.scale.readers import Chunk
from macex.scale.sources import Origin, files_of
from macex.schema import Array
from macex.stages.draws import row_keys


def drawn_numbers(chunks: Iterable[Chunk], most: int, seed: int) -> Array:
    """The numbers of at most `most` rows, each as likely as any other, in order.

    A row is drawn by its number and the seed. Memory does not grow with the rows.
    """
    kept, keys = np.zeros(0, int), np.zeros(0, np.uint64)
    for chunk in chunks:
        numbers = np.asarray(chunk.numbers, int)
        own = row_keys(seed, ["number"], numbers[:, None].astype(float))
        kept, keys = np.concatenate([kept, numbers]), np.concatenate([keys, own])
        if len(keys) > most:
            lowest = np.argpartition(keys, most)[:most]
            kept, keys = kept[lowest], keys[lowest]
    return np.sort(kept)


def picked(chunks: Iterable[Chunk], numbers: Array, size: int) -> Iterator[Chunk]:
    """The rows with these numbers, `size` of a file at a time; chunks without rows are let pass."""
    held: Chunk | None = None
    for chunk in chunks:
        first, last = np.searchsorted(numbers, [chunk.start, chunk.start + chunk.rows])
        if chunk.rows and first == last:
            continue
        few = chunk.take((numbers[first:last] - chunk.start).tolist())
        if held is not None and held.goes_before(few):
            few, held = held.joined(few), None
        if held is not None:
            yield held
        while few.rows > size:
            yield few.take(range(size))
            few = few.take(range(size, few.rows))
        held = few
    if held is not None:
        yield held


def refuse_sample(origin: Origin, most: int | None, *, add: bool) -> None:
    """Raise where no sample can be drawn."""
    if most is None:
        return
    require_count("sample", most)
    if add:
        raise OptionError(
            "sample= is drawn from all rows, and add=True explains the files that are new: take one"
        )
    if any(hasattr(file, "read") for file in files_of(origin)):
        raise OptionError("sample= reads the rows twice, and a stream is read once: give a file")
