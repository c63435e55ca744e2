"""Figures are means over queries; what is missing is said, not guessed."""

from __future__ import annotations

import math

from bench.found import findings, record
from macex.bench.figures import figures


def test_figures_are_means_over_the_queries():
    found = figures([record(("a",)), record(("a", "b")), record(), record(("a",), own=False)])
    assert found.queries == 4
    assert found.validity == 0.75
    assert found.own == 0.5
    assert found.sparsity == 4 / 3
    assert found.middle_proximity == -1


def test_nothing_has_no_figures():
    assert math.isnan(figures([]).sparsity)
    assert math.isnan(figures([record()]).sparsity)
    assert figures([record()]).validity == 0


def test_records_go_by_query_and_troubles_by_cell():
    broken = {**record(), "error": "ValueError: no"}
    found = findings({"default": [record(("a",)), broken, broken], "Greedy": "not installed"})
    assert list(found.values("sparsity", "loans", "MLP", "default")) == [0]
    assert found.troubles() == {
        "loans / MLP / default": "2 times, first: ValueError: no",
        "loans / MLP / Greedy": "not run: not installed",
    }
    assert found.methods() == ["default"]
