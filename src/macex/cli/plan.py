"""`macex plan`: few common actions that flip many rows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from macex.ask.typed import goal_typed
from macex.cli import options
from macex.cli.populations import asked, show


def plan(
    *,
    model: options.Model,
    data: options.Data,
    rows: Annotated[str, typer.Option(metavar="FILE", help="The rows to plan for; - for stdin.")],
    label: options.Label = None,
    drop: options.Drop = None,
    want: Annotated[
        str | None,
        typer.Option(help="A label, or a goal such as at_least(0.7). Default: any other label."),
    ] = None,
    actions: Annotated[int, typer.Option(help="At most so many actions.")] = 5,
    max_changes: Annotated[int, typer.Option(help="The most columns an action changes.")] = 2,
    by: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="A plan for each group of this column.")
    ] = None,
    constraints: Annotated[
        Path | None, typer.Option(metavar="FILE", help="What may change, as TOML.")
    ] = None,
    schema: options.SchemaFile = None,
    classes: options.Classes = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also write .csv or .html there.")
    ] = None,
    force: options.Force = False,
    allow_pickle: options.AllowPickle = False,
    quiet: options.Quiet = False,
    as_json: options.Json = False,
) -> None:
    """Few common actions that flip the most rows of a file.

        macex plan --model model.onnx --data train.csv --label income --rows rejected.csv --want ">50K"

    Ten actions of one change each, for every group of a column, under constraints:

        macex plan --model model.ubj --data train.csv --rows rejected.csv --actions 10 --max-changes 1 --by region --constraints rules.toml
    """  # noqa: E501 - a command is one line
    crowd = asked(
        model,
        data,
        rows,
        label=label,
        drop=drop,
        schema=schema,
        constraints=constraints,
        classes=classes,
        out=out,
        force=force,
        allow_pickle=allow_pickle,
    )
    found = crowd.explainer.plan(
        crowd.rows,
        want=goal_typed(want, crowd.explainer.classes),
        actions=actions,
        max_changes=max_changes,
        by=by,
        constraints=crowd.constraints,
    )
    document = {
        "rows": len(found.taken),
        "asked": found.asked,
        "flipped": found.flipped,
        "actions": json.loads(found.to_frame().to_json(orient="records")),
    }
    show(found, document, out, quiet=quiet, as_json=as_json)
