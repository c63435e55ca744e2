"""`macex picture`: what the answers of many rows change, and which action helps whom."""

from __future__ import annotations

from typing import Annotated

import typer

from macex.cli import options
from macex.cli.populations import PopulationQuestion, Showing, about_rows, records


@about_rows
def picture(
    crowd: PopulationQuestion,
    show: Showing,
    *,
    parts: Annotated[int, typer.Option(help="The most parts to divide the rows into.")] = 6,
    max_changes: Annotated[int, typer.Option(help="The most columns an action changes.")] = 1,
    explained: Annotated[int, typer.Option(help="The most rows to look at.")] = 2000,
    sample: options.Sample = None,
) -> None:
    """Show what the answers of many rows change, and which action helps which rows.

    A page about those who were rejected:

        macex picture --model model.onnx --data train.csv --label income --rows rejected.csv --want ">50K" --out picture.html
    """  # noqa: E501 - a command is one line
    found = crowd.population(sample).picture(
        **crowd.asks,
        parts=parts,
        max_changes=max_changes,
        explained=explained,
    )
    columns = [{"column": name, "changed": times} for name, times in found.summary.columns]
    rules = records(found.to_frame())
    show(found, {"rows": found.rows, "columns": columns, "rules": rules})
