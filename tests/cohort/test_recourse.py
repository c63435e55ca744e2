"""Who has an answer, who provably has none."""

from __future__ import annotations

import numpy as np
import pytest

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
