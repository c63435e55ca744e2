"""`macex steps`: in which order to make the changes of an answer, and what that takes."""

from __future__ import annotations

import json
from typing import Annotated, Any

import pandas as pd
import typer

from macex.ask.question import FIELDS
from macex.cli.populations import PopulationQuestion, Showing, about_rows
from macex.cli.toml import read_costs
from macex.errors import OptionError


@about_rows
def steps(
    crowd: PopulationQuestion,
    show: Showing,
    *,
    row: Annotated[int, typer.Option(help="Which row, from 0.")] = 0,
    reach: Annotated[float | None, typer.Option(help=FIELDS["reach"])] = None,
    rank: Annotated[int, typer.Option(help="Which answer, from 1.")] = 1,
    dense: Annotated[
        bool, typer.Option("--dense", help="Lead through rows that look usual.")
    ] = False,
) -> None:
    """Order the changes of an answer into steps, with what follows from each and what it costs.

        macex steps --model model.onnx --data train.csv --label income --rows rejected.csv --row 7 --constraints rules.toml

    `[costs]` in the file of constraints says what a change of a column takes: `school = "2 years"`.
    """  # noqa: E501 - a command is one line
    found = crowd.explainer.explain(
        _one(crowd.frames(), row, crowd.files["rows"]), n=rank, reach=reach, **crowd.asks
    )[0]
    if not 1 <= rank <= len(found.counterfactuals):
        there = len(found.counterfactuals)
        why = "" if found.reason is None else f": {found.reason}"
        raise OptionError(f"--rank {rank}: row {row} has {there} answers{why}")
    costs = read_costs(crowd.files["constraints"])
    way = crowd.explainer.steps(found.counterfactuals[rank - 1], costs, dense=dense)
    show(way, json.loads(way.to_json()))


def _one(frames: Any, row: int, origin: str) -> pd.DataFrame:
    """The row at a place of some frames."""
    start = 0
    for frame in frames:
        if 0 <= row - start < len(frame):
            return frame.iloc[[row - start]]
        start += len(frame)
    raise OptionError(f"--row {row}: {origin} has rows 0 to {start - 1}")
