"""Loans and who grants them, for rows by the thousand and workers in other processes.

Models are made inside functions, so that they travel whole to processes that have no tests.
"""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import macex as mx
from lending import loans
from macex.scale.populations import PartedPopulation


def grants():
    """A model that is a plain function."""

    def granted(rows):
        points = 0.1 * rows["income"] - 0.1 * rows["debt"] + 2.0 * (rows["job"] == "full-time") - 4
        return 1 / (1 + np.exp(-points))

    return granted


def deadly_bank(mark: Path, income: int) -> mx.Explainer:
    """An explainer whose process dies, once, when its model is asked about this income."""
    granted = grants()

    def deadly(rows):
        if (rows["income"] == income).any() and not mark.exists():
            mark.touch()
            os._exit(1)
        return granted(rows)

    mark.touch()
    explainer = bank(deadly)
    mark.unlink()
    return explainer


def bank(model=None) -> mx.Explainer:
    return mx.Explainer(model or grants(), loans(500, seed=1), classes=("refused", "granted"))


def applicants(count: int, seed: int = 2) -> pd.DataFrame:
    """Rows with a key, not in its order."""
    keys = np.random.default_rng(seed).permutation(count)
    return loans(count, seed=seed).assign(key=keys)


def expected(explainer: mx.Explainer, rows: pd.DataFrame, n: int = 1) -> pd.DataFrame:
    """What one process says, with the key of each row."""
    table = explainer.explain(rows[explainer.columns], n=n).to_frame()
    return table.assign(key=rows["key"].to_numpy()[table["cf.row"]]).drop(columns="cf.row")


def ordered(table: pd.DataFrame) -> list[tuple[object, ...]]:
    """The lines as plain values by key and rank, whatever the types of the columns."""
    names = sorted(table.columns)
    kept = table[names].sort_values(["key", "cf.rank"]).astype(object)
    return list(kept.where(kept.notna(), None).itertuples(index=False, name=None))


def same_findings(asked: PartedPopulation, rows: pd.DataFrame) -> None:
    """What is found of a population in parts is what is found of its rows in memory."""
    whole, rows = asked.explainer, rows.set_index("key")
    options = {"want": "granted", "constraints": {"ranges": {"income": (None, 60)}}}
    plan = {**options, "actions": 2, "by": ["job"]}
    mine, others = asked.plan(**plan), whole.plan(rows, **plan)
    assert Counter(mine.taken.tolist()) == Counter(others.taken.tolist())
    assert list(mine.groups) == list(others.groups)
    for name, other in others.groups.items():
        told = [(a.moves, a.flips, a.adds) for a in other.actions]
        assert [(a.moves, a.flips, a.adds) for a in mine.groups[name].actions] == told
    found, wanted = (one.recourse(*given, by="job", **options) for one, given in _both(asked, rows))
    assert (found.groups, found.counts, found.stuck) == (wanted.groups, wanted.counts, wanted.stuck)
    assert dict(found.blocked) == dict(wanted.blocked)
    about = {"protected": ["job", "age"], "by": "job", "bands": {"age": [30, 60]}}
    found, wanted = (one.bias(*given, **about) for one, given in _both(asked, rows))
    drawn = ["low", "high"]  # the ends of intervals
    pd.testing.assert_frame_equal(
        found.to_frame().drop(columns=drawn), wanted.to_frame().drop(columns=drawn)
    )
    assert found.tried == wanted.tried
    found, wanted = (one.picture(*given, want="granted") for one, given in _both(asked, rows))
    assert found.given == len(rows)
    rules = [[(r.conditions, r.action.moves, r.rows) for r in one.rules] for one in (found, wanted)]
    assert rules[0] == rules[1]


def _both(asked: PartedPopulation, rows: pd.DataFrame) -> list[tuple[Any, tuple[Any, ...]]]:
    return [(asked, ()), (asked.explainer, (rows,))]
