"""Figures are means over queries; what is missing is said, not guessed."""

from __future__ import annotations

import math

from bench.found import findings, record
from macex.bench.experiments.engine import quality
from macex.bench.figures import figures


def test_figures_are_means_over_the_queries():
    found = figures([record(("a",)), record(("a", "b")), record(), record(("a",), own=False)])
    assert found.queries == 4
    assert found.validity == 0.75
    assert found.own == 0.5
    assert found.sparsity == 4 / 3
    assert found.middle_proximity == -1


def test_answers_with_an_idle_change_are_a_share_of_those_that_were_looked_at():
    old = record(("a", "b"))
    del old["counterfactuals"][0]["idle"]
    assert figures([old, record(("a",)), record(("a", "b"), idle=2)]).idle == 0.5


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


def test_a_longer_run_is_held_against_a_shorter_one_on_the_same_rows():
    found = findings({"default": [record(("a",)), record(("a",)), record(("a", "b"))]})
    assert found.figures("loans", "MLP").sparsity == 4 / 3
    assert found.figures("loans", "MLP", first=2).sparsity == 1


def test_the_yardstick_keeps_to_the_rows_on_record():
    few, many = [record(("a",))] * 50, [record(("a",))] * 50 + [record(("a", "b"))] * 50
    found = findings({"default": many, "optimum": few}, dataset="adult")
    sentences = {claim.sentence: claim.number for claim in quality.claims(found)}
    assert sentences["changes above the optimum on the same models"].startswith("0 %")
