"""A hostile model file of any format is refused with a sentence, and nothing of it runs."""

from __future__ import annotations

import pytest

pytest.importorskip("skops.io")
pytest.importorskip("xgboost")
pytest.importorskip("lightgbm")
pytest.importorskip("catboost")

import macex as mx
from macex.models.files.model_file import _opened
from macex.models.files.opening import format_of
from models.files.hostile_models import COSTS, MARK, REFUSED
from models.files.test_hostile_onnx import a_sentence


def test_there_are_thirty_of_them_and_all_are_different():
    assert len({make() for make in (REFUSED | COSTS).values()}) == len(REFUSED | COSTS) >= 30


def opened_here(path):
    content = path.read_bytes()
    form = format_of(content)
    return mx.load_model(path) if form == "pickle" else _opened(content, form, ())


@pytest.mark.parametrize("kind", REFUSED)
def test_a_hostile_file_is_refused_and_nothing_of_it_runs(kind, tmp_path, monkeypatch):
    """Here and not in a child, so that what would run shows."""
    content = REFUSED[kind]()
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model").write_bytes(content)
    with pytest.raises(mx.ModelFileError) as error:
        opened_here(tmp_path / "model")
    assert a_sentence(str(error.value)) or not content
    assert not (tmp_path / MARK).exists()


@pytest.mark.slow
@pytest.mark.parametrize("kind", COSTS)
def test_a_file_that_would_crash_or_hang_does_so_elsewhere(kind, tmp_path, monkeypatch):
    """It is refused, or it is a model after all that says something of a row."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "model"
    path.write_bytes(COSTS[kind]())
    with pytest.raises(mx.ModelFileError) as error:
        mx.load_model(path, memory_mb=1000, timeout_s=30)
    assert a_sentence(str(error.value))
