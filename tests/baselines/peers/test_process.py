"""Starting a peer's process, and what happens when it is not there, dies or hangs."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from baselines.worlds import CLASSES, DATA, chance
from macex.baselines import Dice, Nice, OmniXai
from macex.baselines.peers.process import Process, Program, Refused, TookTooLong
from macex.errors import OptionError

PLAIN = Program("dice", "dice-ml")
APART = Program("omnixai", "OmniXAI", room="omnixai")


def ask(process, seconds=None):
    head = {"do": "warm", "program": "dice", "options": {}}
    return process.request(head, answer=np.asarray, seconds=seconds)


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
    assert PLAIN.python(given) == given
    monkeypatch.setenv("MACEX_PEERS", given)
    assert PLAIN.python() == given


def test_a_folder_stands_for_the_interpreter_in_it(tmp_path):
    (tmp_path / "bin").mkdir()
    inside = program(tmp_path / "bin", "exit 0")
    assert PLAIN.python(str(tmp_path)) == inside


def test_a_program_with_versions_of_its_own_has_a_room_in_the_environment(monkeypatch, tmp_path):
    for folder in (tmp_path / "bin", tmp_path / "omnixai" / "bin"):
        folder.mkdir(parents=True)
        program(folder, "exit 0")
    room = str(tmp_path / "omnixai" / "bin" / "python")
    for named in (tmp_path, tmp_path / "bin" / "python"):
        monkeypatch.setenv("MACEX_PEERS", str(named))
        assert PLAIN.python() == str(tmp_path / "bin" / "python")
        assert APART.python() == room
    assert APART.python(str(tmp_path / "bin" / "python")) == str(tmp_path / "bin" / "python")


@pytest.mark.parametrize(
    ("maker", "said"),
    [
        (Dice, "cannot run dice-ml: .*No module named 'dice_ml'"),
        (Nice, "cannot run NICE: .*No module named 'nice'"),
        (OmniXai, "cannot run OmniXAI: .*No module named 'omnixai'"),
    ],
)
def test_an_interpreter_without_the_program_is_refused_at_once(maker, said):
    with pytest.raises(OptionError, match=said):
        maker(chance, DATA, classes=CLASSES, python=sys.executable)


def test_a_process_that_dies_tells_what_it_said_last(tmp_path):
    process = Process(program(tmp_path, "echo out of paper >&2; exit 3"), PLAIN, {})
    with pytest.raises(Refused, match="the process ended: out of paper"):
        ask(process)
    process.close()


def test_a_process_that_hangs_is_ended_and_can_be_asked_again(tmp_path):
    process = Process(program(tmp_path, "exec sleep 60"), PLAIN, {})
    for _ in range(2):
        with pytest.raises(TookTooLong):
            ask(process, seconds=0.2)
        assert process._child is None
    process.close()


@pytest.mark.parametrize(
    ("maker", "options", "said"),
    [
        (Dice, {"method": "randm"}, "did you mean 'random'"),
        (Nice, {"reward": "sparse"}, r"Nice\(reward='sparse'\)"),
        (OmniXai, {"method": "reinforce"}, r"OmniXai\(method='reinforce'\)"),
        (Dice, {"seconds": 0}, r"Dice\(seconds=\) must be a positive number"),
    ],
)
def test_wrong_options_are_errors(maker, options, said):
    with pytest.raises(OptionError, match=said):
        maker(chance, DATA, classes=CLASSES, python=sys.executable, **options)
