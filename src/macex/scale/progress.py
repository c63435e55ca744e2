"""How far a run has come: rows, rows a second and the time left."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from macex.errors import OptionError

Progress = Callable[[int, int | None], Any]


@contextmanager
def reporting(progress: Any) -> Iterator[Progress]:
    """A function of (rows done, rows in all or None): silent, the caller's own, or a bar."""
    if progress is None or progress is False:
        yield lambda _done, _total: None
    elif callable(progress):
        yield progress
    elif progress is True:
        with _bar() as report:
            yield report
    else:
        raise OptionError(
            f"progress is True, None or a function of (done, total), not {progress!r}"
        )


@contextmanager
def _bar() -> Iterator[Progress]:
    """A bar on standard error."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    pace = TextColumn("{task.fields[pace]}")
    columns = (TextColumn("explaining"), BarColumn(), MofNCompleteColumn(), pace)
    with Bar(*columns, TimeRemainingColumn(), console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None, pace="")

        def report(done: int, total: int | None) -> None:
            speed = bar.tasks[0].speed
            said = "" if speed is None else f"{speed:,.0f} rows/s"
            bar.update(task, completed=done, total=total, pace=said)

        yield report
