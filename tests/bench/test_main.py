"""`python -m macex.bench` is a program."""

from __future__ import annotations

import runpy
import sys

import pytest


def test_it_says_what_it_takes(monkeypatch, capsys):
    monkeypatch.delitem(sys.modules, "macex.bench.__main__", raising=False)
    monkeypatch.setattr(sys, "argv", ["bench", "--help"])
    monkeypatch.setenv("COLUMNS", "200")
    with pytest.raises(SystemExit) as ended:
        runpy.run_module("macex.bench", run_name="__main__")
    assert ended.value.code == 0
    said = capsys.readouterr().out
    for option in ("tables", "datasets", "models", "methods", "queries", "seeds", "jobs"):
        assert f"--{option}" in said
    for option in ("data", "out", "resume", "plugin", "markdown"):
        assert f"--{option}" in said
