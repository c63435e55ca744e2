"""Methods of other papers on cases that are worked out by hand."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import macex as mx
from baselines.worlds import DATA, POOR, chance, pay
from macex import baselines
from macex.errors import OptionError


def line(rows):
    """Yes from x + y above 10."""
    return 1 / (1 + np.exp(10 - rows["x"] - rows["y"])).to_numpy()


SQUARE = pd.DataFrame(
    [(x, y) for x in range(11) for y in range(11)], columns=["x", "y"], dtype=float
)
YES_NO = ("no", "yes")


def first(made, row, **options):
    return made.explain(row, **options)[0].counterfactuals[0]


def test_growing_spheres_end_near_the_boundary():
    """From (2, 4) the boundary x + y = 10 is 2.83 away; one column must go 4."""
    made = baselines.GrowingSpheres(line, SQUARE, classes=YES_NO)
    found = first(made, SQUARE[(SQUARE["x"] == 2) & (SQUARE["y"] == 4)])
    moved = found.row[["x", "y"]].to_numpy()[0] - [2, 4]
    assert 2.8 <= np.sqrt((moved**2).sum()) <= 4.5


def test_growing_spheres_take_back_what_is_not_needed():
    """The town never matters, so no answer changes it."""
    found = baselines.GrowingSpheres(chance, DATA, classes=YES_NO).explain(POOR)
    assert not {c.column for one in found for c in one.counterfactuals[0].changes} & {"town"}


def test_wachter_comes_as_near_as_the_plane_is():
    """The first row beyond x + y = 10 is 5 away, in median absolute deviations of 3 each.

    Both columns move alike and by whole numbers, so it may be one more.
    """
    made = baselines.Wachter(line, SQUARE, distance="mad", classes=YES_NO)
    found = first(made, SQUARE[(SQUARE["x"] == 2) & (SQUARE["y"] == 4)])
    assert 5 / 3 - 1e-9 <= found.distance <= 6 / 3


@pytest.mark.parametrize("kind", ["nearest", "mean"])
def test_prototypes_pull_towards_rows_of_the_goal(kind):
    """Two columns do not matter to the model; the prototype moves them, Wachter does not."""
    rng = np.random.default_rng(0)
    data = SQUARE.assign(far=np.where(SQUARE.sum(axis=1) > 10, 8.0, 0.0) + rng.normal(size=121))
    row = data[(data["x"] == 2) & (data["y"] == 4)]
    moved = [
        abs(first(made, row).row["far"].iloc[0] - row["far"].iloc[0])
        for made in (
            baselines.Wachter(line, data, classes=YES_NO),
            baselines.Prototypes(line, data, prototype=kind, classes=YES_NO),
        )
    ]
    assert moved[0] == 0 < moved[1]


def test_descent_knows_no_way_where_the_model_is_flat():
    made = baselines.Wachter(lambda rows: (rows["x"] > 9) * 1.0, SQUARE, classes=YES_NO)
    assert made.explain(SQUARE.iloc[[0]])[0].status in ("not_found", "budget")


def test_face_goes_along_the_data_and_not_across_a_gap():
    """The goal row 0.9 up is nearer, but stands alone; the ones to the right are on a path."""
    path = np.column_stack([np.linspace(0, 1, 41), np.zeros(41)])
    data = pd.DataFrame([*path, (0.0, 0.9)], columns=["x", "y"])
    model = lambda rows: ((rows["x"] > 0.91) | (rows["y"] > 0.8)) * 1.0  # noqa: E731
    face = first(baselines.Face(model, data, classes=YES_NO), data.iloc[[0]])
    near = first(baselines.NearestTrainingRow(model, data, classes=YES_NO), data.iloc[[0]])
    assert face.row.iloc[0].tolist() == pytest.approx([0.925, 0.0])
    assert near.row.iloc[0].tolist() == [0.0, 0.9]


def test_the_nearest_row_is_the_nearest_by_trying_all():
    made = baselines.NearestTrainingRow(chance, DATA, classes=YES_NO)
    for item in made.explain(POOR):
        found = item.counterfactuals[0]
        rich = DATA[pay(DATA) >= 200]
        own = item.query.iloc[0]
        far = (rich["job"] != own["job"]).astype(float) + (rich["town"] != own["town"])
        for name in ("hours", "rate"):
            far += (rich[name] - own[name]).abs() / DATA[name].median()
        assert found.distance == pytest.approx(far.min(), abs=1e-6)


def linear_model():
    """Two numbers and a category, and a logistic regression on a pipeline."""
    rng = np.random.default_rng(0)
    data = pd.DataFrame(
        {
            "a": rng.integers(0, 10, 300).astype(float),
            "b": rng.integers(0, 10, 300).astype(float),
            "c": rng.choice(list("xyz"), 300),
        }
    )
    label = data["a"] + 0.5 * data["b"] + 2 * (data["c"] == "x") + rng.normal(size=300) > 8
    columns = make_column_transformer((OneHotEncoder(), ["c"]), (StandardScaler(), ["a", "b"]))
    return data, make_pipeline(columns, LogisticRegression()).fit(data, label)


def test_recourse_is_as_cheap_as_the_best_of_all_rows_there_are():
    data, model = linear_model()
    made = baselines.ActionableRecourse(model, data)
    grid = list(product(sorted(data["a"].unique()), sorted(data["b"].unique()), "xyz"))
    every = pd.DataFrame(grid, columns=["a", "b", "c"])
    said = model.predict(every)
    share = {name: data[name].value_counts(normalize=True).sort_index().cumsum() for name in "ab"}
    rows = data[~model.predict(data)].head(15)
    for item, (_, own) in zip(made.explain(rows), rows.iterrows(), strict=True):
        cost = (every["c"] != own["c"]).astype(float)
        for name in "ab":
            cost += (share[name][every[name]].to_numpy() - share[name][own[name]]).__abs__()
        answer = item.counterfactuals[0].row.iloc[0]
        mine = float(cost[(every == answer[list("abc")]).all(axis=1)].iloc[0])
        assert mine == pytest.approx(cost[said].min(), abs=1e-9)


def test_recourse_for_several_answers_changes_other_columns():
    data, model = linear_model()
    row = data[~model.predict(data)].head(1)
    found = baselines.ActionableRecourse(model, data).explain(row, n=3)[0].counterfactuals
    sets = [frozenset(change.column for change in one.changes) for one in found]
    assert len(set(sets)) == len(sets) >= 2


def test_feature_tweaking_follows_the_cheapest_path_of_a_small_forest():
    """Against every recipe by hand: thresholds of one tree, moved a hundredth of the range."""
    from sklearn.tree import DecisionTreeClassifier

    tree = DecisionTreeClassifier(max_depth=2, random_state=0).fit(SQUARE, SQUARE["x"] > 6)
    found = first(baselines.FeatureTweak(tree, SQUARE), SQUARE.iloc[[0]])
    assert [change[:3] for change in found.changes] == [("x", 0.0, 7.0)]


def test_feature_tweaking_reads_a_forest_behind_categories():
    data, _ = linear_model()
    label = (data["c"] == "x") & (data["a"] > 4)
    columns = make_column_transformer((OneHotEncoder(), ["c"]), ("passthrough", ["a", "b"]))
    forest = RandomForestClassifier(10, max_depth=4, random_state=0)
    model = make_pipeline(columns, forest).fit(data, label)
    made = baselines.FeatureTweak(model, data)
    rows = data[(data["c"] != "x") & (data["a"] > 6)].head(4)
    for item in made.explain(rows):
        assert [change[:3] for change in item.counterfactuals[0].changes] == [
            ("c", item.query["c"].iloc[0], "x")
        ]


def test_feature_tweaking_keeps_what_is_fixed():
    tree = RandomForestClassifier(5, random_state=0).fit(SQUARE, SQUARE.sum(axis=1) > 10)
    made = baselines.FeatureTweak(tree, SQUARE, constraints=mx.Constraints(fixed=["x"]))
    found = made.explain(SQUARE.iloc[[15, 16]])
    assert {c.column for one in found for cf in one.counterfactuals for c in cf.changes} <= {"y"}


def test_feature_tweaking_names_what_it_cannot_read():
    _, model = linear_model()
    with pytest.raises(OptionError, match="LogisticRegression"):
        baselines.FeatureTweak(model, DATA)


def test_geco_stops_when_nothing_better_comes():
    item = baselines.GeCo(chance, DATA, classes=YES_NO).explain(POOR.head(1))[0]
    assert item.cost.rows < baselines.GeCo.max_rows
    assert len(item.counterfactuals[0].changes) <= 2


def test_moc_returns_trade_offs_that_do_not_dominate_each_other():
    made = baselines.Moc(line, SQUARE, classes=YES_NO)
    found = made.explain(SQUARE.iloc[[15]], n=4, max_rows=600)[0].counterfactuals
    far = [(one.sparsity, one.distance) for one in found]
    assert len(far) >= 2
    assert far == sorted(far)


def test_lore_reads_the_rule_that_made_the_classes():
    """Yes is job = smith alone, so every answer sets the job alone."""
    made = baselines.Lore(lambda rows: (rows["job"] == "smith") * 1.0, DATA, classes=YES_NO)
    rows = DATA[DATA["job"] != "smith"].head(4)
    for item in made.explain(rows):
        assert [(c.column, c.after) for c in item.counterfactuals[0].changes] == [("job", "smith")]


@pytest.mark.parametrize("budget", [30, 100])
@pytest.mark.parametrize(
    "kind", ["RandomSearch", "GrowingSpheres", "GeCo", "Moc", "Lore", "Wachter", "Face"]
)
def test_small_budgets_are_kept_and_used(kind, budget):
    made = getattr(baselines, kind)(chance, DATA, classes=YES_NO)
    found = made.explain(POOR.head(4), max_rows=budget)
    assert all(item.cost.rows <= budget for item in found)
