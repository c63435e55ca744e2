"""The content of a file says what it is; its name says nothing."""

from __future__ import annotations

import io
import pickle
import zipfile
import zlib

import pytest

from macex.errors import ModelFileError
from macex.models.files.opening import format_of


def zipped(*names: str) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as box:
        for name in names:
            box.writestr(name, b"{}")
    return packed.getvalue()


@pytest.mark.parametrize(
    ("content", "form"),
    [
        (b'{"learner":{"attributes":{}}}', "xgboost"),
        (b' {\n  "version": [3, 2, 0], "learner": {}}', "xgboost"),
        (b"{L\0\0\0\0\0\0\0\x07learner{L", "xgboost"),
        (b"tree\nversion=v4\nnum_class=1\n", "lightgbm"),
        (b"tree\r\nversion=v3\r\n", "lightgbm"),
        (b"CBM1\x10\xc6\0\0", "catboost"),
        (b"\x08\x0a\x12\x08skl2onnx", "onnx"),
        (zipped("schema.json", "1.npy"), "skops"),
        (pickle.dumps([1]), "pickle"),
        (pickle.dumps([1], protocol=0), "pickle"),
        (pickle.dumps(print, protocol=0), "pickle"),
        (pickle.dumps({1: 2}, protocol=2), "pickle"),
        (zlib.compress(pickle.dumps([1])), "pickle"),
    ],
)
def test_every_format_is_known_by_its_content(content, form):
    assert format_of(content) == form


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "empty"),
        (b"hello", "is no ONNX"),
        (b'{"tree": 1}', "is no ONNX"),
        (b"PK\x03\x04broken", "broken zip"),
        (zipped("readme.txt").replace(b"PK\x01\x02", b"PK\x01\x02\xeb\xeb\xeb\xeb"), "broken zip"),
        (zipped("readme.txt"), r"holds \['readme.txt'\]"),
        (zipped("model/data.pkl"), "torch.load"),
        (zipped("config.json", "model.weights.h5"), "keras.saving"),
    ],
)
def test_everything_else_is_refused_and_named(content, said):
    with pytest.raises(ModelFileError, match=said):
        format_of(content)
