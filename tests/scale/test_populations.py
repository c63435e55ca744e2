"""What is found frame by frame is what is found at once."""

from __future__ import annotations

import json
from contextlib import contextmanager

import numpy as np
import pandas as pd
import pytest

import macex as mx
from cohort.town import NO, YES, Bank, explainer, merit, refused, town
from macex.scale.passes import drawn
from macex.scale.populations import of_frames

FREE = {"only": ["job", "income"], "ranges": {"income": (None, 60)}}


def cut(rows: pd.DataFrame, size: int) -> list[pd.DataFrame]:
    return [rows.iloc[at : at + size] for at in range(0, len(rows), size)] or [rows]


def parted(rows: pd.DataFrame, size: int, asked: mx.Explainer | None = None):
    return of_frames(asked or explainer(), lambda: cut(rows, size))


@pytest.mark.parametrize("size", [7, 60, 1000])
@pytest.mark.parametrize("by", [None, "gender", ["gender", "job"]])
def test_recourse_is_joined(size, by):
    rows = town(150, seed=2)
    whole = explainer().recourse(rows, want=YES, constraints=FREE, by=by)
    parts = parted(rows, size).recourse(want=YES, constraints=FREE, by=by)
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
    found = parted(data, 50, chooser).recourse(want=YES, by="city", diagnose=False)
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
    parts = parted(rows, size).plan(**options)
    assert parts.taken.tolist() == whole.taken.tolist()
    assert len(parts.actions) == len(whole.actions)
    for mine, other in zip(parts.actions, whole.actions, strict=True):
        assert (mine.moves, mine.flips, mine.adds) == (other.moves, other.flips, other.adds)
        assert mine.cost == pytest.approx(other.cost)
    assert repr(parts).splitlines()[0] == repr(whole).splitlines()[0]
    with pytest.raises(mx.OptionError, match="holds no rows"):
        parts.left  # noqa: B018 - it raises


def test_a_plan_for_more_rows_than_are_looked_at_is_counted_over_all(monkeypatch):
    monkeypatch.setattr("macex.scale.passes.SAMPLE", 60)
    rows = refused(700)
    plan = parted(rows, 90).plan(want=YES, actions=1, max_changes=1)
    (action,) = plan.actions
    (move,) = action.moves
    after = rows.assign(**{move.column: rows[move.column].clip(move.at_least, move.at_most)})
    assert (merit(after) > 1e-5).sum() == action.flips == plan.flipped


def test_nobody_in_need_and_no_rows_are_answers():
    rows = town(60)
    fine = rows[merit(rows) > 0]
    plan = parted(fine, 10).plan(want=YES)
    assert (plan.asked, plan.already) == (0, len(fine))
    assert repr(plan).startswith("No row needs an action")
    nobody = parted(rows.head(0), 10)
    assert nobody.plan(want=YES).asked == 0
    assert nobody.plan(want=YES, by="gender").asked == 0
    assert nobody.recourse(want=YES).standing == ()
    assert nobody.bias(protected=["gender"], want=YES).rows == 0
    assert nobody.picture(want=YES).given == 0
    for ask in (lambda rows: rows.plan(), lambda rows: rows.bias(protected=["gender"])):
        with pytest.raises(mx.OptionError, match="no rows to look at"):
            ask(of_frames(explainer(), list))


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
        parted(town(5), 5).recourse(want=YES, by=["a"] * 5)


def test_plans_by_group_are_those_of_the_rows_in_memory():
    rows = town(400, seed=3)
    options = {"want": YES, "actions": 2, "by": ["gender", "age"], "bands": {"age": [40]}}
    whole = explainer().plan(rows, **options)
    for size in (50, 1000):
        parts = parted(rows, size).plan(**options)
        assert list(parts.groups) == list(whole.groups)
        assert parts.taken.tolist() == whole.taken.tolist()
        for name, plan in whole.groups.items():
            mine = parts.groups[name]
            told = [(a.moves, a.flips, a.adds) for a in plan.actions]
            assert [(a.moves, a.flips, a.adds) for a in mine.actions] == told


def numbers(found) -> pd.DataFrame:
    """What a finding about bias says, without what is drawn: the ends of intervals."""
    return found.to_frame().drop(columns=["low", "high"])


@pytest.mark.parametrize("size", [37, 1000])
def test_bias_is_added_up(size):
    rows = town(300, seed=4)
    options = {"protected": ["gender", "age"], "want": YES, "by": ["job", "gender"]}
    whole = explainer().bias(rows, **options)
    parts = parted(rows, size).bias(**options)
    pd.testing.assert_frame_equal(numbers(parts), numbers(whole))
    assert parts.tried == whole.tried
    assert parts.gaps == whole.gaps
    pd.testing.assert_frame_equal(parts.table, whole.table)
    assert parts.reading() == whole.reading()


