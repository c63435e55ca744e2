"""The rows of a Ray dataset, explained by `map_batches` on actors, or asked about as a whole."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache, partial
from typing import Any

from macex.ask.constraints import Constraints
from macex.errors import DataError, needed, require_count
from macex.explainer import Explainer
from macex.scale.chunks import ChunkExplainer, question_of
from macex.scale.partition import CHUNK, Partition, refuse_other
from macex.scale.populations import Finder, PartedPopulation, spread
from macex.scale.workers import limited_threads, restrain
from macex.schema.arrow_tables import pandas_frame


def explain(
    dataset: Any,
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
    workers: int | None = None,
) -> Any:
    """A Ray dataset of answers for the rows of another, made when it is used.

    Its columns are those of `dataset` that are not features, such as a key, then those of
    `to_frame()` without `cf.row`. The answers do not depend on blocks and batches. macex must be
    installed where the actors run.

    Parameters
    ----------
    dataset : rows to explain; columns the explainer does not know are carried to the answers.
    explainer : an explainer without an audit. A model from `load_model` travels as its file.
    n, want, constraints, max_rows, margin, diagnose, on_error, robust, reach, also : as in
        `Explainer.explain`, the same for all rows; a row that cannot be read, or that the model
        fails on, has no answer unless `on_error="raise"`.
    workers : how many actors, each with a core and the explainer; leave a core to what makes the
        dataset. By default they are as many as are free.
    """
    data = needed("ray.data", "ray")
    question = question_of(locals())
    refuse_other(dataset, "map_batches", "a Ray dataset")
    if workers is not None:
        require_count("workers", workers)
    partition = Partition.of(ChunkExplainer(explainer, question), _columns(dataset))
    pool = (
        data.ActorPoolStrategy(min_size=1)
        if workers is None
        else data.ActorPoolStrategy(size=workers)
    )
    return dataset.map_batches(
        _Worker,
        fn_constructor_args=(needed("ray", "ray").put(partition),),
        batch_format="pyarrow",
        batch_size=CHUNK,
        num_cpus=1,
        compute=pool,
    )


def population(dataset: Any, explainer: Explainer, *, index: str | None = None) -> PartedPopulation:
    """The rows of a Ray dataset, to be asked about as a whole: see `of_frames`.

    Parameters
    ----------
    dataset : the rows; columns the explainer does not know are left out.
    explainer : who is asked.
    index : the column that names the rows.
    """
    refuse_other(dataset, "map_batches", "a Ray dataset")
    return spread(explainer, _columns(dataset), index, partial(_sent, dataset))


def _sent(dataset: Any, finder: Finder) -> Iterator[bytes]:
    reference = needed("ray", "ray").put(finder)
    found = dataset.map_batches(
        _found, fn_args=(reference,), batch_format="pyarrow", batch_size=CHUNK, num_cpus=1
    )
    return (one["found"] for one in found.iter_rows())


def _found(table: Any, reference: Any) -> dict[str, list[bytes]]:
    with limited_threads(1):
        return {"found": list(_fetched(reference).found(pandas_frame(table)))}


@lru_cache(maxsize=1)
def _fetched(reference: Any) -> Finder:
    """What a pass shares; a worker keeps it for all its batches."""
    finder: Finder = needed("ray", "ray").get(reference)
    return finder


def _columns(dataset: Any) -> list[str]:
    schema = dataset.schema()
    if schema is None:
        raise DataError("the dataset has no rows and no columns: there is nothing to explain")
    return list(schema.names)


class _Worker:
    """An actor: it fetches the explainer, which was put into Ray's store once, when it is made."""

    def __init__(self, reference: Any) -> None:
        self.partition: Partition = needed("ray", "ray").get(reference)
        restrain(self.partition.chunks.explainer, 1)

    def __call__(self, table: Any) -> Any:
        answers = self.partition.explain_chunk(pandas_frame(table))
        return needed("pyarrow", "ray").Table.from_pandas(answers, preserve_index=False)
