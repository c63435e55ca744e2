"""`python -m macex.bench`: what is asked is run, what is missing is said."""

from __future__ import annotations

import runpy
import sys

import pytest

from macex.bench.__main__ import main
from macex.bench.cells import Cells


def test_a_missing_dataset_is_reported_and_the_rest_is_printed(tmp_path, breast, capsys):
    cells = Cells(folder=tmp_path, names=("titanic", "breast"), models=breast.models)
    markdown = tmp_path / "bench.md"
    asked = ["--only", "quality", "--queries", "3", "--markdown", str(markdown)]
    assert main(asked, cells) == 0
    printed = capsys.readouterr()
    assert "Skipped titanic: 'titanic.csv' is missing" in printed.out
    assert "breast / linear" in printed.out
    assert "- held: validity is 1.00: 1 of 1 cells" in printed.out
    assert "default: breast / linear" in printed.err
    assert "| breast / linear |" in markdown.read_text(encoding="utf-8")


def test_a_missing_library_is_reported_at_the_end(breast, capsys):
    def gone(dataset):
        raise ImportError("such is not installed")

    cells = Cells(names=("breast",), models={"gone": gone, **breast.models})
    main(["--only", "searches", "--queries", "2"], cells)
    assert "Skipped gone: such is not installed" in capsys.readouterr().out


@pytest.mark.parametrize("wrong", [["--only", "speed"], ["--queries", "0"], ["--queries", "many"]])
def test_a_wrong_argument_is_refused(wrong, breast, capsys):
    with pytest.raises(SystemExit):
        main(wrong, breast)
    assert wrong[1] in capsys.readouterr().err


def test_it_is_a_program(monkeypatch, capsys):
    monkeypatch.delitem(sys.modules, "macex.bench.__main__")
    monkeypatch.setattr(sys, "argv", ["bench", "--help"])
    with pytest.raises(SystemExit) as ended:
        runpy.run_module("macex.bench", run_name="__main__")
    assert ended.value.code == 0
    assert "--markdown" in capsys.readouterr().out
