"""From the content of a file to the live object of its library."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from macex.errors import ModelFileError, needed
from macex.models.files.estimators import refuse_readers
from macex.models.files.formats import Format
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
