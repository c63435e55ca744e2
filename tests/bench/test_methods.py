"""Methods: built by name; a stranger's joins from a file of its own."""

from __future__ import annotations

import pytest

from macex.bench import methods
from macex.errors import DataError, OptionError

PLUGIN = """
from macex.bench import register

register("twin", lambda model, data, seed: None, most=7)
"""


@pytest.fixture(autouse=True)
def forgotten(monkeypatch):
    monkeypatch.setattr(methods, "_registered", {})


def test_a_file_adds_a_method(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(PLUGIN)
    methods.read_plugin(path)
    assert methods.method("twin").most == 7
    assert methods.method("twin").rival


@pytest.mark.parametrize(("text", "said"), [("1 / 0", "ZeroDivisionError"), ("x = (", "Syntax")])
def test_a_broken_file_is_named(tmp_path, text, said):
    path = tmp_path / "broken.py"
    path.write_text(text)
    with pytest.raises(DataError, match=said):
        methods.read_plugin(path)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(DataError, match=r"gone\.py"):
        methods.read_plugin(tmp_path / "gone.py")


def test_a_name_is_not_taken_twice():
    with pytest.raises(OptionError, match="MACE-RL"):
        methods.register("MACE-RL", lambda model, data, seed: None)


def test_what_cannot_build_is_refused():
    with pytest.raises(OptionError, match="build"):
        methods.register("twin", "no function")


def test_an_unknown_name_gets_the_nearest():
    with pytest.raises(OptionError, match="did you mean 'MACE-RL'"):
        methods.method("MACE-RI")


def test_an_installed_package_adds_a_method(tmp_path, monkeypatch):
    info = tmp_path / "guess-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: guess\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[macex.methods]\nguess = guess_package:build\n")
    (tmp_path / "guess_package.py").write_text("def build(model, data, seed): return seed\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert methods.method("guess").build(None, None, 3) == 3


@pytest.mark.parametrize("name", [name for name in methods.OURS if name != methods.EXACT])
def test_our_own_answer_every_loan(name, cells):
    cell = cells.get("loans", "MLP")
    built = methods.method(name).build(cell.model, cell.train, 0)
    assert {item.status for item in built.explain(cell.queries(6), n=1)} == {"found"}
