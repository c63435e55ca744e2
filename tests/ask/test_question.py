"""One value holds what is asked, knows what it may be, and can be written down."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import macex as mx
from macex.ask.question import FIELDS, Question

WRONG = [
    {"n": 0},
    {"n": True},
    {"n": 1.0},
    {"n": "3"},
    {"max_rows": 0},
    {"max_rows": 2.5},
    {"timeout_s": 0},
    {"timeout_s": "soon"},
    {"margin": 1},
    {"margin": -0.1},
    {"margin": None},
    {"on_error": "ignore"},
    {"robust": 1.5},
    {"robust": True},
    {"also": "model.onnx"},
    {"also": 7},
]


@pytest.mark.parametrize("wrong", WRONG, ids=str)
def test_a_value_that_no_call_can_have_is_refused_by_name(wrong):
    (name,) = wrong
    with pytest.raises(mx.OptionError, match=name):
        Question(**wrong)


def test_whole_numbers_of_numpy_are_whole_numbers():
    asked = Question(n=np.int64(2), max_rows=np.int32(50), margin=np.float64(0.1))
    assert asked.to_dict() == {"n": 2, "max_rows": 50, "margin": 0.1}


GOALS = st.sampled_from(
    [None, "yes", 3, mx.any_of("a", "b"), mx.at_least(0.7), mx.between(0.1, 0.2), mx.rise_by(-1)]
)
CONSTRAINTS = st.sampled_from(
    [None, mx.Constraints(fixed=["a"]), mx.Constraints(ranges={"b": (0, None)}, max_changes=2)]
)


@given(
    n=st.integers(1, 9),
    want=st.one_of(GOALS, st.lists(GOALS, min_size=1, max_size=3)),
    constraints=st.one_of(CONSTRAINTS, st.lists(CONSTRAINTS, min_size=1, max_size=3)),
    margin=st.floats(0, 0.99),
    robust=st.one_of(st.none(), st.floats(0, 1)),
    diagnose=st.booleans(),
)
def test_what_is_written_down_is_read_back(**parts):
    asked = Question(**parts)
    again = Question.from_dict(asked.to_dict())
    count = len(parts["want"]) if isinstance(parts["want"], list) else 1
    assert again.goals(count) == asked.goals(count)
    assert again.to_dict() == asked.to_dict()


def test_an_unknown_field_is_an_error_with_a_hint():
    with pytest.raises(mx.OptionError, match="did you mean 'margin'"):
        Question.from_dict({"margn": 0.1})


def test_models_cannot_be_written_down():
    with pytest.raises(mx.OptionError, match="also"):
        Question(also=[object()]).to_dict()


def test_every_field_says_what_it_is():
    assert all(text.endswith(".") for text in FIELDS.values())


def test_a_label_of_numpy_is_said_as_its_plain_value():
    label = np.array(["granted"])[0]
    goals = (mx.at_least(0.7, label=label), mx.rise_by(0.1, label=label), mx.any_of(label))
    plain = "score of 'granted' at least 0.7", "score of 'granted' up by 0.1", "'granted'"
    assert tuple(goal.text for goal in goals) == plain
