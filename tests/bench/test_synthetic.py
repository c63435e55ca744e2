"""Made-up tables: as wide and as varied as asked, and the same whatever the cardinality."""

from __future__ import annotations

import numpy as np

from macex.bench.synthetic import model, model_of, table


def test_a_table_has_the_shape_asked_for():
    made = table(500, columns=12, categories=40)
    assert made.shape == (500, 12)
    assert made["place"].nunique() == 40


def test_both_decisions_occur():
    yes = model(table(2000)) > 0.5
    assert 0.05 < yes.mean() < 0.95


def test_more_categories_leave_the_rest_of_the_problem_alike():
    few, many = table(20_000), table(20_000, categories=1000)
    share = [(model(made) > 0.5).mean() for made in (few, many)]
    assert np.isclose(*share, atol=0.02)


def test_every_class_occurs():
    scores = model_of(20)(table(5000))
    assert np.allclose(scores.sum(axis=1), 1)
    assert set(scores.argmax(axis=1)) == set(range(20))
