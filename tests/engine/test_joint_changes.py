"""Two smaller changes stand beside two larger ones where several answers are wanted."""

import numpy as np
import pandas as pd
import pytest

from macex import Explainer

DRAW = np.random.default_rng(3)
ROWS = pd.DataFrame({"priors": DRAW.integers(0, 20, 300), "age": DRAW.integers(18, 70, 300)})


def chance(frame):
    score = frame["age"].to_numpy() / 10 - frame["priors"].to_numpy()
    return 1 / (1 + np.exp(-score))


@pytest.fixture(scope="module")
def explainer():
    return Explainer(chance, ROWS, classes=("held", "free"), prefer="fewest")


QUERIES = pd.DataFrame({"priors": [6, 5, 6], "age": [30, 25, 40]})


def test_three_answers_change_one_column_the_other_and_a_little_of_both(explainer):
    for answer in explainer.explain(QUERIES, want="free", n=3):
        sets = [frozenset(change.column for change in cf.changes) for cf in answer.counterfactuals]
        assert set(sets) == {
            frozenset({"priors"}),
            frozenset({"age"}),
            frozenset({"priors", "age"}),
        }
        assert len(sets[-1]) == 2


def test_neither_of_two_changes_can_be_left_out(explainer):
    for place, answer in enumerate(explainer.explain(QUERIES, want="free", n=3)):
        both = next(cf for cf in answer.counterfactuals if cf.sparsity == 2)
        for change in both.changes:
            row = QUERIES.iloc[[place]].assign(**{change.column: change.after})
            assert chance(row)[0] < 0.5


def test_one_answer_changes_one_column(explainer):
    found = explainer.explain(QUERIES, want="free")
    assert all(answer.counterfactuals[0].sparsity == 1 for answer in found)


def test_three_smaller_changes_stand_beside_two_larger_ones():
    """No one change suffices and only one pair does; more of one makes less of the others do."""
    draw = np.random.default_rng(4)
    rows = pd.DataFrame({name: draw.integers(0, 11, 400) for name in ("age", "hours", "years")})

    def model(frame):
        age, hours, years = (frame[name].to_numpy(float) for name in rows)
        return 1 / (1 + np.exp(15 - age - hours - 0.4 * years))

    query = pd.DataFrame({"age": [0], "hours": [0], "years": [0]})
    answer = Explainer(model, rows, classes=("held", "free"), prefer="fewest").explain(
        query, want="free", n=2
    )[0]
    sets = [{change.column for change in cf.changes} for cf in answer.counterfactuals]
    assert sets == [{"age", "hours"}, {"age", "hours", "years"}]
    for change in answer.counterfactuals[1].changes:
        row = answer.counterfactuals[1].row.assign(**{change.column: change.before})
        assert model(row)[0] <= 0.5  # even is not enough


def windowed(frame):
    """Yes to few priors; and to one race in a window of age, which alone is worth less."""
    inside = frame["age"].between(38, 48).to_numpy()
    joint = inside & (frame["race"] == "h").to_numpy()
    score = 3.5 - frame["priors"].to_numpy() + 0.05 * frame["age"].to_numpy() * ~inside
    return 1 / (1 + np.exp(-np.where(joint, 5.0, score)))


def test_a_pair_neither_half_of_which_helps_is_found_where_too_few_others_are():
    rows = ROWS.assign(race=DRAW.choice(list("abch"), 300), pay=DRAW.normal(size=300).round(2))
    query = pd.DataFrame({"priors": [18], "age": [30], "race": ["a"], "pay": [0.1]})
    answer = Explainer(windowed, rows, classes=("held", "free"), prefer="fewest").explain(
        query, want="free", n=3
    )[0]
    sets = [{change.column for change in cf.changes} for cf in answer.counterfactuals]
    assert sets[:2] == [{"priors"}, {"age", "race"}]


