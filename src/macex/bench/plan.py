"""What a run is to do: which tables, on which datasets, models, methods, queries and seeds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from macex.bench.methods import Method, method
from macex.bench.tasks import BenchTask

BLOCK = 100


@dataclass(frozen=True)
class BenchPlan:
    """A selection. `queries` None is each method's own number: all test rows, or its sample.

    `sizes` are the test rows of the datasets that can be read here, `missing` says of the others
    why they cannot.
    """

    tables: Sequence[str]
    datasets: Sequence[str]
    models: Sequence[str]
    methods: Sequence[str]
    queries: int | None = None
    seeds: int = 1
    rows: int | None = None  # of the largest run of the table of scale
    sizes: Mapping[str, int] = field(default_factory=dict)
    missing: Mapping[str, str] = field(default_factory=dict)
    series: Mapping[str, int] = field(default_factory=dict)  # sets of time series, their channels
    shipped: Mapping[str, int] = field(default_factory=dict)  # those of the UEA and UCR archives

    @property
    def here(self) -> list[str]:
        """The datasets that can be read."""
        return [name for name in self.datasets if name in self.sizes]

    def chosen(self) -> list[Method]:
        """The methods that were asked for."""
        return [method(name) for name in self.methods]

    def count(self, dataset: str, of: Method | None = None, most: int | None = None) -> int:
        """How many queries of a dataset a method is given."""
        limits = [self.sizes[dataset], self.queries, of.most if of else None, most]
        return min(limit for limit in limits if limit is not None)

    def answers(
        self,
        models: Iterable[str],
        methods: Iterable[Method],
        *,
        n: int = 1,
        seeds: Iterable[int] = (0,),
        most: int | None = None,
    ) -> list[BenchTask]:
        """The questions of cells, in blocks of a hundred queries."""
        methods = list(methods)
        models = [model for model in models if model in self.models]
        return [
            BenchTask("answers", dataset, model, one.name, seed, n, start, min(start + BLOCK, stop))
            for seed in seeds
            for dataset in self.here
            for model in models
            for one in methods
            for stop in [self.count(dataset, one, most)]
            for start in range(0, stop, BLOCK)
        ]
