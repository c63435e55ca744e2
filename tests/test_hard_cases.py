"""Hard cases: spaces of every kind tried out whole, odd shapes and sizes, clocks and threads."""

from __future__ import annotations

import json
import pickle
import threading
import time
import tracemalloc
from collections.abc import Callable
from math import comb
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.tree import DecisionTreeClassifier
from xgboost import XGBClassifier

import macex as mx
from checks.oracle import Oracle
from macex import datasets

CLASSES = ("no", "yes")
METHODS = ("exhaustive", "reinforce", "gradientless")


def logistic(score: Any) -> np.ndarray:
    return 1 / (1 + np.exp(-np.asarray(score, dtype=float)))


def items(found: mx.Explanations) -> list[dict[str, Any]]:
    """The explanations as plain values, without cost and names."""
    return json.loads(found.to_json(canonical=True))["explanations"]


def sizes(found: mx.Explanations) -> list[int]:
    return [e.counterfactuals[0].sparsity for e in found]


# Small spaces of every kind, tried out whole --------------------------------------------------

VALUES: dict[str, list[Any]] = {
    "colour": ["blue", "green", "red"],
    "grade": ["A", "B", "C"],
    "income": [1.5, 2.5, np.nan],
    "level": [1, 3, 4, 8],
    "owner": [False, True],
    "ratio": [0.1, 0.5, 0.9],
    "since": list(pd.to_datetime(["2020-01-01", "2020-03-01", "2021-01-01"])),
}
GRADES = pd.CategoricalDtype(["A", "B", "C"], ordered=True)
RULES: dict[str, tuple[set[str], Callable[[Any, Any], Any]]] = {
    "if level != old(level) then ratio != old(ratio)": (
        {"level", "ratio"},
        lambda new, old: (new["level"] == old["level"]) | (new["ratio"] != old["ratio"]),
    ),
    "10 * ratio <= level + 4": (
        {"level", "ratio"},
        lambda new, _: 10 * new["ratio"] <= new["level"] + 4,
    ),
    "if colour != old(colour) then level > old(level)": (
        {"colour", "level"},
        lambda new, old: (new["colour"] == old["colour"]) | (new["level"] > old["level"]),
    ),
}


class Noise:
    """A model without any order: every row has a probability of its own, few say yes."""

    def __init__(self, seed: int, share: float) -> None:
        self.seed, self.share = np.uint64(seed), share

    def __call__(self, rows: pd.DataFrame) -> np.ndarray:
        keys = pd.util.hash_pandas_object(rows, index=False).to_numpy() ^ self.seed
        keys = (keys ^ (keys >> np.uint64(31))) * np.uint64(0x9E3779B97F4A7C15)
        drawn = (keys >> np.uint64(11)) / 2.0**53
        return np.where(drawn < self.share, 0.51 + 0.49 * drawn / self.share, 0.49 * drawn)


def puzzle(seed: int) -> tuple[np.random.Generator, pd.DataFrame]:
    """Training rows with four or five columns in which every value is seen."""
    rng = np.random.default_rng(seed)
    names = sorted(rng.choice(sorted(VALUES), rng.integers(4, 6), replace=False).tolist())
    columns = {}
    for name in names:
        values = VALUES[name]
        places = np.concatenate([np.arange(len(values)), rng.integers(0, len(values), 50)])
        columns[name] = [values[place] for place in rng.permutation(places)[: 50 + 2]]
        columns[name][: len(values)] = values
    data = pd.DataFrame(columns)
    return rng, data.astype({"grade": GRADES}) if "grade" in names else data


