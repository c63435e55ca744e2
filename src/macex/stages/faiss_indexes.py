"""Candidates for nearest rows among very many, by faiss.

`Lists` (IVF) sorts rows into cells of neighbours and looks into the cells nearest to a query.
`Graphs` (HNSW, as in the paper) walks from row to row over a graph of near rows, one for each
predicted label. Both only propose rows; how near they are is found out exactly elsewhere.

Nothing here depends on the batch: a query is looked up by one thread, and sums are exact.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from macex.schema import Array

if TYPE_CHECKING:
    from macex.stages.features import Features

CHUNK = 65_536  # rows made into features at once
QUERIES = 256  # queries looked up at once
CELLS = 2048  # at most: the more there are, the longer it takes to sort rows into them
SAMPLE = 64  # rows per cell from which cells are learnt
GRID = 16  # centres are kept in parts of 1/16, so that their products with weights are exact
LARGEST = 127  # the largest feature that a signed byte holds
LARGEST_HALF = 2048  # up to which a half float holds every whole number
LINKS = 16
MOSTLY = 0.5  # the share of a graph's rows that must meet a goal
CARE = 100  # how many rows a graph keeps in view while it is built


def faiss() -> Any:
    """The library, which is the extra `ann`."""
    try:
        import faiss as library
    except ImportError as error:
        raise ImportError("faiss is not installed: pip install macex[ann]") from error
    return library


@dataclass
class Lists:
    """An inverted file: the rows by cell, each row as bytes.

    `look` is how many rows that meet the goal are looked at for a query.
    """

    features: Features
    index: Any
    cell: Array  # (R,) the cell of each row
    centers: Array  # (C, F) float32: the mean features of each cell's rows
    look: int = 4096
    most = 262_144  # that `look` may be raised to

    @staticmethod
    def built(features: Features, binned: Array, group: Array, seed: int) -> Lists:
        """The rows (R, d) in cells that are learnt from an even sample of them."""
        del group
        count = min(CELLS, 2 ** round(np.log2(max(1.0, len(binned))) / 2))
        every = np.linspace(0, len(binned) - 1, min(len(binned), SAMPLE * count)).astype(int)
        points = features.plain(features.rows(binned[every]))
        means = faiss().Kmeans(
            points.shape[1], count, niter=10, seed=1 + seed % 2**30, min_points_per_centroid=1
        )
        with one_thread():
            means.train(points)
        nearest = faiss().IndexFlatL2(points.shape[1])
        nearest.add(on_grid(means.centroids))
        cell = np.empty(len(binned), np.int32)
        for part, made in _chunks(features, binned):
            cell[part] = nearest.assign(features.plain(made), 1)[:, 0]
        return Lists.of(features, binned, cell, _centers(features, binned, cell, count))

    @staticmethod
    def of(features: Features, binned: Array, cell: Array, centers: Array) -> Lists:
        """The rows in cells that are known."""
        library = faiss()
        coarse = library.IndexFlatIP(features.width)
        coarse.add(centers)
        shape, kind = (features.width, len(centers)), _stored(_largest(features, binned) ** 2)
        product = library.METRIC_INNER_PRODUCT
        if kind is None:
            index = library.IndexIVFFlat(coarse, *shape, product)
        else:
            index = library.IndexIVFScalarQuantizer(coarse, *shape, kind, product, False)
        index.is_trained = True
        for part, made in _chunks(features, binned):
            where = cell[part].astype(np.int64)
            index.add_core(len(made), library.swig_ptr(made), None, library.swig_ptr(where))
        return Lists(features, index, cell, centers)

    @staticmethod
    def read(features: Features, binned: Array, group: Array, kept: dict[str, Array]) -> Lists:
        """The lists that were kept as `arrays`."""
        del group
        if kept["cell"].shape != (len(binned),) or kept["centers"].shape[1:] != (features.width,):
            raise ValueError("the cells of the neighbour search do not fit the training rows")
        made = Lists.of(features, binned, kept["cell"], kept["centers"])
        made.look = int(kept["look"][0])
        return made

    def arrays(self) -> dict[str, Array]:
        """What is worth keeping: the bytes of the rows are made again from the rows."""
        return {"cell": self.cell, "centers": self.centers, "look": np.array([self.look])}

    def among(self, allowed: Array, match: Array) -> tuple[Array, Array, Array]:
        """Rows that meet a goal, (R,) bool, as bits; the cells that hold any, and how many."""
        del match
        sizes = np.bincount(self.cell[allowed], minlength=len(self.centers))
        cells = np.flatnonzero(sizes)
        return np.packbits(allowed, bitorder="little"), cells, sizes[cells]

    def hits(
        self, binned: Array, match: Array, among: tuple[Array, Array, Array], count: int
    ) -> Array:
        """Rows near to queries (Q, d) on some columns, (Q, count); -1 where there are no more."""
        bits, cells, sizes = among
        look = self.look if match.all() else 4 * self.look  # cells are made by all columns
        found = np.empty((len(binned), count), np.int64)
        for start in range(0, len(binned), QUERIES):
            part = slice(start, start + QUERIES)
            weights = self.features.weights(binned[part], match)
            order = np.argsort(-(weights @ self.centers[cells].T), axis=1, kind="stable")
            before = np.cumsum(sizes[order], axis=1) - sizes[order]
            probes = np.where(before < look, cells[order], -1)
            probes = probes[:, : int((probes >= 0).sum(axis=1).max())]
            found[part] = self._scanned(weights, probes, bits, count)
        return found

    def _scanned(self, weights: Array, probes: Array, bits: Array, count: int) -> Array:
        library = faiss()
        options = library.SearchParametersIVF(
            sel=library.IDSelectorBitmap(bits), nprobe=probes.shape[1]
        )
        probes = np.ascontiguousarray(probes, np.int64)
        nearness = np.empty((len(weights), count), np.float32)
        found = np.empty((len(weights), count), np.int64)
        arrays = (probes, np.zeros(probes.shape, np.float32), nearness, found)
        self.index.search_preassigned_c(
            len(weights),
            library.swig_ptr(weights),
            count,
            *map(library.swig_ptr, arrays),
            False,
            options,
            None,
        )
        return found


@dataclass
class Graphs:
    """A graph of near rows for each predicted label; `look` rows are kept in view on the way."""

    features: Features
    graphs: dict[int, Any]
    members: dict[int, Array]  # the rows of each graph
    look: int = 64
    most = 4096

    @staticmethod
    def built(features: Features, binned: Array, group: Array, seed: int) -> Graphs:
        """A graph over the rows (R, d) of each group; by one thread, since the order counts."""
        del seed
        made, kind = Graphs(features, {}, _members(group)), _stored(_largest(features, binned))
        for label, rows in made.members.items():
            width = features.plain_width
            if kind is None:
                graph = faiss().IndexHNSWFlat(width, LINKS)
            else:
                graph = faiss().IndexHNSWSQ(width, kind, LINKS)
            graph.hnsw.efConstruction = CARE
            graph.is_trained = graph.storage.is_trained = True
            with one_thread():
                for _, chunk in _chunks(features, binned[rows]):
                    graph.add(features.plain(chunk))
            made.graphs[label] = graph
        return made

    @staticmethod
    def read(features: Features, binned: Array, group: Array, kept: dict[str, Array]) -> Graphs:
        """The graphs that were kept as `arrays`."""
        del binned
        made = Graphs(features, {}, _members(group), int(kept["look"][0]))
        for label, rows in made.members.items():
            graph = faiss().deserialize_index(kept[f"graph{label}"])
            if graph.ntotal != len(rows) or graph.d != features.plain_width:
                raise ValueError("the graph of the neighbour search does not fit the training rows")
            made.graphs[label] = graph
        return made

    def arrays(self) -> dict[str, Array]:
        """The graphs as bytes."""
        graphs = {f"graph{label}": faiss().serialize_index(g) for label, g in self.graphs.items()}
        return {**graphs, "look": np.array([self.look])}

    def among(self, allowed: Array, match: Array) -> Array | None:
        """Rows that meet a goal, (R,) bool; None where a walk would hardly find them.

        A walk goes by all columns, and over rows that do not meet the goal as well.
        """
        shares = [allowed[rows].mean() for rows in self.members.values()]
        found = match.all() and all(share == 0 or share >= MOSTLY for share in shares)
        return allowed if found else None

    def hits(self, binned: Array, match: Array, among: Array, count: int) -> Array:
        """Rows near to queries (Q, d) on all columns, (Q, graphs * count); -1 for none."""
        del match
        points = self.features.plain(self.features.rows(binned))
        options = faiss().SearchParametersHNSW(efSearch=max(self.look, count))
        parts = [np.empty((len(binned), 0), np.int64)]
        for label, rows in self.members.items():
            if among[rows].any():
                near = self.graphs[label].search(points, count, params=options)[1]
                found = rows[np.maximum(near, 0)]
                parts.append(np.where((near >= 0) & among[found], found, -1))
        return np.concatenate(parts, axis=1)


def _members(group: Array) -> dict[int, Array]:
    return {int(label): np.flatnonzero(group == label) for label in np.unique(group)}


def on_grid(centers: Array) -> Array:
    """Centres in whole parts of 1/16."""
    return np.round(centers * GRID).astype(np.float32) / np.float32(GRID)


def _centers(features: Features, binned: Array, cell: Array, count: int) -> Array:
    """The mean features of each cell's rows."""
    sums = np.zeros((count, features.width))
    for part, made in _chunks(features, binned):
        for place in range(features.width):
            sums[:, place] += np.bincount(cell[part], made[:, place], minlength=count)
    return on_grid(sums / np.maximum(1, np.bincount(cell, minlength=count))[:, None])


def _chunks(features: Features, binned: Array) -> Iterator[tuple[slice, Array]]:
    for start in range(0, len(binned), CHUNK):
        part = slice(start, start + CHUNK)
        yield part, features.rows(binned[part])


def _largest(features: Features, binned: Array) -> int:
    """The highest bin of a number."""
    numbers = [at for at, levels in enumerate(features.levels) if levels is None]
    return int(binned[:, numbers].max(initial=0))


def _stored(largest: int) -> int | None:
    """How features are stored: as signed bytes or half floats where those hold them exactly.

    None: as floats.
    """
    kinds = faiss().ScalarQuantizer
    if largest > LARGEST_HALF:
        return None
    return int(kinds.QT_8bit_direct_signed if largest <= LARGEST else kinds.QT_fp16)


@contextmanager
def one_thread() -> Iterator[None]:
    """Work whose result would depend on the number of threads."""
    threads = faiss().omp_get_max_threads()
    faiss().omp_set_num_threads(1)
    try:
        yield
    finally:
        faiss().omp_set_num_threads(threads)
