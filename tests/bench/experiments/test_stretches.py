"""The table of time series beside other methods, on a small made set."""

from __future__ import annotations

import numpy as np
import pytest

from macex.bench.cells import BenchCells
from macex.bench.experiments import series, stretches
from macex.bench.findings import Findings
from macex.bench.plan import BenchPlan
from macex.bench.results import Results
from macex.bench.workshop import Workshop
from macex.datasets import SeriesDataset
from series.machines import made_cases

PLAN = BenchPlan(("series",), (), (), (), queries=2, shipped={"made": 6})


@pytest.fixture
def data():
    labels = np.array(["calm", "bump", "raised"] * 20)
    cases = np.concatenate([made_cases(), made_cases(12, seed=1)])
    names = tuple(f"s{place}" for place in range(6))
    return SeriesDataset("made", cases, np.append(labels, labels[:12]), names, 60, "made")


@pytest.fixture
def findings(monkeypatch, data):
    monkeypatch.setattr(series, "TREES", 10)
    monkeypatch.setattr(stretches, "REFITS", 2)
    monkeypatch.setattr(stretches, "series_set", lambda name, folder: data)
    stretches._known.cache_clear()
    results, tasks = Results(), stretches.tasks(PLAN)
    for task in tasks:
        results.add(stretches.measure(task, Workshop(BenchCells(None))))
    return Findings(PLAN, tasks, results)


def test_every_method_is_judged_alike(findings):
    text, printed, table = stretches.show(findings).blocks
    assert "On the edge" in text
    assert [line[0] for line in printed.lines] == list(stretches.PUBLISHED)
    assert [line[0] for line in table.lines] == list(stretches.METHODS)
    assert {line[1] for line in table.lines} == {"1.00"}
    claims = {claim.sentence: claim for claim in stretches.claims(findings)}
    assert len(claims) == 6
    assert claims["time series: every query is answered"].held
    assert claims["time series: no seam is steeper than steps in training"].held
    stretches._known.cache_clear()


def test_what_changed_is_counted(data, monkeypatch):
    monkeypatch.setattr(series, "TREES", 5)
    monkeypatch.setattr(stretches, "REFITS", 1)
    given = stretches.setting(data, 2)
    case = given.cases[0]
    sample = case.copy()
    sample[1, 3:5] += 0.1
    sample[1, 20] += 50
    sample[4, 39] += 0.1
    told = stretches.judged(given, case, sample)
    assert (told["channels"], told["stretches"], told["cells"]) == (2, 3, 4 / case.size)
    assert told["l2"] == pytest.approx(np.sqrt(2500 + 0.03), rel=1e-3)
    assert told["seams"] == 1
    assert told["unusual"] == 1


def test_wide_sets_are_not_for_slow_methods():
    plan = BenchPlan(("series",), (), (), (), series={"wide": 563})
    assert not {task.method for task in stretches.tasks(plan)} & set(stretches.SLOW)


def test_a_network_is_fitted_to_some_sets_and_its_gradients_are_read():
    pytest.importorskip("torch")
    plan = BenchPlan(("series",), (), (), (), shipped={"aeon/BasicMotions": 6, "aeon/GunPoint": 1})
    asked = {(task.dataset, task.model) for task in stretches.tasks(plan)}
    assert asked == {
        ("aeon/BasicMotions", "forest"),
        ("aeon/BasicMotions", "network"),
        ("aeon/GunPoint", "forest"),
    }
    learnt = [task.model for task in stretches.tasks(plan) if task.method == stretches.LEARNT]
    assert learnt == ["network"]


def test_a_method_that_is_behind_another_does_not_hold():
    cells = {"a": {"x": {"cells": 1.05, "noise": 0.9}, "y": {"cells": 1.0, "noise": 1.0}}, "b": {}}
    assert stretches._behind(cells, "x", "y", "cells", 0.05) == [("a", 0.0)]
    ((at, by),) = stretches._behind(cells, "x", "y", "noise", 0.0)
    assert at == "a"
    assert by == pytest.approx(0.1)


def test_without_sets_the_section_says_so():
    plan = BenchPlan(("series",), (), (), ())
    (text,) = stretches.show(Findings(plan, [], Results())).blocks
    assert "no folder" in text


def test_a_wide_set_is_asked_about_fewer_cases():
    plan = BenchPlan(("series",), (), (), (), series={"wide": 563}, shipped={"aeon/GunPoint": 1})
    stops = {task.dataset: task.stop for task in stretches.tasks(plan)}
    assert stops == {"wide": stretches.FEW, "aeon/GunPoint": stretches.QUERIES}
