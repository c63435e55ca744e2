"""How far a command has come, as it is told on standard error."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager
from typing import Any

from macex.scale.progress import Progress, lines, reporting


def bar_or_lines(what: str = "", *, quiet: bool) -> Any:
    """A bar in a terminal, lines in a log; they begin with `what` is done."""
    if quiet or sys.stderr.isatty():
        return not quiet
    begun = f"macex: {what}: " if what else "macex: "
    return lines(lambda line: print(f"{begun}{line}", file=sys.stderr, flush=True))


def telling(what: str, *, quiet: bool) -> AbstractContextManager[Progress]:
    """The same for a stage of a command."""
    return reporting(bar_or_lines(what, quiet=quiet), what)
