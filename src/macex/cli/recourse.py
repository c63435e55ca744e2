"""`macex recourse`: who has an answer under the constraints, and who provably has none."""

from __future__ import annotations

from typing import Annotated

import typer

from macex.cli import options
from macex.cli.populations import PopulationQuestion, Showing, about_rows, records


@about_rows
def recourse(
    crowd: PopulationQuestion,
    show: Showing,
    *,
    by: options.By = None,
    sample: options.Sample = None,
    max_rows: Annotated[
        int | None, typer.Option(help="Decide rows with at most this many combinations.")
    ] = None,
    diagnose: Annotated[
        bool,
        typer.Option("--diagnose/--no-diagnose", help="Count which constraints take answers away."),
    ] = True,
) -> None:
    """Count rows with an answer under the constraints, provably without one, and undecided.

    How it stands with those who were rejected, group by group:

        macex recourse --model model.onnx --data train.csv --label income --rows rejected.csv --want ">50K" --constraints rules.toml --by gender
    """  # noqa: E501 - a command is one line
    found = crowd.population(sample).recourse(
        **crowd.asks,
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
