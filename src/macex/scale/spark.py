"""Explaining the rows of a Spark DataFrame, by `mapInPandas`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any

import pandas as pd

from macex.ask.constraints import Constraints
from macex.ask.question import Question
from macex.explainer import Explainer
from macex.models.optional import needed
from macex.scale.chunks import ChunkExplainer
from macex.scale.layout import AnswerField, Layout
from macex.scale.partition import Partition, refuse_other
from macex.scale.threads import restrain
from macex.schema import Column

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
    reach: float | None = None,
    also: Iterable[Any] = (),
) -> Any:
    """A Spark DataFrame of answers for the rows of another, made when it is used.

    Its columns are those of `df` that are not features, such as a key, then those of `to_frame()`
    without `cf.row`. The explainer goes to every executor once. The answers do not depend on the
    partitions. macex must be installed where the executors run.

    Parameters
    ----------
    df : rows to explain; columns the explainer does not know are carried to the answers.
    explainer : an explainer without an audit. A model from `load_model` travels as its file.
    n, want, constraints, max_rows, margin, diagnose, on_error, robust, reach, also : as in
        `Explainer.explain`, the same for all rows; a row that cannot be read, or that the model
        fails on, has no answer unless `on_error="raise"`.
    """
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
    refuse_other(df, "mapInPandas", "a Spark DataFrame")
    task = _Task.of(df, Partition.of(ChunkExplainer(explainer, question), df.columns))
    made = _sent(df, task).mapInPandas(_work(df, task), task.schema(df))
    return _received(made, task)


@dataclass(frozen=True)
class _Task:
    """What a worker needs: how to explain, and what the columns are.

    Spark makes local times of points in time, in which an hour comes twice in autumn, and a field
    of a struct of a name with a dot. So columns travel by number, and points in time as the
    microseconds since 1970.
    """

    partition: Partition
    names: tuple[str, ...]  # of the columns given
    instants: frozenset[str]  # those of them that are points in time
    zone: str  # of the session: naive features are read in it

    @staticmethod
    def of(df: Any, partition: Partition) -> _Task:
        """The task for a table."""
        kind = needed("pyspark.sql.types", "spark").TimestampType
        instants = {field.name for field in df.schema.fields if isinstance(field.dataType, kind)}
        zone = df.sparkSession.conf.get("spark.sql.session.timeZone")
        fields = (field._replace(unit="us") for field in partition.layout.fields)  # as Spark's own
        partition = replace(partition, layout=Layout(tuple(fields)))
        return _Task(partition, tuple(df.columns), frozenset(instants), zone)

    @property
    def columns(self) -> list[str]:
        """The names of the columns of the answers."""
        return [*map(str, self.partition.carried), *(f.name for f in self.partition.layout.fields)]

    @property
    def instants_made(self) -> list[bool]:
        """Which columns of the answers are points in time."""
        carried = [name in self.instants for name in self.partition.carried]
        return carried + [bool(field.zone) for field in self.partition.layout.fields]

    def schema(self, df: Any) -> Any:
        """The columns of the answers as they come back: the carried ones are of their own types."""
        types = needed("pyspark.sql.types", "spark")
        carried = [df.schema[name] for name in self.partition.carried]
        kinds = [(field.dataType, field.metadata) for field in carried]
        kinds += [(_type(types, field), {}) for field in self.partition.layout.fields]
        made = types.StructType()
        for number, (kind, notes), instant in zip(
            _numbers(len(kinds)), kinds, self.instants_made, strict=True
        ):
            made.add(number, types.LongType() if instant else kind, True, notes)
        return made

    def explained(self, frame: pd.DataFrame) -> pd.DataFrame:
        """The answers for rows as they travel, as they travel."""
        frame = frame.set_axis(self.names, axis=1)
        for column in self.partition.chunks.explainer.schema.frame_columns:
            if column.name in self.instants:
                frame[column.name] = self._times(frame[column.name], column)
        table = self.partition.explain_chunk(frame)
        for field in self.partition.layout.fields:
            if field.zone:
                table[field.name] = _microseconds(table[field.name])
        text = [name for name in table if isinstance(table[name].dtype, pd.StringDtype)]
        table = table.astype(dict.fromkeys(text, object))  # Spark takes no text in several pieces
        return table.set_axis(_numbers(table.shape[1]), axis=1)

    def _times(self, cells: pd.Series, column: Column) -> pd.Series:
        """Microseconds as the points in time that a column had in training."""
        moments = pd.to_datetime(cells.astype("Int64"), unit="us", utc=True)
        if column.storage.zone:
            return moments.dt.tz_convert(column.storage.zone)
        return moments.dt.tz_convert(self.zone).dt.tz_localize(None)


def _microseconds(times: pd.Series) -> pd.Series:
    moments = times.dt.tz_convert("UTC").dt.as_unit("us")
    return moments.astype("int64").astype("Int64").mask(moments.isna())


def _sent(df: Any, task: _Task) -> Any:
    """The rows as they travel."""
    turned = needed("pyspark.sql.functions", "spark").unix_micros
    numbered = df.toDF(*_numbers(len(task.names)))
    return _with(numbered, turned, [name in task.instants for name in task.names])


def _received(made: Any, task: _Task) -> Any:
    """The answers as they are given out."""
    turned = needed("pyspark.sql.functions", "spark").timestamp_micros
    return _with(made, turned, task.instants_made).toDF(*task.columns)


def _with(table: Any, turned: Callable[[Any], Any], chosen: Sequence[bool]) -> Any:
    """A table in which some columns are turned into something else."""
    names = _numbers(len(chosen))
    return table.select(
        *(
            turned(name).alias(name) if mine else name
            for name, mine in zip(names, chosen, strict=True)
        )
    )


def _numbers(count: int) -> list[str]:
    """Names without a meaning."""
    return [f"c{at}" for at in range(count)]


def _work(df: Any, task: _Task) -> Callable[[Frames], Frames]:
    """What runs in a task; where Spark has broadcasts, each worker opens the explainer once."""
    context = getattr(df.sparkSession, "sparkContext", None)
    if context is None:
        return partial(_explained, task)
    packed = context.broadcast(needed("pyspark.cloudpickle", "spark").dumps(task))
    return partial(_explained, packed)


def _explained(given: Any, frames: Frames) -> Frames:
    """The frames of a partition to frames of answers."""
    task = given if isinstance(given, _Task) else _opened(given)
    return map(task.explained, frames)


@lru_cache(maxsize=1)
def _opened(packed: Any) -> _Task:
    """The explainer that was broadcast; a worker keeps it for all its tasks."""
    task: _Task = needed("pyspark.cloudpickle", "spark").loads(packed.value)
    restrain(task.partition.chunks.explainer, 1)
    return task


def _type(types: Any, field: AnswerField) -> Any:
    kinds = {
        "whole": types.LongType,
        "number": types.DoubleType,
        "truth": types.BooleanType,
        "text": types.StringType,
        "time": types.TimestampNTZType,
        "span": types.DayTimeIntervalType,
    }
    return kinds[field.kind]()
