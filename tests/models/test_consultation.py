"""How a model decides is found out on training rows and on blends between them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import make_blobs
from sklearn.svm import SVC

from macex.ask.answers import Answers
from macex.models.consultation import PAIRS, SHARES, blended, consulted
from macex.schema import MISSING, Schema

RNG = np.random.default_rng(0)
DATA = pd.DataFrame(
    {
        "whole": RNG.integers(0, 50, 80),
        "part": np.where(RNG.random(80) < 0.2, np.nan, np.round(RNG.random(80) * 9, 1)),
        "word": RNG.choice(["a", "b", "c"], 80),
        "day": pd.Timestamp("2020-01-01") + pd.to_timedelta(RNG.integers(0, 99, 80), unit="D"),
    }
)
SCHEMA = Schema.infer(DATA)
CODES = SCHEMA.read(DATA).codes


def answers_of(yes: np.ndarray) -> Answers:
    return Answers(np.column_stack([1 - yes, yes]), (yes > 0.5).astype(int))


def pairs_of(answers: Answers) -> tuple[np.ndarray, np.ndarray]:
    """The least certain rows of both decisions, the shorter list repeated."""
    lead = np.abs(answers.scores[:, 1] - answers.scores[:, 0])
    order = np.argsort(lead, kind="stable")
    first = answers.decision[order[0]]
    here = order[answers.decision[order] == first][:PAIRS]
    there = order[answers.decision[order] != first][:PAIRS]
    count = max(len(here), len(there))
    return CODES[np.resize(here, count)], CODES[np.resize(there, count)]


@settings(max_examples=15)
@given(seed=st.integers(0, 1000), share=st.floats(0.05, 0.95))
def test_every_blend_lies_between_two_rows_of_different_decisions(seed, share):
    yes = np.random.default_rng(seed).random(80) ** np.log2(1 / share)
    answers = answers_of(yes)
    if len(set(answers.decision.tolist())) < 2:
        return
    one, two = pairs_of(answers)
    rows = blended(SCHEMA, CODES, answers).reshape(len(one), len(SHARES), -1)
    for place, column in enumerate(SCHEMA.columns):
        cells = rows[:, :, place]
        ends = np.stack([one[:, place], two[:, place]])
        if column.discrete:
            assert ((cells == ends[0][:, None]) | (cells == ends[1][:, None])).all()
            continue
        blank = (ends == MISSING).any(axis=0)
        assert ((cells == ends[0][:, None]) | (cells == ends[1][:, None]))[blank].all()
        low, high = ends.min(axis=0)[~blank], ends.max(axis=0)[~blank]
        assert (cells[~blank] >= low[:, None]).all()
        assert (cells[~blank] <= high[:, None]).all()
        assert np.array_equal(column.snap(cells), cells)


def test_blends_go_from_one_row_to_the_other_step_by_step():
    data = pd.DataFrame({"number": [0.0, 80.0], "word": ["a", "b"]})
    schema = Schema.infer(data)
    rows = blended(schema, schema.read(data).codes, answers_of(np.array([0.4, 0.7])))
    assert rows[:, 0].tolist() == [10, 20, 30, 40, 50, 60, 70]
    assert rows[:, 1].tolist() == [0, 0, 0, 0, 0, 1, 1]


def test_a_single_decision_leaves_nothing_to_blend():
    assert len(blended(SCHEMA, CODES, answers_of(np.full(80, 0.1)))) == 0


def test_blends_do_not_depend_on_the_order_of_columns():
    answers = answers_of(RNG.random(80))
    turned = ["word", "day", "whole", "part"]
    schema = Schema.infer(DATA[turned])
    rows = blended(schema, schema.read(DATA[turned]).codes, answers)
    there = [list(DATA.columns).index(name) for name in turned]
    assert np.array_equal(rows, blended(SCHEMA, CODES, answers)[:, there])


class Thrifty:
    """Decides by a threshold of its own that no training row shows: none lies near it."""

    classes_ = ("no", "yes")

    def predict_proba(self, rows: pd.DataFrame) -> np.ndarray:
        yes = rows["x"].to_numpy(float) / 100
        return np.column_stack([1 - yes, yes])

    def predict(self, rows: pd.DataFrame) -> np.ndarray:
        return np.where(rows["x"].to_numpy() >= 70, "yes", "no")


def asked(model, data):
    schema = Schema.infer(data)
    return consulted(model, schema.read(data), schema, None)


def test_a_threshold_that_training_does_not_show_is_found_on_blends():
    data = pd.DataFrame({"x": [10, 20, 30, 85, 90, 95], "y": [1, 2] * 3})
    oracle, answers = asked(Thrifty(), data)
    assert not oracle.outlook.agrees
    assert 0.6 < oracle.outlook.threshold <= 0.7
    assert answers.decision.tolist() == [0, 0, 0, 1, 1, 1]


def test_the_answers_for_training_are_the_model_s_own_decisions():
    data = pd.DataFrame({"x": [10, 55, 60, 65, 90, 95], "y": [1, 2] * 3})
    _, answers = asked(Thrifty(), data)
    assert answers.decision.tolist() == [0, 0, 0, 0, 1, 1]


def test_a_model_whose_decisions_cannot_be_asked_decides_by_its_scores():
    class Mute(Thrifty):
        def predict(self, rows: pd.DataFrame) -> np.ndarray:
            raise NotImplementedError

    oracle, answers = asked(Mute(), pd.DataFrame({"x": [10, 55, 90], "y": [1, 2, 1]}))
    assert not oracle.outlook.by_predict
    assert answers.decision.tolist() == [0, 1, 1]


@pytest.mark.parametrize("shape", ["ovo", "ovr"])
def test_three_classes_compared_in_pairs_are_decided_by_the_model_itself(shape):
    """Three pairs look like three classes; the largest of them is not the decision."""
    rows, label = make_blobs(90, centers=3, cluster_std=4.0, random_state=1)
    machine = SVC(decision_function_shape=shape).fit(rows, label)
    oracle, answers = asked(machine, rows)
    decided = machine.predict(rows)
    assert np.array_equal(answers.decision, decided)
    again = oracle(rows, len(rows))
    assert np.array_equal(again.decision, decided)
