"""What is typical of the changes of a column."""

from __future__ import annotations

from datetime import datetime, timedelta

from macex.explanation import Change
from macex.explanation.typical import TypicalStep, typical


def changes(*pairs):
    return [Change("x", before, after) for before, after in pairs]


def test_numbers_have_a_median_step_each_way():
    found = typical("x", changes((1, 3), (1, 9), (1, 2), (5, 1)), numbers=True)
    assert (found.up, found.down, found.pairs) == (TypicalStep(3, 2), TypicalStep(1, 4), ())
    assert found.times == 4


def test_dates_move_by_time():
    day = datetime(2024, 1, 1)  # noqa: DTZ001
    found = typical("x", changes((day, day + timedelta(days=3))), numbers=True)
    assert found.up == TypicalStep(1, timedelta(days=3))


def test_a_missing_number_is_a_pair():
    found = typical("x", changes((None, 3), (None, 3), (1, 2)), numbers=True)
    assert found.up == TypicalStep(1, 1)
    assert found.pairs == ((Change("x", None, 3), 2),)


def test_categories_are_pairs_most_frequent_first_even_where_they_are_numbers():
    found = typical("x", changes((1, 2), (3, 4), (3, 4), (5, 6), (7, 8)), numbers=False)
    assert found.up is found.down is None
    assert found.pairs[0] == (Change("x", 3, 4), 2)
    assert len(found.pairs) == 3


def test_numbers_that_cannot_be_subtracted_are_pairs():
    found = typical("x", changes(("a", 1)), numbers=True)
    assert found.pairs == ((Change("x", "a", 1), 1),)
