"""CERTIFAI (Sharma, Henderson, Ghosh, 2020): a genetic algorithm that minimises a mixed distance.

An individual is a row; it is fit if it reaches the goal, and fitter the nearer it is to the query:
scaled absolute differences of numbers plus changed categories. All individuals of all queries are
scored in one model call a generation. Beyond the paper's text: individuals start as mixtures of
the query with rows that meet the goal, mutation also moves values back toward the query's own, and
the fittest survive. Without these a genetic search of the same size is far weaker.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from macex.ask.constraints import Constraints
from macex.ask.units import unit_codes
from macex.baselines.baseline import Baseline, open_queries
from macex.baselines.breeding import Generation, draw, fittest, mutated, scored, survivors
from macex.engine.batch import Outcome
from macex.errors import require_counts
from macex.schema import Array
from macex.stages.shapes import Pool, Task

CROSSED = 0.7  # share of offspring with two parents


class Certifai(Baseline):
    """Sharma et al.: `population` rows a query, bred for `generations`.

    The defaults score 15,000 rows a query. `distance` scales numbers as in `Explainer`; the
    publication's own scale is `"mad"`.

    >>> import pandas as pd
    >>> data = pd.DataFrame({"hours": range(20, 60), "debt": [1, 2] * 20})
    >>> bred = Certifai(lambda rows: (rows["hours"] > 44) * 1.0, data, classes=("no", "yes"))
    >>> bred.explain(data.iloc[[20]])[0].counterfactuals[0].changes[0][:3]
    ('hours', 40, 45)
    """

    name = "certifai"

    def __init__(
        self,
        model: Any,
        data: Any,
        *,
        population: int = 250,
        generations: int = 59,
        schema: Any = None,
        constraints: Constraints | Mapping[str, Any] | None = None,
        distance: str = "median",
        classes: Sequence[object] | None = None,
        names: Mapping[str, str] | None = None,
        random_state: int = 0,
    ) -> None:
        self.population, self.generations = population, generations
        require_counts(self, "population", "generations")
        self.max_rows = population * (generations + 1)
        super().__init__(
            model,
            data,
            schema=schema,
            constraints=constraints,
            distance=distance,
            classes=classes,
            names=names,
            random_state=random_state,
        )

    def offer(self, opened: Outcome) -> Pool:
        """The fittest individuals, different sets of changed columns first."""
        task = opened.task
        at = np.flatnonzero(open_queries(opened))
        if not len(at):
            return Pool.empty(task.space.width)
        people = scored(task, at, self._born(opened, at))
        for generation in range(1, self.generations + 1):
            if task.judge.late:
                break
            young = scored(task, at, _bred(task, people, generation))
            people = survivors(people, young)
        return fittest(task, people)

    def _born(self, opened: Outcome, at: Array) -> Array:
        """Mixtures (Q, P, U) of each query with rows that meet its goal, or with any rows."""
        task, fitted = opened.task, self.fitted
        mates = np.empty((len(at), self.population, task.space.width))
        choice = draw(task, at, "certifai mate", 0, self.population)[:, :, 0]
        for place, query in enumerate(at):
            rows = fitted.meeting(opened.goals, int(query))
            rows = rows if len(rows) else np.arange(len(fitted.ground.codes))
            chosen = rows[(choice[place] * len(rows)).astype(int)]
            mates[place] = unit_codes(task.space.units, fitted.ground.codes[chosen])
        share = draw(task, at, "certifai share", 0, self.population)[:, :, :1]
        taken = draw(task, at, "certifai taken", 0, self.population) < share
        return np.where(taken, mates, task.queries[at][:, None])


def _bred(task: Task, people: Generation, turn: int) -> Array:
    """Offspring (Q, P, U): parents by rank, uniform crossover, mutation."""
    at, count = people.at, people.codes.shape[1]
    lines = np.arange(len(at))[:, None]
    luck = draw(task, at, "certifai parents", turn, count)
    first, second = ((luck[:, :, i % luck.shape[2]] ** (2 + i) * count).astype(int) for i in (0, 1))
    mother, father = people.codes[lines, first], people.codes[lines, second]
    crossed = draw(task, at, "certifai crossed", turn, count)
    mixed = crossed[:, :, :1] < CROSSED
    child = np.where(mixed & (draw(task, at, "certifai gene", turn, count) < 0.5), father, mother)
    return mutated(task, people, child, turn, "certifai")
