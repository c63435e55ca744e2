"""Telling how far a long call has come."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from macex.errors import OptionError

Progress = Callable[[int], Any]


def silent(done: int) -> None:
    """Say nothing."""


@contextmanager
def reporter(progress: Any, total: int) -> Iterator[Progress]:
    """A function of the number of rows done: silent, the caller's own, or a bar on the terminal."""
    if progress is None or progress is False:
        yield silent
    elif callable(progress):
        yield lambda done: progress(done, total)
    elif progress is True:
        from rich.progress import Progress as Bar

        with Bar(transient=True) as bar:
            task = bar.add_task("explaining", total=total)
            yield lambda done: bar.update(task, completed=done)
    else:
        raise OptionError(
            f"progress is True, None or a function of (done, total), not {progress!r}"
        )