def wish(rng: np.random.Generator, names: list[str]) -> dict[str, Any]:
    """Some constraints, drawn at random."""
    made: dict[str, Any] = {}
    if rng.random() < 0.3:
        made["fixed"] = [str(rng.choice(names))]
    if "level" in names and rng.random() < 0.4:
        made["ranges"] = {"level": [(1, None), (None, 4), (3, 8)][rng.integers(3)]}
    one_way = [name for name in ("grade", "ratio", "since") if name in names]
    if one_way and rng.random() < 0.4:
        made[str(rng.choice(["increase", "decrease"]))] = [str(rng.choice(one_way))]
    if "colour" in names and rng.random() < 0.4:
        made["allowed"] = {"colour": [["blue", "red"], {"blue": ["red"]}][rng.integers(2)]}
    plain = [name for name in names if name != "income"]
    if rng.random() < 0.3:
        made["groups"] = [sorted(rng.choice(plain, 2, replace=False).tolist())]
    if "income" in names and rng.random() < 0.5:
        made["may_blank"] = ["income"]
    if rng.random() < 0.3:
        made["max_changes"] = int(rng.integers(1, 4))
    rules = [rule for rule, (needs, _) in RULES.items() if needs <= set(names)]
    made["rules"] = [rule for rule in rules if rng.random() < 0.4]
    return made


def may_set(made: dict[str, Any], name: str, own: Any, value: Any) -> bool:
    """What the constraints say of one value."""
    if name in made.get("fixed", ()):
        return False
    if pd.isna(value):
        return name in made.get("may_blank", ())
    low, high = made.get("ranges", {}).get(name, (None, None))
    menu = made.get("allowed", {}).get(name, [value])
    rank = VALUES[name].index
    return (
        (low is None or value >= low)
        and (high is None or value <= high)
        and not (name in made.get("increase", ()) and rank(value) < rank(own))
        and not (name in made.get("decrease", ()) and rank(value) > rank(own))
        and value in (menu.get(own, ()) if isinstance(menu, dict) else menu)
    )


def oracle_of(
    data: pd.DataFrame, row: pd.DataFrame, made: dict[str, Any], reached: Callable[..., Any]
) -> Oracle:
    own = row.iloc[0]
    return Oracle(
        row,
        {
            name: [value for value in VALUES[name] if may_set(made, name, own[name], value)]
            for name in data
            if name not in made.get("fixed", ())
        },
        reached,
        lambda rows: (
            np.all([np.ones(len(rows)), *(RULES[r][1](rows, own) for r in made["rules"])], 0) > 0
        ),
        tuple(map(tuple, made.get("groups", ()))),
        data,
    )


WANTS: list[tuple[Any, Callable[[np.ndarray], np.ndarray]]] = [
    (None, lambda chance: chance > 0.5),
    ("yes", lambda chance: chance > 0.5),
    (mx.at_least(0.7), lambda chance: chance >= 0.7),
    (mx.between(0.55, 0.8), lambda chance: (chance >= 0.55) & (chance <= 0.8)),
]


@settings(max_examples=30)
@given(seed=st.integers(0, 10_000), whole=st.booleans(), want=st.integers(0, 3))
def test_proofs_hold_over_columns_of_every_kind_under_every_constraint(seed, whole, want):
    rng, data = puzzle(seed)
    model = Noise(seed, float(rng.choice([0.01, 0.04, 0.15])))
    goal, test = WANTS[want]
    made = wish(rng, list(data))
    options = {"candidates": "domain", "method": mx.Exhaustive(max_rows=100_000)} if whole else {}
    rows = data[~test(model(data)) & (model(data) < 0.5)].head(3)
    asked = mx.Explainer(model, data, classes=CLASSES, **options)
    found = asked.explain(rows, want=goal, constraints=mx.Constraints(**made))
    for place, explanation in enumerate(found):
        oracle = oracle_of(data, rows.iloc[[place]], made, lambda tried: test(model(tried)))
        fewest = oracle.fewest(made.get("max_changes"))
        if explanation.status == "found":
            best = explanation.counterfactuals[0]
            assert test(model(best.row)).all()
            assert fewest is None or best.sparsity <= fewest or not explanation.minimal
            assert not whole or fewest is None or best.sparsity <= fewest
        else:
            assert fewest is None
            assert explanation.status == "none"


