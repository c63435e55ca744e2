"""`macex constraints check`: is this file of constraints right for these rows?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from macex.cli import options
from macex.cli.inputs import training
from macex.cli.toml import read_causes, read_constraints
from macex.schema import Schema

app = options.group("Files that say what may change.")


@app.command()
def check(
    *,
    file: Annotated[Path, typer.Argument(metavar="RULES", help="The TOML file.")],
    data: options.Data,
    label: options.Label = None,
    drop: options.Drop = None,
    schema: options.SchemaFile = None,
    quiet: options.Quiet = False,
    as_json: options.Json = False,
) -> None:
    """Read constraints, and say what they mean or which line is wrong.

        macex constraints check rules.toml --data train.csv --label income

    A file of constraints:

        fixed = ["race", "gender"]

        increase = ["age"]

        rules = ["if education != old(education) then age >= old(age) + 2"]

        [ranges]

        hours_per_week = [20, 60]
    """
    learnt = training(data, label, drop, schema)
    found = Schema.infer(learnt.rows, learnt.kinds)
    constraints = read_constraints(file, learnt.ground(found))
    if as_json:
        print(json.dumps(constraints.to_dict(), ensure_ascii=False))
    elif not quiet:
        parts, causes = [text for text, _ in constraints.parts()], read_causes(file)
        told = [] if causes is None else repr(causes).splitlines()
        print("\n  ".join([f"{file} is right: {len(parts)} constraints", *parts, *told]))
