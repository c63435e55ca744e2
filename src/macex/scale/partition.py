"""The pure function that every engine runs: a frame of rows in, a frame of answers out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pandas as pd

from macex.errors import DataError, OptionError, closest
from macex.explainer import Explainer
from macex.scale.layout import Layout, answers_layout
from macex.scale.question import Question

CHUNK = 4096


@dataclass(frozen=True)
class Partition:
    """Explains the rows of a partition, whatever other rows there are and wherever they are.

    Columns that the explainer does not know, the key of the rows among them, are `carried` to every
    line of their row, in front. The lines are those of `to_frame()`, without `cf.row`: a row has no
    position in a table that is spread over machines.
    """

    question: Question
    carried: tuple[str, ...]
    layout: Layout

    @staticmethod
    def of(question: Question, columns: Sequence[str]) -> Partition:
        """What explains the partitions of a table with these columns."""
        if question.explainer._recorder is not None:  # noqa: SLF001 - a closer friend than callers
            raise OptionError(
                "an explainer with an audit writes to one file, which the workers of an engine do "
                "not share: make it without audit="
            )
        carried = carried_columns(question.explainer, columns)
        fields = answers_layout(question.explainer).fields
        return Partition(question, carried, Layout(tuple(f for f in fields if f.name != "cf.row")))

    def explain_chunk(self, frame: pd.DataFrame) -> pd.DataFrame:
        """The answers for the rows of a frame."""
        tables = [self._explained(part) for part in _cut(frame)]
        return tables[0] if len(tables) == 1 else pd.concat(tables)

    def _explained(self, frame: pd.DataFrame) -> pd.DataFrame:
        table = self.question.answers(frame[self.question.explainer.columns]).to_frame()
        beside = frame[list(self.carried)].take(table["cf.row"].to_numpy())
        answers = self.layout.typed(table).set_axis(beside.index)
        made = {name: part[name].array for part in (beside, answers) for name in part}
        return pd.DataFrame(made, index=beside.index)

    def empty(self, frame: pd.DataFrame) -> pd.DataFrame:
        """No row of the output for an input like `frame`."""
        nothing = frame.head(0)
        answers = self.layout.empty.set_index(nothing.index)
        return pd.concat([nothing[list(self.carried)], answers], axis=1)


def _cut(frame: pd.DataFrame) -> Iterator[pd.DataFrame]:
    """Chunks of a partition, so that memory stays flat; at least one."""
    for start in range(0, max(len(frame), 1), CHUNK):
        yield frame.iloc[start : start + CHUNK]


def carried_columns(explainer: Explainer, columns: Sequence[str]) -> tuple[str, ...]:
    """The columns of a table that are no features; one that is missing is an error."""
    for column in explainer.columns:
        if column not in columns:
            raise DataError(
                f"the table has no column {column!r}, which the training data has"
                f"{closest(column, columns)}"
            )
    own = {*explainer.columns, *(field.name for field in answers_layout(explainer).fields)}
    for column in columns:
        if column in own and column not in explainer.columns:
            raise DataError(f"the table has a column {column!r}, as the answers do: rename it")
    return tuple(column for column in columns if column not in own)
