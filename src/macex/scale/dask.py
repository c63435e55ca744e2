"""The rows of a Dask DataFrame: explained by `map_partitions`, or asked about as a whole."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from itertools import chain
from typing import Any

import pandas as pd

from macex.ask.constraints import Constraints
from macex.errors import needed
from macex.explainer import Explainer
from macex.scale.chunks import ChunkExplainer, question_of
from macex.scale.partition import Partition, refuse_other
from macex.scale.populations import Finder, PartedPopulation, spread
from macex.scale.text import as_trained
from macex.scale.workers import limited_threads


def explain(
    ddf: Any,
    explainer: Explainer,
    *,
    n: int = 1,
    want: Any = None,
    constraints: Constraints | Mapping[str, Any] | None = None,
    max_rows: int | None = None,
    margin: float = 1e-6,
    diagnose: bool = False,
    on_error: str = "keep",
    robust: float | None = None,
    reach: float | None = None,
    also: Iterable[Any] = (),
) -> Any:
    """A Dask DataFrame of answers for the rows of another, made when it is computed.

    Its columns are those of `ddf` that are not features, such as a key, then those of `to_frame()`
    without `cf.row`. Every line has the index of its row. The answers do not depend on the
    partitions. macex must be installed where the workers run.

    Parameters
    ----------
    ddf : rows to explain; columns the explainer does not know are carried to the answers.
    explainer : an explainer without an audit. A model from `load_model` travels as its file.
    n, want, constraints, max_rows, margin, diagnose, on_error, robust, reach, also : as in
        `Explainer.explain`, the same for all rows; a row that cannot be read, or that the model
        fails on, has no answer unless `on_error="raise"`.
    """
    delayed = needed("dask", "dask").delayed
    refuse_other(ddf, "map_partitions", "a Dask DataFrame")
    question = question_of(locals())
    partition = Partition.of(ChunkExplainer(explainer, question), list(ddf.columns))
    meta = partition.empty(ddf._meta)  # noqa: SLF001 - Dask's own way to ask for it
    return ddf.map_partitions(_explained, delayed(partition, pure=True), meta=meta)


def population(ddf: Any, explainer: Explainer, *, index: str | None = None) -> PartedPopulation:
    """The rows of a Dask DataFrame, to be asked about as a whole: see `of_frames`.

    Parameters
    ----------
    ddf : the rows; columns the explainer does not know are left out.
    explainer : who is asked.
    index : the column that names the rows; without it their index does.
    """
    refuse_other(ddf, "map_partitions", "a Dask DataFrame")
    return spread(explainer, ddf.columns, index, partial(_sent, ddf))


def _sent(ddf: Any, finder: Finder) -> Iterable[bytes]:
    dask = needed("dask", "dask")
    shared, found = dask.delayed(finder, traverse=False), dask.delayed(_found, traverse=False)
    return chain.from_iterable(dask.compute(*(found(part, shared) for part in ddf.to_delayed())))


def _found(frame: pd.DataFrame, finder: Finder) -> list[bytes]:
    with limited_threads(1):
        return list(finder.found(_as_trained(frame, finder.explainer)))


def _explained(frame: pd.DataFrame, partition: Partition) -> pd.DataFrame:
    with limited_threads(1):
        return partition.explain_chunk(_as_trained(frame, partition.chunks.explainer))


def _as_trained(frame: pd.DataFrame, explainer: Explainer) -> pd.DataFrame:
    """Objects that Dask made text of, such as truth values beside missing ones, as they were."""
    columns, made = explainer.schema.frame_columns, frame.copy(deep=False)
    known = {column.name: column for column in columns if column.types != {str}}
    for label in frame.columns:
        column = known.get(str(label))
        if column and column.storage.objects and isinstance(frame[label].dtype, pd.StringDtype):
            cells = frame[label].reset_index(drop=True)
            made[label] = as_trained(cells, column, str, strict=False).array
    return made
