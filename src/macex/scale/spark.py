"""Explaining the rows of a Spark DataFrame, by `mapInPandas`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any

import pandas as pd

from macex.ask.constraints import Constraints
from macex.errors import OptionError, needed
from macex.explainer import Explainer
from macex.scale.chunks import ChunkExplainer, question_of
from macex.scale.layout import AnswerField, Layout
from macex.scale.partition import Partition, Structs, refuse_other
from macex.scale.populations import Finder, PartedPopulation, spread
from macex.scale.workers import limited_threads, restrain
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
    question = question_of(locals())
    refuse_other(df, "mapInPandas", "a Spark DataFrame")
    task = _Task.of(df, Partition.of(ChunkExplainer(explainer, question), df.columns))
    made = task.travel.sent(df).mapInPandas(_work(df, task), task.schema(df))
    return _received(made, task)


def population(df: Any, explainer: Explainer, *, index: str | None = None) -> PartedPopulation:
    """The rows of a Spark DataFrame, to be asked about as a whole: see `of_frames`.

    Parameters
    ----------
    df : the rows; columns the explainer does not know are left out.
    explainer : who is asked.
    index : the column that names the rows.
    """
    refuse_other(df, "mapInPandas", "a Spark DataFrame")
    travel = _Travel.of(df)

    def sent(finder: Finder) -> Iterator[bytes]:
        made = travel.sent(df).mapInPandas(_work(df, _Finding(travel, finder)), "found binary")
        return (bytes(row.found) for row in made.toLocalIterator())

    return spread(explainer, df.columns, index, sent)


def function(
    explainer: Explainer,
    *,
    want: Any = None,
    constraints: Constraints | Mapping[str, Any] | None = None,
    max_rows: int | None = None,
    margin: float = 1e-6,
    on_error: str = "keep",
    robust: float | None = None,
    also: Iterable[Any] = (),
) -> Any:
    """A pandas UDF: the features of a row in, in the order of training, its answer as a struct out.

    The struct has the counterfactual's features and its fields, `cf_status`, `cf_label` and so on.
    A row without an answer has its own features and a status that says so. For SQL:
    `spark.udf.register("counterfactual", function(explainer))`.

    Parameters
    ----------
    explainer : an explainer without an audit, and without columns of points or lengths of time.
    want, constraints, max_rows, margin, on_error, robust, also : as in `Explainer.explain`.
    """
    question = question_of(locals())
    structs, types = Structs.of(explainer, question), needed("pyspark.sql.types", "spark")
    made = types.StructType()
    for name, field in structs.fields.items():
        if field.kind in ("time", "span"):
            raise OptionError(
                f"{name!r} holds times, which Spark hands to a function without their zone: "
                "explain tables with macex.scale.spark.explain"
            )
        made.add(name, _type(types, field))
    columns = list(explainer.columns)

    def counterfactual(*features: pd.Series) -> pd.DataFrame:
        rows = pd.DataFrame(dict(zip(columns, features, strict=True)))
        with limited_threads(1):
            return _plain_text(structs.made(rows))

    return needed("pyspark.sql.functions", "spark").pandas_udf(counterfactual, made)


@dataclass(frozen=True)
class _Travel:
    """How the rows of a table travel.

    Spark makes local times of points in time, in which an hour comes twice in autumn, and a field
    of a struct of a name with a dot. So columns travel by number, and points in time as the
    microseconds since 1970.
    """

    names: tuple[str, ...]  # of the columns given
    instants: frozenset[str]  # those of them that are points in time
    zone: str  # of the session: naive features are read in it

    @staticmethod
    def of(df: Any) -> _Travel:
        """How a table travels."""
        kind = needed("pyspark.sql.types", "spark").TimestampType
        instants = {field.name for field in df.schema.fields if isinstance(field.dataType, kind)}
        zone = df.sparkSession.conf.get("spark.sql.session.timeZone")
        return _Travel(tuple(df.columns), frozenset(instants), zone)

    def sent(self, df: Any) -> Any:
        """The rows as they travel."""
        turned = needed("pyspark.sql.functions", "spark").unix_micros
        numbered = df.toDF(*_numbers(len(self.names)))
        return _with(numbered, turned, [name in self.instants for name in self.names])

    def arrived(self, frame: pd.DataFrame, columns: Iterable[Column]) -> pd.DataFrame:
        """Rows that have travelled, with the names and points in time that they had."""
        frame = frame.set_axis(self.names, axis=1)
        for column in columns:
            if column.name in self.instants:
                frame[column.name] = self._times(frame[column.name], column)
        return frame

    def _times(self, cells: pd.Series, column: Column) -> pd.Series:
        """Microseconds as the points in time that a column had in training."""
        moments = pd.to_datetime(cells.astype("Int64"), unit="us", utc=True)
        if column.storage.zone:
            return moments.dt.tz_convert(column.storage.zone)
        return moments.dt.tz_convert(self.zone).dt.tz_localize(None)


@dataclass(frozen=True)
class _Finding:
    """What a worker needs for a pass over the rows."""

    travel: _Travel
    finder: Finder

    @property
    def explainer(self) -> Explainer:
        """Who is asked."""
        return self.finder.explainer

    def made(self, frame: pd.DataFrame) -> pd.DataFrame:
        """What is found of rows as they travel."""
        rows = self.travel.arrived(frame, self.explainer.schema.frame_columns)
        return pd.DataFrame({"found": list(self.finder.found(rows))})


@dataclass(frozen=True)
class _Task:
    """What a worker needs to explain rows."""

    partition: Partition
    travel: _Travel

    @staticmethod
    def of(df: Any, partition: Partition) -> _Task:
        """The task for a table."""
        fields = (field._replace(unit="us") for field in partition.layout.fields)  # as Spark's own
        partition = replace(partition, layout=Layout(tuple(fields)))
        return _Task(partition, _Travel.of(df))

    @property
    def explainer(self) -> Explainer:
        """Who is asked."""
        explainer: Explainer = self.partition.chunks.explainer
        return explainer

    @property
    def columns(self) -> list[str]:
        """The names of the columns of the answers."""
        return [*map(str, self.partition.carried), *(f.name for f in self.partition.layout.fields)]

    @property
    def instants_made(self) -> list[bool]:
        """Which columns of the answers are points in time."""
        carried = [name in self.travel.instants for name in self.partition.carried]
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

    def made(self, frame: pd.DataFrame) -> pd.DataFrame:
        """The answers for rows as they travel, as they travel."""
        rows = self.travel.arrived(frame, self.explainer.schema.frame_columns)
        table = self.partition.explain_chunk(rows)
        for field in self.partition.layout.fields:
            if field.zone:
                table[field.name] = _microseconds(table[field.name])
        table = _plain_text(table)
        return table.set_axis(_numbers(table.shape[1]), axis=1)


def _plain_text(table: pd.DataFrame) -> pd.DataFrame:
    """Spark takes no text in several pieces."""
    text = [name for name in table if isinstance(table[name].dtype, pd.StringDtype)]
    return table.astype(dict.fromkeys(text, object))


def _microseconds(times: pd.Series) -> pd.Series:
    moments = times.dt.tz_convert("UTC").dt.as_unit("us")
    return moments.astype("int64").astype("Int64").mask(moments.isna())


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


def _work(df: Any, task: _Task | _Finding) -> Callable[[Frames], Frames]:
    """What runs in a task; where Spark has broadcasts, each worker opens the explainer once."""
    context = getattr(df.sparkSession, "sparkContext", None)
    if context is None:
        return partial(_explained, task)
    packed = context.broadcast(needed("pyspark.cloudpickle", "spark").dumps(task))
    return partial(_explained, packed)


def _explained(given: Any, frames: Frames) -> Frames:
    """The frames of a partition to frames of answers, or of what is found."""
    task = given if isinstance(given, _Task | _Finding) else _opened(given)
    return map(task.made, frames)


@lru_cache(maxsize=1)
def _opened(packed: Any) -> _Task | _Finding:
    """The explainer that was broadcast; a worker keeps it for all its tasks."""
    task: _Task | _Finding = needed("pyspark.cloudpickle", "spark").loads(packed.value)
    restrain(task.explainer, 1)
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
