"""An explanation counts, indexes and walks through its answers; without any it is false."""

from __future__ import annotations

import pytest

from explanation.made import asking, batch, counterfactual, explanation
from macex.errors import PlaceError


def test_an_explanation_is_as_long_as_it_has_answers():
    found = explanation(counterfactual(1, age=39), counterfactual(1, age=40), query=1)
    assert len(found) == 2
    assert found[0] is found.counterfactuals[0]
    assert found[-1] is found.counterfactuals[1]
    assert found[:1] == found.counterfactuals[:1]
    assert list(found) == list(found.counterfactuals)
    assert found


def test_an_explanation_without_answers_is_false():
    none = explanation(reason="Nothing may change.", asked=asking(), status="none")
    assert len(none) == 0
    assert not none
    assert [bool(one) for one in batch()] == [len(one.counterfactuals) > 0 for one in batch()]


def test_an_answer_that_is_not_there_is_named():
    found = explanation(counterfactual(1, age=39), query=1)
    with pytest.raises(PlaceError, match="no answer 1: the row has 1 counterfactual, from 0"):
        found[1]
    with pytest.raises(IndexError):
        found[7029]
