"""Methods of other papers beside their papers' own formulas, on cases small enough for paper."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

from macex import Explainer, baselines
from macex.ask.units import Ground
from macex.baselines.descent import Descent
from macex.baselines.embedding import RowEmbedding
from macex.baselines.face import Graph
from macex.baselines.lore import broken_conditions
from macex.schema import Schema

YES_NO = ("no", "yes")
RANDOM = np.random.default_rng(0)
FLOATS = pd.DataFrame(RANDOM.uniform(0, 10, (400, 2)), columns=["x", "y"])
FLOATS.iloc[:4] = [[0.0, 0.0], [10.0, 10.0], [2.0, 4.0], [2.0, 8.0]]
QUERY = FLOATS.iloc[[2]]
LEVELS = pd.DataFrame(list(product(range(4), repeat=3)), columns=list("abc")).astype(str)


def plane(x, y, least):
    """Yes where x and y, weighed, come to `least`."""
    return lambda rows: 1 / (1 + np.exp(least - x * rows["x"] - y * rows["y"])).to_numpy()


def first(made, row, **options):
    return made.explain(row, **options)[0].counterfactuals[0]


@pytest.mark.parametrize("seed", range(5))
def test_growing_spheres_find_the_closest_within_a_layer(seed):
    """x + y = 10 is 4 / sqrt(2) from (2, 4), in tenths of the ranges; a layer is 0.1 wide."""
    made = baselines.GrowingSpheres(plane(1, 1, 10), FLOATS, classes=YES_NO, random_state=seed)
    found = first(made, QUERY)
    far = np.sqrt(((found.row[["x", "y"]].to_numpy()[0] - [2, 4]) ** 2).sum()) / 10
    closest = 0.4 / np.sqrt(2)
    assert closest <= far <= closest + made.radius + 1e-9


def test_wachter_moves_the_number_that_does_most_for_its_deviation():
    """Least is |x - 2| / MAD + |y - 4| / MAD on 2 x + y / 2 = 10, so x alone moves, by 4 / 2."""
    deviation = (FLOATS - FLOATS.median()).abs().median()
    assert 4 * deviation["x"] > deviation["y"]
    found = first(baselines.Wachter(plane(2, 0.5, 10), FLOATS, classes=YES_NO), QUERY)
    assert [change.column for change in found.changes] == ["x"]
    assert found.row["x"].iloc[0] == pytest.approx(4.0, abs=0.1)


def test_an_elastic_net_with_a_prototype_rests_where_its_derivative_is_zero():
    """sparse + 2 square z + 2 pull (z - 2) = 0: z = (2 * 2 pull - sparse) / 2 (square + pull)."""
    descent = Descent(np.ones(1), sparse=0.1, square=1.0, pull=1.0, aim=np.full((1, 1), 2.0))
    at, own, change = np.zeros(1, int), np.zeros((1, 1)), np.zeros((1, 1))
    for _ in range(300):
        change = descent._moved(own, change, at, np.ones(1), np.ones(1), np.zeros((1, 1)))
    assert change[0, 0] == pytest.approx((2 * 2 - 0.1) / 4, abs=1e-6)


def test_face_goes_over_the_sum_of_squares_of_short_edges():
    """Five points on a line at 0, 1, 2, 4 and 10, two neighbours each: 1, 1 + 1, 1 + 1 + 4, ..."""
    frame = pd.DataFrame({"x": [0.0, 1.0, 2.0, 4.0, 10.0]})
    schema = Schema.infer(frame)
    codes = schema.read(frame).codes
    units = Ground(schema, codes).units()
    graph = Graph(RowEmbedding(units, codes, np.arange(5)), 2)
    lengths = graph.lengths(codes[[0]])[0] * 100  # of shares of a range of 10
    assert lengths == pytest.approx([0, 1, 2, 6, 42], abs=1e-5)


def weighed(rows):
    """Yes by three columns that count differently, and one pair of them together."""
    table = rows[list("abc")].to_numpy(float)
    score = table @ [1.0, 2.0, 0.5] + 2 * (table[:, 0] == 3) * (table[:, 2] == 3)
    return 1 / (1 + np.exp(6.2 - score))


@pytest.mark.parametrize("method", ["GeCo", "Certifai"])
def test_genetic_searches_find_the_nearest_of_all_rows_there_are(method):
    made = getattr(baselines, method)(weighed, LEVELS, classes=YES_NO)
    yes = LEVELS[weighed(LEVELS) > 0.5]
    rows = LEVELS[weighed(LEVELS) < 0.5].iloc[::7]
    for item in made.explain(rows):
        fewest = (yes != item.query.iloc[0]).sum(axis=1).min()
        assert len(item.counterfactuals[0].changes) == fewest


def test_moc_returns_the_front_of_all_rows_there_are():
    """By changes and Gower's distance; every row is a training row, so that one is 0 for all."""
    grid = pd.DataFrame(list(product(range(6), repeat=2)), columns=["x", "y"], dtype=float)
    model = plane(2, 1, 9.5)
    yes = grid[model(grid) > 0.5].to_numpy()
    for item in baselines.Moc(model, grid, classes=YES_NO).explain(grid.iloc[[1, 8, 12]], n=3):
        steps = np.abs(yes - item.query.to_numpy()[0])
        every = np.column_stack([(steps > 0).sum(axis=1), steps.sum(axis=1)])
        for one in item.counterfactuals:
            mine = np.abs(one.row.to_numpy()[0] - item.query.to_numpy()[0])
            mine = np.array([(mine > 0).sum(), mine.sum()])
            assert not ((every <= mine).all(axis=1) & (every < mine).any(axis=1)).any()


