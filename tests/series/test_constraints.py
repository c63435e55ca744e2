"""What may not change does not change, and constraints are plain values."""

from __future__ import annotations

import numpy as np
import pytest

import macex as mx
from macex.series.constraints import SeriesConstraints
from macex.series.limits import limits_of
from series.machines import NAMES, explainer, made_cases

QUERIES = made_cases(9, seed=2)


def answers(found):
    return [answer for item in found for answer in item.counterfactuals]


@pytest.mark.parametrize("method", ["exhaustive", "reinforce", "gradientless"])
def test_fixed_channels_never_change(method):
    wish = mx.SeriesConstraints(fixed=["sensor 4", 0])
    found = explainer(method=method, constraints=wish).explain(QUERIES, n=2)
    assert answers(found)
    for answer in answers(found):
        assert not {"sensor 4", "sensor 0"} & set(answer.channels)


def test_only_some_channels_may_change():
    for answer in answers(explainer().explain(QUERIES, constraints={"only": ["sensor 2"]})):
        assert set(answer.channels) <= {"sensor 2"}


@pytest.mark.parametrize("finetune", ["segments", None])
@pytest.mark.parametrize("times", [[(0, 15)], {"sensor 2": [(10, 14)], 4: [(0, 5), (30, 40)]}])
def test_fixed_times_never_change(finetune, times):
    wish = SeriesConstraints(fixed_times=times)
    found = explainer(finetune=finetune).explain(QUERIES, constraints=wish)
    assert answers(found)
    mask = limits_of(wish.named(NAMES), NAMES, 40, QUERIES.dtype).frozen
    for case, item in zip(QUERIES, found, strict=True):
        for answer in item.counterfactuals:
            assert np.array_equal(answer.sample[mask], case[mask])


@pytest.mark.parametrize("most", [0, 1, 2])
def test_no_answer_changes_more_channels_than_allowed(most):
    found = explainer().explain(QUERIES, constraints=mx.SeriesConstraints(max_changes=most))
    assert all(answer.sparsity <= most for answer in answers(found))


def test_a_group_comes_from_one_case_and_counts_once():
    wish = mx.SeriesConstraints(groups=[["sensor 1", "sensor 2", "sensor 3"]])
    found = explainer(finetune=None).explain(QUERIES[:1], want="bump", constraints=wish)
    (answer,) = answers(found)
    assert answer.channels == ("sensor 1", "sensor 2", "sensor 3")
    assert answer.sparsity == 1
    assert len({change.case for change in answer.changes}) == 1


def test_a_group_is_shortened_as_one():
    wish = mx.SeriesConstraints(groups=[["sensor 1", "sensor 2"]])
    (answer,) = answers(explainer().explain(QUERIES[:1], want="bump", constraints=wish))
    assert len({(change.start, change.stop, change.blend) for change in answer.changes}) == 1


def test_every_case_may_have_constraints_of_its_own():
    each = [mx.SeriesConstraints(fixed=["sensor 4"]), None, {"groups": [[4, 5]]}]
    found = explainer().explain(QUERIES[:3], constraints=each)
    alone = [
        explainer().explain(QUERIES[place : place + 1], constraints=wish)
        for place, wish in enumerate(each)
    ]
    for place, one in enumerate(alone):
        assert one.to_json(canonical=True) == found[place : place + 1].to_json(canonical=True)


def test_the_constraint_in_the_way_is_named():
    wish = mx.SeriesConstraints(fixed=["sensor 2"])
    (item,) = explainer().explain(QUERIES[:1], want="bump", constraints=wish, diagnose=True)
    assert item.status != "found"
    assert item.diagnosis == ("fixed 'sensor 2'",)
    assert "Dropping one of these would give an answer: fixed 'sensor 2'." in item.reason


def test_both_of_two_constraints_hold():
    one = SeriesConstraints(only=["a", "b"], weights={"a": 2.0}, max_changes=4, fixed_times=(0, 3))
    other = SeriesConstraints(only=["b", "c"], weights={"a": 3.0}, fixed_times=[(5, 6)])
    both = one.merge(other)
    assert both == SeriesConstraints(
        only=["b"], weights={"a": 6.0}, max_changes=4, fixed_times=[(0, 3), (5, 6)]
    )


def test_parts_leave_out_one_constraint_each():
    wish = SeriesConstraints(fixed=["a"], max_changes=2, fixed_times={"b": [(0, 4)]})
    assert [(text, without) for text, without in wish.parts()] == [
        ("fixed 'a'", SeriesConstraints(max_changes=2, fixed_times={"b": [(0, 4)]})),
        ("max_changes 2", SeriesConstraints(fixed=["a"], fixed_times={"b": [(0, 4)]})),
        ("fixed times 0 to 3 of 'b'", SeriesConstraints(fixed=["a"], max_changes=2)),
    ]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"fixed": ["sensor 9"]}, "fixed names no channel 'sensor 9'; did you mean 'sensor"),
        ({"only": [6]}, "only names no channel 6"),
        ({"fixde": []}, "no constraint 'fixde'; did you mean 'fixed'"),
        ({"fixed": 1.5}, "fixed= takes a list of channels"),
        ({"fixed": [1.5]}, "fixed= takes names or positions of channels"),
        ({"max_changes": -1}, "max_changes must be a whole number"),
        ({"fixed_times": [(5, 5)]}, "the stretch (5, 5) of fixed_times= is empty"),
        ({"fixed_times": [(0, 41)]}, "ends after the last of 40 time points"),
        ({"fixed_times": [3]}, "a stretch of fixed_times= is (start, stop), not 3"),
        ({"fixed_times": 3}, "fixed_times= takes stretches"),
        ({"ranges": [(0, 1)]}, "ranges= maps channels to (low, high)"),
        ({"ranges": {0: (2, 1)}}, "the range (2, 1) is empty"),
        (
            {"ranges": {0: 3}},
            "a range of ranges= is (low, high) or (low, high, start, stop), not 3",
        ),
        ({"ranges": {0: ("low", 1)}}, "an end of ranges= is a number or None, not 'low'"),
        ({"ranges": {0: (0, 1, 5, 50)}}, "the stretch (5, 50) of ranges= ends after the last"),
        ({"ranges": {"sensor 7": (0, 1)}}, "ranges names no channel 'sensor 7'"),
        ({"increase": {0: [(4, 4)]}}, "the stretch (4, 4) of increase= is empty"),
        ({"decrease": 1.5}, "decrease= takes a list of channels"),
        ({"groups": [[0, 1], [1, 2]]}, "'sensor 1' is in two groups"),
        ({"weights": 3}, "weights= maps channels"),
        ("fixed", "constraints= takes SeriesConstraints"),
        ([None], "constraints= has 1 entries for 9 cases"),
    ],
)
def test_a_wrong_constraint_is_named(given, message):
    with pytest.raises(mx.ConstraintError) as error:
        explainer().explain(QUERIES, constraints=given)
    assert message in str(error.value)


def test_fixed_times_in_the_way_are_named():
    wish = mx.SeriesConstraints(fixed_times={"sensor 2": [(0, 40)]})
    (item,) = explainer().explain(QUERIES[:1], want="bump", constraints=wish, diagnose=True)
    assert "Also in force: fixed times 0 to 39 of 'sensor 2'." in item.reason
    assert item.diagnosis == ("fixed times 0 to 39 of 'sensor 2'",)