@pytest.mark.parametrize("pair", [("a1", "a2"), ("z1", "z2")])
def test_in_many_columns_a_pair_is_found_whatever_its_name(pair):
    draw = np.random.default_rng(0)
    rows = pd.DataFrame({"priors": draw.integers(0, 20, 300)})
    rows = rows.assign(**{name: draw.choice(list("uv"), 300) for name in pair})
    rows = rows.assign(**{f"m{i:02d}": draw.normal(size=300).round(2) for i in range(27)})

    def both(frame):
        one, other = ((frame[name] == "v").to_numpy() for name in pair)
        score = 3.5 - frame["priors"].to_numpy() - 0.5 * (one ^ other)
        return 1 / (1 + np.exp(-np.where(one & other, 5.0, score)))

    query = rows.iloc[[0]].assign(priors=18, **dict.fromkeys(pair, "u"))
    answer = Explainer(both, rows, classes=("held", "free"), prefer="fewest").explain(
        query, want="free", n=3
    )[0]
    sets = [{change.column for change in cf.changes} for cf in answer.counterfactuals]
    assert sets[:2] == [{"priors"}, set(pair)]


def rarely(frame):
    """Yes to three sevens in the last columns, while nines look better one by one."""
    cells = frame.to_numpy(float)
    gains = (0.3 * (cells == 7) + 0.35 * (cells == 9)).sum(axis=1)
    return 1 / (1 + np.exp(3 - 0.1 * gains - np.where((cells[:, -5:] == 7).sum(axis=1) >= 3, 6, 0)))


def test_who_asks_for_more_answers_within_so_many_rows_finds_no_fewer():
    draw = np.random.default_rng(1)
    rows = pd.DataFrame(draw.integers(0, 10, (300, 12)), columns=[f"c{i:02d}" for i in range(12)])
    queries = rows[(rows.iloc[:, -5:] == 7).sum(axis=1) == 0].head(12)
    explainer = Explainer(rarely, rows, classes=("held", "free"), prefer="fewest")
    found = {
        n: sum(one.status == "found" for one in explainer.explain(queries, n=n, max_rows=2500))
        for n in (1, 3)
    }
    assert found[3] >= found[1] > 0


def test_an_answer_is_not_crowded_out_by_ones_that_hold_another():
    draw = np.random.default_rng(0)
    rows = pd.DataFrame({"a": draw.integers(0, 41, 400) / 10})
    rows = rows.assign(**{name: draw.integers(0, 2, 400) for name in "bcd"})
    rows = rows.assign(**{f"x{i:02d}": draw.choice(["n", "y"], 400) for i in range(16)})

    def model(frame):
        b, c, d = (frame[name].to_numpy(float) for name in "bcd")
        little = (frame.iloc[:, 4:] == "y").any(axis=1).to_numpy()
        score = frame["a"].to_numpy() + 0.25 * little + 0.3 * (b + c + d) + 3 * b * c * d - 3
        return 1 / (1 + np.exp(-4 * score))

    query = rows.iloc[[0]].assign(a=0.0, b=0, c=0, d=0, **dict.fromkeys(rows.columns[4:], "n"))
    answer = Explainer(model, rows, classes=("held", "free"), prefer="fewest").explain(
        query, want="free", n=3
    )[0]
    sets = [{change.column for change in cf.changes} for cf in answer.counterfactuals]
    assert sets[0] == {"a"}
    assert {"b", "c", "d"} in sets


def test_a_distance_of_ones_own_may_prefer_two_changes_to_one():
    """What moves together is near by it, so a change is left in that is not needed."""

    def apart(before, after):
        moved = after.to_numpy(float) - before.to_numpy(float)
        return np.abs(moved[:, 0] - moved[:, 1])

    rows = pd.DataFrame({"age": np.arange(60) % 12, "years": np.arange(60) // 5})
    model = lambda frame: 1 / (1 + np.exp(5.5 - frame["age"].to_numpy(float)))  # noqa: E731
    query = pd.DataFrame({"age": [2], "years": [1]})
    explainer = Explainer(
        model, rows, classes=("held", "free"), prefer="nearest", distance=apart, finetune=None
    )
    for n in (1, 3):
        best = explainer.explain(query, want="free", n=n)[0].counterfactuals[0]
        assert {change.column for change in best.changes} == {"age", "years"}
        assert best.distance == 0
