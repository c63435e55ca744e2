"""From the content of a file to the live object of its library.

What a model file is, its content decides and never its name. A scikit-learn model is looked through
for what it must not do when it is asked.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal

import numpy as np
import pandas as pd

from macex.errors import ModelFileError, needed
from macex.models.kinds import adapted
from macex.models.kinds.onnx import TEXT, session_of

PARAMETERS = re.compile(rb"^parameters:.*?^end of parameters$", re.MULTILINE | re.DOTALL)
TRIALS = (0.0, 1.0, -1e30, 1e30, np.nan)


def opened(content: bytes, form: Format, trusted: Sequence[str] = ()) -> Any:
    """The model in some content of a known format."""
    if form == "skops":
        return _skops(content, trusted)
    return OPENERS[form](content)


def tried(model: Any) -> None:
    """Ask a model about a few rows, so that one that crashes or never ends does so here."""
    ask = adapted(model)
    feed = getattr(ask, "feed", None)
    matrix = getattr(ask, "matrix", None) or getattr(feed, "matrix", None)
    if matrix is None:
        if feed is not None and not feed.cases:
            _tried_by_column(ask, feed.kinds)
        return
    width = len(matrix.names) if matrix.names is not None else matrix.width
    if width:
        ask(np.repeat(np.array(TRIALS)[:, None], width, axis=1))


def _tried_by_column(ask: Any, kinds: Mapping[str, str]) -> None:
    """The same for a model with an input for each column, which may well know no such category."""
    try:
        ask(pd.DataFrame({name: ["" if kind == TEXT else 0] for name, kind in kinds.items()}))
    except Exception as error:
        if "alloc" in str(error):
            raise MemoryError from error


def _xgboost(content: bytes) -> Any:
    booster = needed("xgboost", "xgboost").Booster()
    booster.load_model(bytearray(content))
    return booster


def _lightgbm(content: bytes) -> Any:
    """A booster without the parameters of its training, among which are names of files."""
    library = needed("lightgbm", "lightgbm")
    if b"end of trees" not in content:
        raise ModelFileError("the LightGBM text breaks off before its end")
    return library.Booster(model_str=PARAMETERS.sub(b"", content).decode())


def _catboost(content: bytes) -> Any:
    return needed("catboost", "catboost").CatBoost().load_model(blob=content)


def _skops(content: bytes, trusted: Sequence[str]) -> Any:
    """A scikit-learn model; types that skops does not know must be trusted by name."""
    skops = needed("skops.io", "skops")
    unknown = sorted(set(skops.get_untrusted_types(data=content)) - set(trusted))
    if unknown:
        raise ModelFileError(
            f"the skops file holds types that are not trusted: {', '.join(unknown)}; "
            f"if you know them, load_model(path, trusted={unknown!r})"
        )
    model = skops.loads(content, trusted=list(trusted))
    refuse_readers(model)
    return model


def _pickle(content: bytes) -> Any:
    return needed("joblib", "skops").load(io.BytesIO(content))


OPENERS: dict[str, Callable[[bytes], Any]] = {
    "catboost": _catboost,
    "lightgbm": _lightgbm,
    "onnx": session_of,
    "pickle": _pickle,
    "xgboost": _xgboost,
}


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


READING = ("file", "filename")  # what a vectorizer is told to take its cells for


def refuse_readers(model: Any) -> None:
    """Raise for a model with a step that takes cells of rows for names of files, and reads them.

    >>> from sklearn.feature_extraction.text import CountVectorizer
    >>> refuse_readers([CountVectorizer(input="filename")])
    Traceback (most recent call last):
    macex.errors.ModelFileError: its CountVectorizer reads the files that cells name ...
    """
    for part in _parts(model):
        how = getattr(part, "input", None)
        if isinstance(how, str) and how in READING:
            raise ModelFileError(
                f"its {type(part).__name__} reads the files that cells name (input={how!r}): "
                "train it on the text itself, input='content'"
            )


def _parts(model: Any) -> Iterator[Any]:
    """A model and all that it is made of, each object once."""
    waiting, seen = [model], {id(model)}
    while waiting:
        part = waiting.pop()
        yield part
        for inner in _inside(part):
            if id(inner) not in seen:
                seen.add(id(inner))
                waiting.append(inner)


def _inside(part: Any) -> list[Any]:
    if isinstance(part, Mapping):
        return list(part.values())
    if isinstance(part, list | tuple | set | frozenset):
        return list(part)
    if isinstance(part, np.ndarray):
        return part.ravel().tolist() if part.dtype == object else []
    return list(getattr(part, "__dict__", {}).values())