def test_bias_of_a_column_of_many_values_folds_groups_when_all_are_known():
    draw = np.random.default_rng(0)
    data = town(300).assign(city=[f"c{i}" for i in draw.integers(0, 150, 300)])
    chooser = mx.Explainer(Bank(), data, classes=(NO, YES), schema={"city": "categorical"})
    options = {"protected": ["city"], "explained": 20, "max_values": 10}
    whole, parts = chooser.bias(data, **options), parted(data, 45, chooser).bias(**options)
    mine, others = numbers(parts), numbers(whole)
    flips = [frame[frame["what"].isin(["flips", "effect"])] for frame in (mine, others)]
    pd.testing.assert_frame_equal(*flips)
    assert parts.tried[0].values == 10


def test_a_sample_for_bias_and_pictures_is_the_same_however_rows_are_divided():
    rows = town(300, seed=4)
    asked = {"want": YES, "explained": 40}
    told = [parted(rows, size).bias(protected=["gender"], **asked) for size in (50, 300)]
    assert len(told[0].table) == 40
    assert told[0].table["row"].tolist() == told[1].table["row"].tolist()
    pictures = [parted(rows, size).picture(**asked) for size in (50, 300)]
    assert pictures[0].explained == 40
    assert pictures[0].given == 300
    assert pictures[0].rules == pictures[1].rules


def test_a_picture_of_few_rows_is_that_in_memory():
    rows = town(150, seed=4)
    whole, parts = explainer().picture(rows, want=YES), parted(rows, 40).picture(want=YES)
    assert parts.rules == whole.rules
    assert repr(parts) == repr(whole)


def test_an_action_of_a_plan_has_the_support_that_is_asked_for():
    rows = town(400, seed=3)
    options = {
        "want": YES,
        "actions": 4,
        "constraints": {"ranges": {"income": (None, 70)}, "fixed": ["gender"]},
        "max_changes": 1,
    }
    plain = explainer().plan(rows, **options)
    assert min(action.flips for action in plain.actions) < 0.3 * plain.asked
    for ask in (explainer().plan, lambda rows, **o: parted(rows, 90).plan(**o)):
        common = ask(rows, support=0.3, **options)
        assert common.actions
        assert all(action.flips >= 0.3 * common.asked for action in common.actions)
    with pytest.raises(mx.OptionError, match="support is a share"):
        explainer().plan(rows, support=2)


ASKED = {
    "plan": {"actions": 1},
    "recourse": {},
    "bias": {"protected": ["gender"], "explained": 10},
    "picture": {"explained": 10},
}


@pytest.mark.parametrize("name", ASKED)
def test_a_finding_says_what_was_asked_of_which_model(name):
    rows, asked = town(60, seed=4), {"want": YES, "constraints": FREE, **ASKED[name]}
    whole = getattr(explainer(), name)(rows, **asked)
    parts = getattr(parted(rows, 25), name)(**asked)
    assert parts.facts() == whole.facts()
    assert set(parts.facts()) == {"want", "constraints", "model"}
    assert json.loads(parts.to_json())["meta"] == dict(parts.facts())
    assert "meta" not in json.loads(parts.to_json(canonical=True))


@pytest.mark.parametrize(
    ("name", "more", "stages"),
    [
        ("plan", {}, ["reading rows, pass 1 of 2", "reading rows, pass 2 of 2"]),
        ("plan", {"by": "job"}, [f"reading rows, pass {at} of 3" for at in (1, 2, 3)]),
        ("recourse", {}, ["reading rows"]),
        (
            "bias",
            {},
            ["reading rows, pass 1 of 2", "reading rows, pass 2 of 2", "explaining rows"],
        ),
        ("picture", {}, ["reading rows", "explaining rows"]),
    ],
)
def test_every_stage_of_a_finding_is_told(name, more, stages):
    told: dict[str, list[tuple[int, int | None]]] = {}

    @contextmanager
    def telling(what):
        told[what] = []
        yield lambda done, total: told[what].append((done, total))

    rows = town(60, seed=4)
    asked = of_frames(explainer(), lambda: cut(rows, 25), telling, len(rows))
    getattr(asked, name)(want=YES, **ASKED[name], **more)
    assert list(told) == stages
    for what in stages[: len(stages) - ("explaining rows" in stages)]:
        assert told[what] == [(25, 60), (50, 60), (60, 60)]
    for done, total in told.get("explaining rows", []):
        assert 0 < done <= total
    if name == "bias":
        assert told["explaining rows"][-1] == (20, 20)  # ten rows, with gender free and fixed
    if name == "picture":
        assert told["explaining rows"][-1] == (10, 10)
