"""`macex whatif`: change values of a row and see what follows and what the model says."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any

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


Cells = list[tuple[str, object, object]]
"""Columns with what is in them before and after."""


class Row:
    """A row that can be changed, what follows, and a model that says what it makes of it."""

    def __init__(self, rows: Rows, at: int, oracle: Oracle, causal: CausalModel | None) -> None:
        """Row `at` of some rows, as it is."""
        self.schema, self.rows, self.at, self.oracle = rows.schema, rows, at, oracle
        self.own, self.causal = rows.codes[at], causal
        self.codes = self.own.copy()

    def set(self, text: str) -> None:
        """Change one cell: `column=value`."""
        name, is_, value = (part.strip() for part in text.partition("="))
        if not is_:
            raise OptionError(f"{text!r} is no change: write column=value")
        at = self.schema.position(name)
        self.codes[at] = code_to_set(self.schema.columns[at], value)

    @property
    def full(self) -> Array:
        """The codes with what follows from the changes by causes, (d,)."""
        if self.causal is None:
            return self.codes
        return self.causal.followed(self.codes[None], self.own)[0]

    def answer(self, *, changed: bool) -> dict[str, Any]:
        """What the model says of the row as it was, or as it is now."""
        codes = self.full if changed else self.own
        frame = self.schema.frame(codes[None], self.rows, np.array([self.at]))
        answers, outlook = self.oracle(frame, 1), self.oracle.outlook
        scores = outlook.rounded(answers.scores[0]).tolist()
        names = outlook.classes or tuple(range(len(scores)))
        decided = None if outlook.classes is None else names[int(answers.decision[0])]
        return {"label": decided, "scores": dict(zip(map(str, names), scores, strict=True))}

    def cells(self) -> Cells:
        """Each column, before and after."""
        own, full = self.rows.cells(self.at), self.full
        return [
            (name, own[name], column.value(float(code)) if code != before else own[name])
            for name, column, code, before in zip(
                self.schema.names, self.schema.columns, full, self.own, strict=True
            )
        ]

    @property
    def follows(self) -> frozenset[str]:
        """The columns that were not set and differ."""
        names = self.schema.names
        return frozenset(names[at] for at in np.flatnonzero(self.full != self.codes))


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
    asked = Row(known.read(table.iloc[[row]]), 0, oracle, causal)
    for change in set_ or ():
        asked.set(change)
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
    follows, told = row.follows, dict[bool, list[dict[str, Any]]]({False: [], True: []})
    for name, before, after in row.cells():
        if before != after:
            told[name in follows] += [{"column": name, "before": before, "after": after}]
    before, after = row.answer(changed=False), row.answer(changed=True)
    return {"before": before, "after": after, "changes": told[False], "consequences": told[True]}


def _show(row: Row) -> None:
    """The row, with what changed and what follows, and what the model makes of it."""
    lines, follows = [["", "before", "after"]], row.follows
    for name, before, after in row.cells():
        now = "" if before == after else shown(after)
        lines.append([name, shown(before), now + " (follows)" * (name in follows)])
    before, after = row.answer(changed=False), row.answer(changed=True)
    if before["label"] is not None:
        lines.append(["decision", shown(before["label"]), shown(after["label"])])
    for name, score in before["scores"].items():
        lines.append([f"score of {name}", score_text(score), score_text(after["scores"][name])])
    say("\n".join(aligned(lines)))


def _ask(row: Row) -> None:
    """Changes by the line, until an empty one."""
    _show(row)
    own = row.codes.copy()
    while True:
        if sys.stdin.isatty():
            print("\ncolumn=value> ", end="", flush=True)
        line = sys.stdin.readline().strip()
        if not line or line in ("quit", "exit"):
            return
        try:
            if line == "reset":
                row.codes = own.copy()
            else:
                row.set(line)
        except (OptionError, SchemaError) as error:
            print(error)
            continue
        _show(row)
