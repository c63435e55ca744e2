"""What is found frame by frame is what is found at once."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import macex as mx
from cohort.town import NO, YES, Bank, explainer, merit, refused, town
from macex.scale.populations import drawn, plan_frames, recourse_frames

FREE = {"only": ["job", "income"], "ranges": {"income": (None, 60)}}


def cut(rows: pd.DataFrame, size: int) -> list[pd.DataFrame]:
    return [rows.iloc[at : at + size] for at in range(0, len(rows), size)] or [rows]


@pytest.mark.parametrize("size", [7, 60, 1000])
@pytest.mark.parametrize("by", [None, "gender", ["gender", "job"]])
def test_recourse_is_joined(size, by):
    rows = town(150, seed=2)
    whole = explainer().recourse(rows, want=YES, constraints=FREE, by=by)
    parts = recourse_frames(explainer(), cut(rows, size), want=YES, constraints=FREE, by=by)
    assert parts.standing == whole.standing
    assert parts.groups == whole.groups
    assert dict(parts.blocked) == dict(whole.blocked)
    assert parts.stuck == whole.stuck
    assert parts.explanations == ()
    assert "provably none" in repr(parts)


def test_many_groups_are_folded_when_all_are_known():
    draw = np.random.default_rng(0)
    data = town(300).assign(city=[f"c{i}" for i in draw.integers(0, 200, 300)])
    chooser = mx.Explainer(Bank(), data, classes=(NO, YES))
    found = recourse_frames(chooser, cut(data, 50), want=YES, by="city", diagnose=False)
    whole = chooser.recourse(data, want=YES, by="city", diagnose=False)
    assert len(found.groups) == len(whole.groups) == 60
    assert sum(counts.total() for counts in found.groups.values()) == 300
    name = next(name for name in found.groups if name.endswith(" other groups"))
    assert name in whole.groups


@pytest.mark.parametrize("size", [50, 1000])
def test_a_plan_is_chosen_once_and_counted_frame_by_frame(size):
    rows = town(400, seed=3)
    options = {"want": YES, "actions": 3, "constraints": {"ranges": {"income": (None, 75)}}}
    whole = explainer().plan(rows, **options)
    parts = plan_frames(explainer(), lambda: cut(rows, size), **options)
    assert parts.taken.tolist() == whole.taken.tolist()
    assert len(parts.actions) == len(whole.actions)
    for mine, other in zip(parts.actions, whole.actions, strict=True):
        assert (mine.moves, mine.flips, mine.adds) == (other.moves, other.flips, other.adds)
        assert mine.cost == pytest.approx(other.cost)
    assert repr(parts).splitlines()[0] == repr(whole).splitlines()[0]
    with pytest.raises(mx.OptionError, match="holds no rows"):
        parts.left  # noqa: B018 - it raises


def test_a_plan_for_more_rows_than_are_looked_at_is_counted_over_all(monkeypatch):
    monkeypatch.setattr("macex.scale.populations.SAMPLE", 60)
    rows = refused(700)
    plan = plan_frames(explainer(), lambda: cut(rows, 90), want=YES, actions=1, max_changes=1)
    (action,) = plan.actions
    (move,) = action.moves
    after = rows.assign(**{move.column: rows[move.column].clip(move.at_least, move.at_most)})
    assert (merit(after) > 1e-5).sum() == action.flips == plan.flipped


def test_nobody_in_need_and_no_rows_are_answers():
    rows = town(60)
    fine = rows[merit(rows) > 0]
    plan = plan_frames(explainer(), lambda: cut(fine, 10), want=YES)
    assert (plan.asked, plan.already) == (0, len(fine))
    assert repr(plan).startswith("No row needs an action")
    assert plan_frames(explainer(), lambda: [rows.head(0)], want=YES).asked == 0
    assert recourse_frames(explainer(), [rows.head(0)], want=YES).standing == ()


def test_every_row_is_drawn_as_often_as_any_other():
    rows = pd.DataFrame({"a": range(40)})
    times = np.zeros(40)
    for seed in range(600):
        few = drawn(cut(rows, 9), 10, seed)
        assert few["a"].is_monotonic_increasing
        times[few["a"]] += 1
    assert times.sum() == 6000
    assert (np.abs(times - 150) < 6 * np.sqrt(150 * 0.75)).all()
    assert drawn([], 3, 0) is None


def test_labels_have_no_frame():
    with pytest.raises(mx.OptionError, match="by takes columns"):
        recourse_frames(explainer(), [town(5)], want=YES, by=["a"] * 5)
