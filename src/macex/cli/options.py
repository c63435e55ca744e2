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
