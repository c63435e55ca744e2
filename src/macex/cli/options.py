"""The options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

# The groups of options that `--help` shows, in the order in which commands name their first ones.
FILES, ASKED, SEARCH, WRITTEN = "Files", "What is asked", "How it is worked out", "What is written"

Model = Annotated[
    Path,
    typer.Option(
        "--model",
        metavar="FILE",
        help="The model: see `macex doctor` for the kinds.",
        rich_help_panel=FILES,
    ),
]
Data = Annotated[
    Path,
    typer.Option(
        "--data",
        metavar="FILE",
        help="The training rows: CSV, Parquet, Arrow or JSONL.",
        rich_help_panel=FILES,
    ),
]
Label = Annotated[
    str | None,
    typer.Option(
        "--label",
        metavar="COLUMN",
        help="The label, if a file has it; not a feature.",
        rich_help_panel=FILES,
    ),
]
Drop = Annotated[
    list[str] | None,
    typer.Option(
        "--drop",
        metavar="COLUMN",
        help="Another column to leave out; repeatable.",
        rich_help_panel=FILES,
    ),
]
SchemaFile = Annotated[
    Path | None,
    typer.Option(
        "--schema",
        metavar="FILE",
        help="Corrected columns: see `macex schema`.",
        rich_help_panel=FILES,
    ),
]
Rows = Annotated[
    str,
    typer.Option(
        "--rows",
        metavar="FILE",
        help="The rows to look at, a file or a folder; - for stdin.",
        rich_help_panel=FILES,
    ),
]
Want = Annotated[
    str | None,
    typer.Option(
        "--want",
        help="A label, or a goal such as at_least(0.7). Default: any other label.",
        rich_help_panel=ASKED,
    ),
]
Rules = Annotated[
    Path | None,
    typer.Option(
        "--constraints", metavar="FILE", help="What may change, as TOML.", rich_help_panel=ASKED
    ),
]
By = Annotated[
    list[str] | None,
    typer.Option(
        "--by",
        metavar="COLUMN",
        help="The same for each group of a column, or of several; repeatable.",
        rich_help_panel=ASKED,
    ),
]
Bands = Annotated[
    list[str] | None,
    typer.Option(
        "--bands",
        metavar="COLUMN=EDGES",
        help="Cut numbers into groups, as in age=25,60; repeatable.",
        rich_help_panel=ASKED,
    ),
]
Sample = Annotated[
    int | None,
    typer.Option(
        "--sample",
        metavar="ROWS",
        help="Use a random sample of this many rows.",
        rich_help_panel=SEARCH,
    ),
]
Sheet = Annotated[
    Path | None,
    typer.Option(
        "--out", metavar="FILE", help="Also write .csv or .html there.", rich_help_panel=WRITTEN
    ),
]
Classes = Annotated[
    str | None,
    typer.Option(
        "--classes",
        metavar="NO,YES",
        help="Names of the model's outputs, in order.",
        rich_help_panel=FILES,
    ),
]
AllowPickle = Annotated[
    bool,
    typer.Option(
        "--allow-pickle",
        help="Read pickle and joblib files, which can run any code.",
        rich_help_panel=FILES,
    ),
]
Trusted = Annotated[
    list[str] | None,
    typer.Option(
        "--trusted",
        metavar="TYPE",
        help="A type that a skops file may hold, as the error names it; repeatable.",
        rich_help_panel=FILES,
    ),
]
Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", help="Print errors only.", rich_help_panel=WRITTEN)
]
Json = Annotated[
    bool, typer.Option("--json", help="Print JSON, for scripts.", rich_help_panel=WRITTEN)
]
Force = Annotated[
    bool, typer.Option("--force", help="Replace an output that exists.", rich_help_panel=WRITTEN)
]
