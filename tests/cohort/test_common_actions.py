"""A summary shows what would flip the most rows, for few model calls."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import macex as mx
from cohort.town import NO, YES, Bank, explainer, refused, town

FIXED = {"fixed": ["income"]}


def test_a_summary_has_the_plan_of_its_rows_under_its_constraints():
    rows, chooser = refused(120), explainer()
    summary = chooser.explain(rows, want=YES, constraints=FIXED).summary()
    plan = chooser.plan(rows, want=YES, constraints=FIXED, actions=3)
    assert summary.plan.actions == plan.actions
    assert repr(summary).endswith(repr(plan))
    assert "rows left" in summary.to_html()


@pytest.mark.parametrize("count", [80, 800])
def test_a_summary_costs_at_most_twelve_model_calls(count):
    bank = Bank()
    chooser = explainer(bank)
    found = chooser.explain(refused(count), want=YES, constraints=FIXED)
    bank.calls = 0
    assert found.summary().plan.flipped > 0
    assert bank.calls <= 12


def test_a_summary_of_many_rows_costs_three_calls_more_and_full_chunks():
    bank = Bank()
    chooser = explainer(bank)
    found = chooser.explain(refused(2000), want=YES, constraints=FIXED)
    bank.calls = bank.rows = 0
    plan = found.summary().plan
    assert plan.asked == len(found)
    assert bank.calls <= 15 + bank.rows // 131_072


def test_looking_at_a_summary_asks_nobody():
    bank = Bank()
    found = explainer(bank).explain(refused(60), want=YES)
    without = bank.calls
    found.summary(plan=False)
    repr(found)
    assert bank.calls == without
    summary = found.summary()
    after = bank.calls
    repr(summary)
    summary.to_html()
    assert bank.calls == after > without


def test_a_part_of_a_batch_has_a_plan_of_its_own():
    rows, chooser = refused(120), explainer()
    found = chooser.explain(rows, want=YES, constraints=FIXED)
    part = found[10:40][::3]
    expected = chooser.plan(rows.iloc[10:40:3], want=YES, constraints=FIXED, actions=3)
    assert part.summary().plan.actions == expected.actions
    assert part.summary().plan.asked == len(part) == 10


def test_constraints_and_goals_of_each_row_are_kept():
    rows = town(60, seed=4)
    limits = [mx.Constraints(only=["job"]) if at % 2 else mx.Constraints() for at in range(60)]
    wants = [YES if at % 3 else NO for at in range(60)]
    plan = explainer().explain(rows, want=wants, constraints=limits).summary().plan
    for turn, action in enumerate(plan.actions):
        mine = np.flatnonzero(plan.taken == turn)
        if {move.column for move in action.moves} != {"job"}:
            assert not (mine % 2).any()


@pytest.mark.parametrize(
    "call", [{"max_rows": 500}, {"timeout_s": 60}, {"robust": 0.5}, {"also": [Bank()]}]
)
def test_a_call_with_bounds_that_a_plan_has_not_has_no_plan(call):
    assert explainer().explain(refused(30), want=YES, **call).summary().plan is None


def test_one_row_has_nothing_in_common_with_others():
    found = explainer().explain(refused(30).head(1), want=YES)
    assert found.summary().plan is None
    assert explainer().explain(town().head(0), want=YES).summary().plan is None


def test_a_stored_batch_keeps_its_answers_and_no_model():
    def local(rows):
        return Bank()(rows)

    found = mx.Explainer(local, town(), classes=(NO, YES)).explain(refused(30), want=YES)
    for again in (pickle.loads(pickle.dumps(found)), copy.deepcopy(found)):  # noqa: S301
        assert list(again) == list(found)
        assert again.summary().plan is None
        assert again.to_json() == found.to_json()


def test_a_model_that_fails_on_a_row_or_an_action_leaves_a_summary():
    rows = refused(60)

    class Moody(Bank):
        strict = False

        def __call__(self, rows):
            if self.strict and (rows["income"] > 100).any():
                raise RuntimeError("too much")
            return super().__call__(rows)

    moody = Moody()
    chooser = explainer(moody)
    moody.strict = True
    plan = chooser.explain(rows, want=YES, on_error="keep").summary().plan
    assert plan is None
    within = {"ranges": {"income": (None, 90)}}
    odd = rows.assign(income=[110, *rows["income"].iloc[1:]])
    found = chooser.explain(odd, want=YES, on_error="keep", constraints=within)
    assert found[0].status != "found"
    assert found.summary().plan.asked == len(rows) - 1


def test_rows_whose_columns_move_together_in_other_ways_have_no_common_plan():
    rows = refused(40)
    groups = [{"groups": [["job", "gender"]]} if at % 2 else {} for at in range(len(rows))]
    limits = [mx.Constraints.from_dict(one) for one in groups]
    assert explainer().explain(rows, want=YES, constraints=limits).summary().plan is None
    with pytest.raises(mx.ConstraintError, match="the same groups"):
        explainer().plan(rows, want=YES, constraints=limits)


def test_the_plan_stands_in_the_report():
    found = explainer().explain(refused(40), want=YES, constraints=FIXED)
    assert "rows left" in found.to_html()
    assert "rows left" not in found.to_html(plan=False)
