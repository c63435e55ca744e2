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
from macex.bench.arena.scores import BETTER
from macex.bench.report.markdown import BEGIN, END, around, sectioned
from macex.render.files import write_whole

INTERACTIVE = "leaderboard.html"
SHOWN = ("valid", "changed", "distance", "plausibility", "refits", "rows")  # of single answers


def write_board(lines: pd.DataFrame, out: Path, page: Path | None) -> str:
    """Write the page with filters into `out` and, where asked for, pages of documentation.

    Returns the tables as text.
    """
    board = Board(lines)
    write_whole(out / INTERACTIVE, interactive(board).encode())
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
    write_whole(folder / INTERACTIVE, interactive(board).encode())
    first, rest = text.split("\n\n## Budget", 1)
    body = "\n\n".join([first, *drawn, f"## Budget{rest}"])
    write_whole(page, f"{before}{BEGIN}\n\n{body}\n\n{END}{after}".encode())


def interactive(board: Board) -> str:
    """The page with filters: all it needs is in it."""
    environment = Environment(
        loader=PackageLoader("macex.bench.arena", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    text = json.dumps(_held(board), separators=(",", ":"), ensure_ascii=False)
    held = text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")
    return environment.get_template("leaderboard.html.j2").render(held=Markup(held))  # noqa: S704


def _held(board: Board) -> dict[str, Any]:
    """What the page holds: means of cells, lost cells, and every first answer."""
    cells = board.cells.reset_index()
    return {
        "measures": [
            {"name": name, "better": BETTER[name], "said": COLUMNS.get(name, ("", name))[1]}
            for name in board.measures
        ],
        "cells": [
            [*map(_plain, line[:5]), [_short(value) for value in line[5:]]]
            for line in cells.itertuples(index=False, name=None)
        ],
        "lost": [
            [one.cell, one.budget, one.measure, one.rival, _short(one.gap.mean), str(one.gap),
             _short(one.chance)]
            for one in board.lost
        ],
        "answers": _answers(board),
        "shown": list(SHOWN),
    }  # fmt: skip


def _answers(board: Board) -> list[list[Any]]:
    """Every first answer under the first seed, by cell, budget and query."""
    first = board.first
    first = first[(first["seed"] == 0) & (first["split"] == 0)]
    keys = ["dataset", "model", "budget", "query", "method", "label"]
    again = first.duplicated(["dataset", "model", "budget", "query"])  # the row is told once
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
