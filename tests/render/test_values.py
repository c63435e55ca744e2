"""How values and scores are written."""

from __future__ import annotations

from datetime import UTC, datetime
from math import inf

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from macex.render.values import before_after, scores, shown


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "missing"),
        (45, "45"),
        (45.0, "45"),
        (-0.0, "0"),
        (True, "True"),
        (0.1 + 0.2, "0.3"),
        (1234.56789, "1234.57"),
        (1234567.8, "1234568"),
        (2**60, "1152921504606846976"),
        (1e20, "1e+20"),
        (0.00001234, "1.234e-05"),
        (np.float32(0.1), "0.1"),
        (inf, "inf"),
        ("", "''"),
        (" ", "' '"),
        (">50K", ">50K"),
        (datetime(2024, 1, 2), "2024-01-02"),  # noqa: DTZ001
        (datetime(2024, 1, 2, 3, 4), "2024-01-02 03:04:00"),  # noqa: DTZ001
        (datetime(2024, 1, 2, tzinfo=UTC), "2024-01-02 00:00:00+00:00"),
    ],
)
def test_values_are_written_plainly(value, text):
    assert shown(value) == text


@given(st.floats(-1e9, 1e9))
def test_a_number_is_shown_to_six_digits_or_its_whole_part(value):
    assert float(shown(value)) == pytest.approx(value, rel=1e-5, abs=1e-12)


@given(st.floats(0, 1), st.floats(0, 1))
def test_two_values_that_differ_look_different(one, other):
    assert (before_after(one, other)[0] != before_after(one, other)[1]) == (one != other)


@given(st.integers(0, 10**6), st.integers(0, 10**6))
def test_two_scores_that_differ_look_different(one, other):
    before, after = scores(one / 1e6, other / 1e6)
    assert (before != after) == (one != other)
    assert len(before) == len(after) <= 8
