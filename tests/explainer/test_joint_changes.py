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
    return Explainer(chance, ROWS, classes=("held", "free"))


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


def windowed(frame):
    """Yes to few priors; and to one race in a window of age, which alone is worth less."""
    inside = frame["age"].between(38, 48).to_numpy()
    joint = inside & (frame["race"] == "h").to_numpy()
    score = 3.5 - frame["priors"].to_numpy() + 0.05 * frame["age"].to_numpy() * ~inside
    return 1 / (1 + np.exp(-np.where(joint, 5.0, score)))


def test_a_pair_neither_half_of_which_helps_is_found_where_too_few_others_are():
    rows = ROWS.assign(race=DRAW.choice(list("abch"), 300), pay=DRAW.normal(size=300).round(2))
    query = pd.DataFrame({"priors": [18], "age": [30], "race": ["a"], "pay": [0.1]})
    answer = Explainer(windowed, rows, classes=("held", "free")).explain(query, want="free", n=3)[0]
    sets = [{change.column for change in cf.changes} for cf in answer.counterfactuals]
    assert sets[:2] == [{"priors"}, {"age", "race"}]
