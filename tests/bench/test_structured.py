"""The made-up tables hang together as their docstrings say, and are the same every time."""

from __future__ import annotations

import numpy as np
import pytest

from macex.bench.structured import TABLES, structured


@pytest.mark.parametrize("name", TABLES)
def test_a_table_is_made_the_same_again_and_has_both_labels(name):
    one, other = structured(name), structured(name)
    assert one.frame.equals(other.frame)
    assert np.array_equal(one.label, other.label)
    assert 0.1 < one.label.mean() < 0.6
    assert {*one.categorical, *one.continuous} == set(one.frame)


def test_totals_fit_and_services_need_a_line():
    frame = structured("customers").frame
    ratio = frame["total"] / (frame["months"] * frame["price"])
    assert ((ratio > 0.85) & (ratio < 1.15)).all()
    assert ((frame["backup"] == "no line") == (frame["line"] == "none")).all()


def test_burden_and_cholesterol_follow():
    loans, patients = structured("loans").frame, structured("patients").frame
    assert np.allclose(loans["burden"], loans["instalment"] / loans["income"], atol=1e-3)
    assert (patients["cholesterol"] == patients["hdl"] + patients["ldl"]).all()
