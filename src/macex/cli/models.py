"""Opening the model that a command names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from macex.errors import ModelError, ModelFileError
from macex.models.files.model_file import load_model

TRUSTING = re.compile(r"load_model\(path, trusted=\[(?P<types>[^\]]*)\]\)")


def open_model(path: Path, *, allow_pickle: bool, trusted: Sequence[str] = ()) -> Any:
    """The model in a file; an error about an argument names the option instead."""
    try:
        return load_model(path, allow_pickle=allow_pickle, trusted=trusted)
    except ModelFileError as error:
        said = str(error).replace("allow_pickle=True", "--allow-pickle")
        said = TRUSTING.sub(lambda found: _options(found["types"]), said)
        raise ModelError(said) from error


def _options(types: str) -> str:
    """What the library calls `trusted=[...]`, as options.

    >>> _options("'a.B', 'c.D'")
    '--trusted a.B --trusted c.D'
    """
    return " ".join(f"--trusted {name}" for name in re.findall("'([^']*)'", types))
