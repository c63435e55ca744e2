"""Opening the model that a command names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from macex.errors import ModelError, ModelFileError
from macex.models.files.model_file import load_model


def open_model(path: Path, *, allow_pickle: bool) -> Any:
    """The model in a file; what the library says of an argument is said of the option."""
    try:
        return load_model(path, allow_pickle=allow_pickle)
    except ModelFileError as error:
        said = str(error).replace("allow_pickle=True", "--allow-pickle")
        raise ModelError(said) from error
