"""Frames and arguments that are unusual: each is answered, or refused by an error that helps."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest

import macex as mx

RNG = np.random.default_rng(0)
X = pd.DataFrame(
    {
        "debt": RNG.normal(size=60),
        "years": RNG.integers(0, 9, 60),
        "grade": RNG.choice(["low", "mid", "top"], 60),
    }
)


def accepts(rows):
    grade = np.asarray(rows["grade"], dtype=object)
    years, debt = np.asarray(rows["years"]), np.asarray(rows["debt"])
    return np.where(np.isin(grade, ["mid", "top"]) | (years > 6) | (debt > 1), 0.9, 0.1)


REFUSED = X[accepts(X) < 0.5].head(3)


def explain(data, rows, model=accepts, n=3, **options):
    return mx.Explainer(model, data, classes=("no", "yes"), **options).explain(rows, n=n)


def first_column(rows):
    return 1 / (1 + np.exp(-np.asarray(rows)[:, 0].astype(float)))


@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
def test_a_matrix_is_read_as_an_array():
    table = RNG.normal(size=(40, 3))
    found = explain(np.matrix(table), np.matrix(table[:3]), first_column)
    plain = explain(table, table[:3], first_column)
    assert found.to_json(canonical=True) == plain.to_json(canonical=True)
    assert type(found[0].counterfactuals[0].row) is np.ndarray


def test_a_masked_array_is_refused_since_its_mask_would_be_lost():
    masked = np.ma.masked_greater(RNG.normal(size=(40, 2)), 1.0)
    with pytest.raises(mx.SchemaError, match=r"masked array; fill it first"):
        explain(masked, masked, first_column)
    with pytest.raises(mx.SchemaError, match=r"masked array"):
        explain(np.asarray(masked), masked[:1], first_column)


@pytest.mark.parametrize("ordered", [False, True])
@pytest.mark.parametrize(
    ("levels", "then"),
    [
        (["low"], ["low", "mid", "top"]),
        (["top", "low"], ["low", "mid", "top"]),
        (["none", "low"], ["none", "low", "mid"]),
    ],
)
def test_a_query_may_know_fewer_categories_than_training(levels, then, ordered):
    dtype = pd.CategoricalDtype(["low", "mid", "top"], ordered=ordered)
    train = X.astype({"grade": dtype})
    rows = REFUSED.astype({"grade": pd.CategoricalDtype(levels, ordered=ordered)})
    found = explain(train, rows, n=1, constraints=mx.Constraints(allowed={"grade": ["mid"]}))
    by_grade = explain(
        train, rows, n=1, constraints=mx.Constraints(only=["grade"], allowed={"grade": ["mid"]})
    )
    for item in by_grade:
        row = item.counterfactuals[0].row
        assert row["grade"].tolist() == ["mid"]
        assert row["grade"].cat.categories.tolist() == then
        assert row["grade"].cat.ordered is ordered
    assert accepts(found.to_frame()).min() == 0.9


def test_a_frame_that_forbids_duplicate_labels_is_explained():
    strict = X.set_flags(allows_duplicate_labels=False)
    rows = strict.loc[REFUSED.index]
    assert not rows.flags.allows_duplicate_labels
    found = explain(strict, rows)
    assert max(len(item.counterfactuals) for item in found) > 1
    pd.testing.assert_frame_equal(found.to_frame(), explain(X, REFUSED).to_frame())
    assert not rows.flags.allows_duplicate_labels


@pytest.mark.parametrize("name", ["cf.row", "cf.status", "cf.anything"])
@pytest.mark.parametrize("library", [lambda frame: frame, pl.from_pandas])
def test_names_that_tables_of_answers_use_are_refused(name, library):
    with pytest.raises(mx.SchemaError, match=f"'{name}'.*rename it"):
        explain(library(X.rename(columns={"years": name})), library(REFUSED))


@pytest.mark.parametrize("value", [1e308, -1e308, 1e101])
def test_a_number_too_large_to_compute_with_is_refused_by_column_and_row(value):
    with pytest.raises(mx.SchemaError, match=r"'debt' holds .* in row 2, which is beyond 1e\+100"):
        explain(X.assign(debt=np.where(X.index == 2, value, X["debt"])), REFUSED)
    with pytest.raises(mx.SchemaError, match=r"'debt' holds .* in row 0"):
        explain(X, REFUSED.assign(debt=value))


@pytest.mark.parametrize("method", ["exhaustive", "reinforce", "gradientless"])
@pytest.mark.parametrize("distance", ["median", "mad", "percentile"])
def test_numbers_up_to_that_are_explained(method, distance):
    huge = X.assign(debt=RNG.choice([-1e100, 1e100, 3.0], len(X)))
    found = explain(huge, huge.loc[REFUSED.index], method=method, distance=distance)
    json.loads(found.to_json(), parse_constant=pytest.fail)
    assert {item.status for item in found} == {"found"}
    assert "1e+100" in found.to_html()


def test_integers_of_128_bits_are_refused():
    wide = pl.from_pandas(X).with_columns(pl.Series("years", [2**70] * 60, dtype=pl.Int128))
    with pytest.raises(mx.SchemaError, match="'years' has dtype Int128"):
        explain(wide, wide)


def test_text_that_no_encoding_holds_is_written_escaped(tmp_path):
    odd = X.assign(grade=X["grade"].astype(object).where(X["grade"] != "low", "\ud800"))
    found = explain(odd, odd.loc[REFUSED.index])
    found.to_json(tmp_path / "found.json")
    stored = json.loads((tmp_path / "found.json").read_text())
    assert stored["explanations"][0]["query"]["grade"] == "\ud800"
    for write, name in ((found.to_csv, "found.csv"), (found.to_html, "found.html")):
        write(tmp_path / name)
        assert "\\ud800" in (tmp_path / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("audit", [3, True, 1.5, [], {}, float("nan"), np.zeros(2)])
def test_an_audit_is_a_file(audit):
    with pytest.raises(mx.OptionError, match="audit="):
        mx.Explainer(accepts, X, classes=("no", "yes"), audit=audit)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        ({"on_error": np.array(["keep", "raise"])}, "on_error"),
        ({"diagnose": "yes"}, "diagnose"),
        ({"diagnose": np.array([1, 2])}, "diagnose"),
        ({"diagnose": None}, "diagnose"),
    ],
)
def test_wrong_arguments_of_a_call_are_named(call, words):
    with pytest.raises(mx.OptionError, match=words):
        mx.Explainer(accepts, X, classes=("no", "yes")).explain(REFUSED, **call)


@pytest.mark.parametrize("limit", [10**400, float("inf"), 1e300])
def test_a_time_limit_may_be_longer_than_any_clock_tells(limit):
    explainer = mx.Explainer(accepts, X, classes=("no", "yes"))
    found = explainer.explain(REFUSED, timeout_s=limit)
    assert found.to_json(canonical=True) == explainer.explain(REFUSED).to_json(canonical=True)


def test_slices_of_what_an_explanation_holds():
    found = explain(X, REFUSED)
    part = found[1:3]
    assert isinstance(part, mx.Explanations)
    assert [item.query.index[0] for item in part] == REFUSED.index[1:3].tolist()
    assert part.to_frame()["cf.row"].unique().tolist() == [0, 1]
    assert len(found[5:]) == 0
    assert list(found[::-1]) == list(reversed(found))
    item = found[0]
    assert item.counterfactuals[:2] == tuple(item.counterfactuals)[:2]
    assert item.actions[:2] == tuple(item.actions)[:2]
    assert item.reasons[-1:] == tuple(item.reasons)[-1:]
    assert item.counterfactuals[0].changes[:1] == tuple(item.counterfactuals[0].changes)[:1]
