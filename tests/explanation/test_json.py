"""JSON: what the schema says, nothing JSON lacks, and the same bytes for the same answer."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, date, datetime
from math import inf, isfinite, nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from explanation.made import batch, counterfactual, explanation
from macex.ask.goals import above_row, any_of, at_least, below, between, rise_by
from macex.explanation import Cost, Explanations
from macex.explanation.json import dumps, measured, plain, schema

CHECK = Draft202012Validator(schema())
GOALS = [any_of("a", 1), at_least(0.7, label="a"), below(3), between(1, 2), rise_by(-0.2)]


def test_the_schema_is_a_schema():
    Draft202012Validator.check_schema(schema())


@pytest.mark.parametrize("canonical", [False, True])
def test_a_batch_is_as_the_schema_says(canonical):
    document = json.loads(batch().to_json(canonical=canonical))
    CHECK.validate(document)
    assert document["format"] == "macex.explanations/1"
    assert [item["status"] for item in document["explanations"]] == ["found", "none", "found"]


@pytest.mark.parametrize("canonical", [False, True])
@pytest.mark.parametrize("goal", [*GOALS, above_row({"age": 3})], ids=lambda goal: goal.text)
def test_a_single_explanation_is_as_the_schema_says(goal, canonical):
    document = json.loads(replace(batch()[0], goal=goal).to_json(canonical=canonical))
    CHECK.validate(document)
    assert document["goal"]["text"] == goal.text


@pytest.mark.parametrize(
    "broken", [{"status": "lost"}, {"score": "high"}, {"extra": 1}, {"goal": {"text": "x"}}]
)
def test_the_schema_refuses_what_is_no_explanation(broken):
    document = json.loads(batch()[0].to_json())
    assert not CHECK.is_valid({**document, **broken})


def test_a_missing_bound_is_null():
    goal = json.loads(explanation(goal=at_least(0.7)).to_json())["goal"]
    assert (goal["kind"], goal["low"], goal["high"]) == ("band", 0.7, None)


def test_cells_are_whole_rows_with_the_changes_written():
    document = json.loads(batch()[0].to_json())
    first = document["counterfactuals"][0]
    assert document["query"] == {
        "age": 38, "hours_per_week": 40, "edu": "BSc", "rate": 1.25, "since": "2020-01-02T00:00:00",
    }  # fmt: skip
    assert first["row"] == {**document["query"], "hours_per_week": 45}
    assert first["changes"] == [
        {
            "column": "hours_per_week",
            "before": 40,
            "after": 45,
            "interval": {"low": 44, "high": 60, "tested": 17, "exact": True},
        }
    ]


def test_equal_answers_are_equal_bytes_whatever_they_cost_and_are_called():
    found = batch()
    other = Explanations(
        [replace(item, cost=Cost(99, 1, 2.5), names={"age": "years"}) for item in found],
        {"age": "years"},
        {"macex": "9.9", "seconds": 3.0},
    )
    assert other.to_json(canonical=True) == found.to_json(canonical=True)
    assert other.to_json() != found.to_json()
    assert other[0].to_json(canonical=True) == found[0].to_json(canonical=True)


def test_different_answers_are_different_bytes():
    one, other = (explanation(counterfactual(age=age)) for age in (38, 52))
    assert one.to_json(canonical=True) != other.to_json(canonical=True)


def test_canonical_bytes_are_sorted_tight_and_ascii():
    text = batch().to_json(canonical=True)
    document = json.loads(text)
    assert text == json.dumps(document, sort_keys=True, separators=(",", ":"))
    assert text.isascii()


def test_numbers_json_lacks_do_not_appear():
    found = replace(counterfactual(age=38), proximity=inf, plausibility=None)
    document = json.loads(explanation(found, score=nan, label=None).to_json())
    assert document["score"] is None
    assert document["counterfactuals"][0]["proximity"] is None
    CHECK.validate(document)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (np.float64(nan), None),
        (inf, "inf"),
        (2**70, 2**70),
        (np.bool_(True), True),
        (datetime(2024, 1, 2, 3, tzinfo=UTC), "2024-01-02T03:00:00+00:00"),
        (date(2024, 1, 2), "2024-01-02"),
        ((1, "a"), [1, "a"]),
        ({1}, "{1}"),
    ],
)
def test_every_value_has_a_form(value, expected):
    assert plain(value) == expected


@given(st.floats())
def test_a_measured_number_is_kept_to_nine_digits(value):
    kept = measured(value)
    if not isfinite(value):
        assert kept is None
    else:
        assert kept == pytest.approx(value, rel=1e-8)
        assert measured(kept) == kept


@given(st.recursive(st.none() | st.floats() | st.text() | st.datetimes(), st.lists, max_leaves=5))
def test_anything_plain_can_be_written_and_read_again(value):
    assert json.loads(dumps({"x": plain(value)}, canonical=True)) == {"x": plain(value)}
