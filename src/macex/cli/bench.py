"""`macex bench`: the paper's tables."""

from __future__ import annotations

from typing import Any

import typer


def bench(context: typer.Context) -> Any:
    """Rerun the paper's experiments: `macex bench --help` says how."""
    from macex.bench.command import bench as run

    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    app.command()(run)
    return app(context.args, prog_name="macex bench", standalone_mode=False)
