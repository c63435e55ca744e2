"""What is being made is waited for by those who want it, and by nobody else."""

from __future__ import annotations

import threading

import pytest

from macex.server.recent import Recent


def test_one_that_takes_long_holds_up_no_other():
    made, go = Recent(most=4), threading.Event()
    thread = threading.Thread(target=lambda: made.get("long", lambda: go.wait(30)))
    thread.start()
    assert made.get("short", lambda: 1) == 1  # while the other is being made
    go.set()
    thread.join(30)
    assert made.get("long", lambda: "again") is True


def test_it_is_made_once_for_all_who_ask_at_the_same_time():
    made, calls, begun, go = Recent(most=4), [], threading.Event(), threading.Event()

    def make():
        calls.append(1)
        begun.set()
        go.wait(30)
        return 7

    found = []
    threads = [threading.Thread(target=lambda: found.append(made.get("k", make))) for _ in range(5)]
    for thread in threads:
        thread.start()
    begun.wait(30)
    go.set()
    for thread in threads:
        thread.join(30)
    assert (found, len(calls)) == ([7] * 5, 1)


def test_what_could_not_be_made_is_tried_again():
    made = Recent(most=4)
    with pytest.raises(ZeroDivisionError):
        made.get("k", lambda: 1 // 0)
    assert made.get("k", lambda: 2) == 2


def test_only_the_latest_are_kept():
    made = Recent(most=2)
    for key in range(5):
        made.get(key, lambda key=key: key)
    assert made.get(0, lambda: "anew") == "anew"
