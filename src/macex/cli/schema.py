"""`macex schema`: the columns as macex reads them, to be looked at and corrected."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from macex.cli import options
from macex.cli.colours import say
from macex.cli.inputs import training
from macex.cli.toml import written_kinds, written_structure
from macex.errors import OptionError
from macex.render.exports import write_whole
from macex.schema import Schema
from macex.schema.schema import stated
from macex.structure import find_structure


def schema(
    *,
    data: options.Data,
    label: options.Label = None,
    drop: options.Drop = None,
    schema_file: options.SchemaFile = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write an editable TOML file.")
    ] = None,
    structure: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write what holds between columns, as constraints."),
    ] = None,
    force: options.Force = False,
    quiet: options.Quiet = False,
    as_json: options.Json = False,
) -> None:
    """Show how each column of the training rows is read, and what holds between columns.

    Look at it, write it to a file, correct the file, and give it to the other commands:

        macex schema --data train.csv --label income --out schema.toml

        macex explain --schema schema.toml ...

    Keep what holds between columns in every answer:

        macex schema --data train.csv --label income --structure rules.toml

        macex explain --constraints rules.toml ...
    """
    learnt = training(data, label, drop, schema_file)
    found = Schema.infer(learnt.rows, learnt.kinds)
    relations = find_structure(found, found.read(learnt.rows).codes)
    if out is not None:
        _write(out, written_kinds(found, data.name), force=force)
    if structure is not None:
        _write(structure, written_structure(relations, data.name), force=force)
    if as_json:
        print(json.dumps(stated(found), ensure_ascii=False))
    elif not quiet:
        say(found)
        say(relations)


def _write(path: Path, text: str, *, force: bool) -> None:
    if path.exists() and not force:
        raise OptionError(f"{path} exists: pass --force to replace it")
    write_whole(path, text.encode())
