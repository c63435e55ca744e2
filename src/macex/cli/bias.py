"""`macex bias`: what protected columns do to decisions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from macex.ask.typed import goal_typed
from macex.cli import options
from macex.cli.populations import asked, show


def bias(
    *,
    model: options.Model,
    data: options.Data,
    rows: Annotated[str, typer.Option(metavar="FILE", help="The rows to look at; - for stdin.")],
    protected: Annotated[
        list[str], typer.Option(metavar="COLUMN", help="A protected column; repeatable.")
    ],
    label: options.Label = None,
    drop: options.Drop = None,
    want: Annotated[
        str | None, typer.Option(help="The decision people hope for. Default: any other.")
    ] = None,
    constraints: Annotated[
        Path | None, typer.Option(metavar="FILE", help="What may change, as TOML.")
    ] = None,
    explained: Annotated[int, typer.Option(help="At most so many rows are explained.")] = 1000,
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
    """What protected columns do to decisions, to answers, and to what groups must change.

    macex bias --model model.onnx --data train.csv --label income --rows test.csv --protected gender --protected race --want ">50K"
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
    found = crowd.explainer.bias(
        crowd.rows,
        protected=protected,
        want=goal_typed(want, crowd.explainer.classes),
        constraints=crowd.constraints,
        explained=explained,
    )
    lines = json.loads(found.to_frame().to_json(orient="records"))
    document = {"rows": found.rows, "reading": found.reading(), "numbers": lines}
    show(found, document, out, quiet=quiet, as_json=as_json)
