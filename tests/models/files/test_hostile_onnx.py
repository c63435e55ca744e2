"""A hostile ONNX file is refused with a sentence: no file is read, nothing run, no memory taken."""

from __future__ import annotations

import pytest

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

import macex as mx
from macex.models.files.onnx_graph import checked
from macex.models.kinds.onnx import session_of
from models.files.hostile_onnx import BROKEN, COSTS, NEIGHBOR, READS, REFUSED, RUNS, of_nodes, plain


def a_sentence(text: str) -> bool:
    return len(text.split()) > 4 and "Traceback" not in text and len(text) < 600


def test_there_are_thirty_of_them_and_all_are_different():
    assert len({make() for make in (REFUSED | COSTS).values()}) == len(REFUSED | COSTS) >= 30


@pytest.mark.parametrize("kind", REFUSED)
def test_a_hostile_file_is_refused_before_a_runtime_sees_it(kind, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / NEIGHBOR).write_text("hunter2!", encoding="utf-8")
    with pytest.raises(mx.ModelFileError) as error:
        checked(REFUSED[kind]())
    assert a_sentence(str(error.value))
    assert "hunter2!" not in str(error.value)


@pytest.mark.parametrize("kind", READS)
def test_the_tensor_that_lies_elsewhere_is_the_reason(kind):
    with pytest.raises(mx.ModelFileError, match=r"lies in another file"):
        checked(READS[kind]())


@pytest.mark.parametrize("kind", RUNS)
def test_the_foreign_operator_is_the_reason(kind):
    with pytest.raises(mx.ModelFileError, match=r"domain 'com\.|domain 'org\.|domain 'ai\."):
        checked(RUNS[kind]())


def test_every_session_is_made_from_a_file_that_was_looked_at():
    with pytest.raises(mx.ModelFileError, match="lies in another file"):
        session_of(READS["an initializer"]())


def test_a_runtime_sees_no_field_that_was_not_looked_at():
    """Field 1000 of the model is known to nobody here, and may be to a runtime."""
    content = of_nodes(tensors=[plain()])
    unknown = b"\xc2\x3e\x06hidden"
    assert checked(content + unknown) == checked(content)
    assert b"hidden" not in checked(content + unknown)


def test_a_model_file_does_not_read_its_neighbour(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / NEIGHBOR).write_text("hunter2!", encoding="utf-8")
    path = tmp_path / "model.onnx"
    path.write_bytes(READS["an initializer"]())
    with pytest.raises(mx.ModelFileError, match=r"model\.onnx: .*lies in another file"):
        mx.load_model(path)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [*COSTS, *BROKEN])
def test_what_a_file_costs_is_bounded(kind, tmp_path):
    path = tmp_path / "model.onnx"
    path.write_bytes((COSTS | BROKEN)[kind]())
    with pytest.raises(mx.ModelFileError) as error:
        mx.load_model(path, memory_mb=500, timeout_s=30)
    assert a_sentence(str(error.value))
