"""Exact answers for trees: what is said of all values is true of all values, by brute force."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("catboost")
pytest.importorskip("lightgbm")
pytest.importorskip("xgboost")

import xgboost
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.neural_network import MLPClassifier

import macex as mx
from models.trees.zoo import FORESTS, cat, encoded, fitted, lgb, xgb

ROWS, QUERIES = 120, 25
TOWNS = ["Bern", "Oslo", "Rome"]
MODELS = {
    "xgboost": lambda: encoded(xgb(n_estimators=12), ["town"]),
    "lightgbm": lambda: encoded(lgb(n_estimators=12, min_child_samples=5), ["town"]),
    "catboost": lambda: cat(cat_features=["town"], iterations=12),
    "forest": lambda: encoded(FORESTS["forest"](), ["town"]),
    "gradient boosting": lambda: encoded(FORESTS["gradient boosting"](), ["town"]),
    "histogram boosting": lambda: encoded(
        HistGradientBoostingClassifier(max_iter=12, min_samples_leaf=5), ["town"]
    ),
}


def people(count, seed):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "age": rng.integers(0, 9, count) * 2,  # odd ages are on the grid, though never seen
            "gain": rng.integers(-4, 5, count) / 10,
            "town": rng.choice(TOWNS, count),
            "years": rng.integers(0, 6, count),
        }
    )


def decided(data):
    score = (data["age"] - 8) / 4 + 2 * data["gain"] * (data["town"] == "Oslo") - data["years"] / 3
    return ((score + 0.8 * (data["town"] == "Rome")) > 0.3).astype(int)


DATA = people(ROWS, 0)


def every_row():
    ages = range(DATA["age"].min(), DATA["age"].max() + 1)
    tenths = range(round(10 * DATA["gain"].min()), round(10 * DATA["gain"].max()) + 1)
    years = range(DATA["years"].min(), DATA["years"].max() + 1)
    gains = [tenth / 10 for tenth in tenths]
    return pd.DataFrame(itertools.product(ages, gains, TOWNS, years), columns=DATA.columns)


def world_of(name):
    """An explainer, every row there is, and what the model decides for it."""
    model = fitted(MODELS[name], DATA, decided(DATA))
    explainer = mx.Explainer(model, DATA, candidates="thresholds")
    return model, explainer, EVERY, model.predict(EVERY)


EVERY = every_row()


@pytest.fixture(scope="module", params=MODELS)
def world(request):
    return world_of(request.param)


@pytest.fixture(scope="module")
def one():
    return world_of("xgboost")


def codes(data):
    town = data["town"].map(TOWNS.index)
    return data.assign(town=town).to_numpy(dtype=float)


def differing(query):
    """Which columns of every row differ from a query, (rows, columns)."""
    return codes(EVERY) != codes(query.to_frame().T)


def fewest(query, reached, free=("age", "gain", "town", "years")):
    """The least number of changed columns over every row that reaches the goal."""
    changed = differing(query)
    bound = [place for place, name in enumerate(EVERY.columns) if name not in free]
    fits = reached & ~changed[:, bound].any(axis=1)
    return int(changed[fits].sum(axis=1).min()) if fits.any() else None


def line_of(row, column):
    """Every row that differs from a row in one column at most."""
    others = [place for place, name in enumerate(EVERY.columns) if name != column]
    return ~differing(row)[:, others].any(axis=1)


def test_the_number_of_changes_is_the_least_over_every_value(world):
    _, explainer, _, decision = world
    queries = people(QUERIES, 1)
    for place, found in enumerate(explainer.explain(queries)):
        least = fewest(queries.iloc[place], decision != found.label)
        assert found.counterfactuals[0].sparsity == least
        assert (found.minimal, found.minimal_over) == (True, "all values")


def test_none_is_a_certificate_over_every_value(world):
    _, explainer, _, decision = world
    queries = people(QUERIES, 2)
    for free in (["gain"], ["years", "gain"], ["town"]):
        answers = explainer.explain(queries, constraints=mx.Constraints(only=free))
        for place, found in enumerate(answers):
            least = fewest(queries.iloc[place], decision != found.label, free)
            assert found.status == ("none" if least is None else "found")
            assert found.minimal_over == "all values"


def test_an_interval_ends_where_the_last_value_holds(world):
    _, explainer, every, decision = world
    queries = people(QUERIES, 3)
    seen = 0
    for answer in explainer.explain(queries):
        for change in answer.counterfactuals[0].changes:
            if change.interval is None:
                continue
            line = line_of(answer.counterfactuals[0].row.iloc[0], change.column)
            values = every.loc[line, change.column].to_numpy()
            holds = decision[line] != answer.label
            place = int(np.flatnonzero(values == change.after)[0])
            run = _run_around(holds, place)
            assert change.interval.exact
            assert (change.interval.low, change.interval.high) == (values[run[0]], values[run[1]])
            seen += 1
    assert seen


def _run_around(holds, place):
    first = last = place
    while first > 0 and holds[first - 1]:
        first -= 1
    while last + 1 < len(holds) and holds[last + 1]:
        last += 1
    return first, last


def test_ranges_and_directions_are_kept_and_proofs_are_under_them(world):
    _, explainer, every, decision = world
    queries = people(QUERIES, 4)
    wish = mx.Constraints(ranges={"age": (3, 11)}, increase=["years"], fixed=["town", "gain"])
    for place, found in enumerate(explainer.explain(queries, constraints=wish)):
        query = queries.iloc[place]
        fits = (every["age"].between(3, 11) | (every["age"] == query["age"])) & (
            every["years"] >= query["years"]
        )
        reached = (decision != found.label) & fits.to_numpy()
        least = fewest(query, reached, ("age", "years"))
        assert found.status == ("none" if least is None else "found")
        if least is not None:
            assert found.counterfactuals[0].sparsity == least


def test_a_single_change_of_a_number_is_the_nearest_there_is(one):
    model, _, every, decision = one
    explainer = mx.Explainer(model, DATA, candidates="thresholds", prefer="nearest")
    queries = people(QUERIES, 5)
    for found in explainer.explain(queries, constraints=mx.Constraints(only=["age"])):
        if found.status != "found":
            continue
        (change,) = found.counterfactuals[0].changes
        line = line_of(found.query.iloc[0], "age") & (decision != found.label)
        away = (every.loc[line, "age"] - change.before).abs()
        assert abs(change.after - change.before) == away.min()


def test_rules_tell_values_of_a_cell_apart_so_nothing_is_claimed_of_all(one):
    _, explainer, _, _ = one
    wish = mx.Constraints(rules=["age + years <= 14"], fixed=["town", "gain"])
    for found in explainer.explain(people(QUERIES, 6), constraints=wish):
        assert found.minimal_over != "all values" or found.counterfactuals[0].sparsity <= 1
        assert found.status != "none" or found.minimal_over == "candidates"


def test_a_batch_answers_as_rows_alone_do(one):
    _, explainer, _, _ = one
    queries = people(8, 7)
    batch = explainer.explain(queries, n=2)
    alone = [explainer.explain(queries.iloc[[place]], n=2)[0] for place in range(8)]
    texts = [item.to_json(canonical=True) for item in batch]
    assert texts == [item.to_json(canonical=True) for item in alone]


@pytest.mark.parametrize(
    "make", [xgb, lgb, FORESTS["histogram boosting"]], ids=["xgboost", "lightgbm", "histogram"]
)
def test_missing_is_a_state_of_its_own(make):
    data = people(200, 8).drop(columns="town")
    label = decided(people(200, 8))
    data = data.mask(np.random.default_rng(0).random(data.shape) < 0.2)
    model = fitted(make, data, label)
    explainer = mx.Explainer(model, data, candidates="thresholds")
    ages = [*np.arange(data["age"].min(), data["age"].max() + 1), np.nan]
    gains = [*(tenth / 10 for tenth in range(-4, 5)), np.nan]
    years = [*np.arange(data["years"].min(), data["years"].max() + 1), np.nan]
    every = pd.DataFrame(itertools.product(ages, gains, years), columns=data.columns)
    decision = model.predict(every)
    blank = mx.Constraints(may_blank=list(data.columns))
    for wish, blanks in ((mx.Constraints(), False), (blank, True)):
        for place, found in enumerate(explainer.explain(data.head(QUERIES), constraints=wish)):
            query = data.iloc[place]
            same = (every == query) | (every.isna() & query.isna())
            allowed = (same | every.notna() | blanks).all(axis=1)
            reached = allowed.to_numpy() & (decision != found.label)
            least = int((~same)[reached].sum(axis=1).min())
            assert found.counterfactuals[0].sparsity == least
            assert found.minimal_over == "all values"


def test_a_missing_value_is_filled_in_by_one_on_the_grid():
    level = np.array([0.0, 2.2, 2.5, 7.2] * 20)
    data = pd.DataFrame({"level": level, "other": np.arange(80) % 7})
    data.loc[::9, "level"] = np.nan
    wanted = (level > 1) & (level < 5) & data["level"].notna()
    trees = HistGradientBoostingClassifier(max_iter=12, min_samples_leaf=5).fit(data, wanted)
    asked = mx.Explainer(trees, data, candidates="thresholds")
    row = data[data["level"].isna()].head(1)
    (change,) = asked.explain(row, want=True)[0].counterfactuals[0].changes
    assert change.column == "level"
    assert change.after == round(change.after, 1)


def test_a_function_is_read_by_the_trees_it_asks():
    model = fitted(MODELS["xgboost"], DATA, decided(DATA))
    told = mx.Explainer(model.predict_proba, DATA, candidates=mx.Thresholds(trees=model))
    plain = mx.Explainer(model, DATA, candidates="thresholds")
    queries = people(5, 9)
    one, other = told.explain(queries), plain.explain(queries)
    assert [a.counterfactuals for a in one] == [b.counterfactuals for b in other]
    with pytest.raises(mx.OptionError, match="cannot be saved"):
        told.save("explainer")


def test_trees_that_do_not_answer_are_found_out():
    model = fitted(MODELS["xgboost"], DATA, decided(DATA))

    def other(data):
        return (model.predict_proba(data)[:, 1] + data["age"] / 100).clip(0, 1)

    with pytest.raises(mx.OptionError, match="differently for values of 'age'"):
        mx.Explainer(other, DATA, classes=(0, 1), candidates=mx.Thresholds(trees=model))


def test_models_without_trees_and_other_searches_are_refused():
    data = DATA.drop(columns="town")
    network = fitted(lambda: MLPClassifier((4,), max_iter=20), data, decided(DATA))
    with pytest.raises(mx.OptionError, match=r"MLPClassifier is not made of trees.*it reads"):
        mx.Explainer(network, data, candidates="thresholds")
    forest = fitted(FORESTS["forest"], data, decided(DATA))
    with pytest.raises(mx.OptionError, match='are for method="exhaustive"'):
        mx.Explainer(forest, data, candidates="thresholds", method="reinforce")


def test_a_saved_explainer_reads_the_trees_again(tmp_path):
    model = fitted(MODELS["forest"], DATA, decided(DATA))
    explainer = mx.Explainer(model, DATA, candidates="thresholds")
    explainer.save(tmp_path / "explainer")
    again = mx.load(tmp_path / "explainer", model)
    queries = people(6, 10)
    there, here = again.explain(queries), explainer.explain(queries)
    assert there.to_json(canonical=True) == here.to_json(canonical=True)


def test_a_row_budget_is_kept_and_then_nothing_is_claimed():
    model = fitted(MODELS["xgboost"], DATA, decided(DATA))
    explainer = mx.Explainer(model, DATA, candidates="thresholds")
    for found in explainer.explain(people(QUERIES, 11), max_rows=20, n=2):
        assert found.cost.rows <= 20
        assert found.status != "none"


@pytest.fixture(scope="module")
def gated():
    """A forest that says yes where three numbers are high, and a row in which none is."""
    rng = np.random.default_rng(3)
    data = pd.DataFrame(rng.integers(0, 60, (500, 4)), columns=list("abcd"))
    label = (data[["a", "b", "c"]] > 35).all(axis=1).astype(int)
    forest = fitted(lambda: RandomForestClassifier(25, max_depth=7, random_state=0), data, label)
    return forest, data, data[(data[["a", "b", "c"]] < 12).all(axis=1)].head(3)


def test_three_changes_are_proved_by_scoring_all_pairs(gated):
    model, data, rows = gated
    for found in mx.Explainer(model, data, candidates="thresholds").explain(rows):
        assert found.counterfactuals[0].sparsity == 3
        assert (found.minimal, found.minimal_over) == (True, "all values")


def test_nothing_is_claimed_where_pairs_are_more_than_may_be_scored(gated):
    model, data, rows = gated
    cheap = mx.Explainer(model, data, candidates=mx.Thresholds(proof_rows=100))
    for found in cheap.explain(rows):
        assert found.counterfactuals[0].sparsity == 3
        assert (found.minimal, found.minimal_over) == (False, None)
        assert found.cost.rows < 3000


def test_a_limit_of_changes_below_what_is_needed_has_a_certificate(gated):
    model, data, rows = gated
    explainer = mx.Explainer(model, data, candidates="thresholds")
    for found in explainer.explain(rows, constraints=mx.Constraints(max_changes=2)):
        assert (found.status, found.minimal_over) == ("none", "all values")
        assert found.method == "exhaustive"


def test_scores_and_several_classes_are_exact_too():
    data = DATA.drop(columns="town")
    grid = EVERY.drop(columns="town").drop_duplicates(ignore_index=True)
    target = data["age"] / 4 + data["gain"] * data["years"]
    regressor = fitted(lambda: RandomForestRegressor(6, max_depth=4, random_state=0), data, target)
    score = regressor.predict(grid)
    inside = (score >= 2.5) & (score <= 2.8)
    found = mx.Explainer(regressor, data, candidates="thresholds").explain(
        data.head(QUERIES), want=mx.between(2.5, 2.8)
    )
    for place, answer in enumerate(found):
        changed = grid.to_numpy() != data.iloc[place].to_numpy()
        assert answer.counterfactuals[0].sparsity == changed[inside].sum(axis=1).min()
    label = pd.cut(target, 3, labels=["low", "middle", "high"]).astype(str)
    forest = fitted(FORESTS["forest"], data, label)
    sure = np.sort(forest.predict_proba(grid), axis=1)
    wanted = (forest.predict(grid) == "high") & (sure[:, -1] - sure[:, -2] > 1e-5)
    for place, answer in enumerate(
        mx.Explainer(forest, data, candidates="thresholds").explain(data.head(QUERIES), want="high")
    ):
        changed = grid.to_numpy() != data.iloc[place].to_numpy()
        assert answer.counterfactuals[0].sparsity == changed[wanted].sum(axis=1).min()


def test_a_native_booster_is_explained_exactly():
    data = DATA.drop(columns="town")
    matrix = xgboost.DMatrix(data, decided(DATA))
    booster = xgboost.train({"objective": "binary:logistic", "max_depth": 3}, matrix, 8)
    found = mx.Explainer(booster, data, candidates="thresholds").explain(data.head(QUERIES))
    assert {answer.minimal_over for answer in found} == {"all values"}


def test_an_accelerated_model_is_read_by_its_original():
    pytest.importorskip("skl2onnx")
    pytest.importorskip("onnxruntime")
    data = DATA.drop(columns="town")
    model = fitted(FORESTS["forest"], data, decided(DATA))
    quick = mx.Explainer(mx.accelerate(model, data), data, candidates="thresholds")
    plain = mx.Explainer(model, data, candidates="thresholds")
    rows = data.head(QUERIES)
    assert [len(item.counterfactuals[0].changes) for item in quick.explain(rows)] == [
        len(item.counterfactuals[0].changes) for item in plain.explain(rows)
    ]


def test_trees_that_split_on_a_category_alone_are_answered():
    model = fitted(lambda: encoded(FORESTS["tree"](), ["town"]), DATA, DATA["town"] == "Rome")
    found = mx.Explainer(model, DATA, candidates="thresholds").explain(DATA.head(8), want=True)
    assert {item.status for item in found} == {"found"}
    assert {change.column for item in found for change in item.counterfactuals[0].changes} == {
        "town"
    }
