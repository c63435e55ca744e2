"""Refining never raises distance or the number of changes, and never loses the goal."""

from __future__ import annotations

import numpy as np
import pytest

import macex as mx
from checks.loans import by_merit, chance, found_rows, loans
from macex.stages.finetune.descent import GradientlessDescent
from macex.stages.finetune.section import Section

STAGES = {"section": Section(), "gradientless": GradientlessDescent()}
WISHES = {
    "free": None,
    "range": {"ranges": {"amount": (1, 5), "income": (None, 8)}, "increase": ["age"]},
    "rule": {"rules": ["amount <= age / 5"]},
    "group": {"groups": [["age", "grade"]]},
    "allowed": {"allowed": {"amount": [1.0, 2.0, 3.0, 4.0]}},
    "derived": {"derived": {"amount": "income * 2"}},
    "weights": {"weights": {"income": 5.0, "marital": 0.2}},
}


@pytest.fixture
def refined(monkeypatch):
    """The tasks and pools that reach stage 4, with stage 4 itself left out."""
    met = []

    def remember(self, task, pool):
        met.append((task, pool))
        return pool, pool.take(np.zeros(0, int))

    monkeypatch.setattr(Section, "on_the_way", remember)
    yield met
    assert met


@pytest.mark.parametrize("wish", WISHES)
@pytest.mark.parametrize(("search", "prefer"), [("exhaustive", "fewest"), ("reinforce", "nearest")])
def test_a_refined_example_is_no_farther_and_changes_no_more(
    search, prefer, refined, monkeypatch, wish
):
    asked = by_merit(search, prefer=prefer)
    asked.explain(loans().head(5), want=mx.rise_by(0.2), n=2, constraints=WISHES[wish])
    monkeypatch.undo()
    for (task, pool), stage in ((met, stage) for met in refined for stage in STAGES.values()):
        after = stage(task, pool)
        assert np.array_equal(after.at, pool.at)
        before_units, after_units = (task.space.changed(p.codes, p.at) for p in (pool, after))
        assert not (after_units & ~before_units).any()
        assert after_units.any(axis=1).all()
        near = task.measure(after.codes, after.at)
        assert (near <= task.measure(pool.codes, pool.at) + 1e-9).all()
        verdict = task.judge(after.codes, after.at)
        assert verdict.reached.all()
        full = task.space.columns(after.codes, after.at)
        assert task.space.holds(full, after.at).all()


def test_the_best_answer_is_no_farther_with_fine_tuning_than_without(method):
    rows, want = loans()[chance(loans()) < 0.7].head(12), mx.rise_by(0.2)
    without = by_merit(method, finetune=None, prefer="nearest").explain(rows, want=want)
    for name in STAGES:
        tuned = by_merit(method, finetune=name, prefer="nearest").explain(rows, want=want)
        for one, two in zip(without, tuned, strict=True):
            assert two.counterfactuals[0].distance <= one.counterfactuals[0].distance + 1e-9
    fewest = by_merit(method, finetune=None).explain(rows, want=want)
    for one, two in zip(fewest, by_merit(method).explain(rows, want=want), strict=True):
        assert two.counterfactuals[0].sparsity <= one.counterfactuals[0].sparsity


def test_an_unneeded_change_is_taken_back(method):
    for explanation, counterfactual in found_rows(
        by_merit(method).explain(loans().head(12), want=mx.rise_by(0.2))
    ):
        needed = chance(explanation.query)[0] + 0.2
        for change in counterfactual.changes:
            row = counterfactual.row.copy()
            row[change.column] = explanation.query[change.column].to_numpy()
            row = row.astype(counterfactual.row.dtypes)
            assert chance(row)[0] < needed + 1e-6
