"""Answers as files: what was written is what is read."""

from __future__ import annotations

import csv
import io
import json
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest

from explanation.made import TRAIN, batch, counterfactual, explanation
from macex.explanation import Explanations
from macex.render.exports import csv_text
from macex.schema import Schema

pytest.importorskip("pyarrow")


def in_polars():
    return batch(Schema.infer(TRAIN).read(pl.from_pandas(TRAIN)))


@pytest.mark.parametrize("found", [batch(), in_polars()], ids=["pandas", "polars"])
def test_csv_has_a_line_for_each_counterfactual(found, tmp_path):
    text = found.to_csv()
    assert found.to_csv(tmp_path / "answers.csv").read_bytes() == text.encode()
    table = pd.read_csv(io.StringIO(text))
    assert table["hours_per_week"].tolist() == [45, 40, 20, 60]
    assert table["cf.rank"].tolist() == [1, 2, 0, 1]
    assert table["cf.sparsity"].isna().tolist() == [False, False, True, False]


def test_csv_of_changes_has_a_line_for_each_change():
    table = pd.read_csv(io.StringIO(batch().to_csv(changes=True)))
    assert table["column"].tolist() == ["hours_per_week", "edu", "age"]
    assert table["after"].tolist() == ["45", "PhD", "39"]


def hostile(text):
    data = pd.DataFrame({"word": ["a", text], "=n": [-1.5, 2.0]})
    rows = Schema.infer(data).read(data)
    return Explanations([explanation(counterfactual(0, rows, word=text), rows=rows)])


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1"])
def test_text_that_a_spreadsheet_would_run_is_kept_from_it(text):
    safe = pd.read_csv(io.StringIO(hostile(text).to_csv()))
    assert safe["word"].tolist() == [f"'{text}"]
    assert safe["'=n"].tolist() == [-1.5]
    plain = pd.read_csv(io.StringIO(hostile(text).to_csv(formula_safe=False)), dtype={"word": str})
    assert plain["word"].tolist() == [text]


@pytest.mark.parametrize("found", [batch(), in_polars()], ids=["pandas", "polars"])
def test_parquet_keeps_kinds(found, tmp_path):
    path = tmp_path / "answers.parquet"
    found.to_parquet(path)
    table = pd.read_parquet(path)
    assert table["hours_per_week"].tolist() == [45, 40, 20, 60]
    assert pd.api.types.is_integer_dtype(table["age"])
    assert pd.api.types.is_datetime64_any_dtype(table["since"])
    assert table["cf.status"].tolist() == ["found", "found", "none", "found"]
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("found", [batch(), in_polars()], ids=["pandas", "polars"])
def test_parquet_of_changes_holds_values_of_every_kind_as_text(found, tmp_path):
    found.to_parquet(tmp_path / "changes.parquet", changes=True)
    table = pd.read_parquet(tmp_path / "changes.parquet")
    assert table["after"].tolist() == ["45", "PhD", "39"]
    assert table["low"].isna().tolist() == [False, True, True]


def test_categories_and_labels_of_several_kinds_are_written_as_text(tmp_path):
    data = pd.DataFrame({"x": pd.Categorical([1, "b", 1])})
    rows = Schema.infer(data).read(data)
    items = [
        explanation(counterfactual(0, rows, x="b"), rows=rows),
        explanation(rows=rows, query=1, label=0),
    ]
    Explanations(items).to_parquet(tmp_path / "mixed.parquet")
    table = pd.read_parquet(tmp_path / "mixed.parquet")
    assert table["x"].tolist() == ["b", "b"]
    assert table["cf.label"].tolist() == [">50K", "0"]


def test_nothing_is_a_file_with_columns(tmp_path):
    nothing = Explanations([])
    assert nothing.to_csv().startswith("cf.row,cf.rank")
    nothing.to_parquet(tmp_path / "nothing.parquet")
    assert len(pd.read_parquet(tmp_path / "nothing.parquet")) == 0


def test_json_is_written_as_it_is_returned(tmp_path):
    path = batch().to_json(tmp_path / "answers.json")
    assert json.loads(path.read_text(encoding="utf-8")) == json.loads(batch().to_json())


@pytest.mark.parametrize("write", ["to_csv", "to_parquet", "to_json", "to_html"])
def test_a_file_replaces_an_old_one_whole_and_a_missing_folder_is_named(write, tmp_path):
    path = tmp_path / "answers"
    path.write_text("old", encoding="utf-8")
    getattr(batch(), write)(path)
    assert path.read_bytes() != b"old"
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(FileNotFoundError, match="nowhere"):
        getattr(batch(), write)(tmp_path / "nowhere" / "answers")


def test_parquet_without_pyarrow_says_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r"pip install macex\[files\]"):
        batch().to_parquet(tmp_path / "answers.parquet")


def frame_of(library, cells):
    return {"pandas": pd.DataFrame, "polars": pl.DataFrame}[library](cells)


@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.parametrize("text", ["a\rb", "a\nb", "a\r\nb", 'a"b', "a,b", " a"])
def test_a_cell_with_an_end_of_a_line_stays_one_cell(library, text):
    written = csv_text(frame_of(library, {"word": [text, "c"]}))
    assert list(csv.reader(io.StringIO(written, newline=""))) == [["word"], [text], ["c"]]


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_narrow_float_is_written_with_its_own_digits(library):
    cells = np.array([0.1, 1e-05, np.nan], np.float32)
    assert csv_text(frame_of(library, {"x": cells})).splitlines()[:3] == ["x", "0.1", "1e-05"]


def test_a_later_part_has_no_head():
    assert csv_text(pd.DataFrame({"x": [1]}), head=False) == "1\n"