def test_columns_without_alternatives_do_not_cost_the_certificate():
    rng = np.random.default_rng(0)
    data = pd.DataFrame(
        {f"k{i}": np.ones(200, int) for i in range(14)} | {"x": rng.integers(0, 9, 200)}
    )
    asked = mx.Explainer(lambda rows: np.full(len(rows), 0.2), data, classes=CLASSES)
    assert asked.explain(data.head(1))[0].status == "none"


def test_columns_without_alternatives_do_not_cost_memory():
    rng = np.random.default_rng(0)
    data = pd.DataFrame({f"x{i}": rng.integers(0, 30, 500) for i in range(4)} | {"k": 1})
    asked = mx.Explainer(lambda rows: np.full(len(rows), 0.2), data, classes=CLASSES)
    tracemalloc.start()
    asked.explain(data.head(1))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 60e6


# Needless changes, order, distance -----------------------------------------------------------


def needless(found: mx.Explanations, reached: Callable[..., Any]) -> int:
    """How many answers still hold when one of their changes is taken back."""
    count = 0
    for place, explanation in enumerate(found):
        for answer in explanation.counterfactuals:
            rows = pd.concat([answer.row] * len(answer.changes), ignore_index=True)
            for line, change in enumerate(answer.changes):
                rows.loc[line, change.column] = explanation.query[change.column].iloc[0]
            count += answer.sparsity > 1 and bool(np.any(reached(rows, place)))
    return count


@pytest.mark.parametrize("seed", range(1, 5))
def test_a_goal_that_four_columns_reach_together_is_reached_by_them_alone(seed):
    rng = np.random.default_rng(seed)
    data = pd.DataFrame(rng.integers(0, 2, (2000, 20)), columns=[f"x{i:02}" for i in range(20)])
    needed = [f"x{i:02}" for i in rng.choice(20, 4, replace=False)]
    model = lambda rows: np.where((rows[needed] == 1).all(axis=1), 0.9, 0.1)  # noqa: E731
    row = data[(data[needed] == 0).all(axis=1)].head(1)
    found = mx.Explainer(model, data, classes=CLASSES).explain(row, want="yes")
    assert {change.column for change in found[0].counterfactuals[0].changes} == set(needed)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("n", [1, 3])
def test_no_change_of_an_answer_is_needless(method, n):
    X, y = load_digits(return_X_y=True, as_frame=True)
    model = RandomForestClassifier(20, max_depth=7, random_state=0).fit(X, y)
    rows = X.sample(8, random_state=1)
    wanted = [(int(label) + 3) % 10 for label in model.predict(rows)]
    # A relation that is kept may need a change that the model does not.
    asked = mx.Explainer(model, X, method=method, structure="ignore")
    found = asked.explain(rows, n=n, want=wanted)
    assert needless(found, lambda tried, place: model.predict(tried) == wanted[place]) == 0


