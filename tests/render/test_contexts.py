"""Changes stand over how the training rows with the wanted decision are spread."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest

import macex as mx
from macex.explanation import Explanations
from macex.render.contexts import context
from macex.render.speech import Speech
from macex.schema.distributions import BINS


@pytest.fixture(scope="module")
def data():
    draw = np.random.default_rng(0)
    count = 400
    return pd.DataFrame(
        {
            "hours": draw.integers(10, 60, count),
            "job": draw.choice(["clerk", "manager", "guard"], count),
            "since": pd.Timestamp("2020-01-01") + pd.to_timedelta(np.arange(count), unit="D"),
            "debt": draw.exponential(10.0, count),
        }
    )


def model(rows):
    late = rows["since"] > pd.Timestamp("2020-12-01")
    return ((rows["hours"] >= 45) | (rows["job"] == "manager") & late).to_numpy(float)


@pytest.fixture(scope="module")
def explainer(data):
    return mx.Explainer(model, data, classes=("no", "yes"))


@pytest.fixture(scope="module")
def found(explainer, data):
    hours = explainer.explain(data[data.hours < 40].head(1), constraints={"only": ["hours"]})
    both = {"only": ["job", "since"]}
    early = data[(data.hours < 40) & (data.job == "clerk") & (data.since < "2020-06-01")].head(1)
    other = explainer.explain(early, constraints=both)
    return hours[0], other[0]


def drawn(explanation):
    return context(explanation, explanation.counterfactuals[0], Speech())


def test_a_number_stands_over_rows_with_the_wanted_decision_alone(found, data):
    (way,) = drawn(found[0]).ways
    assert sum(way.counts) == model(data).sum()
    assert len(way.counts) == BINS
    low_hours = int((44 - way.x.low) / (way.x.high - way.x.low) * BINS) - 1
    assert sum(way.counts[:low_hours]) < sum(way.counts) / 2
    change = found[0].counterfactuals[0].changes[0]
    assert way.places == (change.before, change.after)
    assert way.interval == (change.interval.low, change.interval.high)


def test_categories_and_times_have_their_own_axes(found, data):
    ways = {way.x.name: way for way in drawn(found[1]).ways}
    assert set(ways) == {"job", "since"}
    assert ways["job"].x.texts[int(ways["job"].places[1])] == "manager"
    assert [text[:4] for _, text in ways["since"].x.ticks] == ["2020", "2020", "2021"]


def test_cards_and_reports_show_it(found, explainer, data):
    assert "mx-behind" in found[0].to_html()
    assert "training rows with the decision yes" in found[0].to_html()
    assert "Trainingszeilen mit der Entscheidung yes" in found[0].to_html(language="de")


def test_a_goal_on_a_score_looks_at_all_rows(data):
    explainer = mx.Explainer(lambda rows: rows["hours"] / 60.0, data)
    one = explainer.explain(data.head(1), want=mx.at_least(0.95))[0]
    (way,) = drawn(one).ways
    assert sum(way.counts) == len(data)


def test_an_answer_from_a_file_has_no_distribution(explainer, data):
    one = explainer.explain(data.head(1))
    travelled = pickle.loads(pickle.dumps(one))  # noqa: S301 - our own
    assert isinstance(travelled, Explanations)
    assert (drawn(travelled[0]) is None) == (drawn(one[0]) is None)


def test_a_private_file_keeps_counts_and_no_rows(explainer, data, tmp_path):
    one = explainer.explain(data.head(1))[0]
    explainer.save(tmp_path / "private.macex", private=True)
    loaded = mx.load(tmp_path / "private.macex", model)
    again = loaded.explain(data.head(1))[0]
    known, counted = one.asked.distributions, again.asked.distributions
    assert np.array_equal(known.counts, counted.counts)
    assert np.array_equal(known.ends, counted.ends)


def test_very_many_categories_are_not_all_drawn():
    names = [f"c{at}" for at in range(3000)]
    frame = pd.DataFrame({"city": names * 2, "n": [0, 1] * 3000})
    explainer = mx.Explainer(lambda rows: (rows["city"] == "c2999") * 1.0, frame, classes=(0, 1))
    one = explainer.explain(frame.head(1), constraints={"only": ["city"]})[0]
    (way,) = drawn(one).ways
    assert len(way.counts) <= 14
    assert way.texts == ("c0", "c2999")


def test_missing_and_unknown_values_lie_nowhere():
    frame = pd.DataFrame({"x": [np.nan, 1.0, 2.0, 3.0] * 10, "y": ["a", "b"] * 20})
    explainer = mx.Explainer(lambda rows: rows["x"].fillna(0) / 4, frame)
    query = pd.DataFrame({"x": [np.nan], "y": ["new"]})
    one = explainer.explain(query, want=mx.at_least(0.7))[0]
    way = drawn(one).ways[0]
    assert way.places[0] is None
    assert "<circle" in drawn(one).svg()
