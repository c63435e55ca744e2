"""Gradients of a torch network, beside finite differences of the same network."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.preprocessing import PowerTransformer

from macex import baselines
from macex.ask.goals import at_least
from macex.bench.arena.cells import ArenaCells
from macex.engine.batch import Outcome
from macex.errors import OptionError

torch = pytest.importorskip("torch")


def opened_batch(made, rows, **options) -> Outcome:
    """The batch as the method sees it."""
    held = []
    inner = made.offer

    def offer(opened):
        held.append(opened)
        return inner(opened)

    made.offer = offer
    made.explain(rows, **options)
    return held[0]


@pytest.mark.parametrize("name", ["totals", "wine", "diabetes"])
def test_gradients_are_those_of_the_model_itself(name):
    """Against central differences of the progress that the judge measures, number by number."""
    from macex.baselines.wachter_autograd import Backward, _taken_apart

    cell = ArenaCells().get(name, "torch", 0)
    rows = cell.cell.queries(4)
    made = baselines.WachterAutograd(cell.model, cell.train)
    opened = opened_batch(made, rows, want=cell.wants(rows), max_rows=50)
    task = opened.task
    free = np.array([[not unit.discrete for unit in task.space.units]] * len(rows))
    at = np.arange(len(rows))
    opened.judge.limit = opened.judge.limit + 1000
    slope = Backward.through(*_taken_apart(cell.model), opened).slope(task, task.queries, at, free)
    for unit in np.flatnonzero(free[0]):
        wide = 0.02 * (task.space.units[unit].high - task.space.units[unit].low)
        moved = [task.queries.copy() for _ in range(2)]
        moved[0][:, unit] -= wide
        moved[1][:, unit] += wide
        low, high = (opened.judge(one, at).progress for one in moved)
        felt, said = (high - low) / (2 * wide), slope[:, unit]
        # a network of ReLUs is linear in pieces: most queries have no bend within the step
        assert np.median(np.abs(felt - said) / (np.abs(felt).max() + 1e-9)) < 0.05


def test_a_step_costs_two_rows_however_many_numbers_there_are():
    cell = ArenaCells().get("wine", "torch", 0)  # thirteen numbers
    rows = cell.cell.queries(6)
    for kind, least in (("Wachter", 14), ("WachterAutograd", 2)):
        made = getattr(baselines, kind)(cell.model, cell.train)
        found = made.explain(rows, max_rows=60)
        assert all(item.cost.rows <= 60 for item in found)
        solved = [item for item in found if item.counterfactuals]
        assert (len(solved) >= 5) == (least == 2)


def test_it_reaches_a_number_that_is_asked_for():
    cell = ArenaCells().get("diabetes", "torch", 0)
    rows = cell.cell.queries(4)
    goal = float(cell.edges[2])
    found = baselines.WachterAutograd(cell.model, cell.train).explain(rows, want=at_least(goal))
    for item in found:
        assert item.counterfactuals
        assert item.counterfactuals[0].score >= goal - 1e-6


def test_what_it_cannot_read_is_named():
    cells = ArenaCells()
    with pytest.raises(OptionError, match="got LogisticRegression"):
        baselines.WachterAutograd(cells.get("wine", "logistic", 0).model, cells.table("wine"))
    cell = cells.get("wine", "torch", 0)
    from sklearn.pipeline import make_pipeline

    bent = make_pipeline(PowerTransformer(), type(cell.model[-1])())
    bent.fit(cell.train, cell.cell.dataset.label[cell.cell.dataset.split(0)[0]])
    made = baselines.WachterAutograd(bent, cell.train)
    with pytest.raises(OptionError, match="linear in every number"):
        made.explain(cell.cell.queries(1))
