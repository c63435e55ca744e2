"""What a server and its workers say to each other, over pipes, each message with its length.

A worker trusts its server and gets pickles. A server does not trust a worker, which runs what
strangers wrote: what comes back is JSON and plain numbers of a bounded length, never a pickle.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from math import prod
from typing import IO, TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:  # a worker begins before pandas is imported
    from macex.schema import Array

LENGTH = struct.Struct(">Q")
NUMBERS = {"f": "<f8", "i": "<i8", "u": "<u8", "b": "|b1"}  # kind: how it is sent
FLOATS = {"<f4": np.dtype("<f4"), **{sent: np.dtype(sent) for sent in NUMBERS.values()}}


def send(pipe: IO[bytes], content: bytes) -> None:
    """Write a message."""
    pipe.write(LENGTH.pack(len(content)))
    pipe.write(content)
    pipe.flush()


def receive(pipe: IO[bytes], most: int) -> bytes:
    """Read a message of a limited number of bytes; `EOFError` where the other side has ended."""
    (length,) = LENGTH.unpack(_exactly(pipe, LENGTH.size))
    if length > most:
        raise ValueError(f"a message of {length:,} bytes, where {most:,} are expected")
    return _exactly(pipe, length)


def packed(said: dict[str, Any], answer: Any = None) -> bytes:
    """A reply: what is said, and an answer of numbers or labels, or a list of such tables."""
    tables = answer if isinstance(answer, list) and np.ndim(answer[0]) == 2 else [answer]
    parts, content = [], []
    for table in [] if answer is None else tables:
        array = np.asarray(table)
        if array.dtype.kind in NUMBERS:
            kept = array.dtype.str if array.dtype.str in FLOATS else NUMBERS[array.dtype.kind]
            parts.append({"dtype": kept, "shape": array.shape})
            content.append(np.ascontiguousarray(array, dtype=kept).tobytes())
        else:
            parts.append({"labels": array.reshape(-1).tolist()})
    head = json.dumps({**said, "parts": parts, "listed": tables is answer})
    return b"\n".join([head.encode(), b"".join(content)])


def unpacked(content: bytes) -> tuple[dict[str, Any], Any]:
    """What a reply says, and its answer; `ValueError` for anything else."""
    head, _, numbers = content.partition(b"\n")
    said = json.loads(head)
    if not isinstance(said, dict):
        raise ValueError("a reply is an object")  # noqa: TRY004 - whatever is wrong with it
    tables, start = [], 0
    for part in said.pop("parts"):
        if "labels" in part:
            tables.append(np.array(part["labels"], dtype=object))
            continue
        table = _table(numbers, start, part["dtype"], part["shape"])
        tables.append(table)
        start += table.nbytes
    return said, (tables if said.pop("listed") else tables[0] if tables else None)


def _table(numbers: bytes, start: int, dtype: str, shape: Sequence[int]) -> Array:
    sizes = [int(size) for size in shape]
    if len(sizes) > 2 or min(sizes, default=0) < 0:
        raise ValueError(f"a table of the shape {sizes}")
    count = prod(sizes)
    return np.frombuffer(numbers, FLOATS[dtype], count, start).reshape(sizes)


def _exactly(pipe: IO[bytes], length: int) -> bytes:
    parts = []
    while length:
        part = pipe.read(min(length, 2**20))
        if not part:
            raise EOFError
        parts.append(part)
        length -= len(part)
    return b"".join(parts)
