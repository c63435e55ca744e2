"""`macex bench`: the benchmark tables."""

from __future__ import annotations

import typer


def bench(context: typer.Context) -> int:
    """Print the benchmark tables: `macex bench --help` lists the experiments."""
    from macex.bench.__main__ import main

    return main(context.args)
