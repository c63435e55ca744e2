"""The messages between an explainer and a program's process."""

from __future__ import annotations

import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from macex.baselines.peers.worker import PeerWorker, load, receive, send

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


class Slow:
    """A program that works for a while, and asks once."""

    def __init__(self, ask):
        self.ask = ask

    def explain(self, head, arrays):
        sum(range(head["work"]))
        return self.ask(arrays[0])


def test_a_reply_says_what_the_work_took_without_the_wait_for_the_parent():
    """The parent's answer is there at once, so that only the program's own work is left."""
    worker = PeerWorker(io.BytesIO(written({}, np.ones(2))), io.BytesIO())
    worker.program = Slow(worker.ask)
    reply, found = worker.timed({"do": "explain", "work": 200_000}, [np.zeros((2, 1))])
    np.testing.assert_array_equal(found[0], np.ones(2))
    assert reply["is"] == "done"
    assert reply["cpu"] > 0
    assert worker.waited > 0
    assert reply["seconds"] >= 0


def test_what_a_program_raises_is_an_answer():
    worker = PeerWorker(io.BytesIO(), io.BytesIO())
    worker.program = Slow(worker.ask)
    reply, found = worker.timed({"do": "explain"}, [])
    assert (reply["is"], reply["said"], found) == ("error", "KeyError: 'work'", ())


@pytest.mark.parametrize("name", ["dice", "nice", "ocean", "omnixai", "treecf"])
def test_every_program_has_a_file_that_needs_its_library_only_when_it_runs(name):
    assert load(name).__name__ == "Program"
