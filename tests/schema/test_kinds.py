"""Kinds are what a caller may say of a column."""

from __future__ import annotations

import pytest

from macex.errors import SchemaError
from macex.schema import Categorical, Continuous, Ordered
from macex.schema.kinds import kind_of


def test_a_name_and_an_object_mean_the_same():
    assert kind_of("c", "categorical") == kind_of("c", Categorical()) == Categorical()


def test_a_misspelt_kind_is_an_error_that_knows_the_right_one():
    with pytest.raises(SchemaError, match=r"'pclass' has kind 'categoric'.*mean 'categorical'"):
        kind_of("pclass", "categoric")


def test_a_list_of_values_becomes_an_order():
    assert Ordered(["lo", "hi"]).values == ("lo", "hi")


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Ordered(("a", "a")), "twice"),
        (lambda: Continuous(step=-1), "step is -1"),
        (lambda: Continuous(low=2, high=1), "low=2 is above high=1"),
        (lambda: Continuous(high=float("inf")), "finite"),
    ],
)
def test_a_kind_that_holds_nothing_is_an_error(make, words):
    with pytest.raises(SchemaError, match=words):
        make()
