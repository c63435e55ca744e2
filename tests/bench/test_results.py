"""Results: whole lines, kept as they come; a killed run loses nothing it wrote."""

from __future__ import annotations

from dataclasses import replace

import pytest

from macex.bench.results import Results
from macex.bench.tasks import BenchTask, TaskOutcome
from macex.errors import DataError

FIRST, SECOND = BenchTask("answers", "loans", "MLP", "a"), BenchTask("answers", "loans", "MLP", "b")


def test_what_was_written_is_read_again(tmp_path):
    written = Results(tmp_path)
    outcome = TaskOutcome(FIRST, [{"found": 1, "plausibility": None}], {"cpu": 0.5})
    written.start({"cores": 2})
    written.add(outcome)
    written.start({"cores": 2})
    read = Results(tmp_path, resume=True)
    assert list(read) == [replace(outcome, code=read.code)]
    assert read.machines == [{"cores": 2}]


@pytest.mark.parametrize("cut", [1, 20, 60])
def test_half_a_line_is_passed_over_and_the_rest_goes_on(tmp_path, cut):
    written = Results(tmp_path)
    written.add(TaskOutcome(FIRST))
    written.add(TaskOutcome(SECOND))
    content = written.path.read_bytes()
    written.path.write_bytes(content[:-cut])
    resumed = Results(tmp_path, resume=True)
    assert resumed.done(FIRST)
    assert resumed.done(SECOND) == (cut == 1)
    resumed.start({})
    resumed.add(TaskOutcome(SECOND))
    assert {outcome.task for outcome in Results(tmp_path, resume=True)} == {FIRST, SECOND}


def test_a_run_is_not_overwritten(tmp_path):
    Results(tmp_path).add(TaskOutcome(FIRST))
    with pytest.raises(DataError, match="--resume"):
        Results(tmp_path)


def test_what_failed_is_not_done_and_its_last_line_counts(tmp_path):
    results = Results(tmp_path)
    results.add(TaskOutcome(FIRST, error="no file"))
    assert not results.done(FIRST)
    results.add(TaskOutcome(FIRST))
    assert results.done(FIRST)
    assert [o.error for o in Results(tmp_path, resume=True)] == [None]


def test_a_folder_that_cannot_be_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match="--out"):
        Results(tmp_path / "file")


def test_lines_of_another_version_are_refused_by_number(tmp_path):
    Results(tmp_path).add(TaskOutcome(FIRST))
    with (tmp_path / "results.jsonl").open("a") as file:
        file.write('{"task": {"kind": "answers", "colour": "red"}}\n')
    with pytest.raises(DataError, match="line 2"):
        Results(tmp_path, resume=True)


def test_results_of_other_code_are_not_gone_on_with(tmp_path):
    """One page shows one version: numbers of two are never side by side."""
    written = Results(tmp_path)
    written.add(TaskOutcome(FIRST))
    older = written.path.read_text().replace(written.code, "0123456789ab")
    written.path.write_text(older)
    with pytest.raises(DataError, match=r"other code \(0123456789ab; this is .*--out"):
        Results(tmp_path, resume=True)


def test_a_run_ends_when_the_code_is_changed_meanwhile(tmp_path):
    """Each process reads the sources when it starts."""
    results = Results(tmp_path)
    with pytest.raises(DataError, match="changed during the run"):
        results.add(TaskOutcome(FIRST, code="0123456789ab"))
    assert not results.done(FIRST)
