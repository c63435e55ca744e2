"""Every JSON that is written is as its published schema says, whatever was asked."""

from __future__ import annotations

import json

import pytest
from jsonschema import Draft202012Validator

import macex as mx
from checks.loans import chance, loans, merit
from macex.explanation.json import schema
from macex.explanation.reader import explanations_read

CHECK = Draft202012Validator(schema())
LINE = Draft202012Validator({**schema(), "oneOf": [{"$ref": "#/$defs/explanation"}]})
ROWS = loans().sample(8, random_state=1)

WISHES = {
    "nothing": {},
    "a group": {"groups": [["marital", "amount"]]},
    "a group with dates": {"groups": [["since", "grade"], ["owner", "age"]]},
    "a group that may not move": {
        "groups": [["marital", "amount"]],
        "fixed": ["marital", "amount"],
    },
    "rules": {"rules": ["amount <= 2 * income", "since >= '2021-01-01'"]},
    "a derived column": {"derived": {"amount": "income * 2"}},
    "blanks": {"may_blank": ["income"], "only": ["income", "since"]},
    "nothing left": {"fixed": list(loans().columns)},
}
GOALS = {
    "another class": {},
    "a class": {"want": "granted"},
    "a score": {"want": mx.at_least(0.9, label="granted")},
    "a rise": {"want": mx.rise_by(0.2, label="granted")},
    "several": {"n": 3, "diagnose": True},
    "few rows": {"max_rows": 3, "n": 2},
}


def classifier(method="exhaustive"):
    return mx.Explainer(chance, loans(), classes=("refused", "granted"), method=method)


def validate(found):
    for canonical in (False, True):
        CHECK.validate(json.loads(found.to_json(canonical=canonical)))
        for item in found:
            CHECK.validate(json.loads(item.to_json(canonical=canonical)))


@pytest.mark.parametrize("wish", WISHES.values(), ids=WISHES)
def test_answers_under_constraints_are_as_the_schema_says(method, wish):
    validate(classifier(method).explain(ROWS, n=2, constraints=wish))


@pytest.mark.parametrize("asked", GOALS.values(), ids=GOALS)
def test_answers_to_any_goal_are_as_the_schema_says(method, asked):
    validate(classifier(method).explain(ROWS, **asked))


def test_answers_of_a_bare_score_are_as_the_schema_says():
    groups = {"groups": [["since", "marital"]]}
    found = mx.Explainer(merit, loans()).explain(ROWS, want=mx.rise_by(1), constraints=groups)
    validate(found)
    assert {type(action.value) for item in found for action in item.actions} >= {tuple}


@pytest.mark.parametrize("wish", WISHES.values(), ids=WISHES)
def test_files_are_as_the_schema_says(wish, tmp_path):
    ROWS.to_parquet(tmp_path / "rows.parquet", index=False)
    asked = mx.Explainer(chance, loans(), classes=("refused", "granted"), constraints=wish)
    for name in ("out.json", "out.jsonl"):
        mx.explain_file(asked, tmp_path / "rows.parquet", tmp_path / name)
    CHECK.validate(json.loads((tmp_path / "out.json").read_text()))
    lines = (tmp_path / "out.jsonl").read_text().splitlines()
    assert len(lines) == len(ROWS)
    for line in lines:
        LINE.validate(json.loads(line))


@pytest.mark.parametrize("wish", WISHES.values(), ids=WISHES)
def test_what_was_written_is_read_as_it_was(wish):
    found = classifier().explain(ROWS, n=2, constraints=wish)
    document = json.loads(found.to_json())
    again = explanations_read(document["explanations"], found[0].source.rows)
    assert [item.actions for item in again] == [tuple(item.actions) for item in found]
    assert again.to_json(canonical=True) == found.to_json(canonical=True)
