"""A partition is explained whole, however many chunks and blocks it is cut into."""

from __future__ import annotations

import pandas as pd
import pytest

import macex as mx
from macex.ask.question import Question
from macex.scale.chunks import ChunkExplainer
from macex.scale.partition import Partition
from scale.town import applicants, bank, expected, grants, ordered


@pytest.mark.parametrize("index", [range(60), range(100, 160), ["same"] * 60])
def test_every_line_has_its_own_key_and_index(monkeypatch, index):
    monkeypatch.setattr("macex.scale.partition.CHUNK", 16)
    monkeypatch.setattr("macex.engine.batch.MOST_QUERIES", 5)
    rows, explainer = applicants(60).set_axis(pd.Index(index)), bank()
    partition = Partition.of(ChunkExplainer(explainer, Question(n=2)), list(rows.columns))
    made = partition.explain_chunk(rows)
    assert ordered(made) == ordered(expected(explainer, rows, n=2))
    labels = dict(zip(rows["key"], rows.index, strict=True))
    assert made.index.tolist() == [labels[key] for key in made["key"]]
    assert made.dtypes.to_dict() == partition.empty(rows).dtypes.to_dict()


def test_an_audit_does_not_travel(tmp_path):
    audited = mx.Explainer(
        grants(), applicants(50).drop(columns="key"), classes=(0, 1), audit=tmp_path / "log"
    )
    with pytest.raises(mx.OptionError, match="audit"):
        Partition.of(ChunkExplainer(audited, Question()), audited.columns)


def test_constraints_that_name_nothing_are_refused_before_any_row_is_asked_about():
    with pytest.raises(mx.ConstraintError, match="no column 'incom'; did you mean 'income'"):
        ChunkExplainer(bank(), Question(constraints={"fixed": ["incom"]}))


def test_a_column_called_like_an_answer_is_refused():
    explainer = bank()
    with pytest.raises(mx.DataError, match=r"'cf.score'.*rename"):
        Partition.of(ChunkExplainer(explainer, Question()), [*explainer.columns, "cf.score"])
