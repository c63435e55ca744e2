"""From the content of a file to the live object of its library."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from macex.errors import ModelFileError
from macex.models.files.formats import Format
from macex.models.kinds import adapted
from macex.models.kinds.onnx import session_of
from macex.models.optional import needed

TRIALS = (0.0, 1.0, -1e30, 1e30, np.nan)


def opened(content: bytes, form: Format, trusted: Sequence[str] = ()) -> Any:
    """The model in some content of a known format."""
    if form == "skops":
        return _skops(content, trusted)
    return OPENERS[form](content)


def tried(model: Any) -> None:
    """Ask a model of numbers about a few rows, so that one that crashes does so here."""
    ask = adapted(model)
    matrix = getattr(ask, "matrix", None) or getattr(getattr(ask, "feed", None), "matrix", None)
    if matrix is None:
        return
    width = len(matrix.names) if matrix.names is not None else matrix.width
    if width:
        ask(np.repeat(np.array(TRIALS)[:, None], width, axis=1))


def _xgboost(content: bytes) -> Any:
    booster = needed("xgboost", "xgboost").Booster()
    booster.load_model(bytearray(content))
    return booster


def _lightgbm(content: bytes) -> Any:
    library = needed("lightgbm", "lightgbm")
    if b"end of trees" not in content:
        raise ModelFileError("the LightGBM text breaks off before its end")
    return library.Booster(model_str=content.decode())


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
    return skops.loads(content, trusted=list(trusted))


def _pickle(content: bytes) -> Any:
    return needed("joblib", "skops").load(io.BytesIO(content))


OPENERS: dict[str, Callable[[bytes], Any]] = {
    "catboost": _catboost,
    "lightgbm": _lightgbm,
    "onnx": session_of,
    "pickle": _pickle,
    "xgboost": _xgboost,
}
