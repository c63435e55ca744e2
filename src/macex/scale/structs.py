"""The answer for a row as a struct, with names that SQL can say, for functions of SQL."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from macex.ask.question import Question
from macex.explainer import Explainer
from macex.scale.chunks import ChunkExplainer
from macex.scale.layout import AnswerField
from macex.scale.partition import Partition


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
