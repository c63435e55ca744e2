"""A column looks like what it takes: a number with its range, a choice, a search."""

from __future__ import annotations

import pandas as pd

from macex import Schema
from macex.render.names import Name
from macex.render.speech import Speech
from macex.server.pages.fields import FOUND, Slider, blank_fields, fields, found_values
from server.pages.conftest import DATA


def test_each_kind_of_column_has_its_field(explainer):
    row = explainer.schema.read(DATA.iloc[[1]])
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


def test_a_value_outside_the_data_is_within_its_slider(explainer):
    row = explainer.schema.read({**DATA.iloc[1].to_dict(), "hours": 500, "job": "pilot"})
    found = {field.column: field for field in fields(row, Speech())}
    assert found["hours"].slider == Slider("20", "500", "1")
    assert found["job"].options[0].text == "pilot"


def test_a_search_shows_what_begins_with_the_text_first():
    names = pd.DataFrame({"name": [*(f"x{i} oslo" for i in range(30)), "Oslo", "oslo east"]})
    column = Schema.infer(names).columns[0]
    found = [option.text for option in found_values(column, " OSLO ", Speech())]
    assert set(found[:2]) == {"Oslo", "oslo east"}
    assert len(found) == FOUND


def test_of_no_row_in_particular_fields_are_empty(explainer):
    assert {field.own for field in blank_fields(explainer.schema, Speech())} == {""}
