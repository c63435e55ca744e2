"""What is said about protected columns is what the model does."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import macex as mx
from cohort.town import NO, YES, Bank, explainer, merit, refused, town


def flipped(rows: pd.DataFrame) -> np.ndarray:
    other = rows.assign(gender=np.where(rows["gender"] == "male", "female", "male"))
    return (merit(rows) > 0) != (merit(other) > 0)


def test_the_share_that_flips_is_counted_by_group_and_direction():
    rows = town(600, seed=4)
    found = explainer().bias(rows, protected=["gender"], want=YES, explained=50)
    ((column, share),) = found.flips
    assert column == "gender"
    assert share.value == pytest.approx(flipped(rows).mean())
    assert share.low < share.value < share.high
    for line in found.by_group:
        mine = (rows["gender"] == line.group) & ((merit(rows) > 0) == (line.before == YES))
        assert line.share.rows == mine.sum()
        assert line.share.value == pytest.approx(flipped(rows)[mine].mean())
    up = next(g for g in found.by_group if g.group == "female" and g.before == NO)
    assert (up.after, up.toward) == (YES, "male")


def test_a_column_the_model_does_not_use_flips_nobody():
    found = explainer().bias(town(300, seed=4), protected=["age"], want=YES, explained=20)
    assert found.flips[0][1].value == 0
    assert found.flips[0][1].high == pytest.approx(0.01)
    assert "changes 0 % of 300 decisions" in found.reading()[0]


def test_protected_columns_are_counted_when_free_and_kept_when_fixed():
    rows = town(300, seed=5)
    found = explainer().bias(rows, protected=["gender"], want=YES, explained=300)
    answers = explainer().explain(rows[merit(rows) < 0], want=YES)
    used = np.mean([a.counterfactuals[0].changes[0].column == "gender" for a in answers])
    assert found.free[0].changed.value == pytest.approx(used)
    assert {b.group for b in found.burden} == {"female", "male"}
    women, men = (next(b for b in found.burden if b.group == g) for g in ("female", "male"))
    assert women.distance.value > men.distance.value
    assert sum(b.without.rows for b in found.burden) == found.explained


def test_constraints_on_protected_columns_do_not_hide_them():
    fixed = explainer(constraints={"fixed": ["gender"], "protected": ["age"]})
    rows = town(200, seed=5)
    hidden = fixed.bias(rows, protected=["gender"], want=YES, explained=100)
    plain = explainer(constraints={"protected": ["age"]}).bias(
        rows, protected=["gender"], want=YES, explained=100
    )
    assert hidden == plain


def test_a_constant_column_is_said_to_be_one():
    data = town().assign(country="here")
    chooser = mx.Explainer(Bank(), data, classes=(NO, YES))
    rows = town(50, seed=2).assign(country="here")
    found = chooser.bias(rows, protected=["country", "gender"], want=YES, explained=20)
    assert found.constant == ("country",)
    assert found.reading()[0] == "Country has one value in training: nothing can be said of it."
    alone = chooser.bias(rows, protected=["country"], want=YES, explained=20)
    assert alone.flips == alone.burden == ()
    assert "one value" in repr(alone)


def test_a_group_of_one_row_has_no_interval():
    rows = town(200, seed=6)
    rows = pd.concat([rows[rows["gender"] == "male"], rows[rows["gender"] == "female"].head(1)])
    found = explainer().bias(rows, protected=["gender"], explained=100)
    alone = next(g for g in found.by_group if g.group == "female")
    assert (alone.share.low, alone.share.high, alone.share.rows) == (None, None, 1)
    assert any("Too small to be read" in said for said in found.reading())


def test_no_rows_is_an_answer():
    found = explainer().bias(town().head(0), protected=["gender"])
    assert found.reading() == ["There are no rows to look at."]


def test_model_calls_do_not_grow_with_the_rows():
    calls = []
    for count in (300, 3000):
        bank = Bank()
        chooser = explainer(bank)
        bank.calls = 0
        chooser.bias(town(count, seed=3), protected=["gender"], explained=1)
        calls.append(bank.calls)
    assert calls[1] <= calls[0] + 4


def test_a_protected_number_is_grouped_by_range():
    found = explainer().bias(town(300, seed=7), protected=["income"], want=YES, explained=30)
    groups = {g.group for g in found.by_group}
    low, middle, high = (int(town()["income"].quantile(q)) for q in (0.25, 0.5, 0.75))
    first, last = f"up to {low}", f"over {high}"
    assert groups == {first, f"over {low} to {middle}", f"over {middle} to {high}", last}
    assert {b.group for b in found.burden} <= groups


def test_more_than_two_classes_have_directions():
    def three(rows):
        weight = np.exp(np.column_stack([0 * merit(rows), merit(rows), 2 * merit(rows) - 3]))
        return weight / weight.sum(axis=1, keepdims=True)

    chooser = mx.Explainer(three, town(), classes=("low", "mid", "high"))
    found = chooser.bias(town(300, seed=8), protected=["gender"], explained=20)
    ways = {(g.before, g.after) for g in found.by_group if g.share.value}
    assert ("low", "mid") in ways


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"protected": ["gendr"]}, "did you mean 'gender'"),
        ({"protected": []}, "protected names no column"),
        ({"protected": None}, "protected takes names of columns"),
        ({"protected": 5}, "protected takes names of columns"),
        ({"protected": ["debt"], "constraints": {"derived": {"debt": "income / 2"}}}, "is derived"),
        ({"protected": ["gender"], "explained": 0}, "explained must be a whole number"),
    ],
)
def test_wrong_calls_are_told(options, said):
    with pytest.raises(mx.MacexError, match=said):
        explainer().bias(town(20), **options)


def test_an_action_of_a_group_counts_for_the_columns_it_changes():
    rows = refused(120)
    together = {"groups": [["gender", "job"]], "only": ["job"], "fixed": ["gender"]}
    alone = explainer().bias(rows, protected=["age"], want=YES, constraints=together)
    assert alone.free[0].strongest.value == 0
    groups = {"groups": [["gender", "job"]], "only": ["gender", "job"]}
    found = explainer().bias(rows, protected=["gender"], want=YES, constraints=groups)
    best = explainer().explain(rows, want=YES, constraints=groups)
    own = rows["gender"].tolist()
    used = [any(a.value[0] != own[at] for a in e.actions[:3]) for at, e in enumerate(best)]
    assert found.free[0].strongest.value == pytest.approx(np.mean(used))


def test_a_column_of_ten_thousand_values_is_read_in_few_lines():
    draw = np.random.default_rng(0)
    data = town(3000).assign(city=[f"c{i}" for i in draw.integers(0, 10_000, 3000)])
    chooser = mx.Explainer(Bank(), data, classes=(NO, YES))
    found = chooser.bias(data.head(500), protected=["city"], want=YES, explained=50)
    assert found.flips[0][1].value == 0
    assert len({g.group for g in found.by_group}) <= 60
    assert len(repr(found).splitlines()) < 100


def test_one_hot_columns_are_protected_by_the_name_they_stand_for():
    data = pd.get_dummies(town(), columns=["gender"], dtype=int)
    chooser = mx.Explainer(
        lambda rows: Bank()(rows.assign(gender=np.where(rows["gender_male"] == 1, "male", ""))),
        data,
        classes=(NO, YES),
        schema={"gender": mx.OneHot(["gender_female", "gender_male"])},
    )
    rows = town(200, seed=4)
    found = chooser.bias(pd.get_dummies(rows, columns=["gender"], dtype=int), protected=["gender"])
    assert found.flips[0][1].value == pytest.approx(flipped(rows).mean())


def test_rows_that_want_different_things_have_no_goal_in_the_title():
    rows = town(60, seed=2)
    wants = [YES, NO] * 30
    found = explainer().bias(rows, protected=["gender"], want=wants, explained=20)
    assert found.goal == ""
    assert "to be decided otherwise" in repr(found)


def test_intervals_are_the_same_for_the_same_seed():
    rows = town(200, seed=9)
    first, again, other = (
        explainer(random_state=seed).bias(rows, protected=["gender"], want=YES, explained=40)
        for seed in (0, 0, 1)
    )
    assert first.to_frame().equals(again.to_frame())
    assert first.flips != other.flips


def test_a_bare_score_has_no_decisions_to_flip():
    chooser = mx.Explainer(merit, town())
    with pytest.raises(mx.GoalError, match="name its classes"):
        chooser.bias(town(20), protected=["gender"])


def test_bias_is_shown_as_text_html_and_frame():
    found = explainer().bias(town(200, seed=9), protected=["gender"], want=YES, explained=60)
    assert "Changing gender alone changes" in repr(found)
    assert "<table" in found.to_html()
    assert set(found.to_frame()["what"]) >= {"flips", "without recourse", "changes"}
