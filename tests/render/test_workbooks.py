"""Cells that Excel cannot hold are written as text, or refused by name."""

from __future__ import annotations

import io
from datetime import UTC, datetime, timedelta

import numpy as np
import pandas as pd
import pytest

from macex.errors import RenderError
from macex.render.workbooks import workbook_bytes

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
