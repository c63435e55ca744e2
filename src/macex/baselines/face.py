"""FACE (Poyiadzi et al., 2020): the training row that is reached by the shortest dense path.

Training rows are joined to their nearest neighbours. With f(z) = 1 / z the publication's weight of
an edge, f(r / d) d, is the square of its length up to a factor, so that a way of many small steps
is shorter than one leap. The end of the path is the answer: a training row that reaches the goal
and does not lie in the thinnest part of the data.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from macex.baselines.baseline import Baseline, open_queries
from macex.baselines.embedding import RowEmbedding
from macex.baselines.proposals import judged, rows_of
from macex.engine.batch import Outcome
from macex.schema import Array
from macex.stages.shapes import Pool

LEAST = 1e-9  # the weight of an edge between equal rows: 0 would be no edge


class Face(Baseline):
    """Poyiadzi et al.: a graph of `neighbors` on at most 2,000 training rows.

    Rows whose neighbours are farther off than those of 1 - `thin` of all rows are no answers. What
    may not change is put back at the end, and the row counts if it reaches the goal all the same.

    >>> import pandas as pd
    >>> data = pd.DataFrame({"hours": range(20, 60), "debt": 1})
    >>> face = Face(lambda rows: (rows["hours"] > 44) * 1.0, data, classes=("no", "yes"))
    >>> face.explain(data.iloc[[20]])[0].counterfactuals[0].changes[0][:3]
    ('hours', 40, 45)
    """

    name = "face"
    neighbors = 10
    thin = 0.1
    tried = 20
    max_rows = 100

    def offer(self, opened: Outcome) -> Pool:
        """The ends of the shortest paths."""
        task = opened.task
        queries = np.flatnonzero(open_queries(opened))
        graph = Graph(RowEmbedding.of(opened), self.neighbors)
        count = min(max(self.tried, task.count), rows_of(opened, self.max_rows))
        length = graph.lengths(task.queries[queries])
        usual = graph.reach <= np.quantile(graph.reach, 1 - self.thin)
        codes, at = [np.zeros((0, task.space.width))], [np.zeros(0, np.intp)]
        for place, query in enumerate(queries):
            meeting = np.isin(graph.index, opened.fitted.meeting(opened.goals, int(query)))
            ends = np.flatnonzero(meeting & usual & np.isfinite(length[place]))
            ends = ends[np.argsort(length[place][ends], kind="stable")[:count]]
            codes.append(graph.rows[ends])
            at.append(np.full(len(ends), query))
        return judged(task, np.concatenate(codes), np.concatenate(at)).pool


class Graph:
    """Training rows, each once, joined to their nearest neighbours."""

    def __init__(self, embedding: RowEmbedding, neighbors: int) -> None:
        self.embedding = embedding
        self.rows, first = np.unique(embedding.rows, axis=0, return_index=True)
        self.index = embedding.index[first]
        self.neighbors = min(neighbors, max(1, len(self.rows) - 1))

    @cached_property
    def _found(self) -> Any:
        from sklearn.neighbors import NearestNeighbors

        return NearestNeighbors(n_neighbors=self.neighbors, metric="manhattan", algorithm="brute")

    @cached_property
    def _edges(self) -> tuple[Array, Array]:
        """Lengths of the edges, (T, k), and where they lead."""
        self._found.fit(self.embedding(self.rows))
        if len(self.rows) == 1:
            return np.zeros((1, 1)), np.zeros((1, 1), np.intp)
        far, where = self._found.kneighbors()
        return np.asarray(far), np.asarray(where)

    @property
    def reach(self) -> Array:
        """How far the farthest neighbour of each row is."""
        return np.round(self._edges[0][:, -1], 9)

    def lengths(self, queries: Array) -> Array:
        """The lengths of the shortest paths from queries (Q, U) to all rows, (Q, T)."""
        from scipy.sparse import coo_matrix
        from scipy.sparse.csgraph import dijkstra

        total, count = len(self.rows), len(queries)
        if not count:
            return np.zeros((0, total))
        far, where = self._edges
        first, first_to = self._found.kneighbors(self.embedding(queries))
        begin = np.repeat(np.arange(total), far.shape[1])
        asked = np.repeat(np.arange(total, total + count), first.shape[1])
        start = np.concatenate([begin, where.reshape(-1), asked])
        end = np.concatenate([where.reshape(-1), begin, first_to.reshape(-1)])
        length = np.concatenate([far.reshape(-1), far.reshape(-1), first.reshape(-1)])
        order = np.unique(start * (total + count) + end, return_index=True)[1]
        weight = np.maximum(length[order] ** 2, LEAST)
        shape = (total + count, total + count)
        graph = coo_matrix((weight, (start[order], end[order])), shape)
        found: Array = dijkstra(graph.tocsr(), indices=np.arange(total, total + count))
        return np.round(found[:, :total], 9)
