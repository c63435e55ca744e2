"""One plausibility everywhere: asked for rows, and beside every counterfactual."""

from __future__ import annotations

import pickle
import threading

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import macex as mx
from cohort.town import NO, YES, explainer, refused, town
from macex.engine import training
from macex.stages.plausibility.measure import learn_realness
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


@pytest.fixture(scope="module")
def narrow():
    """A pipeline that reads two of four columns."""
    rng = np.random.default_rng(0)
    data = pd.DataFrame(rng.normal(size=(300, 4)), columns=["a", "b", "noise", "id"])
    chosen = make_column_transformer((StandardScaler(), ["a", "b"]))
    model = make_pipeline(chosen, LogisticRegression()).fit(data, data["a"] + data["b"] > 0)
    return model, data


def test_columns_that_a_pipeline_drops_are_no_part_of_plausibility(narrow, tmp_path):
    model, data = narrow
    explainer = mx.Explainer(model, data)
    assert explainer.unread == ["noise", "id"]
    assert "(noise, id never read)" in repr(explainer)
    assert "never read" in explainer._repr_html_()
    odd = data.assign(noise=50.0, id=-data["id"])
    mine = explainer.plausibility(data)
    assert np.array_equal(explainer.plausibility(odd), mine)
    by_distance = mx.Explainer(model, data, plausibility="distance")
    assert (by_distance.plausibility(odd) < by_distance.plausibility(data)).mean() > 0.9
    for private in (False, True):
        explainer.save(tmp_path / f"{private}.macex", private=private)
        again = mx.load(tmp_path / f"{private}.macex", model)
        assert again.unread == ["noise", "id"]
        assert np.array_equal(again.plausibility(odd), again.plausibility(data))


@pytest.mark.parametrize(("unread", "learnt"), [([], 1), (["noise", "id"], 2)])
def test_rows_are_learnt_from_while_a_model_elsewhere_is_waited_for(
    narrow, monkeypatch, unread, learnt
):
    """Where it leaves columns out, what was learnt with them is learnt anew."""
    model, data = narrow
    calls, begun = [], threading.Event()

    def learn(*given):
        calls.append(given)
        begun.set()
        return learn_realness(*given)

    monkeypatch.setattr(training, "learn_realness", learn)

    class Elsewhere:
        classes_ = model.classes_

        def predict_proba(self, rows):
            assert begun.wait(60)
            return model.predict_proba(rows)

        def prepared_for(self, schema, codes):
            return None

        def unread_for(self, schema):
            return unread

    explainer = mx.Explainer(Elsewhere(), data)
    mine = explainer.plausibility(data)
    assert len(calls) == learnt
    if unread:
        assert np.array_equal(mine, mx.Explainer(model, data).plausibility(data))


def test_where_every_column_is_read_nothing_is_said(narrow):
    _, data = narrow
    rest = make_column_transformer((StandardScaler(), ["a", "b"]), remainder="passthrough")
    whole = make_pipeline(rest, LogisticRegression()).fit(data, data["a"] > 0)
    assert mx.Explainer(whole, data).unread == []
