"""A terminal sees colours, everything else the same text without them."""

from __future__ import annotations

import io
import re

import pytest

from macex.cli.colours import coloured
from macex.cli.program import COMMANDS, folded, loaded

TEXT = """20 explanations: 20 found
0: no; score for yes: 0.09, needs more than 0.5
  1.  job cook → nurse  yes 0.59, unusual 0.02, fewest possible
  no answer (none): Nothing may change.
usual: the share of training rows; under 0.05 is unusual"""


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture(autouse=True)
def plain(monkeypatch):
    for name in ("NO_COLOR", "FORCE_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)


def test_colours_change_no_letter():
    shown = coloured(TEXT, Terminal())
    assert shown != TEXT
    assert re.sub(r"\x1b\[[\d;]*m", "", shown) == TEXT
    assert "\x1b[33munusual 0.02\x1b[0m" in shown
    assert "\x1b[32mfewest possible\x1b[0m" in shown
    assert "\x1b[33mno answer\x1b[0m" in shown
    assert shown.endswith("\x1b[0m")
    assert "\x1b[2musual: the share" in shown


def test_a_file_a_pipe_and_who_asks_for_none_see_none(monkeypatch):
    assert coloured(TEXT, io.StringIO()) == TEXT
    monkeypatch.setenv("TERM", "dumb")
    assert coloured(TEXT, Terminal()) == TEXT
    monkeypatch.delenv("TERM")
    monkeypatch.setenv("NO_COLOR", "1")
    assert coloured(TEXT, Terminal()) == TEXT


def test_colours_can_be_asked_for(monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert coloured(TEXT, io.StringIO()) != TEXT


@pytest.mark.parametrize("name", ["explain", "plan", "whatif", "bias", "recourse", "picture"])
def test_examples_fit_a_terminal_and_can_be_copied(name):
    assert name in COMMANDS
    lines = loaded(name).help.split("\n")
    examples = [line for line in lines if line.startswith("    ")]
    assert examples
    assert max(map(len, examples)) <= 76
    whole = "\n".join(lines).replace("\\\n", " ")
    commands = [line.strip() for line in whole.split("\n") if line.startswith("    ")]
    assert all(line.startswith(("macex ", "cat ")) for line in commands)


def test_what_fits_is_left_alone():
    assert folded("    macex demo\n\nA sentence of any length. " * 2).startswith("    macex demo\n")
