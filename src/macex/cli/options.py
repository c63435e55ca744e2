"""The options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Model = Annotated[
    Path,
    typer.Option("--model", metavar="FILE", help="The model: see `macex doctor` for the kinds."),
]
Data = Annotated[
    Path,
    typer.Option("--data", metavar="FILE", help="The training rows: CSV, Parquet, Arrow or JSONL."),
]
Label = Annotated[
    str | None,
    typer.Option("--label", metavar="COLUMN", help="The label, if a file has it; not a feature."),
]
Drop = Annotated[
    list[str] | None,
    typer.Option("--drop", metavar="COLUMN", help="Another column that is no feature; repeatable."),
]
SchemaFile = Annotated[
    Path | None,
    typer.Option("--schema", metavar="FILE", help="Corrected columns: see `macex schema`."),
]
Rows = Annotated[
    str,
    typer.Option(
        "--rows", metavar="FILE", help="The rows it is about, a file or a folder; - for stdin."
    ),
]
Want = Annotated[
    str | None,
    typer.Option(
        "--want", help="A label, or a goal such as at_least(0.7). Default: any other label."
    ),
]
Rules = Annotated[
    Path | None,
    typer.Option("--constraints", metavar="FILE", help="What may change, as TOML."),
]
By = Annotated[
    str | None, typer.Option("--by", metavar="COLUMN", help="The same for each group of a column.")
]
Sample = Annotated[
    int | None,
    typer.Option("--sample", metavar="ROWS", help="Look at so many rows, drawn in one pass."),
]
Sheet = Annotated[
    Path | None, typer.Option("--out", metavar="FILE", help="Also write .csv or .html there.")
]
Classes = Annotated[
    str | None,
    typer.Option("--classes", metavar="NO,YES", help="Names of the model's outputs, in order."),
]
AllowPickle = Annotated[
    bool,
    typer.Option("--allow-pickle", help="Read pickle and joblib files, which can run any code."),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but errors.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, for scripts.")]
Force = Annotated[bool, typer.Option("--force", help="Replace an output that exists.")]
