"""An explainer read from its file answers as the one that was written; no code comes out of it."""

from __future__ import annotations

import io
import json
import zipfile

import numpy as np
import pandas as pd
import pytest

import macex as mx
from checks.loans import by_merit, chance, loans, merit, model

ROWS = loans().head(6)
CLASSES = ("refused", "granted")


def read_again(asked: mx.Explainer, path, with_model) -> mx.Explainer:
    asked.save(path)
    return mx.load(path, with_model)


OPTIONS = {
    "default": {},
    "printed": {"selection": "printed", "finetune": "gradientless"},
    "objects": {
        "candidates": mx.Neighbors(k=12, values=2),
        "selection": mx.Selection(uses=2),
        "finetune": mx.Section(points=5, rounds=2),
    },
    "domain": {"candidates": "domain", "prefer": "nearest", "distance": "mad"},
    "untuned": {"finetune": None, "fallback": False, "random_state": 9, "distance": "percentile"},
}


@pytest.mark.parametrize("name", OPTIONS)
def test_the_same_bytes_come_back(method, name, tmp_path):
    asked = mx.Explainer(
        chance, loans(), method=method, classes=CLASSES, names={"age": "years"}, **OPTIONS[name]
    )
    again = read_again(asked, tmp_path / "loans.macex", chance)
    said = asked.explain(ROWS, n=2).to_json(canonical=True)
    assert again.explain(ROWS, n=2).to_json(canonical=True) == said
    assert repr(again) == repr(asked)


@pytest.mark.parametrize("name", ["logistic", "tiers", "labels", "margin", "margins", "careful"])
def test_every_kind_of_model_can_be_given_back(name, tmp_path):
    asked = mx.Explainer(model(name), loans())
    again = read_again(asked, tmp_path / "loans.macex", model(name))
    assert again.explain(ROWS).to_json(canonical=True) == asked.explain(ROWS).to_json(
        canonical=True
    )


WISHES = {
    "columns": {"fixed": ["age"], "only": ["age", "amount", "income"], "max_changes": 2},
    "dates": {"ranges": {"since": (pd.Timestamp("2020-02-01"), None), "amount": (1, 8)}},
    "allowed": {"allowed": {"marital": {"single": ["married"]}, "grade": ["A", "B"]}},
    "allowed numbers": {"allowed": {"age": {int(ROWS["age"].iloc[0]): [30, 31]}}},
    "allowed truth": {"allowed": {"owner": {True: [False], False: [True]}}},
    "rules": {"rules": ["amount <= age"], "groups": [("grade", "owner")]},
}


@pytest.mark.parametrize("name", WISHES)
def test_constraints_are_kept(name, tmp_path):
    wish = mx.Constraints(**WISHES[name])
    asked = mx.Explainer(chance, loans(), classes=CLASSES, constraints=wish)
    again = read_again(asked, tmp_path / "loans.macex", chance)
    said = asked.explain(ROWS, n=2).to_json(canonical=True)
    assert again.explain(ROWS, n=2).to_json(canonical=True) == said


def test_many_training_rows_change_nothing(method, tmp_path):
    rng = np.random.default_rng(0)
    data = loans().sample(2500, replace=True, random_state=1).reset_index(drop=True)
    data["amount"] = np.round(rng.gamma(2.0, 3.0, len(data)), 1)
    data.loc[1, "amount"] = 900.0
    asked = mx.Explainer(merit, data, method=method, finetune=None)
    again = read_again(asked, tmp_path / "loans.macex", merit)
    for want in (mx.at_least(1.0), mx.rise_by(1.0)):
        said = asked.explain(ROWS, want=want, n=2).to_json(canonical=True)
        assert again.explain(ROWS, want=want, n=2).to_json(canonical=True) == said


def test_the_file_holds_plain_arrays_and_one_document(method, tmp_path):
    path = tmp_path / "loans.macex"
    by_merit(method).save(path)
    with zipfile.ZipFile(path) as box:
        for name in box.namelist():
            if name.endswith(".npy"):
                np.load(io.BytesIO(box.read(name)), allow_pickle=False)
            else:
                json.loads(box.read(name))
    assert [p.name for p in tmp_path.iterdir()] == ["loans.macex"]


def broken(rows: pd.DataFrame) -> np.ndarray:
    raise KeyError("another column")


WRONG = {
    "another score": lambda rows: np.sqrt(chance(rows)),
    "three classes": lambda rows: np.full((len(rows), 3), 1 / 3),
    "NaN": lambda rows: np.full(len(rows), np.nan),
    "fails": broken,
    "short": lambda rows: np.zeros(2),
    "labels": model("labels"),
}


@pytest.mark.parametrize("name", WRONG)
def test_another_model_is_refused(name, tmp_path):
    path = tmp_path / "loans.macex"
    by_merit("exhaustive").save(path)
    with pytest.raises((mx.SavedError, mx.ModelError)):
        mx.load(path, WRONG[name])


@pytest.mark.parametrize("content", [b"", b"not a zip", b"PK\x03\x04 broken"])
def test_another_file_is_refused(content, tmp_path):
    path = tmp_path / "loans.macex"
    path.write_bytes(content)
    with pytest.raises(mx.SavedError):
        mx.load(path, chance)


@pytest.mark.parametrize("part", ["explainer.json", "codes.npy", "scores.npy"])
def test_a_file_with_a_part_missing_is_refused(part, tmp_path):
    path, cut = tmp_path / "loans.macex", tmp_path / "cut.macex"
    by_merit("exhaustive").save(path)
    with zipfile.ZipFile(path) as whole, zipfile.ZipFile(cut, "w") as box:
        for name in whole.namelist():
            if name != part:
                box.writestr(name, whole.read(name))
    with pytest.raises(mx.SavedError):
        mx.load(cut, chance)
