"""The board as a page of the documentation, and as one page with filters and every answer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from macex.bench.arena.board import Board
from macex.bench.arena.layout import COLUMNS
from macex.bench.arena.scores import BETTER, DERIVED
from macex.bench.report.markdown import BEGIN, END, around, sectioned
from macex.render.exports import write_whole

INTERACTIVE = "leaderboard.html"
ANSWERS = "leaderboard"  # the folder beside it: a script for each table and model
SHOWN = ("valid", "changed", "distance", "plausibility", "refits", "rows")  # of single answers
QUERIES = 10  # of each table and model, whose answers the page has


def write_board(lines: pd.DataFrame, out: Path, page: Path | None) -> str:
    """Write the page with filters into `out` and, where asked for, pages of documentation.

    Returns the tables as text.
    """
    board = Board(lines)
    write_interactive(board, out)
    text = "\n\n".join(map(sectioned, board.sections()))
    write_whole(out / "board.md", f"# The arena\n\n{text}\n".encode())
    if page is not None:
        _write_docs(board, text, page)
    return text


def _write_docs(board: Board, text: str, page: Path) -> None:
    """The tables between the marks of a page, its pictures and its leaderboard beside it."""
    before, after = around(page) if page.exists() else ("# The arena\n\n", "\n")
    folder = page.with_suffix("")
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.svg"):
        old.unlink()
    drawn = ["## In pictures"]
    for name, (title, chart) in board.pictures().items():
        chart.to_svg(folder / f"{name}.svg")
        words = str(chart).replace("[", "(").replace("]", ")")
        drawn.append(f"### {title[0].upper()}{title[1:]}\n\n![{words}]({page.stem}/{name}.svg)")
    write_interactive(board, folder)
    first, rest = text.split("\n\n## Budget", 1)
    body = "\n\n".join([first, *drawn, f"## Budget{rest}"])
    write_whole(page, f"{before}{BEGIN}\n\n{body}\n\n{END}{after}".encode())


def write_interactive(board: Board, folder: Path) -> None:
    """The page with filters, and a script of answers for each table and model.

    The page loads a script when its cell is chosen: a page may do that from a disk, too, where it
    may not read other files.
    """
    scripts = folder / ANSWERS
    scripts.mkdir(parents=True, exist_ok=True)
    for old in scripts.glob("*.js"):
        old.unlink()
    files: dict[str, str] = {}
    for (dataset, model), here in _shown(board).groupby(["dataset", "model"]):
        files[f"{dataset} / {model}"] = name = f"{len(files)}.js"
        told = f"arena({_compact(name)}, {_compact(_answers(here))});\n"
        write_whole(scripts / name, told.encode())
    environment = Environment(
        loader=PackageLoader("macex.bench.arena", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    held = Markup(_compact({**_held(board), "files": files}))  # noqa: S704
    text = environment.get_template("leaderboard.html.j2").render(held=held)
    write_whole(folder / INTERACTIVE, text.encode())


def _compact(held: Any) -> str:
    """JSON that may stand in a page."""
    text = json.dumps(held, separators=(",", ":"), ensure_ascii=False)
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _held(board: Board) -> dict[str, Any]:
    """What the page holds: means of cells, fronts, and lost cells."""
    cells = board.cells.reset_index()
    return {
        "measures": [
            {"name": name, "better": BETTER[name], "said": DERIVED.get(name) or COLUMNS[name][1]}
            for name in board.measures
        ],
        "cells": [
            [*map(_plain, line[:5]), [_short(value) for value in line[5:]]]
            for line in cells.itertuples(index=False, name=None)
        ],
        "fronts": [
            [key[0], key[1], _plain(key[2]), _plain(key[3]), ", ".join(four), ", ".join(five)]
            for key, (four, five) in board.fronts.items()
        ],
        "lost": [
            [one.cell, one.budget, one.measure, one.rival, _short(one.gap.mean), str(one.gap),
             _short(one.chance)]
            for one in board.lost
        ],
        "shown": list(SHOWN),
    }  # fmt: skip


def _shown(board: Board) -> pd.DataFrame:
    """The first answers under the first seed and split, of a few queries of each cell."""
    first = board.first
    first = first[(first["seed"] == first["seed"].min()) & (first["query"] < QUERIES)]
    return first[first["split"] == first["split"].min()]


def _answers(first: pd.DataFrame) -> list[list[Any]]:
    """The first answers of a cell by budget and query; the row is told once."""
    keys = ["budget", "query", "method", "label"]
    again = first.duplicated(["query"])
    return [
        [*map(_plain, key), _json(changes), [_short(value) for value in values], _json(row)]
        for key, changes, row, values in zip(
            first[keys].itertuples(index=False, name=None),
            first["changes"],
            first["row"].mask(again),
            first[list(SHOWN)].to_numpy(float),
            strict=True,
        )
    ]


def _json(text: Any) -> Any:
    return json.loads(text, parse_constant=str) if isinstance(text, str) else None


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and value != value else value  # noqa: PLR0124


def _short(value: Any) -> float | None:
    number = float(value)
    return float(f"{number:.4g}") if np.isfinite(number) else None
