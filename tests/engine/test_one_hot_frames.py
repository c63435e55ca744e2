"""Explaining a model of dummies: a block changes as one column, and exactly one stays hot."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.tree import DecisionTreeClassifier

import macex as mx
from macex.schema import Schema

ROWS = 300
EDU = ["edu_BSc", "edu_MSc", "edu_PhD", "edu_school"]


@pytest.fixture(scope="module")
def world():
    rng = np.random.default_rng(1)
    people = pd.DataFrame(
        {
            "age": rng.integers(18, 80, ROWS),
            "edu": rng.choice(["BSc", "MSc", "PhD", "school"], ROWS),
            "sex": rng.choice(["f", "m"], ROWS),
        }
    )
    rich = (people["edu"].isin(["MSc", "PhD"]) & (people["age"] > 40)).to_numpy()
    data = pd.get_dummies(people)
    return DecisionTreeClassifier(random_state=0).fit(data, rich), data


def test_exactly_one_stays_hot_in_every_answer(world):
    model, data = world
    found = mx.Explainer(model, data).explain(data, n=3).to_frame()
    assert (found["cf.status"] == "found").all()
    assert (found[EDU].sum(axis=1) == 1).all()
    assert found[data.columns].dtypes.equals(data.dtypes)
    assert (model.predict(found[data.columns]) == found["cf.label"]).all()


def test_a_block_is_one_change_in_words(world):
    model, data = world
    young = data[(data["age"] > 45) & data["edu_school"]].head(1)
    found = mx.Explainer(model, data).explain(young)[0]
    assert found.counterfactuals[0].sparsity == 1
    assert found.counterfactuals[0].changes[0][:2] == ("edu", "school")
    assert "If edu were" in found.sentences()[0]
    assert found.counterfactuals[0].changes[0].interval is None


def test_constraints_and_rules_speak_of_the_block(world):
    model, data = world
    explainer = mx.Explainer(model, data)
    wish = mx.Constraints(allowed={"edu": ["PhD"]}, rules=["if edu != old(edu) then age > 50"])
    changes = explainer.explain(data.head(60), constraints=wish, n=2).to_changes()
    assert set(changes.loc[changes["column"] == "edu", "after"]) == {"PhD"}
    fixed = explainer.explain(data.head(60), constraints=mx.Constraints(fixed=["edu"]))
    assert "edu" not in set(fixed.to_changes()["column"])


def test_a_member_in_a_constraint_is_an_error_that_names_the_block(world):
    model, data = world
    with pytest.raises(mx.ConstraintError, match="'edu_BSc': it is in the one-hot block 'edu'"):
        mx.Explainer(model, data, constraints=mx.Constraints(fixed=["edu_BSc"]))


def test_the_answer_is_that_of_the_column_before_it_was_encoded(world):
    model, data = world
    choice = data[EDU].to_numpy().argmax(axis=1)
    plain = pd.DataFrame(
        {
            "age": data["age"],
            "edu": np.array(["BSc", "MSc", "PhD", "school"])[choice],
            "sex": np.where(data["sex_f"], "f", "m"),
        }
    )

    def on_plain(rows):
        dummies = pd.get_dummies(rows).reindex(columns=data.columns, fill_value=False)
        return model.predict_proba(dummies)

    raw = mx.Explainer(on_plain, plain, classes=(False, True)).explain(plain.head(50), n=2)
    encoded = mx.Explainer(model, data).explain(data.head(50), n=2)
    assert encoded.to_json(canonical=True) == raw.to_json(canonical=True)


def test_polars_and_saved_explainers_agree(world, tmp_path):
    model, data = world
    frame = pl.from_pandas(data)

    def ask(rows):
        return model.predict_proba(rows.to_pandas() if isinstance(rows, pl.DataFrame) else rows)

    explainer = mx.Explainer(ask, frame, classes=(False, True))
    there = explainer.explain(frame.head(20))
    here = mx.Explainer(ask, data, classes=(False, True)).explain(data.head(20))
    assert there.to_json(canonical=True) == here.to_json(canonical=True)
    explainer.save(tmp_path / "explainer")
    again = mx.load(tmp_path / "explainer", ask)
    assert again.explain(frame.head(20)).to_json(canonical=True) == there.to_json(canonical=True)


def test_rows_need_the_columns_of_the_frame(world):
    model, data = world
    explainer = mx.Explainer(model, data)
    assert explainer.columns == list(data.columns)
    assert explainer.schema.names == Schema.infer(data).names == ("age", "edu", "sex")


def test_blocks_of_many_members_are_asked_in_bounded_calls():
    rng = np.random.default_rng(0)
    wide = np.eye(2000, dtype=np.int8)[rng.integers(0, 2000, 400)]
    data = pd.DataFrame(wide, columns=[f"code_{at:04}" for at in range(2000)])
    data["level"] = rng.integers(0, 10, 400)
    biggest = []

    def model(rows):
        biggest.append(rows.size)
        return (rows["level"] / 10 + rows["code_0007"]).clip(0, 1)

    explainer = mx.Explainer(model, data, classes=("no", "yes"))
    assert explainer.schema.names == ("code", "level")
    assert explainer.explain(data.head(50)).metrics()["validity"] == 1
    assert max(biggest) <= 4_100_000


def test_a_file_of_dummies_is_explained(world, tmp_path):
    model, data = world
    explainer = mx.Explainer(model, data)
    data.head(20).to_csv(tmp_path / "rows.csv", index=False)
    mx.explain_file(explainer, tmp_path / "rows.csv", tmp_path / "answers.csv")
    found = pd.read_csv(tmp_path / "answers.csv")
    assert (found[EDU].sum(axis=1) == 1).all()
    assert len(found) == 20


def test_a_model_of_dummies_can_be_accelerated(world):
    pytest.importorskip("skl2onnx")
    pytest.importorskip("onnxruntime")
    model, data = world
    numbers = data.astype("float32")
    quick = mx.accelerate(model, numbers)
    assert hasattr(quick, "report")
    found = mx.Explainer(quick, numbers).explain(numbers.head(10))
    assert (found.to_frame()[EDU].sum(axis=1) == 1).all()
