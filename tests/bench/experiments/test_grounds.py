"""What believable answers rest on: each of the three is measured, shown and held to its target."""

from __future__ import annotations

import numpy as np

from macex.bench.cells import BenchCells
from macex.bench.experiments.grounds import (
    CHANCE,
    KIND,
    REAL,
    STABILITY,
    _swapped,
    claims,
    measure,
    show,
    tasks,
)
from macex.bench.findings import Findings
from macex.bench.plan import BenchPlan
from macex.bench.results import Results
from macex.bench.tasks import BenchTask
from macex.bench.workshop import Workshop

PLAN = BenchPlan(("grounds",), (), ("XGBoost",), (), queries=4)


def test_stability_plausibility_and_relations_are_measured_on_every_made_up_table():
    found = {(task.point, task.dataset) for task in tasks(PLAN)}
    assert found == {
        (point, name)
        for point in (STABILITY, REAL, CHANCE)
        for name in ("customers", "loans", "patients")
    }


def test_each_is_shown_and_held_to_its_target(tmp_path):
    chosen = [
        *(
            BenchTask(KIND, "customers", "LightGBM", method, stop=4, point=STABILITY)
            for method in ("plain", "balanced")
        ),
        *(
            BenchTask(KIND, "customers", "", method, stop=100, point=REAL)
            for method in ("learned", "distance")
        ),
        BenchTask(KIND, "customers", stop=2, point=CHANCE),
    ]
    results = Results(tmp_path / "out")
    results.start({})
    for task in chosen:
        results.add(measure(task, Workshop(BenchCells())))
    findings = Findings(PLAN, chosen, results)
    held, real, chance = (part for part in show(findings).blocks if not isinstance(part, str))
    assert [line[:3] for line in held.lines] == [
        ("customers / LightGBM", "plain", "4"),
        ("customers / LightGBM", "balanced", "4"),
    ]
    assert [line[:2] for line in real.lines] == [
        ("customers", "learned"),
        ("customers", "distance"),
    ]
    assert chance.lines == [("customers", "2", "0")]
    said = {claim.sentence: claim.held for claim in claims(findings)}
    assert len(said) == 6
    assert said["real or swapped, customers, 1 of its cells"]
    assert said["the learned measure tells no worse than distance"]
    assert said["tables of independent columns with a relation"]


def test_as_many_cells_are_swapped_as_can_be():
    rows, draw = np.tile([0.0, 1.0, 2.0], (6, 1)), np.random.default_rng(0)
    source = np.array([[0.0, 5.0, 6.0], [0.0, 7.0, 8.0]])  # the first column is always the same
    for cells, least in ((1, 1), (2, 2), (3, 2)):
        assert ((_swapped(rows, source, cells, draw) != rows).sum(axis=1) == least).all()
