"""The `macex` command: one file a command."""

from __future__ import annotations

from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run `macex` with these arguments, those of the process by default; returns the exit code."""
    from macex.cli.program import run

    return run(arguments)
