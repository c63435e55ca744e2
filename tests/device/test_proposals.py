from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Event
from time import sleep

import numpy as np
import pytest

from macex.device.proposals import Borrowed, Gathered, Proposals, lent
from macex.errors import ModelError


class Doubling:
    """Proposes twice the codes; a negative code is an error. The first call waits to be let go."""

    def __init__(self) -> None:
        self.began, self.go, self.sizes = Event(), Event(), []

    def __call__(self, codes, goals, constraints, margin):
        self.sizes.append(len(codes))
        self.began.set()
        assert self.go.wait(30)
        if (codes < 0).any():
            raise ModelError("a negative code")
        assert len(goals) == len(codes)
        return Proposals(2 * codes, codes[:, 0] > 0, np.full(len(codes), len(codes)))


def together(propose, requests):
    """The answers to requests that come while the device is busy with another."""
    gathered = Gathered(propose)
    with ThreadPoolExecutor(len(requests) + 1) as pool:
        first = pool.submit(gathered, np.ones((1, 2)), [None], None, 0.1)
        assert propose.began.wait(30)
        rest = [pool.submit(gathered, *request) for request in requests]
        while len(gathered._waiting) < len(requests):
            sleep(0.001)
        propose.go.set()
        return first.result(), [one.exception() or one.result() for one in rest]


def test_requests_that_wait_are_one_call_and_each_gets_its_own_part():
    propose = Doubling()
    wanted = [np.full((size, 2), float(size)) for size in (2, 3, 4)]
    requests = [(codes, [None] * len(codes), None, 0.1) for codes in wanted]
    first, made = together(propose, requests)
    assert propose.sizes == [1, 9]
    assert first.codes.tolist() == [[2.0, 2.0]]
    for codes, proposals in zip(wanted, made, strict=True):
        assert np.array_equal(proposals.codes, 2 * codes)
        assert proposals.changed.tolist() == [9] * len(codes)


def test_requests_with_other_margins_are_asked_apart():
    propose = Doubling()
    requests = [(np.ones((2, 2)), [None] * 2, None, margin) for margin in (0.1, 0.4, 0.1)]
    together(propose, requests)
    assert sorted(propose.sizes) == [1, 2, 4]


def test_only_who_asked_what_fails_is_told():
    propose = Doubling()
    requests = [(np.full((2, 2), value), [None] * 2, None, 0.1) for value in (1.0, -1.0)]
    _, (good, bad) = together(propose, requests)
    assert good.codes.tolist() == [[2.0, 2.0]] * 2
    assert isinstance(bad, ModelError)


def test_a_copy_asks_through_a_connection_until_the_lending_ends():
    propose = Doubling()
    propose.go.set()
    with lent(propose) as there:
        rebuild, arguments = there.__reduce__()
        copy = rebuild(*arguments)
        assert isinstance(copy, Borrowed)
        made = copy(np.full((3, 2), 4.0), [None] * 3, None, 0.1)
        assert made.codes.tolist() == [[8.0, 8.0]] * 3
        with pytest.raises(ModelError, match="a negative code"):
            copy(np.full((1, 2), -4.0), [None], None, 0.1)
        assert copy(np.ones((1, 2)), [None], None, 0.1).found.tolist() == [True]
    with pytest.raises((ConnectionError, FileNotFoundError)):
        rebuild(*arguments)(np.ones((1, 2)), [None], None, 0.1)
