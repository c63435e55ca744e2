"""The pure function that every engine runs: rows in, answers out, as a frame or as structs."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from macex.ask.question import Question
from macex.errors import DataError, OptionError, closest
from macex.explainer import Explainer
from macex.scale.binary import undecimal
from macex.scale.chunks import ChunkExplainer
from macex.scale.layout import AnswerField, Layout, answers_layout

CHUNK = 4096


@dataclass(frozen=True)
class Partition:
    """Explains the rows of a partition, whatever other rows there are and wherever they are.

    Columns that the explainer does not know, the key of the rows among them, are `carried` to every
    line of their row, in front. The lines are those of `to_frame()`, without `cf.row`: a row has no
    position in a table that is spread over machines.
    """

    chunks: ChunkExplainer
    carried: tuple[Hashable, ...]
    layout: Layout

    @staticmethod
    def of(chunks: ChunkExplainer, columns: Sequence[Hashable]) -> Partition:
        """What explains the partitions of a table with these columns."""
        if chunks.explainer.recorder is not None:
            raise OptionError(
                "an explainer with an audit writes to one file, which the workers of an engine do "
                "not share: make it without audit="
            )
        carried = carried_columns(chunks.explainer, columns)
        fields = answers_layout(chunks.explainer).fields
        return Partition(chunks, carried, Layout(tuple(f for f in fields if f.name != "cf.row")))

    def explain_chunk(self, frame: pd.DataFrame) -> pd.DataFrame:
        """The answers for the rows of a frame."""
        tables = [self._explained(part) for part in cut(frame)]
        return tables[0] if len(tables) == 1 else pd.concat(tables)

    def _explained(self, frame: pd.DataFrame) -> pd.DataFrame:
        called = _called(frame.columns)
        table = self.chunks.answers(features_of(self.chunks.explainer, frame)).to_frame()
        beside = frame[list(self.carried)].take(table["cf.row"].to_numpy())
        answers = self.layout.typed(table.set_axis(map(str, table.columns), axis=1))
        made = {label: beside[label].array for label in beside}
        made |= {called.get(f.name, f.name): answers[f.name].array for f in self.layout.fields}
        return pd.DataFrame(made, index=beside.index)

    def empty(self, frame: pd.DataFrame) -> pd.DataFrame:
        """No row of the output for an input like `frame`."""
        nothing = frame.head(0)
        answers = self.layout.empty.set_index(nothing.index).rename(columns=_called(frame.columns))
        return pd.concat([nothing[list(self.carried)], answers], axis=1)


def features_of(explainer: Explainer, frame: pd.DataFrame) -> pd.DataFrame:
    """The features of the rows of a partition."""
    called, columns = _called(frame.columns), explainer.schema.frame_columns
    features = frame[[called[column.name] for column in columns]].copy(deep=False)
    for column in columns:
        label = called[column.name]
        features[label] = undecimal(features[label], column)
    return features


def cut(frame: pd.DataFrame) -> Iterator[pd.DataFrame]:
    """Chunks of a partition, so that memory stays flat; at least one."""
    for start in range(0, max(len(frame), 1), CHUNK):
        yield frame.iloc[start : start + CHUNK]


def _called(columns: Iterable[Hashable]) -> dict[str, Hashable]:
    """What a table calls its columns, by their names as text."""
    return {str(label): label for label in columns}


def carried_columns(explainer: Explainer, columns: Sequence[Hashable]) -> tuple[Hashable, ...]:
    """The columns of a table that are not features; one that is missing is an error."""
    names = [str(column) for column in columns]
    for column in explainer.columns:
        if column not in names:
            raise DataError(
                f"the table has no column {column!r}, which the training data has"
                f"{closest(column, names)}"
            )
    own = {*explainer.columns, *(field.name for field in answers_layout(explainer).fields)}
    for column in names:
        if column in own and column not in explainer.columns:
            raise DataError(f"the table has a column {column!r}, as the answers do: rename it")
        if names.count(column) > 1:
            raise DataError(f"the table has two columns {column!r}; keep one of them")
    return tuple(label for label, name in zip(columns, names, strict=True) if name not in own)


def refuse_other(table: Any, method: str, what: str) -> None:
    """Raise for a table that the engine does not know."""
    if not hasattr(table, method):
        raise OptionError(
            f"{what} is expected, not a {type(table).__name__}; a frame in memory is for "
            "explainer.explain"
        )


@dataclass(frozen=True)
class Structs:
    """Makes of the features of rows, in the order of training, one struct for each of them."""

    partition: Partition

    @staticmethod
    def of(explainer: Explainer, question: Question) -> Structs:
        """What answers a question, of one counterfactual a row, in structs."""
        return Structs(Partition.of(ChunkExplainer(explainer, question), explainer.columns))

    @property
    def fields(self) -> dict[str, AnswerField]:
        """What the struct holds, by what SQL calls it."""
        fields = self.partition.layout.fields
        return {said(field.name): field for field in fields if field.name != "cf.rank"}

    def made(self, rows: pd.DataFrame) -> pd.DataFrame:
        """The structs of some rows, a column for each field."""
        answers = self.partition.explain_chunk(rows)
        return pd.DataFrame({name: answers[field.name] for name, field in self.fields.items()})


def said(name: str) -> str:
    """What a field is called: the answers' own columns have no dot in SQL.

    >>> said("cf.status"), said("net.income")
    ('cf_status', 'net.income')
    """
    return name.replace(".", "_") if name.startswith("cf.") else name
