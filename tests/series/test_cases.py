"""Cases at the door: what is not a case is refused with what was expected and what was given."""

from __future__ import annotations

import numpy as np
import pytest

import macex as mx
from macex.series.cases import channel_names, read_cases
from series.machines import explainer, made_cases

GOOD = made_cases(4)


@pytest.mark.parametrize(
    ("given", "layout", "message"),
    [
        (GOOD[0], "channels_first", "(cases, channels, time), but an array of shape (6, 40)"),
        (GOOD[0], "channels_first", "series of one channel are X[:, None, :]"),
        (GOOD[0], "channels_last", "as (cases, time, channels)"),
        (GOOD[:0], "channels_first", "no training cases"),
        (GOOD[:, :0], "channels_first", "0 channels"),
        (GOOD[:, :, :0], "channels_first", "0 time points"),
        (GOOD.astype(str), "channels_first", "not numbers"),
        ([GOOD[0], GOOD[0, :3]], "channels_first", "case 1 has 3 channels and case 0 has 6"),
        ([[[1.0, 2.0], [3.0]]], "channels_first", "case 0 in a list of the training cases has"),
        ([GOOD[0, 0]], "channels_first", "arrays (channels, time), but case 0 has shape (40,)"),
    ],
)
def test_what_is_no_set_of_cases_is_refused(given, layout, message):
    with pytest.raises(mx.SchemaError) as error:
        read_cases(given, layout)
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (GOOD[:, :5], "5 channels and the training cases 6"),
        (GOOD[:, :, :30], "case 0 has 30 time points and the training cases 40"),
        (GOOD.transpose(0, 2, 1), "layout='channels_first' means (channels, time)"),
        (GOOD[0], "one case is X[None]"),
    ],
)
def test_cases_unlike_those_of_training_are_refused(given, message):
    with pytest.raises(mx.SchemaError) as error:
        explainer().explain(given)
    assert message in str(error.value)


def test_a_layout_is_named_and_never_guessed():
    with pytest.raises(mx.OptionError, match="did you mean 'channels_last'"):
        read_cases(GOOD, "channel_last")


def test_a_list_of_equal_cases_is_as_good_as_an_array():
    listed = explainer().explain(list(GOOD))
    assert listed.to_json(canonical=True) == explainer().explain(GOOD).to_json(canonical=True)


def test_nothing_is_copied_on_the_way_in():
    for layout in ("channels_first", "channels_last"):
        assert np.shares_memory(read_cases(GOOD, layout).values, GOOD)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["a"], "1 names for 2 channels"),
        (["a", "a"], "two channels 'a'"),
        ("ab", "names the 2 channels in order"),
    ],
)
def test_wrong_names_of_channels_are_refused(given, message):
    with pytest.raises(mx.OptionError, match=message):
        channel_names(given, 2)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "exhaustif"}, "did you mean 'exhaustive'"),
        ({"finetune": "section"}, "give Segments, or a name"),
        ({"candidates": "both"}, "give NearCases, or a name"),
        ({"prefer": "best"}, "prefer='best'"),
        ({"random_state": 0.5}, "random_state must be a whole number"),
        ({"fallback": 1}, "fallback must be True or False"),
        ({"classes": "ab"}, "classes names the model's outputs"),
    ],
)
def test_a_wrong_option_is_named(options, message):
    with pytest.raises(mx.OptionError) as error:
        explainer(**options)
    assert message in str(error.value)
