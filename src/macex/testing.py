"""Laws that every search keeps, for packages that write one of their own.

    from macex.testing import check_search

    def test_my_search_keeps_the_laws():
        check_search(MySearch())

Every answer must be valid with the model itself, keep the constraints, leave other values alone,
and be the same alone as in a batch. A search that `proves` must prove nothing that is false.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from macex.ask.constraints import Constraints
from macex.explainer import Explainer
from macex.explanation import Explanation
from macex.stages.search.protocol import Search

ROWS = 60
QUERIES = 12
CONSTRAINTS = (
    Constraints(),
    Constraints(fixed=("job",)),
    Constraints(max_changes=1),
    Constraints(increase=("hours",), allowed={"job": ["clerk", "smith"]}),
)


def check_search(search: Search, seeds: int = 5) -> int:
    """Raise `AssertionError` where a search breaks a law; how many answers were looked at."""
    looked = 0
    for seed in range(seeds):
        data, model = _world(seed)
        explainer = Explainer(model, data, classes=("no", "yes"), method=search, fallback=False)
        rows = data[model(data) < 0.5].head(QUERIES)
        for constraints, n in product(CONSTRAINTS, (1, 3)):
            found = explainer.explain(rows, n=n, constraints=constraints)
            for place, one in enumerate(found):
                for fault in _faults(one, model, constraints, data):
                    raise AssertionError(f"seed {seed}, row {place}, {constraints!r}: {fault}")
                looked += len(one.counterfactuals)
            alone = explainer.explain(rows.tail(1), n=n, constraints=constraints)
            if _bytes(alone[0]) != _bytes(found[len(found) - 1]):
                raise AssertionError(
                    f"seed {seed}, {constraints!r}: other bytes alone than in a batch"
                )
    if not looked:
        raise AssertionError(f"{search.name} found no answer in any of {seeds} tables")
    return looked


def _world(seed: int) -> tuple[pd.DataFrame, Any]:
    """A small table and a model of it whose decision takes one change or several."""
    draw = np.random.default_rng(seed)
    data = pd.DataFrame(
        {
            "hours": draw.integers(2, 12, ROWS) * 5,
            "debt": draw.integers(0, 10, ROWS) / 2,
            "job": draw.choice(["clerk", "smith", "farmer"], ROWS),
            "member": draw.choice([True, False], ROWS),
        }
    )
    weight = draw.normal(size=4) * [0.1, 0.5, 1.5, 1.5]

    def model(rows: pd.DataFrame) -> np.ndarray[Any, Any]:
        jobs = rows["job"].map({"clerk": -1.0, "smith": 0.5, "farmer": 1.0}).to_numpy(float)
        total = weight[0] * (rows["hours"].to_numpy(float) - 35)
        total += weight[1] * (rows["debt"].to_numpy(float) - 2.5)
        total += weight[2] * jobs + weight[3] * (rows["member"].to_numpy(float) - 0.5)
        return 1 / (1 + np.exp(0.5 - total))

    return data, model


def _faults(
    one: Explanation, model: Any, constraints: Constraints, data: pd.DataFrame
) -> Iterator[str]:
    """What is wrong with an explanation, sentence by sentence."""
    query = one.query
    for counterfactual in one.counterfactuals:
        row = counterfactual.row
        changed = [c for c in row.columns if row[c].iloc[0] != query[c].iloc[0]]
        if float(model(row)[0]) <= 0.5:
            yield f"{changed} does not reach the goal"
        if sorted(changed) != sorted(change.column for change in counterfactual.changes):
            yield f"the row changes {changed}, the explanation says otherwise"
        if set(changed) & set(constraints.fixed):
            yield f"{changed} changes a fixed column"
        if constraints.max_changes is not None and len(changed) > constraints.max_changes:
            yield f"{changed} are too many changes"
        if constraints.increase and row["hours"].iloc[0] < query["hours"].iloc[0]:
            yield "hours went down"
        if constraints.allowed and "job" in changed and row["job"].iloc[0] == "farmer":
            yield "a job that is not allowed"
    if one.status == "none" or (one.minimal and one.counterfactuals):
        fewest = _fewest(query, model, constraints, data)
        told = one.counterfactuals[0].sparsity if one.counterfactuals else np.inf
        if fewest < told:
            yield f"{fewest} changes suffice, the search proved that {told} are needed"


def _fewest(query: pd.DataFrame, model: Any, constraints: Constraints, data: pd.DataFrame) -> float:
    """The fewest changes over all combinations of values seen, by trying them all."""
    own = query.iloc[0]
    choices = []
    for column in data.columns:
        values = [] if column in constraints.fixed else sorted(set(data[column]))
        if column == "hours" and constraints.increase:
            values = [value for value in values if value >= own[column]]
        if column == "job" and constraints.allowed:
            values = [value for value in values if value != "farmer"]
        choices.append(sorted({own[column], *values}))
    every = pd.DataFrame(list(product(*choices)), columns=data.columns).astype(data.dtypes)
    changes = (every != own.to_numpy()).sum(axis=1)
    most = len(data.columns) if constraints.max_changes is None else constraints.max_changes
    reached = changes[(model(every) > 0.5) & (changes <= most)]
    return float(reached.min()) if len(reached) else np.inf


def _bytes(one: Explanation) -> str:
    return one.to_json(canonical=True)
