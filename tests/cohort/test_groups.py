"""Groups cover every row once, whatever the column or the labels are like."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

import macex as mx
from cohort.town import YES, Bank, explainer, refused, town
from macex.cohort.groups import MOST, groups_of


def grouped(frame, by):
    rows = mx.Schema.infer(frame).read(frame)
    groups = groups_of(rows, by)
    placed = np.concatenate([*groups.values(), np.zeros(0, int)])
    assert sorted(placed.tolist()) == list(range(len(rows)))
    return groups


def test_values_stand_in_their_order_and_missing_ones_last():
    frame = pd.DataFrame({"size": ["m", None, "s", "m"], "age": [1.0, 2.0, 3.0, 4.0]})
    groups = grouped(frame, "size")
    assert {name: places.tolist() for name, places in groups.items()} == {
        "m": [0, 3],
        "s": [2],
        "missing": [1],
    }
    assert list(groups) == ["m", "s", "missing"]


def test_ranges_of_numbers_stand_in_their_order():
    frame = town(300).sample(frac=1, random_state=0)
    first, *middle, last = grouped(frame, "income")
    assert first.startswith("up to")
    assert all(" to " in name for name in middle)
    assert last.startswith("over")


def test_categories_never_seen_are_one_group():
    schema = mx.Schema.infer(town())
    rows = schema.read(town(20).assign(gender=["other", "none"] * 10))
    assert list(groups_of(rows, "gender")) == ["unknown"]


@pytest.mark.parametrize(
    "labels",
    [
        ["b", None, "a", float("nan")],
        pd.Series(["b", None, "a", None]),
        pd.Series(["b", None, "a", None], dtype="category"),
        pl.Series(["b", None, "a", None]),
        np.array(["b", None, "a", pd.NA], dtype=object),
    ],
)
def test_a_missing_label_is_said_to_be_missing(labels):
    groups = grouped(town(4), labels)
    assert {name: places.tolist() for name, places in groups.items()} == {
        "b": [0],
        "missing": [1, 3],
        "a": [2],
    }


def test_of_many_groups_the_largest_stand_for_themselves():
    draw = np.random.default_rng(0)
    frame = pd.DataFrame({"id": [f"n{i}" for i in draw.integers(0, 10_000, 3000)], "x": 1.0})
    frame.loc[:99, "id"] = "large"
    groups = grouped(frame, "id")
    assert len(groups) == MOST
    assert len(groups["large"]) == 100
    assert list(groups)[-1].endswith(" other groups")
    assert len(grouped(frame, frame["id"])) == MOST


def test_a_plan_for_ten_thousand_groups_costs_no_more_calls_than_for_sixty():
    bank = Bank()
    chooser, rows = explainer(bank), refused(600)
    bank.calls = 0
    plan = chooser.plan(rows, want=YES, by=list(range(len(rows))), actions=1, max_changes=1)
    assert len(plan.groups) == MOST
    assert bank.calls <= 7 * MOST
    assert plan.flipped == sum(part.flipped for part in plan.groups.values())


def test_several_columns_make_a_group_of_each_combination():
    frame = town(300)
    groups = grouped(frame, ["gender", "job"])
    for (gender, job), part in frame.groupby(["gender", "job"]):
        assert groups[f"{gender}, {job}"].tolist() == part.index.tolist()
    assert list(groups) == list(grouped(frame, ("gender", "job")))
    labels = list(zip(frame["gender"], frame["job"], strict=True))
    assert {name: p.tolist() for name, p in grouped(frame, labels).items()} == {
        name: p.tolist() for name, p in groups.items()
    }


def test_bands_cut_numbers_where_the_caller_says():
    frame = town(300)
    rows = mx.Schema.infer(frame).read(frame)
    groups = groups_of(rows, ["gender", "age"], {"age": [60, 25]})
    old = (frame["gender"] == "male") & (frame["age"] > 60)
    assert groups["male, over 60"].tolist() == np.flatnonzero(old).tolist()
    young = (frame["gender"] == "female") & (frame["age"] <= 25)
    assert groups["female, up to 25"].tolist() == np.flatnonzero(young).tolist()
    assert sum(map(len, groups.values())) == 300


@pytest.mark.parametrize(
    ("by", "said"),
    [
        (["gender", "jbo"], "did you mean 'job'"),
        (town(20)[["gender", "job"]], "not a table"),
        (5, "a label for each of the 20 rows, not 5"),
        (["a"] * 19, "not 19 labels"),
    ],
)
def test_wrong_groups_are_told(by, said):
    with pytest.raises(mx.OptionError, match=said):
        grouped(town(20), by)
