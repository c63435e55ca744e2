"""Opening the model that a command names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import macex
from macex.errors import ModelError


def open_model(path: Path, *, allow_pickle: bool) -> Any:
    """The model in a file."""
    loader = getattr(macex, "load_model", None)
    if loader is not None:
        return loader(path, allow_pickle=allow_pickle)
    return _unpickled(path, allow_pickle=allow_pickle)


def _unpickled(path: Path, *, allow_pickle: bool) -> Any:
    with path.open("rb"):
        pass
    if not allow_pickle:
        raise ModelError(
            f"{path} can only be read by pickle, which can run any code: pass --allow-pickle if "
            "you trust the file"
        )
    import joblib

    try:
        return joblib.load(path)
    except OSError:
        raise
    except Exception as error:
        raise ModelError(f"{path} is not a whole model file: {error!r}") from error
