"""Consequences are told apart from what is done, wherever an answer is told."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression

import macex as mx
from macex.audit import read_records
from macex.explanation.json import explanation_document

RNG = np.random.default_rng(1)
SCHOOL = RNG.integers(8, 20, 400)
INCOME = (1500 * SCHOOL + RNG.normal(0, 2000, 400)).round(-1)
X = pd.DataFrame({"school": SCHOOL, "income": INCOME})
FITTED = mx.Causes({"income": ["school"]})
STATED = mx.Causes(mechanisms={"income": "1500 * school + u"})
ONLY = {"only": ["school"]}


def model(rows):
    return 1 / (1 + np.exp((24000 - rows["income"]) / 1000))


def explainer(causes, **options):
    return mx.Explainer(model, X, classes=("no", "yes"), causes=causes, **options)


def told(causes):
    refused = X[model(X) < 0.5].head(1)
    return explainer(causes).explain(refused, constraints=ONLY, want="yes")


@pytest.mark.parametrize(("causes", "estimated"), [(FITTED, True), (STATED, False)])
def test_text_cards_and_sentences_say_what_is_estimated(causes, estimated):
    found = told(causes)
    assert ("estimated)" in repr(found[0])) == estimated
    assert "(follows" in repr(found[0])
    assert ("follows from the others, estimated" in found[0].to_html()) == estimated
    assert "follows from the others" in found[0].to_html()
    (sentence,) = found[0].sentences()[-1:]
    assert ("so that income were about" in sentence) == estimated
    assert "so that income were" in sentence
    assert found.to_changes()["follows"].tolist() == [False, True]


@pytest.mark.parametrize(("causes", "estimated"), [(FITTED, True), (STATED, False)])
def test_json_says_what_is_estimated(causes, estimated):
    document = explanation_document(told(causes)[0], canonical=True)
    (consequence,) = json.loads(json.dumps(document))["counterfactuals"][0]["consequences"]
    assert consequence["column"] == "income"
    assert consequence.get("estimated", False) == estimated


@pytest.mark.parametrize(
    "causes", [FITTED, STATED, mx.Causes({"income": ["school"]}, {"income": "trees"})]
)
def test_a_saved_explainer_has_its_causes(tmp_path, causes):
    first = explainer(causes)
    first.save(tmp_path / "saved.macex")
    again = mx.load(tmp_path / "saved.macex", model)
    assert again.causes == causes
    rows = X.head(20)
    assert [e.to_json(canonical=True) for e in again.explain(rows)] == [
        e.to_json(canonical=True) for e in first.explain(rows)
    ]


def test_a_private_file_keeps_stated_causes_alone(tmp_path):
    explainer(STATED).save(tmp_path / "stated.macex", private=True)
    assert mx.load(tmp_path / "stated.macex", model).explain(X.head(2))
    with pytest.raises(mx.ConstraintError, match="fitted to training rows"):
        explainer(FITTED).save(tmp_path / "fitted.macex", private=True)


def test_a_live_mechanism_cannot_be_saved(tmp_path):
    live = explainer(mx.Causes({"income": ["school"]}, {"income": LinearRegression()}))
    assert live.explain(X.head(3))
    with pytest.raises(mx.ConstraintError, match="cannot be written down"):
        live.save(tmp_path / "live.macex")


def test_a_recorded_answer_is_made_again(tmp_path):
    path = tmp_path / "audit.jsonl"
    explainer(FITTED, audit=path).explain(X.head(3))
    record = next(read_records(path))
    assert mx.replay(record["id"], path, model=model, data=X).difference is None


def test_a_device_does_not_follow_causes():
    pytest.importorskip("torch")
    xgboost = pytest.importorskip("xgboost")
    from macex.device import on_device

    boosted = xgboost.XGBClassifier(n_estimators=5, max_depth=2).fit(X, model(X) > 0.5)
    with pytest.raises(mx.OptionError, match="causes cannot be followed on a device"):
        on_device(mx.Explainer(boosted, X, causes=FITTED), "cpu")


def test_an_estimate_says_how_likely_the_goal_is_met():
    (answer,) = told(FITTED)[0].counterfactuals
    assert 0.9 <= answer.reach <= 1
    assert told(STATED)[0].counterfactuals[0].reach is None
    assert "reach" in told(FITTED)[0].to_html()
    document = explanation_document(told(FITTED)[0], canonical=True)
    assert document["counterfactuals"][0]["reach"] == answer.reach
    border = explainer(FITTED, prefer="nearest").explain(
        X[model(X) < 0.5].head(40), constraints={"only": ["income"]}, want="yes"
    )
    assert {e.counterfactuals[0].reach for e in border if e.counterfactuals} == {1.0}


def test_with_a_limit_of_rows_nothing_is_drawn():
    found = explainer(FITTED).explain(X.head(30), max_rows=60)
    assert max(e.cost.rows for e in found) <= 60
    assert {c.reach for e in found for c in e.counterfactuals} == {None}


def test_a_file_of_constraints_says_causes_beside_them(tmp_path):
    from macex.ask.constraints import Constraints
    from macex.cli.toml import read_causes, read_constraints

    file = tmp_path / "rules.toml"
    file.write_text('only = ["school"]\n[causes.edges]\nincome = ["school"]\n', encoding="utf-8")
    assert read_causes(file) == FITTED
    ground = explainer(None).engine.fitted.ground
    assert read_constraints(file, ground) == Constraints(only=["school"])
    assert read_causes(None) is None
    file.write_text('fixed = ["school"]\n[causes.edge]\n', encoding="utf-8")
    with pytest.raises(mx.ConstraintError, match=r"rules.toml line 2.*no part 'edge'"):
        read_causes(file)


def test_what_follows_on_average_is_named_so():
    found = told(mx.Causes({"income": ["school"]}, effects="average"))
    (answer,) = found[0].counterfactuals
    assert answer.average
    assert "(follows on average)" in repr(found[0])
    assert "as it does on average in similar rows" in found[0].to_html()
    (line,) = explanation_document(found[0], canonical=True)["counterfactuals"][0]["consequences"]
    assert (line["estimated"], line["average"]) == (True, True)
    assert not told(FITTED)[0].counterfactuals[0].average


def test_a_report_draws_the_graph(tmp_path):
    found = told(FITTED)
    page = found.to_html(tmp_path / "report.html").read_text(encoding="utf-8")
    assert 'class="macex-causes"' in page
    assert "What causes what" in page
    assert json.loads(found.to_json())["meta"]["causes"] == {"income": ["school"]}
    bare = explainer(None).explain(X.head(1)).to_html(tmp_path / "bare.html")
    assert "macex-causes" not in bare.read_text(encoding="utf-8")
