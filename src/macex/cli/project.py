"""`macex project new`: a folder that `macex serve` opens."""

from __future__ import annotations

import shutil
import tomllib
from pathlib import Path
from typing import Annotated, Any

import typer

from macex.cli import options
from macex.cli.inputs import classes_named, explainer_made, training
from macex.cli.toml import read_constraints
from macex.errors import OptionError

BESIDE = ("structure", "causes")  # constraints, in the same file
app = options.group("Folders that `macex serve` opens.")


@app.command()
def new(
    *,
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder to be made.")],
    model: options.Model,
    data: options.Data,
    rows: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The rows to look at; default: the training rows."),
    ] = None,
    title: Annotated[str | None, typer.Option(help="What the page calls it.")] = None,
    label: options.Label = None,
    drop: options.Drop = None,
    schema: options.SchemaFile = None,
    constraints: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="What may change, structure and causes, as TOML."),
    ] = None,
    classes: options.Classes = None,
    quiet: options.Quiet = False,
) -> None:
    """Put a model, its training rows and their description into a folder.

        macex project new loans --model model.ubj --data train.csv --label granted --rows new.csv

        macex serve --project loans

    The files are copied. `project.toml` in the folder can be edited: names of columns, schema,
    constraints. The model must be in a safe format: ONNX, XGBoost, LightGBM, CatBoost or skops.
    """
    if folder.exists():
        raise OptionError(f"{folder} exists: name a new folder")
    learnt = training(data, label, drop, schema)
    read = {"model": model, "data": data, "label": label}
    read |= {"constraints": constraints, "classes": classes}
    explainer = explainer_made(learnt, read, {"allow_pickle": False})
    said: dict[str, Any] = {"title": title or folder.name, "drop": list(drop or ())}
    if constraints is not None:
        read_constraints(constraints, learnt.ground(explainer.schema))
        rules = tomllib.loads(constraints.read_text(encoding="utf-8"))
        said |= {part: rules.pop(part) for part in BESIDE if part in rules}
        said["constraints"] = rules
    if schema is not None:
        said["schema"] = tomllib.loads(schema.read_text(encoding="utf-8"))
    said |= {"label": label} if label else {}
    said |= {"classes": classes_named(classes)} if classes else {}
    _write(folder, {"model": model, "data": data, "rows": rows}, said)
    if not quiet:
        print(f"{folder} is made: macex serve --project {folder}")


def _write(folder: Path, files: dict[str, Path | None], said: dict[str, Any]) -> None:
    from macex.server.projects.parts import described, read_parts

    names = {part: f"{part}{path.suffix}" for part, path in files.items() if path is not None}
    description = described({**{k: v for k, v in said.items() if v}, **names})
    folder.mkdir(parents=True)
    try:
        for part, path in files.items():
            if path is not None:
                shutil.copyfile(path, folder / names[part])
        description.write(folder)
        read_parts(folder)
    except BaseException:
        shutil.rmtree(folder)
        raise
