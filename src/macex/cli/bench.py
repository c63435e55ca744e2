"""`macex bench`: the benchmark tables."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

import typer


def bench(context: typer.Context) -> Any:
    """Print the benchmark tables: `macex bench --help` lists the experiments."""
    if find_spec("macex.bench.command") is None:
        return import_module("macex.bench.__main__").main(context.args)
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    app.command()(import_module("macex.bench.command").bench)
    return app(context.args, prog_name="macex bench", standalone_mode=False)
