"""How many rows fit into a time."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from macex.models.asker import Pace


@given(fixed=st.floats(0, 5), each=st.floats(1e-5, 0.05))
def test_the_price_of_a_call_is_told_from_that_of_its_rows(fixed, each):
    pace = Pace()
    for _ in range(12):
        rows = min(100_000, max(1, pace.rows_in(0.5))) if pace.calls else 1
        pace.add(rows, fixed + each * rows)
    assert each * pace.rows_in(0.5) == pytest.approx(0.5, rel=0.05, abs=each)


def test_one_slow_row_does_not_make_every_call_a_row():
    pace = Pace()
    pace.add(1, 2.0)
    assert pace.rows_in(0.5) == 2


def test_no_leap_is_made_beyond_what_was_tried():
    pace = Pace()
    pace.add(1, 0.1)
    pace.add(5, 0.1)
    assert pace.rows_in(0.5) == 20


def test_rows_that_cost_all_are_counted_from_the_first_call():
    pace = Pace()
    pace.add(2, 0.2)
    assert pace.rows_in(0.5) == 5
