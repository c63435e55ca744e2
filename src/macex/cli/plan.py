"""`macex plan`: few common actions that flip many rows."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from macex.cli import options
from macex.cli.populations import PopulationQuestion, Showing, about_rows, bands_typed, records


@about_rows
def plan(
    crowd: PopulationQuestion,
    show: Showing,
    *,
    actions: Annotated[int, typer.Option(help="The most actions.")] = 5,
    max_changes: Annotated[int, typer.Option(help="The most columns an action changes.")] = 2,
    slack: Annotated[
        float, typer.Option(help="The share of rows to give up for smaller, simpler actions.")
    ] = 0.02,
    max_cost: Annotated[
        float | None, typer.Option(help="The greatest distance that an action may move a row.")
    ] = None,
    plausible: Annotated[
        bool, typer.Option(help="Let actions count less where they make rows unusual.")
    ] = True,
    support: Annotated[
        float, typer.Option(help="The least share of the rows in need that an action flips.")
    ] = 0.0,
    by: options.By = None,
    bands: options.Bands = None,
    sample: options.Sample = None,
) -> None:
    """Find few common actions that flip the most rows of a file.

        macex plan --model model.onnx --data train.csv --label income --rows rejected.csv --want ">50K"

    Ten actions of one change each, for every group of a column, under constraints:

        macex plan --model model.ubj --data train.csv --rows rejected.csv --actions 10 --max-changes 1 --by region --constraints rules.toml
    """  # noqa: E501 - a command is one line
    asked: dict[str, Any] = {"actions": actions, "max_changes": max_changes, "by": by or None}
    asked |= {"slack": slack, "max_cost": max_cost, "plausible": plausible, "support": support}
    found = crowd.population(sample).plan(**crowd.asks, **asked, bands=bands_typed(bands))
    counts = {"rows": len(found.taken), "asked": found.asked, "flipped": found.flipped}
    show(found, {**counts, "actions": records(found.to_frame())})
