"""Whoever waits for a turn gets it, and whoever has left does not."""

from __future__ import annotations

import threading

import pytest

from macex.server.pages.questions import turn
from macex.server.problems import ProblemError
from macex.server.projects.project import Project


@pytest.fixture
def project():
    return Project("people", "People", lambda: None)


def test_a_visitor_who_is_there_has_the_lock_and_gives_it_back(project):
    with turn(project, lambda: False):
        assert not tried_elsewhere(project)
    assert tried_elsewhere(project)


def test_a_visitor_who_left_does_not_keep_others_waiting(project):
    with pytest.raises(ProblemError, match="nobody waits"), turn(project, lambda: True):
        pytest.fail("nobody is there")
    assert tried_elsewhere(project)


def test_a_visitor_who_leaves_while_waiting_gives_up(project):
    entered, done = threading.Event(), threading.Event()

    def hold():
        with project.lock:
            entered.set()
            done.wait(10)

    holder = threading.Thread(target=hold)
    holder.start()
    entered.wait(10)
    with pytest.raises(ProblemError), turn(project, lambda: True):
        pytest.fail("the lock is held")
    done.set()
    holder.join()
    assert tried_elsewhere(project)


def tried_elsewhere(project):
    """Whether another thread could take the lock now."""
    taken = []

    def attempt():
        taken.append(project.lock.acquire(blocking=False))
        if taken[0]:
            project.lock.release()

    thread = threading.Thread(target=attempt)
    thread.start()
    thread.join()
    return taken[0]
