"""Explanations made by hand on real rows, so that results can be tested without a search."""

from __future__ import annotations

from datetime import datetime

import numpy as np
import pandas as pd

from macex.ask.answers import Answers, Outlook, compile_goals
from macex.ask.goals import AnyOf
from macex.explanation import (
    Action,
    Change,
    Cost,
    Counterfactual,
    Explanation,
    Explanations,
    Interval,
    Source,
)
from macex.explanation.values import Asking
from macex.schema import Schema

TRAIN = pd.DataFrame(
    {
        "age": [25, 38, 52, 61],
        "hours_per_week": [20, 40, 45, 60],
        "edu": pd.Categorical(["HS", "BSc", "HS", "PhD"]),
        "rate": [0.5, 1.25, np.nan, 2.0],
        "since": [datetime(2020, 1, day) for day in (1, 2, 3, 4)],  # noqa: DTZ001
    },
    index=["w", "x", "y", "z"],
)
SCHEMA = Schema.infer(TRAIN)
ROWS = SCHEMA.read(TRAIN)


def source(query=0, rows=ROWS, **values):
    codes = rows.codes[query].copy()
    for column, value in values.items():
        at = rows.schema.position(column)
        codes[at] = rows.schema.columns[at].code(value)
    return Source(rows, query, codes)


def counterfactual(query=0, rows=ROWS, follows=(), interval=None, **values):
    """The row `query` with these values; columns in `follows` are derived, not changed."""
    own = rows.cells(query)
    changes = tuple(
        Change(column, own[column], value, interval)
        for column, value in values.items()
        if column not in follows
    )
    return Counterfactual(
        changes=changes,
        label=">50K",
        score=0.531,
        sparsity=len(changes),
        proximity=0.25 * len(changes),
        distance=0.5 * len(changes),
        plausibility=0.62,
        support=3,
        minimal=True,
        source=source(query, rows, **values),
    )


def explanation(*found, query=0, rows=ROWS, **fields):
    given = {
        "label": "<=50K",
        "score": 0.46,
        "goal": AnyOf(None),
        "status": "found" if found else "none",
        "reason": None if found else "no single change reaches the goal",
        "miss": None,
        "counterfactuals": found,
        "actions": (Action("hours_per_week", 45, 0.75, flips=True),) if found else (),
        "reasons": (),
        "minimal": bool(found),
        "minimal_over": "seen values",
        "method": "exhaustive",
        "cost": Cost(3, 120, 0.01),
        "source": source(query, rows),
    }
    return Explanation(**{**given, **fields})


def asking(goal=AnyOf(None), n=2, method="exhaustive", **outlook):  # noqa: B008 - a value
    """How every row of a batch of four was asked: the model decides <=50K for all of them."""
    known = {"classes": ("<=50K", ">50K"), "scale": "probabilities", "width": 2, **outlook}
    own = Answers(np.tile([0.54, 0.46, *[0.0] * (known["width"] - 2)], (4, 1)), np.zeros(4, int))
    return Asking(n, method, compile_goals([goal] * 4, own, Outlook(**known), 1e-6))


def batch(rows=ROWS):
    """Three rows: two answers, none, and one that is already there."""
    wide = Interval(44, 60, 17, exact=True)
    longer = counterfactual(1, rows, hours_per_week=45, interval=wide)
    better = counterfactual(1, rows, edu="PhD", age=39)
    nearly = counterfactual(0, rows, hours_per_week=60)
    items = [
        explanation(longer, better, query=1, rows=rows, asked=asking()),
        explanation(query=0, rows=rows, miss=nearly, asked=asking()),
        explanation(counterfactual(3, rows), query=3, rows=rows, label=">50K", score=0.8),
    ]
    return Explanations(items, {"edu": "education"}, {"seed": 0, "n": 2})
