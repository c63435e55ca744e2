"""Opening the model that a command names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import macex
from macex.errors import MacexError, ModelError


def open_model(path: Path, *, allow_pickle: bool) -> Any:
    """The model in a file."""
    loader = getattr(macex, "load_model", None)
    try:
        return (loader or _unpickled)(path, allow_pickle=allow_pickle)
    except MacexError as error:
        said = str(error).replace("allow_pickle=True", "--allow-pickle")
        raise ModelError(said) from error


def _unpickled(path: Path, *, allow_pickle: bool) -> Any:
    with path.open("rb"):
        pass
    if not allow_pickle:
        raise ModelError(
            f"{path} can only be read by pickle, which can run any code: pass "
            "allow_pickle=True if you trust the file"
        )
    import joblib

    try:
        return joblib.load(path)
    except OSError:
        raise
    except Exception as error:
        raise ModelError(f"{path} is not a whole model file: {error!r}") from error
