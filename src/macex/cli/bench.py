"""`macex bench`: the paper's tables."""

from __future__ import annotations

from typing import Any

import typer

app = typer.Typer(add_completion=False, rich_markup_mode="markdown")


@app.command(
    add_help_option=False,
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
)
def bench(context: typer.Context) -> Any:
    """Rerun the paper's experiments: `macex bench --help` says how."""
    from macex.bench.command import command_of

    run = command_of(context.args)
    inner = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    inner.command()(run)
    return inner(context.args, prog_name="macex bench", standalone_mode=False)
