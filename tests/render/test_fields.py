"""A column looks like what it takes: a number with its range, a choice, a search."""

from __future__ import annotations

import numpy as np
import pandas as pd

from macex import Schema
from macex.render.fields import FOUND, Slider, blank_fields, fields, found_values, grouped
from macex.render.names import Name
from macex.render.speech import Speech

DATA = pd.DataFrame(
    {
        "hours": range(20, 220),
        "rate": np.linspace(0, 1, 200).round(3),
        "job": ["cook", "nurse"] * 100,
        "city": [f"city {number:03d}" for number in range(200)],
        "since": pd.date_range("2020-01-01", periods=200).where(np.arange(200) % 9 > 0),
    }
)
SCHEMA = Schema.infer(DATA)


def test_each_kind_of_column_has_its_field():
    row = SCHEMA.read(DATA.iloc[[1]])
    found = {field.column: field for field in fields(row, Speech({"rate": Name("rate", unit="%")}))}
    kinds = {name: field.kind for name, field in found.items()}
    assert kinds == {
        "hours": "number",
        "rate": "number",
        "job": "choice",
        "city": "search",
        "since": "moment",
    }
    assert found["hours"].slider == Slider("20", "219", "1")
    assert [option.text for option in found["job"].options] == ["cook", "nurse"]
    assert found["since"].own == "2020-01-02"
    assert found["rate"].shown.endswith(" %")


def test_a_value_outside_the_data_is_within_its_slider():
    row = SCHEMA.read({**DATA.iloc[1].to_dict(), "hours": 500, "job": "pilot"})
    found = {field.column: field for field in fields(row, Speech())}
    assert found["hours"].slider == Slider("20", "500", "1")
    assert found["job"].options[0].text == "pilot"


def test_a_search_shows_what_begins_with_the_text_first():
    names = pd.DataFrame({"name": [*(f"x{i} oslo" for i in range(30)), "Oslo", "oslo east"]})
    column = Schema.infer(names).columns[0]
    found = [option.text for option in found_values(column, " OSLO ", Speech())]
    assert set(found[:2]) == {"Oslo", "oslo east"}
    assert len(found) == FOUND


def test_of_no_row_in_particular_fields_are_empty():
    assert {field.own for field in blank_fields(SCHEMA, Speech())} == {""}


def test_columns_of_two_values_are_switches():
    data = DATA.assign(flag=[0, 1] * 100, few=[1, 2] * 100, gap=[0.0, None] * 100)
    schema = Schema.infer(data)
    found = {one.column: one for one in fields(schema.read(data.iloc[[1]]), Speech())}
    assert [option.text for option in found["flag"].switch] == ["0", "1"]
    assert [option.text for option in found["job"].switch] == ["cook", "nurse"]
    assert not found["few"].switch
    assert not found["gap"].switch  # it may be missing


def test_many_columns_are_grouped_by_name_or_by_kind():
    names = [f"{part}_{at}" for part in ("income", "house") for at in range(15)]
    schema = Schema.infer(pd.DataFrame({name: range(30) for name in names}))
    titles = [group.title for group in grouped(blank_fields(schema, Speech()))]
    assert titles == ["income", "house"]
    plain = Schema.infer(pd.DataFrame({f"c{at}": range(30) for at in range(300)}))
    groups = grouped(blank_fields(plain, Speech()))
    assert [(group.title, len(group.fields)) for group in groups] == [("Numbers", 300)]
