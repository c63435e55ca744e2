"""Every kind of model keeps the contract: answers hold for it, dtypes and other values are kept."""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd
import pytest

import macex as mx
from models.people import KINDS, Kind

ROWS = [3, 17, 40, 58, 91, 120]


@cache
def made(name: str) -> tuple[Kind, mx.Explainer]:
    library, build = KINDS[name]
    if library is not None:
        pytest.importorskip(library)
    kind = build()
    return kind, mx.Explainer(kind.model, kind.data)


def same(one: object, other: object) -> bool:
    return one == other or (pd.isna(one) and pd.isna(other))


def keeps_the_contract(found: mx.Explanations, kind: Kind, rows: pd.DataFrame) -> None:
    """Unchanged values and all dtypes are the caller's; changes are what the rows show."""
    for explanation, (_, query) in zip(found, rows.iterrows(), strict=True):
        for answer in explanation.counterfactuals:
            assert list(answer.row.columns) == list(kind.data.columns)
            assert (answer.row.dtypes == kind.data.dtypes).all()
            changed = {change.column for change in answer.changes}
            for column in kind.data.columns:
                assert same(answer.row[column].iloc[0], query[column]) == (column not in changed)


every_kind = pytest.mark.parametrize("name", KINDS)


@every_kind
def test_another_decision_is_another_decision_of_the_caller_s_own_model(name):
    kind, explainer = made(name)
    rows = kind.data.iloc[ROWS]
    found = explainer.explain(rows, n=2)
    assert [explanation.status for explanation in found] == ["found"] * len(rows)
    keeps_the_contract(found, kind, rows)
    before = np.asarray(kind.decide(rows)).reshape(-1)
    for place, explanation in enumerate(found):
        assert explanation.label == before[place]
        after = pd.concat([answer.row for answer in explanation.counterfactuals])
        decided = np.asarray(kind.decide(after)).reshape(-1)
        assert (decided != before[place]).all()
        assert decided.tolist() == [answer.label for answer in explanation.counterfactuals]


@every_kind
def test_a_class_that_is_asked_for_is_decided(name):
    kind, explainer = made(name)
    rows = kind.data.iloc[ROWS]
    for want in explainer.classes:
        found = explainer.explain(rows, want=want)
        keeps_the_contract(found, kind, rows)
        answers = [e.counterfactuals[0].row for e in found if e.counterfactuals]
        assert len(answers) == len(rows)
        assert (np.asarray(kind.decide(pd.concat(answers))).reshape(-1) == want).all()


@every_kind
def test_a_score_that_is_asked_for_is_reached(name):
    kind, explainer = made(name)
    rows = kind.data.iloc[ROWS]
    last = explainer.classes[-1]
    found = explainer.explain(rows, want=mx.rise_by(0.05, label=last))
    keeps_the_contract(found, kind, rows)
    for explanation in found:
        for answer in explanation.counterfactuals:
            assert answer.score >= explanation.score + 0.05 - 2e-6


@every_kind
def test_fixed_columns_stay(name):
    kind, explainer = made(name)
    rows = kind.data.iloc[ROWS]
    found = explainer.explain(rows, constraints=mx.Constraints(fixed=["income"], increase=["age"]))
    keeps_the_contract(found, kind, rows)
    for explanation in found:
        for answer in explanation.counterfactuals:
            moved = {change.column: change for change in answer.changes}
            assert "income" not in moved
            assert "age" not in moved or moved["age"].after > moved["age"].before
