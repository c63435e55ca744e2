"""`macex whatif`: change values of a row and see what follows and what the model says."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import typer

from macex.ask.units import Ground
from macex.causes import CausalModel, causal_model
from macex.cli import options
from macex.cli.colours import say
from macex.cli.inputs import classes_named, model_for, training
from macex.cli.toml import read_causes, read_constraints
from macex.errors import OptionError, SchemaError
from macex.models.consultation import consulted
from macex.models.oracle import Oracle
from macex.render.text import aligned
from macex.render.values import score_text, shown
from macex.scale.readers import read_table
from macex.schema import Array, Rows, Schema
from macex.schema.text import code_to_set

SAMPLE = 1000  # training rows by which a model is known


class TriedCell(NamedTuple):
    """A column with what is in it before and after, and whether that follows from what was set."""

    column: str
    before: object
    after: object
    follows: bool


class Row:
    """A row, what is set in it, what follows from that, and the model that is asked about it."""

    def __init__(self, rows: Rows, oracle: Oracle, causal: CausalModel | None) -> None:
        """The first of some rows, as it is."""
        self.schema, self.rows, self.oracle, self.causal = rows.schema, rows, oracle, causal
        self.own: Array = rows.codes[0]
        self.reset()

    def reset(self) -> None:
        """Take all changes back."""
        self.codes = self.full = self.own

    def set(self, texts: Sequence[str]) -> None:
        """Change some cells, `column=value` each: all of them or, where one is wrong, none."""
        codes = self.codes.copy()
        for text in texts:
            name, is_, value = (part.strip() for part in text.partition("="))
            if not is_:
                raise OptionError(f"{text!r} is not a change: write column=value")
            at = self.schema.position(name)
            codes[at] = code_to_set(self.schema.columns[at], value)
        full = codes if self.causal is None else self.causal.told(codes[None], self.own)[0]
        self.codes, self.full = codes, full

    def answer(self, codes: Array) -> dict[str, Any]:
        """The model's decision and scores for the row with these codes."""
        frame = self.schema.frame(codes[None], self.rows, np.zeros(1, int))
        answers, outlook = self.oracle(frame, 1), self.oracle.outlook
        scores = outlook.rounded(answers.scores[0]).tolist()
        names = outlook.classes or tuple(range(len(scores)))
        decided = None if outlook.classes is None else names[int(answers.decision[0])]
        return {"label": decided, "scores": dict(zip(map(str, names), scores, strict=True))}

    def cells(self) -> list[TriedCell]:
        """Every column."""
        own = self.rows.cells(0)
        return [
            TriedCell(name, own[name], own[name], follows=False)
            if full == before
            else TriedCell(name, own[name], column.value(float(full)), bool(full != code))
            for name, column, before, code, full in zip(
                *(self.schema.names, self.schema.columns, self.own, self.codes, self.full),
                strict=True,
            )
        ]


def whatif(
    *,
    model: options.Model,
    data: options.Data,
    row: Annotated[int, typer.Option(help="Which row, from 0.")] = 0,
    rows: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The file of the row; default: --data.")
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="COLUMN=VALUE", help="A change; repeatable."),
    ] = None,
    label: options.Label = None,
    drop: options.Drop = None,
    constraints: options.Rules = None,
    schema: options.SchemaFile = None,
    classes: options.Classes = None,
    allow_pickle: options.AllowPickle = False,
    trusted: options.Trusted = None,
    as_json: options.Json = False,
) -> None:
    """Change values of one row and see what follows and what the model says.

        macex whatif --model model.onnx --data train.csv --label income --row 7 --set hours_per_week=45

    Without --set it asks, line by line: column=value changes a cell, `reset` takes all back, an
    empty line ends. What follows from `[causes.edges]` in the file of --constraints is told apart.
    """  # noqa: E501 - a command is one line
    learnt = training(data, label, drop, schema)
    opened = model_for(model, data, learnt.rows, allow_pickle=allow_pickle, trusted=trusted)
    known = Schema.infer(learnt.rows, learnt.kinds)
    table = learnt.rows
    if rows is not None:
        table = read_table(rows).drop(columns=list(learnt.dropped), errors="ignore")
    if not 0 <= row < len(table):
        raise OptionError(f"--row {row}: {rows or data} has rows 0 to {len(table) - 1}")
    sample = np.unique(np.linspace(0, len(learnt.rows) - 1, SAMPLE).astype(int))
    trained = known.read(learnt.rows.iloc[sample])
    oracle, _ = consulted(opened, trained, known, classes_named(classes))
    causal = _caused(constraints, learnt.ground(known))
    asked = Row(known.read(table.iloc[[row]]), oracle, causal)
    asked.set(set_ or ())
    if as_json:
        print(json.dumps(_document(asked), ensure_ascii=False, default=str))
    elif set_:
        _show(asked)
    else:
        _ask(asked)


def _caused(constraints: Path | None, ground: Ground) -> CausalModel | None:
    """What a file of constraints says of causes, made ready for the rows."""
    if constraints is None:
        return None
    read_constraints(constraints, ground)
    causes = read_causes(constraints)
    return None if causes is None else causal_model(causes, ground)


def _document(row: Row) -> dict[str, Any]:
    cells = [cell for cell in row.cells() if cell.before != cell.after]
    told: dict[bool, list[dict[str, Any]]] = {
        follows: [
            {"column": one.column, "before": one.before, "after": one.after}
            for one in cells
            if one.follows == follows
        ]
        for follows in (False, True)
    }
    answers = {"before": row.answer(row.own), "after": row.answer(row.full)}
    return {**answers, "changes": told[False], "consequences": told[True]}


def _show(row: Row) -> None:
    """The row, what changed and what follows, and what the model says of both."""
    lines = [["", "before", "after"]]
    for name, before, after, follows in row.cells():
        now = "" if before == after else shown(after)
        lines.append([name, shown(before), now + " (follows)" * follows])
    old, new = row.answer(row.own), row.answer(row.full)
    if old["label"] is not None:
        lines.append(["decision", shown(old["label"]), shown(new["label"])])
    for name, score in old["scores"].items():
        lines.append([f"score of {name}", score_text(score), score_text(new["scores"][name])])
    say("\n".join(aligned(lines)))


def _ask(row: Row) -> None:
    """Changes by the line, until an empty one."""
    _show(row)
    while True:
        if sys.stdin.isatty():
            print("\ncolumn=value> ", end="", flush=True)
        line = sys.stdin.readline().strip()
        if not line or line in ("quit", "exit"):
            return
        try:
            if line == "reset":
                row.reset()
            else:
                row.set([line])
        except (OptionError, SchemaError) as error:
            print(error)
            continue
        _show(row)
