"""What a plan promises: every action does what is counted, within the constraints."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import polars as pl
import pytest

import macex as mx
from cohort.town import NO, YES, Bank, explainer, merit, refused, town
from macex.cohort.cover import ActionTrials
from macex.cohort.moves import common_moves
from macex.cohort.plans import SAMPLE
from macex.cohort.population import crowd, opened


def applied(rows: pd.DataFrame, action) -> pd.DataFrame:
    """The rows after an action; what leaves the training range is not counted by the plan."""
    rows = rows.copy()
    for move in action.moves:
        own = rows[move.column]
        if move.by is not None:
            rows[move.column] = own + move.by
        elif move.at_least is not None:
            rows[move.column] = own.clip(lower=move.at_least)
        elif move.at_most is not None:
            rows[move.column] = own.clip(upper=move.at_most)
        else:
            rows[move.column] = move.to
    return rows


def in_range(rows: pd.DataFrame) -> np.ndarray:
    train = town()
    numbers = ["income", "debt", "age"]
    inside = (rows[numbers] >= train[numbers].min()) & (rows[numbers] <= train[numbers].max())
    return inside.all(axis=1).to_numpy()


def test_an_action_flips_exactly_the_rows_that_are_counted_for_it():
    rows = refused()
    plan = explainer().plan(rows, want=YES, actions=3)
    for action in plan.actions:
        after = applied(rows, action)
        assert ((merit(after) > 0) & in_range(after)).sum() == action.flips


def test_rows_are_covered_by_the_action_they_are_said_to_take():
    rows = refused()
    plan = explainer().plan(rows, want=YES, actions=2, constraints={"fixed": ["income"]})
    for turn, action in enumerate(plan.actions):
        assert (merit(applied(rows[plan.taken == turn], action)) > 0).all()
    assert len(plan.left) == (plan.taken == -1).sum() == plan.asked - plan.flipped
    pd.testing.assert_frame_equal(plan.left, rows[plan.taken == -1])


def test_what_actions_add_sums_up_to_what_they_flip_together():
    plan = explainer().plan(
        refused(), want=YES, actions=4, constraints={"ranges": {"debt": (9, 60)}}
    )
    assert sum(action.adds for action in plan.actions) == plan.flipped
    assert all(action.adds > 0 for action in plan.actions)


@pytest.mark.parametrize("free", [["income", "job"], ["debt", "job", "age"]])
def test_a_plan_is_as_good_as_the_best_over_all_pairs(free):
    rows, chooser = refused(160), explainer()
    constraints = mx.Constraints(only=free, ranges={"income": (None, 75), "debt": (15, None)})
    plan = chooser.plan(
        rows, want=YES, actions=2, constraints=constraints, slack=0, plausible=False
    )
    near = chooser.plan(rows, want=YES, actions=2, constraints=constraints, plausible=False)
    population = opened(crowd(chooser.engine, rows, YES, constraints))
    trials = ActionTrials(population, common_moves(population.space))
    moves = range(len(trials.moves))
    trials.score([(a,) for a in moves])
    unit = trials.moves.unit
    trials.score([(a, b) for a, b in combinations(moves, 2) if unit[a] != unit[b]])
    reached = np.unique(np.stack(trials.reached), axis=0)
    best = max((a | b).sum() for a, b in combinations(reached, 2))
    assert plan.flipped >= best
    assert near.flipped >= best - 0.02 * near.asked


def test_constraints_hold_in_every_row_that_is_counted():
    rows = refused()
    plan = explainer().plan(
        rows,
        want=YES,
        constraints=mx.Constraints(
            fixed=["gender", "age"], increase=["income"], rules=["debt <= income"], max_changes=2
        ),
    )
    for turn, action in enumerate(plan.actions):
        before = rows[plan.taken == turn]
        after = applied(before, action)
        assert {move.column for move in action.moves} <= {"income", "debt", "job"}
        assert (after["income"] >= before["income"]).all()
        assert (after["debt"] <= after["income"]).all()


def test_a_plan_has_at_most_so_many_actions_of_at_most_so_many_changes():
    plan = explainer().plan(refused(), want=YES, actions=2, max_changes=1)
    assert len(plan.actions) <= 2
    assert all(len(action.moves) == 1 for action in plan.actions)


def test_three_changes_flip_at_least_as_many_rows_as_two():
    few = {"constraints": {"ranges": {"income": (None, 60), "debt": (20, None)}}}
    two = explainer().plan(refused(), want=YES, actions=1, max_changes=2, **few)
    three = explainer().plan(refused(), want=YES, actions=1, max_changes=3, **few)
    assert three.flipped >= two.flipped


def test_the_curve_ends_in_the_coverage():
    plan = explainer().plan(
        refused(), want=YES, actions=4, max_changes=1, constraints={"ranges": {"income": (0, 70)}}
    )
    curve = plan.curve
    assert curve["actions"].tolist() == list(range(len(plan.actions) + 1))
    for turn in curve["actions"]:
        rows, flipped = refused(), np.zeros(plan.asked, bool)
        for action in plan.actions[:turn]:
            after = applied(rows, action)
            flipped |= (merit(after) > 0) & in_range(after)
        assert curve["flipped"][turn] == flipped.sum()
    assert curve["share"].iloc[-1] == plan.coverage
    assert explainer().plan(town().head(0), want=YES).curve["flipped"].tolist() == [0]


def test_a_row_that_is_moved_too_far_is_not_counted():
    rows = refused()
    near = explainer().plan(rows, want=YES, actions=2, max_changes=1, max_cost=0.3)
    far = explainer().plan(rows, want=YES, actions=2, max_changes=1)
    assert 0 < near.flipped < far.flipped
    assert all(action.cost <= 0.3 for action in near.actions)
    assert explainer().plan(rows, want=YES, max_cost=0).flipped == 0


def test_groups_have_plans_of_their_own():
    rows = refused()
    plan = explainer().plan(rows, want=YES, by="gender", actions=1, max_changes=1)
    assert set(plan.groups) == {"female", "male"}
    assert plan.flipped == sum(part.flipped for part in plan.groups.values())
    assert set(plan.to_frame()["group"]) == {"female", "male"}
    labels = ["old" if age > 40 else "young" for age in rows["age"]]
    assert set(explainer().plan(rows, want=YES, by=labels).groups) == {"old", "young"}


def test_a_group_of_one_row_is_planned_for():
    rows = refused().head(3)
    plan = explainer().plan(rows, want=YES, by=["a", "a", "b"])
    assert plan.groups["b"].asked == 1
    assert plan.coverage == 1


def test_rows_that_are_there_already_are_left_out():
    rows = town(200, seed=3)
    plan = explainer().plan(rows, want=YES)
    assert (plan.taken == -2).sum() == (merit(rows) > 0).sum()
    assert "reach the goal as they are" in repr(plan)


def test_no_rejected_rows_is_an_answer():
    rows = town(200, seed=3)
    plan = explainer().plan(rows[merit(rows) > 0], want=YES)
    assert plan.actions == ()
    assert repr(plan).startswith("No row needs an action")
    assert explainer().plan(rows.head(0), want=YES).asked == 0


def test_a_plan_that_flips_nobody_is_an_answer():
    plan = explainer().plan(refused(), want=YES, constraints={"only": ["age"]})
    assert (plan.actions, plan.flipped, plan.coverage) == ((), 0, 0.0)
    assert repr(plan).startswith("No common action flips any of")
    assert explainer().plan(refused(), want=YES, constraints={"only": []}).flipped == 0


def test_model_calls_do_not_grow_with_the_rows():
    counts = []
    for count in (200, 1600):
        bank = Bank()
        chooser = explainer(bank)
        bank.calls = 0
        chooser.plan(refused(count), want=YES, actions=2, constraints={"fixed": ["income"]})
        counts.append((bank.calls, bank.rows))
    assert counts[1][0] <= counts[0][0] + counts[1][1] // 131_072 + 4


def test_the_same_rows_give_the_same_plan():
    first, second = (explainer().plan(refused(), want=YES) for _ in range(2))
    assert first.actions == second.actions


def test_polars_rows_and_groups_that_move_together_are_planned():
    rows = pl.from_pandas(refused(100).reset_index(drop=True))
    chooser = mx.Explainer(
        lambda rows: Bank()(rows.to_pandas()), pl.from_pandas(town()), classes=(NO, YES)
    )
    plan = chooser.plan(
        rows, want=YES, constraints={"groups": [["job", "gender"]], "fixed": ["income"]}
    )
    assert plan.flipped > 0
    assert isinstance(plan.left, pl.DataFrame)


def test_dates_and_missing_values_are_planned():
    draw = np.random.default_rng(0)
    since = pd.Timestamp("2020-01-01") + pd.to_timedelta(draw.integers(0, 900, 300), unit="D")
    income = draw.integers(20, 120, 300).astype(float)
    income[:40] = np.nan
    rows = pd.DataFrame({"since": since, "income": income})

    def model(rows):
        days = (rows["since"] - pd.Timestamp("2020-01-01")).dt.days
        return 1 / (1 + np.exp(-(rows["income"].fillna(20) / 10 - days / 90)))

    chooser = mx.Explainer(model, rows, classes=(NO, YES))
    plan = chooser.plan(rows, want=YES, actions=2)
    assert plan.coverage > 0.5
    assert not rows["income"][plan.taken == -1].gt(60).any()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"actions": 0}, "actions must be a whole number"),
        ({"slack": 2}, "slack is a share of the rows"),
        ({"slack": "x"}, "slack must be a finite number"),
        ({"max_cost": "x"}, "max_cost must be a finite number"),
        ({"max_cost": -1}, "max_cost is a distance of 0 or more"),
        ({"plausible": 1}, "plausible is True or False"),
        ({"max_changes": 1.5}, "max_changes must be a whole number"),
        ({"by": "gendr"}, "did you mean 'gender'"),
        ({"by": ["a"]}, "a label for each of the"),
        ({"constraints": {"fixed": ["gendr"]}}, "did you mean 'gender'"),
        ({"want": "grantd"}, "did you mean 'granted'"),
    ],
)
def test_wrong_calls_are_told(options, said):
    with pytest.raises(mx.MacexError, match=said):
        explainer().plan(refused(), **{"want": YES, **options})


@pytest.mark.parametrize("question", ["plan", "bias", "recourse", "picture"])
def test_a_model_that_fails_is_told_with_the_row_of_the_call(question):
    rows = refused(300).reset_index(drop=True)
    odd = int(np.flatnonzero(rows["income"] == rows["income"].iloc[20])[0])

    class Moody(Bank):
        moody = False

        def __call__(self, asked):
            wrong = (asked["income"] == rows["income"][odd]) & (asked["age"] == rows["age"][odd])
            if self.moody and (wrong & (asked["debt"] == rows["debt"][odd])).any():
                raise RuntimeError("no")
            return super().__call__(asked)

    model = Moody()
    chooser = explainer(model)
    model.moody = True
    options = {"protected": ["gender"]} if question == "bias" else {}
    with pytest.raises(mx.ModelError, match=f"row {odd} of the call") as told:
        getattr(chooser, question)(rows, want=YES, **options)
    assert "on_error" not in str(told.value)
    assert "leave rows out" in str(told.value)


def test_a_plan_for_many_rows_is_counted_over_all_of_them():
    rows = refused(6000)
    plan = explainer().plan(rows, want=YES, actions=2, constraints={"fixed": ["income"]})
    assert len(rows) > SAMPLE
    for action in plan.actions:
        after = applied(rows, action)
        assert ((merit(after) > 1e-5) & in_range(after)).sum() == action.flips


def test_every_row_may_have_constraints_of_its_own():
    rows = refused(100)
    limits = [{"only": []} if at % 2 else {"only": ["income"]} for at in range(len(rows))]
    limits = [mx.Constraints.from_dict(one) for one in limits]
    plan = explainer().plan(rows, want=YES, constraints=limits)
    assert (plan.taken[1::2] == -1).all()
    assert (plan.taken[::2] >= 0).all()


def test_a_plan_is_shown_as_text_html_and_chart():
    plan = explainer(names={"income": mx.Name("yearly income", unit="k€")}).plan(
        refused(), want=YES, actions=2
    )
    assert "yearly income" in repr(plan)
    assert "<table" in plan.to_html()
    assert "mx-meter" in plan.to_html()
    assert len(plan.plot().bars) == len(plan.actions)
    covered = plan.plot("coverage").charts[0].lines[0]
    assert list(covered.y) == pytest.approx(plan.curve["share"].tolist())


def test_the_bar_of_a_page_is_divided_into_what_actions_add_and_what_is_left():
    plan = explainer().plan(
        refused(), want=YES, actions=6, max_changes=1, constraints={"ranges": {"debt": (9, 60)}}
    )
    strip = plan.sheet().strip
    assert len(strip) == min(len(plan.actions), 5) + 1
    assert sum(share for _, share in strip) == pytest.approx(1)
    assert strip[0][1] == plan.actions[0].adds / plan.asked
    assert strip[-1][0].startswith("left: ")
    assert strip[-1][1] == pytest.approx(1 - plan.coverage)
    assert plan.to_html().count('class="mx-part"') == len(strip) - 1
    nobody = explainer().plan(refused(), want=YES, constraints={"only": ["age"]})
    assert "mx-strip" not in nobody.to_html().partition("</style>")[2]


def test_a_plan_speaks_the_language_of_the_report():
    found = explainer().explain(refused(60), want=YES, constraints={"fixed": ["income"]})
    page = found.to_html(language="de")
    assert "Zeilen übrig" in page
    assert "rows left" not in page
    assert "Zeilen übrig" in found.summary().to_html(language="de")


def test_groups_are_drawn_by_name():
    plan = explainer().plan(refused(), want=YES, by="gender", actions=1, max_changes=1)
    texts = [bar.name for bar in plan.plot().bars]
    assert [text.partition(":")[0] for text in texts] == ["female", "male"]


def test_a_plan_stands_in_the_report():
    chooser, rows = explainer(), refused(60)
    page = chooser.explain(rows.head(3), want=YES).to_html(findings=[chooser.plan(rows, want=YES)])
    assert "action" in page
    assert "rows left" in page


def test_a_plan_stands_below_the_summary():
    chooser, rows = explainer(), refused(60)
    plan = chooser.plan(rows, want=YES)
    summary = chooser.explain(rows, want=YES).summary(plan=plan)
    assert repr(summary).endswith(repr(plan))
    assert "rows left" in summary.to_html()


def test_the_structure_of_training_is_kept_in_every_row_that_is_counted():
    draw = np.random.default_rng(0)
    months, price = draw.integers(1, 72, 600), draw.integers(20, 120, 600)
    train = pd.DataFrame({"months": months, "price": price, "total": months * price})

    def model(rows):
        return 1 / (1 + np.exp(-(rows["total"].to_numpy(float) - 4500) / 800))

    chooser = mx.Explainer(model, train, classes=(NO, YES), structure="keep")
    rows = train[train["total"] < 4500].head(100)
    plan = chooser.plan(rows, want=YES, actions=3, max_changes=1)
    assert {move.column for action in plan.actions for move in action.moves} <= {"months", "price"}
    for action in plan.actions:
        after = applied(rows, action)
        after["total"] = after["months"] * after["price"]
        inside = after["total"] <= train["total"].max()
        assert ((model(after) > 0.5 + 1e-6) & inside).sum() == action.flips
