"""The runner: every task once, whatever the others do."""

from __future__ import annotations

import pytest

from bench.measuring import measures
from macex.bench.results import Results
from macex.bench.runner import BenchJob, grouped, run
from macex.bench.tasks import BenchTask, TaskOutcome
from macex.bench.workshop import Workshop

GOOD = [
    BenchTask("fine", "a", "m", "one"),
    BenchTask("fine", "b", "m", "one"),
    BenchTask("fine", "a", "m", "two"),
]
BAD = BenchTask("raises", "a", "m", "three")
DEADLY = BenchTask("dies", "a", "m", "four")


JOB = BenchJob(measures)


def test_tasks_of_one_model_stay_together():
    assert [[t.method for t in group] for group in grouped(GOOD)] == [["one", "two"], ["one"]]


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_task_that_raises_is_reported_and_the_rest_goes_on(jobs, cells):
    results, told = Results(), []
    run([BAD, *GOOD], results, JOB, jobs=jobs, workshop=Workshop(cells), report=told.append)
    assert all(results.done(task) for task in GOOD)
    assert results.get(BAD).error == "ValueError: no such thing"
    assert len(told) == 4


def test_what_is_done_is_not_done_again(cells):
    results = Results()
    results.add(TaskOutcome(GOOD[0], [{"by": "another run"}]))
    run(GOOD, results, JOB, workshop=Workshop(cells))
    assert results.get(GOOD[0]).records == [{"by": "another run"}]
    assert all(results.done(task) for task in GOOD)


def test_a_process_that_dies_is_the_error_of_the_task_it_was_at():
    results = Results()
    run([GOOD[0], DEADLY, *GOOD[1:]], results, JOB, jobs=2)
    assert "died" in results.get(DEADLY).error
    assert all(results.done(task) for task in GOOD)
