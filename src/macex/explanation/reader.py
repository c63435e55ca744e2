"""Explanations read from their JSON, as a file or a server answered, for given rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from macex.ask.answers import SLIGHT, Answers, Goals, Outlook, compile_goals
from macex.ask.goals import Goal, RiseBy, goal_read
from macex.ask.units import group_members
from macex.explanation.batch import Explanations
from macex.explanation.json import plain
from macex.explanation.values import (
    Action,
    Asking,
    Change,
    Cost,
    Counterfactual,
    Explanation,
    Interval,
    Source,
)
from macex.render.names import Names
from macex.schema import Column, Rows

FREE = Cost(0, 0, 0.0)


def explanations_read(
    documents: Sequence[Mapping[str, Any]],
    rows: Rows,
    names: Names | None = None,
    meta: Mapping[str, Any] | None = None,
    *,
    outlook: Outlook | None = None,
    margin: float = SLIGHT,
) -> Explanations:
    """The explanations that were written, one for each of the rows, in their order.

    Values are those of the rows' schema again: whole numbers, points in time, the caller's dtypes.
    With the `outlook` of the model they also say which score is enough.
    """
    goals = [goal_read(_goal(one)) for one in documents]
    known = None if outlook is None else _compiled(documents, goals, outlook, margin)
    told = meta or {}
    asking = Asking(told.get("n"), told.get("method"), known)
    items = [
        _explanation(one, goal, rows, at, names or {}, asking)
        for at, (one, goal) in enumerate(zip(documents, goals, strict=True))
    ]
    return Explanations(items, names=names, meta=meta, rows=rows)


def _goal(document: Mapping[str, Any]) -> dict[str, Any]:
    return {part: value for part, value in document["goal"].items() if part != "text"}


def _compiled(
    documents: Sequence[Mapping[str, Any]], goals: list[Goal], outlook: Outlook, margin: float
) -> Goals:
    """The goals as arrays, from what the documents say of the model's own answers."""
    scores = np.zeros((len(documents), max(1, outlook.width)))
    decision = np.full(len(documents), -1)
    for at, (document, goal) in enumerate(zip(documents, goals, strict=True)):
        if isinstance(goal, RiseBy):
            scores[at, outlook.output(goal.label)] = _number(document["score"])
        if outlook.classes is not None and document["label"] is not None:
            decision[at] = outlook.position(document["label"])
    return compile_goals(goals, Answers(scores, decision), outlook, margin)


def _explanation(
    document: Mapping[str, Any], goal: Goal, rows: Rows, at: int, names: Names, asking: Asking
) -> Explanation:
    d = document
    found = [_counterfactual(one, d["query"], rows, at, names) for one in d["counterfactuals"]]
    miss = d["miss"]
    return Explanation(
        label=d["label"],
        score=_number(d["score"]),
        goal=goal,
        status=d["status"],
        reason=d["reason"],
        miss=None if miss is None else _counterfactual(miss, d["query"], rows, at, names),
        counterfactuals=tuple(found),
        actions=tuple(_action(one, rows) for one in d["actions"]),
        reasons=tuple(_action(one, rows) for one in d["reasons"]),
        minimal=d["minimal"],
        minimal_over=d["minimal_over"],
        method=d["method"],
        cost=Cost(**d["cost"]) if "cost" in d else FREE,
        source=Source(rows, at, rows.codes[at]),
        diagnosis=tuple(d["diagnosis"]),
        notes=tuple(d.get("notes", ())),
        names=names,
        asked=asking,
    )


def _counterfactual(
    document: Mapping[str, Any], query: Mapping[str, Any], rows: Rows, at: int, names: Names
) -> Counterfactual:
    d, codes = document, rows.codes[at].copy()
    for place, column in enumerate(rows.schema.columns):
        if d["row"][column.name] != query[column.name]:
            codes[place] = _code(column, d["row"][column.name])
    return Counterfactual(
        changes=tuple(_change(one, rows, at) for one in d["changes"]),
        label=d["label"],
        score=_number(d["score"]),
        sparsity=d["sparsity"],
        proximity=_number(d["proximity"]),
        distance=_number(d["distance"]),
        plausibility=d["plausibility"],
        support=d["support"],
        minimal=d["minimal"],
        source=Source(rows, at, codes),
        names=names,
        robustness=d.get("robustness"),
        copies=d.get("copies", False),
        breaks=tuple(d.get("breaks", ())),
        reach=d.get("reach"),
        estimated=tuple(one["column"] for one in d.get("consequences", ()) if one.get("estimated")),
        average=any(one.get("average") for one in d.get("consequences", ())),
    )


def _change(document: Mapping[str, Any], rows: Rows, at: int) -> Change:
    place = rows.schema.position(document["column"])
    column, held = rows.schema.columns[place], document["interval"]
    interval = None
    if held is not None:
        ends = (_value(column, held["low"]), _value(column, held["high"]))
        interval = Interval(*ends, held["tested"], held["exact"])
    return Change(column.name, rows.cell(at, place), _value(column, document["after"]), interval)


def _action(document: Mapping[str, Any], rows: Rows) -> Action:
    name, written = document["column"], document["value"]
    schema = rows.schema
    if isinstance(written, list):
        members = group_members(name, schema.names, len(written))
        columns = [schema.columns[schema.position(member)] for member in members]
        value: Any = tuple(map(_value, columns, written))
    else:
        value = _value(schema.columns[schema.position(name)], written)
    return Action(name, value, _number(document["weight"]), document["flips"])


def _code(column: Column, value: Any) -> float:
    """The code of a value as JSON has it: a category may have been written as text."""
    known = column.lookup(value) if column.discrete and value is not None else None
    if known is None and column.discrete:
        value = next((one for one in column.table if plain(one) == value), value)
    return column.code(value) if known is None else known


def _value(column: Column, value: Any) -> Any:
    return None if value is None else column.value(_code(column, value))


def _number(value: float | None) -> float:
    return float("nan") if value is None else float(value)
