"""Starting dice-ml's process, and what happens when it is not there, dies or hangs."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from baselines.worlds import CLASSES, DATA, chance
from macex.baselines import Dice
from macex.baselines.dice_process import Process, Refused, TookTooLong, peers_python
from macex.errors import OptionError


def ask(process, seconds=None):
    return process.request({"do": "open"}, answer=np.asarray, seconds=seconds)


def program(tmp_path, text):
    path = tmp_path / "python"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


def test_without_an_environment_the_error_says_how_to_make_one(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("MACEX_PEERS", raising=False)
    with pytest.raises(OptionError, match=r"\.venv-peers.*`make peers` makes one"):
        Dice(chance, DATA, classes=CLASSES)


def test_the_interpreter_is_given_or_of_the_environment(monkeypatch, tmp_path):
    given = program(tmp_path, "exit 0")
    assert peers_python(given) == given
    monkeypatch.setenv("MACEX_PEERS", given)
    assert peers_python(None) == given


def test_a_folder_stands_for_the_interpreter_in_it(tmp_path):
    (tmp_path / "bin").mkdir()
    inside = program(tmp_path / "bin", "exit 0")
    assert peers_python(str(tmp_path)) == inside


def test_an_interpreter_without_dice_ml_is_refused_at_once():
    with pytest.raises(OptionError, match=r"cannot run dice-ml: .*No module named 'dice_ml'"):
        Dice(chance, DATA, classes=CLASSES, python=sys.executable)


def test_a_process_that_dies_tells_what_it_said_last(tmp_path):
    process = Process(program(tmp_path, "echo out of paper >&2; exit 3"))
    with pytest.raises(Refused, match="the process ended: out of paper"):
        ask(process)
    process.close()


def test_a_process_that_hangs_is_ended_and_can_be_asked_again(tmp_path):
    process = Process(program(tmp_path, "exec sleep 60"))
    for _ in range(2):
        with pytest.raises(TookTooLong):
            ask(process, seconds=0.2)
        assert process._child is None
    process.close()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"method": "randm"}, "did you mean 'random'"),
        ({"seconds": 0}, "positive number"),
    ],
)
def test_wrong_options_are_errors(options, said):
    with pytest.raises(OptionError, match=said):
        Dice(chance, DATA, classes=CLASSES, python=sys.executable, **options)