def test_lore_counts_the_conditions_of_a_rule_that_a_row_breaks():
    """x <= 5 is no; else y <= 3 is yes, else no. From (2, 8) the yes is two conditions away."""
    table = np.array(list(product(range(11), repeat=2)), float)
    tree = DecisionTreeClassifier(random_state=0).fit(table, (table[:, 0] > 5) & (table[:, 1] <= 3))
    leaf = tree.apply([[8.0, 2.0]])[0]
    owner = np.arange(2)
    assert broken_conditions(tree.tree_, np.array([2.0, 8.0]), owner)[leaf] == [0, 1]
    assert len(broken_conditions(tree.tree_, np.array([8.0, 8.0]), owner)[leaf]) == 1
    assert broken_conditions(tree.tree_, np.array([8.0, 2.0]), owner)[leaf] == []


def test_feature_tweaking_builds_the_epsilon_satisfactory_instance_of_a_path():
    """x is its threshold plus epsilon, y less epsilon: a hundredth of a range of 10."""
    label = (FLOATS["x"] > 5) & (FLOATS["y"] <= 3)
    tree = DecisionTreeClassifier(max_depth=2, random_state=0).fit(FLOATS, label)
    cuts = {int(f): t for f, t in zip(tree.tree_.feature, tree.tree_.threshold, strict=True)}
    found = first(baselines.FeatureTweak(tree, FLOATS), FLOATS.iloc[[3]])
    after = {change.column: change.after for change in found.changes}
    assert after["x"] == pytest.approx(cuts[0] + 0.1, abs=0.02)
    assert after["y"] == pytest.approx(cuts[1] - 0.1, abs=0.02)


def test_recourse_of_a_direction_costs_each_row_its_own_way():
    """GLOBE-CE: one direction for all, scaled for each; the scale is the least that suffices."""
    chooser = Explainer(plane(50, 0, 250), FLOATS, classes=YES_NO, distance="median")
    rows = FLOATS[FLOATS["x"] < 5].head(20)
    asked = {"want": "yes", "constraints": {"only": ["x"]}, "actions": 1, "scales": 1000}
    found = baselines.globe_ce(chooser, rows, **asked)
    mine = found.flipped
    least = (5 - rows["x"].to_numpy()) / FLOATS["x"].median()
    assert mine.any()
    assert (found.distance[mine] - least[mine] >= -1e-6).all()
    assert (found.distance[mine] - least[mine] <= 10 / 1000 / FLOATS["x"].median() * 1.01).all()
