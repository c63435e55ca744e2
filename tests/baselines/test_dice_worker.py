"""The messages between an explainer and dice-ml's process."""

from __future__ import annotations

import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from macex.baselines.dice_worker import receive, send

ARRAYS = st.lists(
    arrays(st.sampled_from([np.float64, np.int64]), array_shapes(min_side=0)), max_size=3
)


def written(head, *found):
    pipe = io.BytesIO()
    send(pipe, head, *found)
    return pipe.getvalue()


@given(head=st.dictionaries(st.text(max_size=5), st.integers() | st.text()), found=ARRAYS)
def test_a_message_arrives_as_it_was_sent(head, found):
    head = {key: value for key, value in head.items() if key != "sizes"}
    pipe = io.BytesIO(written(head, *found) + written({"next": 1}))
    got, back = receive(pipe)
    assert {key: value for key, value in got.items() if key != "sizes"} == head
    assert len(back) == len(found)
    for one, other in zip(back, found, strict=True):
        np.testing.assert_array_equal(one, other)
        assert one.dtype == other.dtype
    assert receive(pipe)[0]["next"] == 1


@given(cut=st.integers(1, 100))
def test_a_message_that_breaks_off_is_the_end(cut):
    whole = written({"is": "rows"}, np.arange(5))
    with pytest.raises(EOFError):
        receive(io.BytesIO(whole[: max(0, len(whole) - cut)]))


def test_objects_are_never_sent():
    with pytest.raises(ValueError, match="allow_pickle"):
        send(io.BytesIO(), {}, np.array([object()]))
