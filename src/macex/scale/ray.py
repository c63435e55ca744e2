"""Explaining the rows of a Ray dataset, by `map_batches` on a pool of actors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from macex.ask.constraints import Constraints
from macex.ask.question import Question
from macex.errors import DataError, require_count
from macex.explainer import Explainer
from macex.models.optional import needed
from macex.scale.chunks import ChunkExplainer
from macex.scale.partition import CHUNK, Partition, refuse_other
from macex.scale.threads import restrain
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
    question = Question(
        n=n,
        want=want,
        constraints=constraints,
        max_rows=max_rows,
        margin=margin,
        diagnose=diagnose,
        on_error=on_error,
        robust=robust,
        reach=reach,
        also=also,
    )
    refuse_other(dataset, "map_batches", "a Ray dataset")
    if workers is not None:
        require_count("workers", workers)
    schema = dataset.schema()
    if schema is None:
        raise DataError("the dataset has no rows and no columns: there is nothing to explain")
    partition = Partition.of(ChunkExplainer(explainer, question), schema.names)
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


class _Worker:
    """An actor: it fetches the explainer, which was put into Ray's store once, when it is made."""

    def __init__(self, reference: Any) -> None:
        self.partition: Partition = needed("ray", "ray").get(reference)
        restrain(self.partition.chunks.explainer, 1)

    def __call__(self, table: Any) -> Any:
        answers = self.partition.explain_chunk(pandas_frame(table))
        return needed("pyarrow", "ray").Table.from_pandas(answers, preserve_index=False)
