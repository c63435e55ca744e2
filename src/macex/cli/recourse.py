"""`macex recourse`: who has an answer under the constraints, and who provably has none."""

from __future__ import annotations

from typing import Annotated

import typer

from macex.cli import options
from macex.cli.populations import Files, Showing, asked, records


def recourse(
    *,
    model: options.Model,
    data: options.Data,
    rows: options.Rows,
    label: options.Label = None,
    drop: options.Drop = None,
    want: options.Want = None,
    constraints: options.Rules = None,
    by: options.By = None,
    sample: options.Sample = None,
    max_rows: Annotated[
        int | None, typer.Option(help="Decide rows with at most this many combinations.")
    ] = None,
    diagnose: Annotated[
        bool,
        typer.Option("--diagnose/--no-diagnose", help="Count which constraints take answers away."),
    ] = True,
    schema: options.SchemaFile = None,
    classes: options.Classes = None,
    out: options.Sheet = None,
    force: options.Force = False,
    allow_pickle: options.AllowPickle = False,
    trusted: options.Trusted = None,
    quiet: options.Quiet = False,
    as_json: options.Json = False,
) -> None:
    """Count rows with an answer under the constraints, provably without one, and undecided.

    How it stands with those who were rejected, group by group:

        macex recourse --model model.onnx --data train.csv --label income --rows rejected.csv --want ">50K" --constraints rules.toml --by gender
    """  # noqa: E501 - a command is one line
    show = Showing(out, force, quiet, as_json)
    files = Files(
        model, data, rows, label, drop, want, constraints, schema, classes, allow_pickle, trusted
    )
    crowd = asked(files)
    found = crowd.population(sample, quiet=quiet).recourse(
        want=crowd.want,
        constraints=crowd.constraints,
        by=by or None,
        diagnose=diagnose,
        max_rows=max_rows,
    )
    document = {
        "rows": len(found.standing),
        "standing": found.standing,
        "groups": records(found.to_frame()),
        "blocked": dict(found.blocked),
    }
    show(found, document)
