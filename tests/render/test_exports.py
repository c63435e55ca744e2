"""Answers as files: what was written is what is read."""

from __future__ import annotations

import csv
import io
import json
import sys
from datetime import UTC, datetime, timedelta

import numpy as np
import pandas as pd
import polars as pl
import pytest

from explanation.made import TRAIN, batch, counterfactual, explanation
from macex.errors import RenderError
from macex.explanation import Explanations
from macex.render.exports import chromium, csv_text, pdf_bytes, workbook_bytes
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


needs_browser = pytest.mark.skipif(chromium() is None, reason="no Chromium here")


@needs_browser
def test_a_report_is_printed_whole(tmp_path):
    path = tmp_path / "report.pdf"
    batch().to_pdf(path, title="Loans")
    assert path.read_bytes().startswith(b"%PDF-")
    assert list(tmp_path.iterdir()) == [path]


def test_without_a_browser_the_error_says_what_to_do(monkeypatch, tmp_path):
    monkeypatch.setenv("MACEX_CHROMIUM", "a-browser-that-is-not-there")
    with pytest.raises(RenderError, match="MACEX_CHROMIUM"):
        batch().to_pdf(tmp_path / "report.pdf")
    assert list(tmp_path.iterdir()) == []


def test_a_browser_that_prints_nothing_is_an_error(monkeypatch):
    monkeypatch.setenv("MACEX_CHROMIUM", "true")
    with pytest.raises(RenderError, match="made no PDF"):
        pdf_bytes("<p>")


openpyxl = pytest.importorskip("openpyxl")


def cells(values):
    frame = pd.DataFrame({"x": pd.Series(values, dtype=object)})
    book = openpyxl.load_workbook(io.BytesIO(workbook_bytes({"one": frame})))
    return [line[0] for line in book["one"].iter_rows(min_row=2, values_only=True)]


def test_numbers_times_and_text_come_back():
    moment = datetime(2024, 2, 29, 12, 30)  # noqa: DTZ001 - as a sheet holds it
    values = [1, 2.5, True, "a", moment, None, timedelta(days=1)]
    assert cells(values) == [1, 2.5, True, "a", moment, None, timedelta(days=1)]


def test_what_excel_cannot_hold_is_text():
    zoned = datetime(2024, 1, 1, tzinfo=UTC)
    values = [np.inf, 2**60 + 1, zoned, (1, 2), "a\x00b", "=1+1", np.float64(0.5), "x" * 40_000]
    found = cells(values)
    assert found[:2] == ["inf", str(2**60 + 1)]
    assert found[2].startswith("2024-01-01")
    assert found[3:7] == ["(1, 2)", "a b", "'=1+1", 0.5]
    assert len(found[7]) == 32_767


def test_a_table_that_is_too_large_is_refused():
    frame = pd.DataFrame({"x": np.zeros(1_048_576)})
    with pytest.raises(RenderError, match="1,048,575 rows"):
        workbook_bytes({"answers": frame})


def test_a_value_that_a_cell_does_not_hold_is_refused_and_not_cut_off():
    frame = pd.DataFrame({"x": pd.Series([np.linspace(0, 1, 2000)], dtype=object)})
    with pytest.raises(RenderError, match="32,767 characters"):
        workbook_bytes({"answers": frame})
