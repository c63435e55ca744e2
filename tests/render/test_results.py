"""Every result writes itself to every kind of file, and returns the path."""

from __future__ import annotations

import json
import pickle
import re

import numpy as np
import pandas as pd
import pytest

import macex as mx
from explanation.made import asking, batch, counterfactual, explanation
from macex.errors import PlaceError

DATA = pd.DataFrame(
    {
        "=hours": np.arange(20, 60),
        "job": ["=1+1", "clerk"] * 20,
        "since": pd.date_range("2020-01-01", periods=40, tz="UTC"),
        "sex": ["f", "m", "m", "f"] * 10,
    }
)


def model(rows):
    return (rows["=hours"] + 5 * (rows["job"] == "=1+1") >= 45).to_numpy(float)


@pytest.fixture(scope="module")
def results():
    explainer = mx.Explainer(model, DATA, classes=("no", "yes"))
    rows = DATA.head(20)
    found = explainer.explain(rows, n=2)
    return {
        "explanations": found,
        "explanation": found[0],
        "summary": found.summary(),
        "plan": explainer.plan(rows, want="yes"),
        "bias": explainer.bias(rows, protected=["sex"]),
        "recourse": explainer.recourse(rows, want="yes"),
        "picture": explainer.picture(rows, want="yes"),
    }


NAMES = ("explanations", "explanation", "summary", "plan", "bias", "recourse", "picture")
every_result = pytest.mark.parametrize("name", NAMES)


@every_result
def test_a_page_is_written_and_says_when_it_was_made(results, name, tmp_path):
    path = tmp_path / "page.html"
    assert results[name].to_html(path) == path
    page = path.read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>")
    assert "Made on</dt><dd>20" in page
    assert "<script" not in page
    assert isinstance(results[name].to_html(), str)


@pytest.mark.parametrize("name", [one for one in NAMES if one != "summary"])
def test_a_page_says_what_was_asked_of_which_model(results, name, tmp_path):
    page = results[name].to_html(tmp_path / "page.html", title="For the board").read_text()
    assert "<h1>For the board</h1>" in page
    assert "<title>For the board</title>" in page
    wanted = "any other decision" if name in ("explanations", "explanation", "bias") else "yes"
    assert f"Wanted</dt><dd>{wanted}" in page
    assert "May change</dt><dd>everything" in page
    assert re.search("Model</dt><dd>[0-9a-f]{12}<", page)


def test_a_goal_is_told_as_people_write_it():
    explainer = mx.Explainer(model, DATA, classes=("no", "yes"))
    page = explainer.explain(DATA.head(1), want=mx.any_of("no", "yes")).to_html()
    assert "Wanted</dt><dd>no or yes<" in page


def test_constraints_and_rows_of_their_own_are_told():
    explainer = mx.Explainer(model, DATA, classes=("no", "yes"), constraints={"fixed": ["sex"]})
    limits = {"ranges": {"=hours": (20, 50)}}
    page = explainer.explain(DATA.head(3), want="yes", constraints=limits).to_html()
    assert "sex" in re.search("May change</dt><dd>(.*?)<", page)[1]
    assert "=hours" in re.search("May change</dt><dd>(.*?)<", page)[1]
    page = explainer.explain(DATA.head(2), want=["yes", "no"], constraints=[None, limits]).to_html()
    assert page.count("<dd>one for each row") == 2


@every_result
def test_html_shows_itself_in_a_notebook_and_not_its_source(results, name):
    page = results[name].to_html()
    assert isinstance(page, str)
    assert page._repr_html_() == page
    assert len(repr(page)) < 100


def test_what_is_told_is_not_pickled(results):
    again = pickle.loads(pickle.dumps(results["explanation"]))  # noqa: S301 - its own bytes
    assert again == results["explanation"]
    assert not again.facts()


@every_result
def test_json_is_valid_and_names_its_format(results, name, tmp_path):
    path = results[name].to_json(tmp_path / "result.json")
    document = json.loads(path.read_text(encoding="utf-8"))
    assert document["format"].startswith("macex.")
    assert json.loads(results[name].to_json()) == document


@every_result
def test_a_sheet_of_excel_runs_no_text_of_the_data(results, name, tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    path = results[name].to_excel(tmp_path / "result.xlsx")
    book = openpyxl.load_workbook(path)
    cells = [cell for sheet in book for line in sheet.iter_rows() for cell in line]
    assert cells
    assert [cell.value for cell in cells if cell.data_type == "f"] == []


def test_a_sheet_of_excel_has_the_lines_of_the_frame(results, tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    found = results["explanations"]
    book = openpyxl.load_workbook(found.to_excel(tmp_path / "found.xlsx"))
    assert book.sheetnames == ["answers", "changes"]
    head, *lines = book["answers"].iter_rows(values_only=True)
    assert head[:2] == ("'=hours", "job")
    assert len(lines) == len(found.to_frame())
    assert [line[0] for line in lines] == found.to_frame()["=hours"].tolist()
    assert {line[1] for line in lines} <= {"'=1+1", "clerk"}


def test_one_explanation_is_a_table(results):
    one = results["explanation"]
    assert len(one.to_frame()) == len(one.counterfactuals)
    assert set(one.to_changes()["column"]) <= set(DATA.columns)


@pytest.mark.parametrize("bad", [None, 7, "a\0b"])
def test_a_path_must_be_one(results, bad):
    for name in NAMES:
        with pytest.raises(mx.OptionError):
            results[name].to_excel(bad)


def test_an_explanation_is_as_long_as_it_has_answers():
    found = explanation(counterfactual(1, age=39), counterfactual(1, age=40), query=1)
    assert len(found) == 2
    assert found[0] is found.counterfactuals[0]
    assert found[-1] is found.counterfactuals[1]
    assert found[:1] == found.counterfactuals[:1]
    assert list(found) == list(found.counterfactuals)
    assert found


def test_an_explanation_without_answers_is_false():
    none = explanation(reason="Nothing may change.", asked=asking(), status="none")
    assert len(none) == 0
    assert not none
    assert [bool(one) for one in batch()] == [len(one.counterfactuals) > 0 for one in batch()]


def test_an_answer_that_is_not_there_is_named():
    found = explanation(counterfactual(1, age=39), query=1)
    with pytest.raises(PlaceError, match="no answer 1: the row has 1 counterfactual, from 0"):
        found[1]
    with pytest.raises(IndexError):
        found[7029]
