"""Whatever the columns are made of, a model of each family answers and its answers hold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

import macex as mx
from models.people import GAPS, GRANTED, PEOPLE

COLUMNS: dict[str, Callable[[pd.DataFrame], pd.DataFrame]] = {
    "plain": lambda rows: rows.copy(),
    "small integers": lambda rows: rows.assign(age=rows["age"].astype("int8")),
    "nullable": lambda rows: rows.convert_dtypes(dtype_backend="numpy_nullable"),
    "float32": lambda rows: rows.assign(income=rows["income"].astype("float32")),
    "objects": lambda rows: rows.assign(job=rows["job"].astype(object)),
    "categories": lambda rows: rows.assign(job=rows["job"].astype("category")),
    "ordered": lambda rows: rows.assign(
        job=pd.Categorical(rows["job"], ["none", "part-time", "full-time"], ordered=True)
    ),
    "numbers as categories": lambda rows: rows.assign(
        job=rows["job"].map({"none": 10, "part-time": 20, "full-time": 30}).astype("category")
    ),
    "other letters": lambda rows: rows.assign(
        job=rows["job"].map({"none": "né", "part-time": "nè", "full-time": "完"}).astype("category")
    ),
    "numbered labels": lambda rows: rows.set_axis([10, 20, 30, 40], axis=1),
}


def codes(rows: pd.DataFrame) -> np.ndarray:
    """The columns as numbers, by position."""
    job = rows.iloc[:, 2]
    known = job.cat.categories if hasattr(job, "cat") else ["full-time", "none", "part-time"]
    place = job.map({value: at for at, value in enumerate(known)})
    return np.column_stack([rows.iloc[:, 0], rows.iloc[:, 1], place, rows.iloc[:, 3]]).astype(float)


def of_function(data: pd.DataFrame) -> Any:
    from sklearn.ensemble import RandomForestClassifier

    trees = RandomForestClassifier(10, max_depth=5, random_state=0).fit(codes(data), GRANTED)
    return lambda rows: trees.predict_proba(codes(rows))


def of_histograms(data: pd.DataFrame) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(max_iter=15, random_state=0).fit(data, GRANTED)


def of_xgboost(data: pd.DataFrame) -> Any:
    library = pytest.importorskip("xgboost")
    model = library.XGBClassifier(n_estimators=10, max_depth=4, enable_categorical=True)
    return model.fit(data, GRANTED.astype(int))


def of_lightgbm(data: pd.DataFrame) -> Any:
    library = pytest.importorskip("lightgbm")
    return library.LGBMClassifier(n_estimators=10, verbose=-1).fit(data, GRANTED)


def of_catboost(data: pd.DataFrame) -> Any:
    library = pytest.importorskip("catboost")
    model = library.CatBoostClassifier(
        iterations=10, verbose=0, cat_features=[2], allow_writing_files=False
    )
    return model.fit(data, GRANTED.astype(int))


FAMILIES = {
    "function": of_function,
    "histograms": of_histograms,
    "xgboost": of_xgboost,
    "lightgbm": of_lightgbm,
    "catboost": of_catboost,
}
CATEGORIES_ALONE = {"histograms", "xgboost", "lightgbm"}


def decided(model: Any, rows: pd.DataFrame) -> list[int]:
    if not hasattr(model, "predict"):
        return model(rows).argmax(axis=1).tolist()
    return np.asarray(model.predict(rows)).reshape(-1).astype(int).tolist()


@pytest.mark.parametrize("columns", COLUMNS)
@pytest.mark.parametrize("family", FAMILIES)
def test_answers_hold_and_keep_the_dtypes(family, columns):
    data = COLUMNS[columns](PEOPLE)
    if family in CATEGORIES_ALONE:
        job = data.columns[2]
        data[job] = data[job].astype("category")
    model = FAMILIES[family](data)
    rows = data.iloc[:6]
    found = mx.Explainer(model, data).explain(rows)
    assert [explanation.status for explanation in found] == ["found"] * 6
    after = pd.concat([explanation.counterfactuals[0].row for explanation in found])
    assert (after.dtypes == data.dtypes).all()
    assert not any(a == b for a, b in zip(decided(model, after), decided(model, rows), strict=True))


@pytest.mark.parametrize("family", ["histograms", "xgboost", "lightgbm"])
def test_gaps_may_be_filled_and_are_not_made(family):
    data = GAPS.assign(job=GAPS["job"].astype("category"))
    model = FAMILIES[family](data)
    explainer = mx.Explainer(model, data)
    rows = data[data["income"].isna()].head(8)
    only = mx.Constraints(only=["income", "age"])
    found = explainer.explain(rows, constraints=only)
    changed = [c for e in found for answer in e.counterfactuals for c in answer.changes]
    assert any(change.column == "income" and change.before is None for change in changed)
    whole = data[data["income"].notna()].head(30)
    for explanation in explainer.explain(whole):
        for answer in explanation.counterfactuals:
            assert answer.row["income"].notna().all()
    may = mx.Constraints(only=["income"], may_blank=["income"])
    blanked = explainer.explain(whole, constraints=may)
    for explanation in blanked:
        for answer in explanation.counterfactuals:
            assert decided(model, answer.row) != decided(model, explanation.query)


def test_polars_frames_reach_a_booster_by_name():
    polars = pytest.importorskip("polars")
    data = PEOPLE.assign(job=PEOPLE["job"].astype("category"))
    model = of_xgboost(data)
    frame = polars.from_pandas(PEOPLE)
    explainer = mx.Explainer(model, frame)
    found = explainer.explain(frame.head(5))
    for place, explanation in enumerate(found):
        row = explanation.counterfactuals[0].row
        assert isinstance(row, polars.DataFrame)
        after = row.to_pandas().assign(
            job=lambda r: pd.Categorical(r["job"], data["job"].cat.categories)
        )
        assert decided(model, after) != decided(model, data.iloc[[place]])
