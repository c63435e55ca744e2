"""Finding out which constraint stands in the way costs no more rows than the caller allows."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import macex as mx
from macex.engine import claims

COUNT = 300
COLUMNS = [f"c{place}" for place in range(8)]


class Counting:
    """Says yes to nobody but those with eight high numbers, and counts the rows it is asked for."""

    classes_ = ("no", "yes")

    def __init__(self) -> None:
        self.rows = 0

    def predict_proba(self, frame):
        self.rows += len(frame)
        return self.scores(frame)

    def scores(self, frame):
        yes = 1 / (1 + np.exp(55 - frame[COLUMNS].sum(axis=1).to_numpy() / 2))
        return np.stack([1 - yes, yes], axis=1)

    def predict(self, frame):
        return np.where(self.scores(frame)[:, 1] > 0.5, "yes", "no")


@pytest.fixture
def asked():
    draw = np.random.default_rng(0)
    rows = pd.DataFrame({name: draw.integers(0, 20, COUNT) for name in COLUMNS})
    model = Counting()
    explainer = mx.Explainer(model, rows)
    model.rows = 0
    return explainer, model, rows.head(1) * 0 + 3


WISH = {"max_changes": 2, "fixed": COLUMNS[:6]}


@pytest.mark.parametrize("most", [1, 10, 50, 200])
def test_the_limit_holds_for_the_question_and_its_diagnosis_together(asked, most):
    explainer, model, row = asked
    (item,) = explainer.explain(row, want="yes", constraints=WISH, diagnose=True, max_rows=most)
    assert item.status != "found"
    assert item.cost.rows <= most + 3  # the row itself, and the check of one answer, are always due
    assert model.rows <= most + 20  # what is asked once, of no query


def test_what_the_diagnosis_costs_is_counted(asked):
    explainer, _, row = asked
    plain, told = (
        explainer.explain(row, want="yes", constraints=WISH, diagnose=diagnose)[0]
        for diagnose in (False, True)
    )
    assert told.cost.rows > plain.cost.rows
    assert told.cost.calls > plain.cost.calls


def test_without_a_limit_there_is_one(asked, monkeypatch):
    explainer, _, row = asked
    ask = {"want": "yes", "constraints": WISH, "diagnose": True}
    free = explainer.explain(row, **ask)[0]
    monkeypatch.setattr(claims, "MOST_ROWS", 1)
    held = explainer.explain(row, **ask)[0]
    assert held.cost.rows < free.cost.rows
    assert "Rows or time ran out" in held.reason


def test_rows_beside_each_other_are_diagnosed_as_alone(asked):
    explainer, _, row = asked
    rows = pd.concat([row, row + 1, row], ignore_index=True)
    ask = {"want": "yes", "constraints": WISH, "diagnose": True, "max_rows": 120}
    together = explainer.explain(rows, **ask)
    alone = [explainer.explain(rows.iloc[[place]], **ask)[0] for place in range(3)]
    assert [one.diagnosis for one in together] == [one.diagnosis for one in alone]
    assert [one.reason for one in together] == [one.reason for one in alone]
