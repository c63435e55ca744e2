"""One run at a time in a folder, also when two are started for the same output."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from macex.errors import OptionError

try:
    import fcntl
except ImportError:  # a system without such locks
    fcntl = None  # type: ignore[assignment]

LOCK = "lock"


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Hold a folder; one that another run holds is an error. A run that dies lets go of it."""
    held = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        if fcntl is not None:
            _hold(held, folder)
        yield
    finally:
        os.close(held)


def _hold(file: int, folder: Path) -> None:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise OptionError(
            f"another run is writing to {folder} now: wait until it ends, or name another output"
        ) from error
    except OSError:
        return  # a disk without locks
