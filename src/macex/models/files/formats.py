"""What a model file is, decided by its content and never by its name."""

from __future__ import annotations

import io
import re
import zipfile
from typing import Literal

from macex.errors import ModelFileError

Format = Literal["onnx", "xgboost", "lightgbm", "catboost", "skops", "pickle"]

XGBOOST = re.compile(rb'\s*\{\s*"(learner|version)"|\{L\x00{7}\x07(learner|version)')
LIGHTGBM = re.compile(rb"tree\r?\nversion=v\d")
ONNX = re.compile(rb"\x08[\x01-\x1f][\x10\x12\x1a\x22\x2a\x32\x3a\x42\x72]")
PICKLE = re.compile(rb"\x80[\x02-\x05]|\((dp|lp|i)|c[a-zA-Z_.]+\n")
COMPRESSED = (b"\x78\x01", b"\x78\x5e", b"\x78\x9c", b"\x78\xda", b"\x1f\x8b", b"BZh", b"\xfd7zXZ")


def format_of(content: bytes) -> Format:
    r"""The format of a file's content.

    >>> format_of(b"CBM1...")
    'catboost'
    >>> format_of(b"tree\nversion=v4\n")
    'lightgbm'
    """
    if not content:
        raise ModelFileError("the file is empty")
    if content.startswith(b"CBM1"):
        return "catboost"
    if LIGHTGBM.match(content):
        return "lightgbm"
    if XGBOOST.match(content[:200]):
        return "xgboost"
    if content.startswith(b"PK\x03\x04"):
        return _zipped(content)
    if PICKLE.match(content[:200]) or content.startswith(COMPRESSED):
        return "pickle"
    if ONNX.match(content):
        return "onnx"
    raise ModelFileError(
        f"the content, which begins with {content[:12]!r}, is no ONNX, XGBoost (JSON or UBJ), "
        "LightGBM (text), CatBoost (cbm) or skops model"
    )


def _zipped(content: bytes) -> Format:
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as box:
            inside = {name.rpartition("/")[2] for name in box.namelist()}
    except Exception as error:  # zipfile fails on broken zips in many ways
        raise ModelFileError(f"the file is a broken zip: {error}") from error
    if "schema.json" in inside:
        return "skops"
    if "data.pkl" in inside:
        raise ModelFileError(
            "the file was written by torch.save and can run code when opened: open it with "
            "torch.load(weights_only=True) and give the module to macex.Network"
        )
    if "model.weights.h5" in inside:
        raise ModelFileError(
            "the file is a Keras model: open it with keras.saving.load_model and give the model "
            "to macex.Network"
        )
    raise ModelFileError(f"the file is a zip, but of no model: it holds {sorted(inside)[:5]}")
