"""`python -m macex.bench`, the same as `macex bench`."""

from __future__ import annotations

import typer

from macex.bench.command import bench


def main() -> None:
    """Read the command line and run."""
    typer.run(bench)


if __name__ == "__main__":
    main()
