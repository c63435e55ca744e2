"""A run that is killed goes on where it stopped and ends in the same bytes."""

from __future__ import annotations

import signal
import subprocess
import time
from pathlib import Path

import pandas as pd
import pytest

from lending import loans

ASK = "explain {common} --rows rows.csv -n 2 --chunk 15 --out "


@pytest.fixture
def rows(macex):
    loans(600, seed=5).to_csv("rows.csv", index=False)


def killed_midway(line: list[str], out: str) -> None:
    """Start a run and kill it, without any warning, when some parts are there."""
    with subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as running:
        while len(list(Path(f"{out}.parts").glob("*.note"))) < 3:
            assert running.poll() is None, "the run ended before it could be killed"
            time.sleep(0.005)
        running.send_signal(signal.SIGKILL)
    assert not Path(out).exists()


@pytest.mark.parametrize("form", ["csv", "json", "parquet"])
def test_a_killed_run_resumes_to_the_same_bytes(macex, program, rows, form):
    out = f"result.{form}"
    assert macex(ASK + f"whole.{form}")[0] == 0
    killed_midway(program(ASK + out), out)
    code, said, _ = macex(ASK + out + " --resume")
    assert code == 0
    assert "of them before" in said
    assert Path(out).read_bytes() == Path(f"whole.{form}").read_bytes()
    assert not Path(f"{out}.parts").exists()


@pytest.fixture
def unfinished(macex):
    """A run of 40 rows that stopped after a first part, as a bad line made it."""
    good = loans(40, seed=2).to_csv(index=False)
    Path("rows.csv").write_text(good + "1,1,1,none,5\n")
    assert macex("explain {common} --rows rows.csv --chunk 20 --out result.csv")[0] == 2
    assert len(list(Path("result.csv.parts").glob("*.note"))) == 2


def test_an_unfinished_run_is_not_started_over_by_accident(macex, unfinished):
    code, _, error = macex("explain {common} --rows rows.csv --chunk 20 --out result.csv")
    assert code == 2
    assert "--resume" in error
    assert "--force" in error


@pytest.mark.parametrize(
    ("other", "named"),
    [
        ("--chunk 10", "chunk"),
        ("--chunk 20 -n 2", "n"),
        ("--chunk 20 --seed 1", "explainer"),
        ("--chunk 20 --robust 0.9", "robust"),
        ("--chunk 20 --also {files}/model", "also"),
    ],
)
def test_another_question_cannot_resume_a_run(macex, unfinished, other, named):
    ask = f"explain {{common}} --rows rows.csv --out result.csv --resume {other}"
    code, _, error = macex(ask)
    assert code == 2
    assert f"begun with another {named}" in error


def test_other_rows_cannot_resume_a_run(macex, unfinished):
    loans(40, seed=3).to_csv("rows.csv", index=False)
    ask = "explain {common} --rows rows.csv --chunk 20 --out result.csv"
    code, _, error = macex(ask + " --resume")
    assert (code, "another rows" in error) == (2, True)
    assert macex(ask + " --force")[0] == 0
    assert len(pd.read_csv("result.csv")) == 40


def test_resume_begins_a_run_that_was_not_begun(macex, files):
    ask = "explain {common} --rows {files}/rows.csv --out result.csv --resume"
    assert macex(ask)[0] == 0


def test_an_interrupted_run_can_be_resumed_from_the_keyboard(macex, program):
    loans(6000, seed=5).to_csv("rows.csv", index=False)  # enough to be at work still
    with subprocess.Popen(
        program(ASK + "result.csv"), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as running:
        while not Path("result.csv.parts/000001.note").exists():
            assert running.poll() is None
            time.sleep(0.005)
        running.send_signal(signal.SIGINT)
        _, error = running.communicate()
    assert running.returncode == 130
    assert error.splitlines() == ["macex: interrupted; `macex explain --resume` goes on"]
    assert not Path("result.csv").exists()
