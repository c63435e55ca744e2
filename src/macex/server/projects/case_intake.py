"""A stranger's cases, read in a child process: a NumPy file becomes another one with one array.

An archive (.npz) has the array `X`; a single array (.npy) is taken as it is. What an array says of
itself is checked before it is unpacked, and nothing is ever unpickled.
"""

from __future__ import annotations

import json
import sys
import zipfile
from math import prod
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy

from macex.errors import DataError, MacexError
from macex.models.files.sandbox import confine
from macex.scale.intake import CALLED, IntakeLimits, refused

ZIP, NPY = b"PK\x03\x04", b"\x93NUMPY"
FILES = 100  # in an archive
MEMBER = "X.npy"
NUMBERS = "fiub"


def main(order: dict[str, Any]) -> int:
    """Read and write, within bounds."""
    bounds = IntakeLimits(**order["bounds"])
    confine(bounds.memory_mb, output_mb=bounds.output_mb, cpu_s=bounds.cpu_seconds)
    try:
        np.savez(sys.stdout.buffer, X=read(sys.stdin.buffer, bounds))
    except MacexError as error:
        return refused(str(error))
    except MemoryError:
        return refused(f"{CALLED}: reading it takes more than {bounds.memory_mb:,} MB")
    except Exception as error:  # noqa: BLE001 - whatever a library says of a bad file
        return refused(f"{CALLED} cannot be read as cases: {error}")
    return 0


def read(source: IO[bytes], bounds: IntakeLimits) -> Any:
    """The cases in a file, (cases, channels, time)."""
    head = source.read(len(NPY))
    source.seek(0)
    if head.startswith(NPY):
        return _array(source, bounds)
    if not head.startswith(ZIP):
        raise DataError(f"{CALLED} is no NumPy file: send .npz with an array X, or .npy")
    with zipfile.ZipFile(source) as box:
        names = box.namelist()
        if MEMBER not in names or len(names) > FILES:
            raise DataError(f"{CALLED} has no array X, or more than {FILES} arrays")
        with box.open(MEMBER) as member:
            return _array(member, bounds)


def _array(file: IO[bytes], bounds: IntakeLimits) -> Any:
    """The array of a file, if what it says of itself is right."""
    version = npy.read_magic(file)
    if version not in ((1, 0), (2, 0)):
        raise DataError(f"{CALLED} holds an array of the NumPy format {version}")
    reader = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
    shape, fortran, dtype = reader(file)
    if dtype.kind not in NUMBERS:
        raise DataError(f"{CALLED} holds {dtype}, not numbers")
    if len(shape) != 3 or not all(size > 0 for size in shape):
        raise DataError(f"{CALLED}: X must be (cases, channels, time), not {shape}")
    if shape[1] > bounds.columns or prod(shape) > bounds.cells:
        raise DataError(f"{CALLED} has the shape {shape}: too many numbers")
    length = prod(shape) * dtype.itemsize
    content = file.read(length)
    if len(content) < length or file.read(1):
        raise DataError(f"{CALLED}: the array has not the length that it says")
    cells = np.frombuffer(content, dtype).reshape(shape, order="F" if fortran else "C")
    return np.ascontiguousarray(cells, dtype=float)


if __name__ == "__main__":
    sys.exit(main(json.loads(sys.argv[1])))
