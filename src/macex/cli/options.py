"""The options that several commands share."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

# The groups of options that `--help` shows, in the order in which commands name their first ones.
files = partial(typer.Option, rich_help_panel="Files")
asked = partial(typer.Option, rich_help_panel="What is asked")
searched = partial(typer.Option, rich_help_panel="How it is worked out")
written = partial(typer.Option, rich_help_panel="What is written")

Model = Annotated[
    Path, files("--model", metavar="FILE", help="The model: see `macex doctor` for the kinds.")
]
Data = Annotated[
    Path, files("--data", metavar="FILE", help="The training rows: CSV, Parquet, Arrow or JSONL.")
]
Label = Annotated[
    str | None,
    files("--label", metavar="COLUMN", help="The label, if a file has it; not a feature."),
]
Drop = Annotated[
    list[str] | None,
    files("--drop", metavar="COLUMN", help="Another column to leave out; repeatable."),
]
SchemaFile = Annotated[
    Path | None, files("--schema", metavar="FILE", help="Corrected columns: see `macex schema`.")
]
Rows = Annotated[
    str,
    files("--rows", metavar="FILE", help="The rows to look at, a file or a folder; - for stdin."),
]
Want = Annotated[
    str | None,
    asked("--want", help="A label, or a goal such as at_least(0.7). Default: any other label."),
]
Rules = Annotated[
    Path | None, asked("--constraints", metavar="FILE", help="What may change, as TOML.")
]
By = Annotated[
    list[str] | None,
    asked(
        "--by",
        metavar="COLUMN",
        help="The same for each group of a column, or of several; repeatable.",
    ),
]
Bands = Annotated[
    list[str] | None,
    asked(
        "--bands",
        metavar="COLUMN=EDGES",
        help="Cut numbers into groups, as in age=25,60; repeatable.",
    ),
]
Sample = Annotated[
    int | None, searched("--sample", metavar="ROWS", help="Use a random sample of this many rows.")
]
Sheet = Annotated[
    Path | None, written("--out", metavar="FILE", help="Also write .csv or .html there.")
]
Classes = Annotated[
    str | None, files("--classes", metavar="NO,YES", help="Names of the model's outputs, in order.")
]
AllowPickle = Annotated[
    bool, files("--allow-pickle", help="Read pickle and joblib files, which can run any code.")
]
Trusted = Annotated[
    list[str] | None,
    files(
        "--trusted",
        metavar="TYPE",
        help="A type that a skops file may hold, as the error names it; repeatable.",
    ),
]
Quiet = Annotated[bool, written("--quiet", "-q", help="Print errors only.")]
Json = Annotated[bool, written("--json", help="Print JSON, for scripts.")]
Force = Annotated[bool, written("--force", help="Replace an output that exists.")]


def group(words: str) -> typer.Typer:
    """A command with commands of its own."""
    made = typer.Typer(
        help=words, no_args_is_help=True, add_completion=False, rich_markup_mode="markdown"
    )
    made.callback()(lambda: None)  # without it a single command would take the place of the group
    return made
