"""What a change may set, and which way values may go, holds at every time point of every answer."""

from __future__ import annotations

import tomllib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import macex as mx
from macex.series.constraints import SeriesConstraints
from macex.series.limits import limits_of
from series.machines import NAMES, Machine, explainer, made_cases

QUERIES = made_cases(9, seed=2)
WISHES = {
    "within": {"ranges": {"sensor 2": (-1, 2.5), 4: (None, 2.1)}},
    "within for a while": {"ranges": {"*": [(0, 2.0, 5, 12), (None, 3, 0, 40)]}},
    "up": {"increase": ["sensor 2", 4]},
    "up for a while": {"increase": {"sensor 2": [(12, 18)], "sensor 4": [(0, 20)]}},
    "down": {"decrease": "*"},
    "up and within": {"increase": [2], "ranges": {2: (None, 2.0), 4: (1.0, 2.0)}},
}


def kept(wish: SeriesConstraints, case: np.ndarray, sample: np.ndarray) -> bool:
    """Whether what changed is as the constraints say, read from them alone."""
    moved = ~((case == sample) | (np.isnan(case) & np.isnan(sample)))
    spans = {"increase": np.less, "decrease": np.greater}
    for part, wrong in spans.items():
        for channel, stretches in getattr(wish, part).items():
            place = slice(None) if channel == "*" else NAMES.index(channel)
            for start, stop in stretches or [(0, None)]:
                one = (place, ..., slice(start, stop))
                if (moved & wrong(sample, case))[one].any():
                    return False
    for channel, ranges in wish.ranges.items():
        place = slice(None) if channel == "*" else NAMES.index(channel)
        for low, high, start, stop in ranges:
            one = (place, ..., slice(start, stop))
            new = sample[one][moved[one]].astype(float)
            if (new < (-np.inf if low is None else low)).any():
                return False
            if (new > (np.inf if high is None else high)).any():
                return False
    return True


@pytest.mark.parametrize("finetune", ["segments", mx.Segments(stable=0), None], ids=str)
@pytest.mark.parametrize("name", WISHES)
def test_every_answer_keeps_to_the_limits(name, finetune):
    wish = SeriesConstraints(**WISHES[name]).named(NAMES)
    found = explainer(finetune=finetune).explain(QUERIES, n=2, constraints=wish, robust=0.5)
    answers = [
        (case, one)
        for case, item in zip(QUERIES, found, strict=True)
        for one in item.counterfactuals
    ]
    changed = [(case, one) for case, one in answers if one.changes]
    assert len(changed) >= 3
    for case, one in changed:
        assert kept(wish, case, one.sample)
        assert Machine().predict(one.sample[None])[0] == one.label


def test_without_limits_some_answers_would_break_them():
    found = explainer().explain(QUERIES, n=2)
    for name, given_ in WISHES.items():
        wish = SeriesConstraints(**given_).named(NAMES)
        pairs = zip(QUERIES, found, strict=True)
        assert not all(
            kept(wish, case, one.sample) for case, item in pairs for one in item.counterfactuals
        ), name


def test_a_value_outside_its_range_may_stay():
    wish = SeriesConstraints(ranges={"sensor 0": (5, 6)})
    (item,) = explainer().explain(QUERIES[:1], want="bump", constraints=wish)
    assert item.counterfactuals[0].channels == ("sensor 2",)


def test_limits_in_the_way_are_named():
    wish = SeriesConstraints(ranges={2: (None, 0.5)}, decrease=[4])
    (item,) = explainer().explain(QUERIES[:1], want="bump", constraints=wish, diagnose=True)
    assert not item.counterfactuals
    assert "Also in force: ranges of 'sensor 2'. Also in force: decrease 'sensor 4'." in item.reason
    assert item.diagnosis == ("ranges of 'sensor 2'",)


numbers = st.sampled_from([np.nan, -2.0, -0.5, 0.0, 0.1, 0.7, 3.0])
ends = st.sampled_from([None, -1.0, 0.1, 0.3])


