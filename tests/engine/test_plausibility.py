"""One plausibility everywhere: asked for rows, and beside every counterfactual."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import macex as mx
from cohort.town import NO, YES, explainer, refused, town
from stages.plausibility.shop import shop

MEASURES = ("learned", "distance")


@pytest.mark.parametrize("margin", [1e-6, 0.2])
def test_a_counterfactual_has_the_plausibility_of_its_row(margin):
    chooser = explainer(plausibility="learned")
    for item in chooser.explain(refused(20), want=YES, n=2, margin=margin):
        for found in item.counterfactuals:
            (share,) = chooser.plausibility(found.row, YES)
            assert found.plausibility == round(share, 6)


@pytest.mark.parametrize("measure", MEASURES)
def test_the_label_says_which_training_rows_are_compared_with(measure):
    chooser = explainer(plausibility=measure)
    rows = refused(60)
    mine, all_ = chooser.plausibility(rows, NO), chooser.plausibility(rows)
    assert not np.array_equal(mine, all_)
    assert ((mine >= 0) & (mine <= 1)).all()
    with pytest.raises(mx.GoalError, match="no class 'grnted'"):
        chooser.plausibility(rows, "grnted")


@pytest.mark.parametrize("measure", MEASURES)
def test_rows_of_any_shape_are_judged_alone_as_together(measure):
    chooser, rows = explainer(plausibility=measure), town(30, seed=3)
    together = chooser.plausibility(rows)
    assert together.tolist() == [chooser.plausibility(rows.iloc[[i]])[0] for i in range(30)]
    assert chooser.plausibility(rows.iloc[0]).tolist() == together[:1].tolist()
    assert chooser.plausibility(rows.head(0)).shape == (0,)


def test_a_total_that_does_not_fit_its_factors_is_unusual():
    data = shop(1500)
    rows = shop(200, seed=1)
    wrong = rows.assign(total=np.where(rows["total"] > 2000, 300.0, 3000.0))

    chooser = mx.Explainer(lambda frame: frame["age"] / 100, data, plausibility="learned")
    assert (chooser.plausibility(wrong) < 0.05).mean() > 0.9
    assert (chooser.plausibility(rows) < 0.05).mean() < 0.1


def test_it_is_learned_once_and_travels():
    chooser = explainer(plausibility="learned")
    assert not chooser.engine.fitted.learnt
    first = chooser.plausibility(refused(5))
    learnt = chooser.engine.fitted.realness
    again = pickle.loads(pickle.dumps(chooser.engine.fitted.learnt))  # noqa: S301
    assert chooser.engine.fitted.realness is learnt
    codes = chooser.schema.read(refused(5)).codes
    assert again["realness"](codes).tolist() == learnt(codes).tolist()
    assert first.tolist() == chooser.plausibility(refused(5)).tolist()


def test_a_wrong_measure_is_told():
    with pytest.raises(mx.OptionError, match="plausibility='far'"):
        explainer(plausibility="far")
