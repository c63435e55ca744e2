"""Who has an answer, who provably has none."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import GradientBoostingClassifier

import macex as mx
from cohort.town import NO, YES, Bank, explainer, merit, refused, town


def test_standing_is_what_brute_force_says():
    rows = town(120, seed=2)
    only = mx.Constraints(only=["job", "gender"])
    found = explainer().recourse(rows, want=YES, constraints=only)
    best = merit(rows.assign(job="full-time", gender="male")) > 0
    there = merit(rows) > 0
    expected = np.select([there, best], ["there", "answer"], "none").tolist()
    assert list(found.standing) == expected
    assert found.counts["none"] == (~best).sum()


def test_groups_add_up_to_all():
    rows = town(150, seed=2)
    found = explainer().recourse(rows, want=YES, by="gender", constraints={"only": ["job"]})
    assert sum(found.groups.values(), type(found.counts)()) == found.counts
    assert found.to_frame()["group"].tolist() == list(found.groups)


def test_a_constraint_that_takes_the_answer_away_is_named_and_counted():
    rows = refused(150)
    constraints = mx.Constraints(only=["income", "age"], ranges={"income": (None, 40)})
    found = explainer().recourse(rows, want=YES, constraints=constraints)
    blocked = dict(found.blocked)
    lacking = [at for at, s in enumerate(found.standing) if s in ("none", "undecided")]
    rich = merit(rows.assign(income=town()["income"].max())) > 0
    assert blocked["ranges of 'income'"] == rich[lacking].sum()
    without = explainer().recourse(rows, want=YES, constraints=constraints, diagnose=False)
    assert (without.blocked, without.stuck) == ((), 0)
    assert without.standing == found.standing


def test_nobody_may_change_anything():
    rows = refused(40)
    found = explainer().recourse(rows, want=YES, constraints={"only": []})
    assert set(found.standing) == {"none"}
    assert found.explanations[0].status == "none"


def test_no_rows_is_an_answer():
    assert repr(explainer().recourse(town().head(0), want=YES)) == "No row needs an answer"


def test_model_calls_do_not_grow_with_the_rows():
    calls = []
    for count in (100, 1000):
        bank = Bank()
        chooser = explainer(bank)
        bank.calls = 0
        chooser.recourse(refused(count), want=YES, constraints={"only": ["job", "gender"]})
        calls.append(bank.calls)
    assert calls[1] <= calls[0] + 4


def test_recourse_is_shown_as_text_and_html():
    found = explainer().recourse(refused(60), want=YES, by="gender", constraints={"only": ["job"]})
    assert "provably none" in repr(found)
    assert "<table" in found.to_html()


def test_wrong_calls_are_told():
    with pytest.raises(mx.OptionError, match="did you mean 'gender'"):
        explainer().recourse(refused(10), want=YES, by="gendr")
    with pytest.raises(mx.ConstraintError):
        explainer().recourse(refused(10), want=YES, constraints=[None] * 99)
    with pytest.raises(mx.OptionError, match="max_rows must be a whole number"):
        explainer().recourse(refused(10), want=YES, max_rows=0)


def test_every_row_may_have_constraints_of_its_own():
    rows = refused(60)
    limits = [mx.Constraints(only=[]) if at % 2 else None for at in range(len(rows))]
    found = explainer().recourse(rows, want=YES, constraints=limits)
    assert found.standing[1::2] == ("none",) * (len(rows) // 2)
    assert set(found.standing[::2]) == {"answer"}


def test_without_constraints_none_is_blamed():
    never = mx.Explainer(lambda rows: np.ones(len(rows)), town(), classes=(NO, YES))
    found = never.recourse(refused(20), want=NO, max_rows=50)
    assert (found.blocked, found.stuck) == ((), 0)


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
def test_rows_left_open_stand_as_brute_force_says(sizes, free, share, most):
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
