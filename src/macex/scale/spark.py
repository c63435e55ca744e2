"""Explaining the rows of a Spark DataFrame, by `mapInPandas`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any

import pandas as pd

from macex.ask.constraints import Constraints
from macex.explainer import Explainer
from macex.models.optional import needed
from macex.scale.layout import Field
from macex.scale.partition import Partition
from macex.scale.question import Question
from macex.scale.threads import restrain

Frames = Iterator[pd.DataFrame]


def explain(
    df: Any,
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
    also: Sequence[Any] = (),
) -> Any:
    """A Spark DataFrame of answers for the rows of another, made when it is used.

    Its columns are those of `df` that are no features, such as a key, then those of `to_frame()`
    without `cf.row`. The explainer goes to every executor once. The answers do not depend on the
    partitions. macex must be installed where the executors run.

    Parameters
    ----------
    df : rows to explain; columns the explainer does not know are carried to the answers.
    explainer : an explainer without an audit. A model from `load_model` travels as its file.
    n, want, constraints, max_rows, margin, diagnose, on_error, robust, also : as in
        `Explainer.explain`, the same for all rows; a row that cannot be read, or that the model
        fails on, has no answer unless `on_error="raise"`.
    """
    question = Question(
        explainer, n, want, constraints, max_rows, margin, diagnose, on_error, robust, also
    )
    partition = Partition.of(question, df.columns)
    return df.mapInPandas(_task(df, partition), _schema(df, partition))


def _task(df: Any, partition: Partition) -> Callable[[Frames], Frames]:
    """What runs in a task; where Spark has broadcasts, each worker opens the explainer once."""
    context = getattr(df.sparkSession, "sparkContext", None)
    if context is None:
        return partial(_explained, partition)
    packed = context.broadcast(needed("pyspark.cloudpickle", "spark").dumps(partition))
    return partial(_explained, packed)


def _explained(given: Any, frames: Frames) -> Frames:
    """The frames of a partition to frames of answers."""
    partition = given if isinstance(given, Partition) else _opened(given)
    return (_plain(partition.explain_chunk(frame)) for frame in frames)


def _plain(table: pd.DataFrame) -> pd.DataFrame:
    """Text as objects: Spark does not take Arrow's text in several pieces."""
    text = [name for name in table if isinstance(table[name].dtype, pd.StringDtype)]
    return table.astype(dict.fromkeys(text, object))


@lru_cache(maxsize=1)
def _opened(packed: Any) -> Partition:
    """The explainer that was broadcast; a worker keeps it for all its tasks."""
    partition: Partition = needed("pyspark.cloudpickle", "spark").loads(packed.value)
    restrain(partition.question.explainer, 1)
    return partition


def _schema(df: Any, partition: Partition) -> Any:
    """The columns of the output: the carried ones as they are, and those of the answers."""
    types = needed("pyspark.sql.types", "spark")
    answers = [types.StructField(f.name, _type(types, f), True) for f in partition.layout.fields]
    return types.StructType([*(df.schema[name] for name in partition.carried), *answers])


def _type(types: Any, field: Field) -> Any:
    kinds = {
        "whole": types.LongType,
        "number": types.DoubleType,
        "truth": types.BooleanType,
        "text": types.StringType,
        "time": types.TimestampType if field.zone else types.TimestampNTZType,
        "span": types.DayTimeIntervalType,
    }
    return kinds[field.kind]()
