"""Rows are decided wherever all their combinations can be scored, as brute force decides them."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import GradientBoostingClassifier

import macex as mx

NO, YES = "no", "yes"


def rugged(share: float):
    """A model without any slope: what helps cannot be guessed from what comes near."""

    def model(rows: pd.DataFrame) -> np.ndarray:
        mixed = np.zeros(len(rows), np.uint64)
        for name in sorted(rows):
            codes = pd.util.hash_array(rows[name].astype(str).to_numpy(object))
            mixed = (mixed * np.uint64(1_000_003)) ^ codes
        return np.where((mixed >> np.uint64(11)).astype(float) / 2**53 < share, 0.9, 0.1)

    return model


def table(count: int, seed: int, sizes: dict[str, int]) -> pd.DataFrame:
    draw = np.random.default_rng(seed)
    frame = {name: draw.integers(0, size, count) for name, size in sizes.items()}
    words = {name: [f"{name}{i}" for i in frame[name]] for name in sizes if name.isupper()}
    return pd.DataFrame(frame | words).assign(noise=draw.normal(size=count))


def brute(model, train, rows, free, most=None):
    """The standing of every row, by trying everything."""
    values = {name: train[name].unique() for name in free}
    standing = []
    for _, row in rows.iterrows():
        one = pd.DataFrame([row]).astype(train.dtypes.to_dict())
        if model(one)[0] > 0.5:
            standing.append("there")
            continue
        tries = []
        for size in range(1, (most or len(free)) + 1):
            for names in combinations(free, size):
                other = [[v for v in values[n] if v != row[n]] for n in names]
                tries += [dict(zip(names, setting, strict=True)) for setting in product(*other)]
        after = pd.concat([one] * len(tries), ignore_index=True)
        for name in free:
            after[name] = [setting.get(name, row[name]) for setting in tries]
        reached = model(after.astype(train.dtypes.to_dict())) > 0.5
        standing.append("answer" if reached.any() else "none")
    return standing


@pytest.mark.parametrize(
    ("sizes", "free", "share", "most"),
    [
        ({"A": 14, "b": 15, "C": 18}, ["A", "b", "C"], 2e-4, None),
        ({"A": 900, "B": 2, "c": 5000}, ["A", "B"], 4e-4, None),
        ({"a": 300, "B": 3, "C": 2}, ["a", "B", "C"], 5e-4, None),
        ({"A": 40, "b": 40, "C": 6, "D": 5}, ["A", "b", "C", "D"], 3e-4, 2),
    ],
)
def test_standing_is_what_brute_force_says(sizes, free, share, most):
    train, rows = table(4000, 0, sizes), table(14, 1, sizes)
    rows["noise"] = np.arange(14) / 7
    model = rugged(share)
    constraints = mx.Constraints(only=free, max_changes=most)
    chooser = mx.Explainer(model, train, classes=(NO, YES))
    found = chooser.recourse(rows, want=YES, constraints=constraints, diagnose=False)
    expected = brute(model, train, rows, free, most)
    assert {"answer", "none"} <= set(expected)
    assert list(found.standing) == expected
    for item, said in zip(found.explanations, expected, strict=True):
        assert (said != "none") == bool(item.counterfactuals)
        if said == "answer":
            assert model(item.counterfactuals[0].row)[0] > 0.5


def test_max_rows_says_how_many_combinations_are_tried():
    sizes = {"A": 14, "b": 15, "C": 18}
    train, rows = table(4000, 0, sizes), table(20, 1, sizes)
    chooser = mx.Explainer(rugged(0.0), train, classes=(NO, YES))
    free = mx.Constraints(only=list(sizes))
    combos = 14 * 15 * 18 - 1
    for most, standing in ((combos, "none"), (combos - 1, "undecided")):
        found = chooser.recourse(rows, want=YES, constraints=free, max_rows=most, diagnose=False)
        assert set(found.standing) == {standing}
    wide = {"A": 30, "b": 30, "C": 40}
    train, rows = table(4000, 0, wide), table(5, 1, wide)
    chooser = mx.Explainer(rugged(0.0), train, classes=(NO, YES))
    free = mx.Constraints(only=list(wide))
    few = chooser.recourse(rows, want=YES, constraints=free, diagnose=False)
    many = chooser.recourse(rows, want=YES, constraints=free, max_rows=40_000, diagnose=False)
    assert set(few.standing) == {"undecided"}
    assert set(many.standing) == {"none"}


def test_rules_are_kept_while_everything_is_tried():
    sizes = {"a": 12, "b": 12, "C": 9}
    train, rows = table(3000, 0, sizes), table(12, 2, sizes)
    rows["noise"] = np.arange(12) / 7
    model = rugged(2e-3)
    constraints = mx.Constraints(only=["a", "b", "C"], rules=["a <= b"])
    chooser = mx.Explainer(model, train, classes=(NO, YES))
    found = chooser.recourse(rows, want=YES, constraints=constraints, diagnose=False)

    def lawful(frame):
        return np.where((frame["a"] <= frame["b"]).to_numpy(), model(frame), 0.1)

    assert list(found.standing) == brute(lawful, train, rows, ["a", "b", "C"])


def test_trees_decide_by_their_cells_without_being_told():
    draw = np.random.default_rng(0)
    train = pd.DataFrame(draw.normal(size=(600, 4)), columns=list("wxyz"))
    label = np.where(train["w"] * train["x"] + train["y"] > 1.5, YES, NO)
    trees = GradientBoostingClassifier(n_estimators=12, max_depth=3, random_state=0)
    trees.fit(train, label)
    rows = train[trees.predict(train) == NO].head(40)
    chooser = mx.Explainer(trees, train)
    constraints = mx.Constraints(only=["x", "y"], ranges={"y": (None, 0.9), "x": (-1, 1)})
    found = chooser.recourse(rows, want=YES, constraints=constraints, diagnose=False)
    named = mx.Explainer(trees, train, candidates="thresholds")
    exact = named.recourse(rows, want=YES, constraints=constraints, diagnose=False)
    assert found.counts["undecided"] == 0
    assert found.standing == exact.standing
    proofs = {
        i.minimal_over
        for i, s in zip(found.explanations, found.standing, strict=True)
        if s == "none"
    }
    assert proofs == {"all values"}


def test_a_model_that_never_says_yes_has_no_answer_for_anybody():
    sizes = {"A": 5, "b": 6}
    train = table(300, 0, sizes)
    chooser = mx.Explainer(lambda rows: np.zeros(len(rows)), train, classes=(NO, YES))
    found = chooser.recourse(train.head(5), want=YES, constraints={"only": ["A", "b"]})
    assert set(found.standing) == {"none"}
    yes = mx.Explainer(lambda rows: np.ones(len(rows)), train, classes=(NO, YES))
    assert set(yes.recourse(train.head(5), want=YES).standing) == {"there"}


def test_ten_thousand_categories_are_tried_one_by_one():
    draw = np.random.default_rng(0)
    train = pd.DataFrame({"A": [f"a{i}" for i in range(10_000)], "x": draw.normal(size=10_000)})
    chooser = mx.Explainer(
        lambda rows: np.where(rows["A"] == "a7777", 0.9, 0.1), train, classes=(NO, YES)
    )
    found = chooser.recourse(train.head(3), want=YES, constraints={"only": ["A"]}, diagnose=False)
    assert set(found.standing) == {"answer"}
    assert found.explanations[0].counterfactuals[0].changes[0].after == "a7777"
