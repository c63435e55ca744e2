"""`macex picture`: what the answers of many rows change, and which action helps whom."""

from __future__ import annotations

from typing import Annotated

import typer

from macex.cli import options
from macex.cli.populations import Files, Showing, asked, records


def picture(
    *,
    model: options.Model,
    data: options.Data,
    rows: options.Rows,
    label: options.Label = None,
    drop: options.Drop = None,
    want: options.Want = None,
    constraints: options.Rules = None,
    parts: Annotated[int, typer.Option(help="The most parts to divide the rows into.")] = 6,
    max_changes: Annotated[int, typer.Option(help="The most columns an action changes.")] = 1,
    explained: Annotated[int, typer.Option(help="The most rows to look at.")] = 2000,
    sample: options.Sample = None,
    schema: options.SchemaFile = None,
    classes: options.Classes = None,
    out: options.Sheet = None,
    force: options.Force = False,
    allow_pickle: options.AllowPickle = False,
    trusted: options.Trusted = None,
    quiet: options.Quiet = False,
    as_json: options.Json = False,
) -> None:
    """Show what the answers of many rows change, and which action helps which rows.

    A page about those who were rejected:

        macex picture --model model.onnx --data train.csv --label income --rows rejected.csv --want ">50K" --out picture.html
    """  # noqa: E501 - a command is one line
    show = Showing(out, force, quiet, as_json)
    files = Files(
        model, data, rows, label, drop, want, constraints, schema, classes, allow_pickle, trusted
    )
    crowd = asked(files)
    found = crowd.population(sample, quiet=quiet).picture(
        want=crowd.want,
        constraints=crowd.constraints,
        parts=parts,
        max_changes=max_changes,
        explained=explained,
    )
    columns = [{"column": name, "changed": times} for name, times in found.summary.columns]
    rules = records(found.to_frame())
    show(found, {"rows": found.rows, "columns": columns, "rules": rules})