@given(
    own=numbers,
    other=numbers,
    low=ends,
    high=ends,
    way=st.sampled_from(["increase", "decrease", None]),
    kind=st.sampled_from(["f4", "f8", "i2", "u1"]),
)
def test_one_value_keeps_to_its_limits(own, other, low, high, way, kind):
    if None not in (low, high) and low > high:
        low, high = high, low
    kind = np.dtype(kind)
    own, other = (
        np.array([[np.abs(np.nan_to_num(v))], [v]][kind.kind == "f"]) for v in (own, other)
    )
    own, other = own.astype(kind)[None], other.astype(kind)[None]
    wish = SeriesConstraints(ranges={"a": (low, high)}, **({way: ["a"]} if way else {}))
    limits = limits_of(wish, ["a"], 1, kind)
    after = limits.kept(own, other, np.zeros(1, int))
    assert after.dtype == kind
    if np.array_equal(after, own, equal_nan=True):
        return
    new = float(after[0, 0])
    assert low is None or new >= low
    assert high is None or new <= high
    if way:
        assert (new > own[0, 0]) if way == "increase" else (new < own[0, 0])


def test_limits_hold_in_thousands_of_channels():
    draw = np.random.default_rng(0)
    train = draw.normal(0, 1, (24, 2600, 6))
    train[::2, 7] += 3

    def model(cases):
        return cases[:, 7].mean(axis=1)

    wide = mx.SeriesExplainer(model, train)
    wish = {"ranges": {7: (None, 2.0)}}
    (item,) = wide.explain(train[1:2], want=mx.above(1.5), constraints=wish)
    (answer,) = item.counterfactuals
    assert answer.channels == ("channel 7",)
    assert answer.sample[7].max() <= 2.0


def test_cases_of_unequal_lengths_keep_to_limits():
    cases = [made_cases(60)[at][:, : 30 + at % 9] for at in range(60)]
    wish = SeriesConstraints(increase={2: [(0, 25)]}, ranges={"*": (-2, 2.5)}).named(NAMES)

    class Listed(Machine):
        def predict_proba(self, given_):
            return np.concatenate([super(Listed, self).predict_proba(one[None]) for one in given_])

    found = mx.SeriesExplainer(Listed(), cases, channels=NAMES).explain(cases[:6], constraints=wish)
    assert sum(bool(item.counterfactuals) for item in found) > 3
    for case, item in zip(cases, found, strict=False):
        assert all(kept(wish, case, one.sample) for one in item.counterfactuals)


def test_limits_are_written_and_read():
    wish = SeriesConstraints(
        ranges={"a": (0, None), "b": [(0, 1, 2, 5), (None, 3)]},
        increase=["a"],
        decrease={"b": [(0, 4)]},
    )
    written = {
        "ranges": {"a": [[0.0, None]], "b": [[0.0, 1.0, 2, 5], [None, 3.0]]},
        "increase": {"a": []},
        "decrease": {"b": [[0, 4]]},
    }
    assert wish.to_dict() == written
    assert SeriesConstraints.from_dict(written) == wish
    told = tomllib.loads(
        "ranges.a = [0, inf]\nranges.b = [[0, 1, 2, 5], [-inf, 3]]\nincrease = ['a']"
    )
    assert SeriesConstraints.from_dict(told | {"decrease": {"b": [[0, 4]]}}) == wish


def test_a_channel_by_name_and_by_place_is_one():
    wish = SeriesConstraints(
        ranges={"sensor 2": (0, None), 2: (None, 1)},
        increase={"sensor 0": [(0, 2)], 0: []},
        fixed_times={1: [(0, 2)], "sensor 1": [(4, 5)]},
    ).named(NAMES)
    assert wish.ranges == {"sensor 2": ((0.0, None, None, None), (None, 1.0, None, None))}
    assert wish.increase == {"sensor 0": ()}
    assert wish.fixed_times == {"sensor 1": ((0, 2), (4, 5))}


def test_limits_of_two_kinds_hold_together():
    both = SeriesConstraints(ranges={"a": (0, 2)}, increase=["a"]).merge(
        SeriesConstraints(ranges={"a": (1, 3)}, increase={"a": [(0, 2)], "b": [(1, 2)]})
    )
    limits = limits_of(both, ["a", "b"], 3, np.dtype(float))
    assert limits.low[0].tolist() == [1.0] * 3
    assert limits.high[0].tolist() == [2.0] * 3
    assert limits.up.tolist() == [[True] * 3, [False, True, False]]
