from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("torch")
pytest.importorskip("xgboost")

import torch
import xgboost
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import macex as mx
from macex.device import on_device
from macex.device.frames import Twins
from macex.device.proposals import Borrowed


def people(count: int = 400, seed: int = 0) -> pd.DataFrame:
    draw = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "income": draw.integers(20, 120, count),
            "debt": draw.integers(0, 60, count),
            "job": draw.choice(["none", "part-time", "full-time"], count),
        }
    )


def granted(rows: pd.DataFrame) -> np.ndarray:
    return (0.1 * rows["income"] - 0.1 * rows["debt"] + 2.0 * (rows["job"] == "full-time")) > 6


@cache
def trees() -> mx.Explainer:
    columns = make_column_transformer(
        (OneHotEncoder(sparse_output=False, handle_unknown="ignore"), ["job"]),
        ("passthrough", ["income", "debt"]),
    )
    boosted = xgboost.XGBClassifier(n_estimators=30, max_depth=3, n_jobs=1, random_state=0)
    rows = people()
    return mx.Explainer(make_pipeline(columns, boosted).fit(rows, granted(rows)), rows)


@cache
def network() -> mx.Explainer:
    def prepared(rows: pd.DataFrame) -> np.ndarray:
        jobs = [rows["job"] == job for job in ("none", "part-time", "full-time")]
        return np.column_stack([rows["income"] / 50, rows["debt"] / 50, *jobs]).astype(np.float32)

    module = torch.nn.Linear(5, 1)
    with torch.no_grad():
        module.weight[:] = torch.tensor([[5.0, -5.0, 0.0, 0.0, 2.0]])
        module.bias[:] = -6.0
    model = mx.Network(module, prepared, classes=("no", "yes"), logits=True)
    return mx.Explainer(model, people())


@pytest.mark.parametrize("made", [trees, network])
def test_every_answer_holds_with_the_callers_model_and_changes_as_few_columns(made):
    rows, explainer = people(60, seed=1), made()
    found, usual = on_device(explainer, "cpu").explain(rows), explainer.explain(rows)
    for item, own in zip(found, usual, strict=True):
        assert (item.status, item.label) == (own.status, own.label)
        best = item.counterfactuals[0]
        assert best.label != item.label
        assert explainer.explain(best.row)[0].label == best.label
        assert best.sparsity == own.counterfactuals[0].sparsity
    assert {item.method for item in found} == {"device"}


def test_constraints_goals_and_robustness_are_heeded():
    rows, explainer = people(40, seed=2), trees()
    refused = rows[~explainer.engine.fitted.oracle.own(rows, len(rows)).decision.astype(bool)]
    found = on_device(explainer, "cpu").explain(
        refused, want=True, constraints=mx.Constraints(fixed=["job"]), robust=0.8
    )
    held = [item.counterfactuals[0] for item in found if item.status == "found"]
    assert held
    for one in held:
        assert one.label is True or one.label == 1
        assert "job" not in {change.column for change in one.changes}
        assert one.robustness >= 0.8


def test_rows_that_the_device_cannot_read_are_searched_as_usual():
    rows, explainer = people(6, seed=3), trees()
    rows.loc[2, "job"] = "retired"
    found = on_device(explainer, "cpu").explain(rows)
    assert found[2].method != "device"
    assert found[2:3].to_json(canonical=True) == explainer.explain(rows)[2:3].to_json(
        canonical=True
    )


def test_structure_is_kept():
    rows = people(400).assign(spare=lambda t: t["income"] - t["debt"])
    columns = make_column_transformer(
        (OneHotEncoder(sparse_output=False), ["job"]),
        ("passthrough", ["income", "debt", "spare"]),
    )
    boosted = xgboost.XGBClassifier(n_estimators=30, max_depth=3, n_jobs=1, random_state=0)
    model = make_pipeline(columns, boosted).fit(rows, granted(rows))
    explainer = mx.Explainer(model, rows, structure="keep")
    assert [relation.operation for relation in explainer.structure] == ["difference"]
    found = on_device(explainer, "cpu").explain(rows[:40])
    for item in found:
        assert item.status == "found"
        after = item.counterfactuals[0].row.iloc[0]
        assert after["spare"] == after["income"] - after["debt"]


def test_files_and_frames_give_the_same_answers(tmp_path):
    rows, explainer = people(50, seed=4), trees()
    rows.to_csv(tmp_path / "rows.csv", index=False)
    mx.explain_file(explainer, tmp_path / "rows.csv", tmp_path / "out.csv", device="cpu", chunk=20)
    framed = pd.concat(mx.explain_frames(explainer, [rows[:20], rows[20:]], device="cpu"))
    written = pd.read_csv(tmp_path / "out.csv")
    assert written["cf.row"].tolist() == framed["cf.row"].tolist()
    assert written["income"].tolist() == framed["income"].tolist()


@pytest.mark.parametrize("made", [trees, network])
def test_workers_share_a_device_and_give_the_same_answers(made):
    frames = [people(20, seed=seed) for seed in range(4)]
    alone, shared = (
        pd.concat(mx.explain_frames(made(), frames, device="cpu", jobs=jobs)) for jobs in (1, 2)
    )
    pd.testing.assert_frame_equal(alone, shared)


def test_what_a_device_cannot_do_is_refused():
    explainer = trees()
    there = on_device(explainer, "cpu")
    with pytest.raises(mx.OptionError, match="one counterfactual"):
        there.explain(people(2), n=2)
    with pytest.raises(mx.OptionError, match="max_rows"):
        there.explain(people(2), max_rows=50)
    with pytest.raises(mx.OptionError, match="same constraints"):
        there.explain(people(2), constraints=[mx.Constraints(fixed=["job"]), mx.Constraints()])
    with pytest.raises(mx.ModelError, match="XGBoost"):
        on_device(mx.Explainer(lambda rows: rows["income"] / 120, people(), classes=("a", "b")))


def test_workers_that_borrow_the_device_write_the_same_bytes(tmp_path, monkeypatch):
    rows, explainer = people(60, seed=4), trees()
    rows.to_csv(tmp_path / "rows.csv", index=False)
    mx.explain_file(explainer, tmp_path / "rows.csv", tmp_path / "one.csv", device="cpu", chunk=20)
    asked = []
    propose = Twins.__call__

    def counted(self, codes, *question):
        asked.append(len(codes))
        return propose(self, codes, *question)

    monkeypatch.setattr(Twins, "shared", True)
    monkeypatch.setattr(Twins, "__call__", counted)
    mx.explain_file(
        explainer, tmp_path / "rows.csv", tmp_path / "two.csv", device="cpu", chunk=20, jobs=2
    )
    assert (tmp_path / "two.csv").read_bytes() == (tmp_path / "one.csv").read_bytes()
    assert sum(asked) >= 60  # in this process, though workers explained the rows


def test_a_run_that_was_broken_off_lends_no_longer():
    there = on_device(trees(), "cpu").engine.answer.propose
    lending = there.lent()
    lending.__enter__()
    assert there.__reduce__()[0] is Borrowed
    assert not lending.__exit__(KeyboardInterrupt, KeyboardInterrupt(), None)
    assert there.__reduce__()[0] == Twins.on
