"""How far a run has come: rows, rows a second and the time left."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from macex.errors import OptionError

Progress = Callable[[int, int | None], Any]


@contextmanager
def reporting(progress: Any, what: str = "explaining") -> Iterator[Progress]:
    """A function of (rows done, rows in all or None): silent, the caller's own, or a bar.

    The bar says `what` is done.
    """
    if progress is None or progress is False:
        yield lambda _done, _total: None
    elif callable(progress):
        yield progress
    elif progress is True:
        with _bar(what) as report:
            yield report
    else:
        raise OptionError(
            f"progress is True, None or a function of (done, total), not {progress!r}"
        )


def lines(
    write: Callable[[str], Any], every: float = 30.0, clock: Callable[[], float] = time.monotonic
) -> Progress:
    """A report in lines for a log: rows, rows a second and the time left, at most so often.

    >>> told, now = [], iter([0.0, 40.0, 50.0, 75.0])
    >>> report = lines(told.append, clock=lambda: next(now))
    >>> for done in (1000, 1200, 2000):
    ...     report(done, 4000)
    >>> told
    ['1,000 of 4,000 rows, 25 a second, 120 s left', '2,000 of 4,000 rows, 27 a second, 75 s left']
    """
    began = last = clock()

    def report(done: int, total: int | None) -> None:
        nonlocal last
        now = clock()
        if now - last < every or not done:
            return
        last, pace = now, done / (now - began)
        of = f" of {total:,}" if total else ""
        left = f", {(total - done) / pace:,.0f} s left" if total else ""
        write(f"{done:,}{of} rows, {pace:,.0f} a second{left}")

    return report


@contextmanager
def _bar(what: str) -> Iterator[Progress]:
    """A bar on standard error."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    pace = TextColumn("{task.fields[pace]}")
    columns = (TextColumn(what), BarColumn(), MofNCompleteColumn(), pace)
    with Bar(*columns, TimeRemainingColumn(), console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None, pace="")

        def report(done: int, total: int | None) -> None:
            speed = bar.tasks[0].speed
            said = "" if speed is None else f"{speed:,.0f} rows/s"
            bar.update(task, completed=done, total=total, pace=said)

        yield report
