"""Claims: held, not held, or not measured, never a guess."""

from __future__ import annotations

import pytest

from macex.bench.claims import at_least, at_most, everywhere

NAN = float("nan")


@pytest.mark.parametrize(("value", "held"), [(1.9, True), (2.0, True), (2.1, False), (NAN, None)])
def test_at_most(value, held):
    assert at_most("excess", value, 2).held is held


@pytest.mark.parametrize(("value", "held"), [(0.91, True), (0.9, True), (0.89, False), (NAN, None)])
def test_at_least(value, held):
    assert at_least("share", value, 0.9).held is held


def test_one_cell_breaks_a_claim_about_all_of_them():
    assert everywhere("nearer", [("adult", 0.05), ("breast", 0.05)], 0.1).held
    broken = everywhere("nearer", [("adult", 0.05), ("breast", 0.2)], 0.1)
    assert broken.held is False
    assert "breast" in broken.number
    assert "adult" not in broken.number


def test_a_claim_may_spare_a_cell():
    cells = [("adult", 0.2), ("breast", 0.2), ("compas", 0.0)]
    assert everywhere("nearer", cells[1:], spare=1).held
    assert not everywhere("nearer", cells, spare=1).held


def test_nothing_measured_claims_nothing():
    assert everywhere("nearer", []).held is None
    assert everywhere("nearer", []).verdict == "not measured"
