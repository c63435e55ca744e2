"""What a run found, looked up by cell and method."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cached_property

from macex.bench.figures import Figures, Record, figures
from macex.bench.methods import DEFAULT
from macex.bench.plan import BenchPlan
from macex.bench.results import Results
from macex.bench.tasks import BenchTask, TaskOutcome

Key = tuple[str, str, str, str, int, int]


class Findings:
    """The outcomes of a plan's tasks."""

    def __init__(self, plan: BenchPlan, tasks: Iterable[BenchTask], results: Results) -> None:
        self.plan = plan
        found = [(task, results.get(task)) for task in dict.fromkeys(tasks)]
        self.outcomes: list[TaskOutcome] = [outcome for _, outcome in found if outcome is not None]
        self.undone = [task for task, outcome in found if outcome is None]

    @cached_property
    def _index(self) -> dict[Key, list[TaskOutcome]]:
        index: dict[Key, list[TaskOutcome]] = defaultdict(list)
        for outcome in self.outcomes:
            index[_key(outcome.task)].append(outcome)
        return index

    def of(
        self, kind: str, dataset: str, model: str, method: str = "", seed: int = 0, n: int = 1
    ) -> list[TaskOutcome]:
        """The outcomes of one cell and method."""
        return self._index.get((kind, dataset, model, method, seed, n), [])

    def kind(self, kind: str) -> list[TaskOutcome]:
        """All outcomes of a kind."""
        return [outcome for outcome in self.outcomes if outcome.task.kind == kind]

    def records(
        self,
        dataset: str,
        model: str,
        method: str = DEFAULT,
        *,
        seed: int = 0,
        n: int = 1,
        kind: str = "answers",
    ) -> dict[int, Record]:
        """The records of one cell and method by query."""
        return {
            outcome.task.start + at: record
            for outcome in self.of(kind, dataset, model, method, seed, n)
            for at, record in enumerate(outcome.records)
        }

    def figures(
        self,
        dataset: str,
        model: str,
        method: str = DEFAULT,
        *,
        seed: int = 0,
        n: int = 1,
        first: int | None = None,
    ) -> Figures | None:
        """The figures of one cell and method; None where nothing was asked.

        With `first` only so many queries count, so that a longer run is held against a shorter
        one on the same rows.
        """
        records = self.records(dataset, model, method, seed=seed, n=n)
        kept = [r for query, r in records.items() if first is None or query < first]
        return figures(kept) if kept else None

    def values(
        self, metric: str, dataset: str, model: str, method: str, *, seed: int = 0, n: int = 1
    ) -> dict[int, float]:
        """A metric of every solved query that has it: the mean over its counterfactuals."""
        records = self.records(dataset, model, method, seed=seed, n=n)
        return {
            query: sum(one[metric] for one in record["counterfactuals"]) / record["found"]
            for query, record in records.items()
            if record["found"] and all(_known(one, metric) for one in record["counterfactuals"])
        }

    def per_query(
        self, kind: str, dataset: str, model: str, method: str, n: int = 1, least: int = 0
    ) -> dict[str, float]:
        """What a query cost on average.

        Tasks with fewer than `least` queries do not count.
        """
        outcomes = self.of(kind, dataset, model, method, n=n)
        costs = [o.cost for o in outcomes if o.cost.get("queries", 0) >= least]
        queries = sum(cost.get("queries", 0) for cost in costs)
        if not queries:
            return {}
        names = [name for name in costs[0] if name not in ("queries", "setup")]
        means = {name: sum(cost[name] for cost in costs) / queries for name in names}
        return {**means, "setup": max(cost.get("setup", 0.0) for cost in costs)}

    def methods(self, kind: str = "answers", n: int = 1) -> list[str]:
        """The methods that were asked, in the order of the plan."""
        asked = {o.task.method for o in self.kind(kind) if o.task.n == n and o.records}
        return [name for name in self.plan.methods if name in asked]

    def cells(self, models: Iterable[str] | None = None) -> Iterator[tuple[str, str]]:
        """All (dataset, model) that can be measured here."""
        for model in self.plan.models if models is None else models:
            for dataset in self.plan.here:
                if model in self.plan.models:
                    yield dataset, model

    def troubles(self) -> dict[str, str]:
        """What went wrong, by cell and method: the first message, and how often."""
        messages: dict[str, list[str]] = defaultdict(list)
        for outcome in self.outcomes:
            name = outcome.task.name
            if outcome.error is not None:
                messages[name].append(f"not run: {outcome.error}")
            messages[name] += [r["error"] for r in outcome.records if r.get("error")]
        return {
            name: all_[0] if len(all_) == 1 else f"{len(all_)} times, first: {all_[0]}"
            for name, all_ in messages.items()
            if all_
        }


def _known(one: Record, metric: str) -> bool:
    return one.get(metric) is not None


def _key(task: BenchTask) -> Key:
    return (task.kind, task.dataset, task.model, task.method, task.seed, task.n)
