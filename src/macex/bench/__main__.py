"""`python -m macex.bench`, the same as `macex bench`."""

from __future__ import annotations

import sys

import typer

from macex.bench.command import command_of


def main() -> None:
    """Read the command line and run."""
    typer.run(command_of(sys.argv[1:]))


if __name__ == "__main__":
    main()