def numbers(seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Four columns of few values, and labels that are not additive in them."""
    rng = np.random.default_rng(seed)
    data = pd.DataFrame(
        {
            "a": rng.integers(10, 30, 600),
            "b": rng.integers(-4, 11, 600),
            "c": rng.integers(0, 25, 600) / 2 + 1,
            "d": np.where(rng.random(600) < 0.6, 0, rng.integers(1, 12, 600)),
        }
    )
    z = ((data - data.mean()) / data.std()).to_numpy()
    return data, (z @ rng.normal(size=4) + z[:, 0] * z[:, 1] + np.sin(2 * z[:, 2]) > 0.8) * 1


MODELS = {
    "boosting": GradientBoostingClassifier(n_estimators=30, random_state=0),
    "tree": DecisionTreeClassifier(max_depth=6, random_state=0),
    "network": MLPClassifier((16,), solver="lbfgs", max_iter=2000, random_state=0),
    "neighbours": KNeighborsClassifier(5),
    "xgboost": XGBClassifier(n_estimators=30, max_depth=4, n_jobs=1),
}


def scales(data: pd.DataFrame) -> np.ndarray:
    low, middle, high = (data.quantile(share).to_numpy() for share in (0.25, 0.5, 0.75))
    scale = np.where(np.abs(middle) < (high - low) / 10, high - low, np.abs(middle))
    return np.where(scale > 0, scale, 1)


def best_of_all(model: Any, data: pd.DataFrame, rows: pd.DataFrame) -> tuple[list[int], np.ndarray]:
    """The fewest changes and the least distance over every combination of seen values."""
    grid = np.meshgrid(*(np.unique(data[column]) for column in data), indexing="ij")
    every = pd.DataFrame({c: part.ravel() for c, part in zip(data, grid, strict=True)})
    good = every[model.predict(every.astype(data.dtypes)) == 1].to_numpy(float)
    steps = [good - row for row in rows.to_numpy(float)]
    least = [(np.abs(step) / scales(data)).sum(axis=1).min() for step in steps]
    return [int((step != 0).sum(axis=1).min()) for step in steps], np.array(least)


@pytest.mark.parametrize("name", MODELS)
def test_the_best_answers_are_near_the_best_of_all_seen_values(name):
    ratio: list[float] = []
    for seed in (2, 3, 4):
        data, label = numbers(seed)
        model = MODELS[name].fit(data, label)
        rows = data[model.predict(data) == 0].head(40)
        fewest, least = best_of_all(model, data, rows)
        assert sizes(mx.Explainer(model, data).explain(rows, want=1)) == fewest
        near = mx.Explainer(model, data, prefer="nearest").explain(rows, want=1, n=3)
        ratio += (np.array([e.counterfactuals[0].distance for e in near]) / least).tolist()
        for explanation in near:
            distances = [answer.distance for answer in explanation.counterfactuals]
            assert distances == sorted(distances)
    assert np.mean(ratio) < 1.1


# Rules that tie columns together -------------------------------------------------------------


@pytest.mark.parametrize("candidates", ["both", "domain"])
def test_shares_that_must_sum_up_are_moved_two_at_a_time(candidates):
    rng = np.random.default_rng(0)
    stocks = rng.integers(0, 101, 2000)
    bonds = (rng.random(2000) * (101 - stocks)).astype(int)
    data = pd.DataFrame({"stocks": stocks, "bonds": bonds, "cash": 100 - stocks - bonds})
    data["age"] = rng.integers(20, 70, 2000)
    model = lambda rows: logistic((rows["stocks"] - 60) / 5)  # noqa: E731
    lack = 61 - data["stocks"]
    rows = data[(lack > 0) & ((data["bonds"] >= lack) | (data["cash"] >= lack))].head(20)
    asked = mx.Explainer(model, data, classes=CLASSES, candidates=candidates)
    together = mx.Constraints(rules=["stocks + bonds + cash == 100"])
    assert sizes(asked.explain(rows, want="yes", constraints=together)) == [2] * 20


@pytest.mark.parametrize("width", [5, 40])
def test_a_rule_that_demands_a_change_of_no_use_is_met_by_that_change_alone(width):
    rng = np.random.default_rng(1)
    data = pd.DataFrame(rng.normal(size=(1500, width)).round(2)).add_prefix("x")
    weight = rng.normal(size=width) * 0.05
    data["age"], data["job"] = rng.integers(20, 60, 1500), rng.choice(list("abcdefgh"), 1500)

    def model(rows):
        return logistic(4 * (rows["job"] == "h") + rows.iloc[:, :width].to_numpy() @ weight - 2)

    rows = data[(data["job"] != "h") & (data["age"] < 50)].head(12)
    grown = mx.Constraints(rules=["if job != old(job) then age >= old(age) + 2"])
    found = mx.Explainer(model, data, classes=CLASSES).explain(rows, want="yes", constraints=grown)
    assert np.mean(sizes(found)) <= 2.1


def test_adults_who_must_age_to_learn_or_marry_find_a_way():
    adult = datasets.load("adult")
    data = adult.frame.head(6000)
    codes = {c: {v: i for i, v in enumerate(sorted(data[c].unique()))} for c in adult.categorical}
    plain = lambda rows: rows.assign(**{c: rows[c].map(codes[c]) for c in codes})  # noqa: E731
    fitted = XGBClassifier(n_estimators=40, max_depth=4, n_jobs=1)
    fitted.fit(plain(data), adult.label[:6000])
    model = lambda rows: fitted.predict_proba(plain(rows))  # noqa: E731
    rows = data[model(data)[:, 1] < 0.5].head(20)
    rules = [
        "if education != old(education) then age >= old(age) + 2",
        "if marital_status != old(marital_status) then age >= old(age) + 1",
        "if occupation != old(occupation) then hours_per_week != old(hours_per_week)",
    ]
    found = mx.Explainer(model, data).explain(rows, constraints=mx.Constraints(rules=rules))
    assert {e.status for e in found} == {"found"}
    assert np.mean(sizes(found)) < 2.5
    for explanation in found:
        old, new = explanation.query.iloc[0], explanation.counterfactuals[0].row.iloc[0]
        assert old["education"] == new["education"] or new["age"] >= old["age"] + 2
        assert old["marital_status"] == new["marital_status"] or new["age"] > old["age"]


# Goals in fine units -------------------------------------------------------------------------


@pytest.mark.parametrize("by", [0.1, 1e-6, 3e-7, -3e-7])
def test_a_rise_is_a_rise_of_the_models_own_score(by):
    rng = np.random.default_rng(0)
    data = pd.DataFrame(rng.normal(size=(600, 4))).add_prefix("x")
    model = lambda rows: logistic(0.3 * rows.to_numpy().sum(axis=1) - 1)  # noqa: E731
    rows = data.head(150)
    found = mx.Explainer(model, data, classes=CLASSES).explain(rows, want=mx.rise_by(by))
    for explanation in found:
        for answer in explanation.counterfactuals:
            risen = (model(answer.row) - model(explanation.query))[0]
            assert risen >= by if by > 0 else risen <= by


@pytest.mark.parametrize("unit", [1e-9, 1e-3, 1e12])
@pytest.mark.parametrize("shift", [0, -3, 40])
def test_numbers_of_any_size_and_sign_are_moved_no_farther_than_needed(unit, shift):
    rng = np.random.default_rng(3)
    data = pd.DataFrame({"a": (rng.normal(size=400) + shift) * unit, "b": rng.normal(size=400)})
    model = lambda rows: logistic((rows["a"] / unit - shift) * 4 - 4)  # noqa: E731
    rows = data[model(data) < 0.5].head(10)
    for explanation in mx.Explainer(model, data, classes=CLASSES, prefer="nearest").explain(rows):
        (change,) = explanation.counterfactuals[0].changes
        assert change.column == "a"
        own, after = change.before / unit - shift, change.after / unit - shift
        assert 1 <= after <= 1 + 0.02 * (1 - own) + 1e-6


def test_numbers_stay_on_grids_that_are_given():
    rng = np.random.default_rng(4)
    data = pd.DataFrame({"a": rng.integers(0, 20, 400) * 5, "b": rng.integers(0, 400, 400) / 4})
    model = lambda rows: logistic((rows["a"] - 50) / 10 + rows["b"] / 25 - 3)  # noqa: E731
    schema = {"a": mx.Continuous(step=5), "b": mx.Continuous(step=0.25)}
    rows = data[model(data) < 0.5].head(30)
    for explanation in mx.Explainer(model, data, classes=CLASSES, schema=schema).explain(rows, n=2):
        for answer in explanation.counterfactuals:
            assert answer.row["a"].iloc[0] % 5 == 0
            assert answer.row["b"].iloc[0] % 0.25 == 0


# Many columns, values, classes ---------------------------------------------------------------


@pytest.mark.parametrize("width", [50, 200, 500])
def test_a_few_columns_of_many_decide(width):
    rng = np.random.default_rng(0)
    data = pd.DataFrame(rng.integers(0, 2, (1500, width))).add_prefix("x")
    model = lambda rows: np.where((rows[["x7", "x31"]] == 1).all(axis=1), 0.9, 0.1)  # noqa: E731
    rows = data[(data[["x7", "x31"]] == 0).all(axis=1)].head(10)
    found = mx.Explainer(model, data, classes=CLASSES).explain(rows, want="yes")
    assert sizes(found) == [2] * 10
    assert all(e.minimal and e.minimal_over == "seen values" for e in found)


def test_any_of_fifty_classes_is_reached():
    rng = np.random.default_rng(0)
    data = pd.DataFrame(rng.normal(size=(3000, 6)).round(2)).add_prefix("x")
    label = (data["x0"].rank(pct=True) * 4.99).astype(int) * 10 + (
        data["x1"].rank(pct=True) * 9.99
    ).astype(int)
    model = DecisionTreeClassifier(max_depth=12, random_state=0).fit(data, label)
    rows = data.head(20)
    wanted = [(int(own) + 23) % 50 for own in model.predict(rows)]
    found = mx.Explainer(model, data).explain(rows, want=wanted)
    assert [e.counterfactuals[0].label for e in found] == wanted
    assert max(sizes(found)) <= 2


def test_rare_categories_among_ten_thousand_are_found():
    rng = np.random.default_rng(0)
    city = np.char.add("c", np.floor(10_000 * rng.random(20_000) ** 3).astype(int).astype(str))
    data = pd.DataFrame({"city": city, "x": rng.normal(size=20_000).round(2)})
    rare = {f"c{i}" for i in range(9900, 9990)}
    model = lambda rows: logistic(6 * rows["city"].isin(rare) + 0.5 * rows["x"] - 3)  # noqa: E731
    rows = data[model(data) < 0.5].head(20)
    assert sizes(mx.Explainer(model, data, classes=CLASSES).explain(rows)) == [1] * 20


def test_ties_without_end_are_solved_with_as_many_changes_as_needed():
    rng = np.random.default_rng(0)
    data = pd.DataFrame(rng.integers(0, 2, (1000, 12))).add_prefix("x")
    model = lambda rows: logistic(rows.to_numpy().sum(axis=1) - 8.5)  # noqa: E731
    rows = data[model(data) < 0.5].head(20)
    needed = 9 - rows.sum(axis=1)
    found = mx.Explainer(model, data, classes=CLASSES).explain(rows, n=5)
    assert sizes(found) == needed.tolist()
    for explanation, zeros, least in zip(found, (rows == 0).sum(axis=1), needed, strict=True):
        assert len(explanation.counterfactuals) == min(5, comb(zeros, least))


def test_the_whole_domain_of_many_numbers_answers_no_worse_than_a_part_of_it():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    model = GradientBoostingClassifier(n_estimators=20, random_state=0).fit(X, y)
    rows = X.head(12)
    part = mx.Explainer(model, X, structure="ignore").explain(rows)
    domain = {"candidates": "domain", "fallback": False}
    whole = mx.Explainer(model, X, **domain, structure="ignore").explain(rows)
    assert {e.status for e in whole} == {"found"}
    assert np.mean(sizes(whole)) <= np.mean(sizes(part))


def test_the_whole_domain_of_thousands_of_numbers_is_thinned_to_the_budget():
    rng = np.random.default_rng(0)
    data = pd.DataFrame(rng.normal(size=(6000, 5))).add_prefix("x")
    model = lambda rows: logistic(rows.to_numpy().sum(axis=1) - 2)  # noqa: E731
    asked = mx.Explainer(model, data, classes=CLASSES, candidates="domain")
    found = asked.explain(data.head(10))
    assert [e.status for e in found] == ["found"] * 10
    assert max(e.cost.rows for e in found) < 13_000


def test_a_small_budget_is_spread_over_all_columns():
    rng = np.random.default_rng(0)
    data = pd.DataFrame(rng.integers(0, 100, (2000, 20))).add_prefix("x").assign(z=range(2000))
    model = lambda rows: logistic(rows["z"] - 999.5)  # noqa: E731
    asked = mx.Explainer(model, data, classes=CLASSES)
    found = asked.explain(data.head(5), max_rows=60, want="yes")
    assert sizes(found) == [1] * 5
    assert max(e.cost.rows for e in found) <= 60


# Many questions ------------------------------------------------------------------------------


def mixed(count: int, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    data = pd.DataFrame(rng.normal(size=(count, 6)).round(2)).add_prefix("x")
    return data.assign(c=rng.choice(list("abcdef"), count), d=rng.choice(list("uvw"), count))


def chance(rows: pd.DataFrame) -> np.ndarray:
    return logistic(rows["x0"] + rows["x1"] - rows["x2"] + (rows["c"] == "a") - 1)


MANY = {
    "ranges": lambda i: {"ranges": {"x0": (-1 - i / 400, 1 + i / 400)}},
    "fixed": lambda i: {"fixed": [f"x{i % 6}", f"x{i // 6 % 6}", "cd"[i // 36 % 2]]},
    "rules": lambda i: {"rules": [f"x0 <= {1 + i / 400}"]},
    "allowed": lambda i: {"allowed": {"c": ["a", "bcdef"[i % 5]]}},
}


@pytest.mark.parametrize("name", MANY)
def test_constraints_of_its_own_for_every_row_take_few_calls_more_than_none(name):
    calls = []

    def counted(frame):
        calls.append(len(frame))
        return chance(frame)

    asked, rows = mx.Explainer(counted, mixed(5000, 1), classes=CLASSES), mixed(400, 5)
    calls.clear()
    asked.explain(rows)
    free = len(calls)
    found = asked.explain(rows, constraints=[mx.Constraints(**MANY[name](i)) for i in range(400)])
    assert len(found) == 400
    assert len(calls) - free <= 3 * free + 60


def test_a_large_group_with_thousands_of_combinations_is_one_change():
    rng = np.random.default_rng(0)
    data = pd.DataFrame(rng.choice(list("abcdef"), (8000, 6))).add_prefix("c")
    data["x"] = rng.normal(size=8000).round(2)
    model = lambda rows: logistic(rows["x"] + 2 * (rows["c0"] == "a") - 2)  # noqa: E731
    asked = mx.Explainer(model, data, classes=CLASSES)
    whole = mx.Constraints(groups=[[f"c{i}" for i in range(6)]])
    found = asked.explain(data.head(20), constraints=whole)
    assert set(sizes(found)) == {1}
    assert max(e.cost.rows for e in found) < 3000


def test_memory_stays_flat_with_the_number_of_queries():
    rng = np.random.default_rng(0)
    data = pd.DataFrame(rng.normal(size=(500, 100)).round(2)).add_prefix("x")
    model = lambda rows: logistic(3 * (rows["x0"] + rows["x1"]) - 2)  # noqa: E731
    asked = mx.Explainer(model, data, classes=CLASSES)
    rows = pd.DataFrame(rng.normal(size=(750, 100)).round(2)).add_prefix("x")
    peaks = []
    for count in (280, 750):
        tracemalloc.start()
        asked.explain(rows.head(count))
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.3 * peaks[0] + 20e6


def test_half_a_million_training_rows_are_no_hindrance():
    asked = mx.Explainer(chance, mixed(500_000, 1), classes=CLASSES)
    found = asked.explain(mixed(20, 5))
    assert {e.status for e in found} == {"found"}
    assert max(e.cost.rows for e in found) < 5000


# What shares a batch -------------------------------------------------------------------------


def test_a_neighbour_with_more_columns_to_change_changes_no_answer():
    rng = np.random.default_rng(0)
    data = pd.DataFrame({c: rng.integers(0, 60, 500) for c in "abcdef"})
    model = lambda rows: logistic(  # noqa: E731
        6 * np.tanh((rows["b"] - 30) / 10) * np.tanh((rows["c"] - 30) / 10)
        + (rows["a"] + rows["d"]) / 40
        - 6.5
    )
    rows, two = data[model(data) < 0.5].head(20), mx.Constraints(only=["b", "c"])
    for prefer in ("fewest", "nearest", "surest"):
        asked = mx.Explainer(model, data, classes=CLASSES, prefer=prefer)
        alone = items(asked.explain(rows, constraints=two))
        wishes = [two, mx.Constraints()] * 20
        shared = items(asked.explain(rows.loc[rows.index.repeat(2)], constraints=wishes))
        assert shared[::2] == alone


def test_a_row_on_which_the_model_overrules_its_scores_changes_no_other_answer():
    rng = np.random.default_rng(0)
    data = pd.DataFrame(rng.normal(size=(500, 4))).add_prefix("x")

    class Overruled:
        classes_ = np.array(CLASSES)

        def predict_proba(self, rows):
            yes = logistic(0.3 * rows.to_numpy().sum(axis=1) - 1)
            return np.column_stack([1 - yes, yes])

        def predict(self, rows):
            far = rows["x0"].to_numpy() > 6
            return np.where(far | (self.predict_proba(rows)[:, 1] > 0.5), "yes", "no")

    rows = data[Overruled().predict(data) == "no"].head(4)
    alone = items(mx.Explainer(Overruled(), data).explain(rows, n=2))
    shared = pd.concat([rows, rows.head(1).assign(x0=7.0)])
    assert items(mx.Explainer(Overruled(), data).explain(shared, n=2))[:4] == alone


@pytest.mark.parametrize("method", METHODS)
def test_four_threads_with_many_questions_get_what_one_gets(method):
    asked, rows = mx.Explainer(chance, mixed(800, 1), classes=CLASSES, method=method), mixed(4, 5)
    questions = [
        {"want": mx.at_least(0.5 + i / 50), "constraints": mx.Constraints(fixed=[f"x{i % 6}"])}
        for i in range(10)
    ]
    alone = [items(asked.explain(rows, **question)) for question in questions]
    copy = pickle.loads(pickle.dumps(asked))  # noqa: S301 - our own bytes
    answers: dict[tuple[int, int], Any] = {}

    def ask(turn: int) -> None:
        for place in range(len(questions)):
            at = (place * 3 + turn) % len(questions)
            answers[turn, at] = items(copy.explain(rows, **questions[at]))

    threads = [threading.Thread(target=ask, args=(turn,)) for turn in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == 40
    assert all(answer == alone[at] for (_, at), answer in answers.items())


# Clocks --------------------------------------------------------------------------------------


class Slow:
    """A model that takes time for every call and every row, on a clock of its own."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now, self.calls, self.per_call, self.per_row = 0.0, 0, 0.0, 0.0
        for clock in ("monotonic", "perf_counter"):
            monkeypatch.setattr(time, clock, lambda: self.now)

    def __call__(self, rows: pd.DataFrame) -> np.ndarray:
        self.now += self.per_call + len(rows) * self.per_row
        self.calls += 1
        return chance(rows)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("n", [1, 5])
@pytest.mark.parametrize("limit", [1.0, 5.0, 20.0])
def test_a_deadline_is_kept_within_about_a_second(monkeypatch, method, n, limit):
    model = Slow(monkeypatch)
    asked = mx.Explainer(model, mixed(400, 1), classes=CLASSES, method=method)
    model.per_row, began = 0.003, model.now
    found = asked.explain(mixed(60, 9), n=n, timeout_s=limit)
    assert len(found) == 60
    assert model.now - began <= limit + 1.5


def test_a_deadline_is_kept_from_the_first_call(monkeypatch):
    model = Slow(monkeypatch)
    model.per_row = 0.005
    asked = mx.Explainer(model, mixed(400, 1), classes=CLASSES)
    began = model.now
    found = asked.explain(mixed(1000, 9), timeout_s=1.0, on_error="keep")
    assert sum(e.status == "budget" for e in found) > 900
    assert model.now - began <= 2.5


def test_a_model_with_a_price_per_call_is_asked_in_no_more_calls_for_a_deadline(monkeypatch):
    model = Slow(monkeypatch)
    asked = mx.Explainer(model, mixed(400, 1), classes=CLASSES)
    model.per_call, calls = 0.3, []
    for limit in (None, 60.0):
        model.calls = 0
        asked.explain(mixed(2, 9), timeout_s=limit)
        calls.append(model.calls)
    assert calls[1] <= 2 * calls[0] + 2
