"""`macex bias`: what protected columns do to decisions."""

from __future__ import annotations

from typing import Annotated

import typer

from macex.cli import options
from macex.cli.populations import PopulationQuestion, Showing, about_rows, bands_typed, records


@about_rows
def bias(
    crowd: PopulationQuestion,
    show: Showing,
    *,
    protected: Annotated[
        list[str], typer.Option(metavar="COLUMN", help="A protected column; repeatable.")
    ],
    by: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN", help="Compare groups by these columns too; repeatable."),
    ] = None,
    explained: Annotated[int, typer.Option(help="The most rows to explain.")] = 1000,
    bands: options.Bands = None,
    max_values: Annotated[
        int | None, typer.Option(help="The most values of a column to try in a row.")
    ] = None,
    through: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN", help="With causes: a column whose influence is accepted; repeatable."
        ),
    ] = None,
    sample: options.Sample = None,
) -> None:
    """Measure what protected columns do to decisions, to answers and to the effort of groups.

    Whether gender or race decides who gets what is wanted:

        macex bias --model model.onnx --data train.csv --label income --rows test.csv --protected gender --protected race --want ">50K"
    """  # noqa: E501 - a command is one line
    found = crowd.population(sample).bias(
        protected=protected,
        **crowd.asks,
        by=by or None,
        explained=explained,
        bands=bands_typed(bands),
        max_values=max_values,
        through=through or (),
    )
    numbers = records(found.to_frame())
    show(found, {"rows": found.rows, "reading": found.reading(), "numbers": numbers})
