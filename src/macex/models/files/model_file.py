"""`load_model`: a model from a file of a safe format, without running code from the file."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any

from macex.errors import ModelFileError, OptionError, require_path
from macex.models.files.opening import Format, format_of, opened
from macex.models.files.trial import try_open
from macex.models.kinds import adapted


@dataclass(frozen=True)
class ModelFile:
    """A model and the file it came from; `Explainer` takes it as any other model.

    `live_model` is the object of the model's own library, `sha256` the digest of the file. Sent to
    another process, it travels as the bytes of the file and is opened there.
    """

    path: Path
    format: Format
    sha256: str
    live_model: Any = field(repr=False)
    trusted: tuple[str, ...] = field(default=(), repr=False)

    @cached_property
    def scores(self) -> Any:
        """The function of a frame that asks the model, or the model itself if it needs none."""
        return adapted(self.live_model)

    def __reduce__(self) -> tuple[Any, ...]:
        content = self.path.read_bytes()
        if hashlib.sha256(content).hexdigest() != self.sha256:
            raise ModelFileError(
                f"{self.path} is another file than the one the model was read from: load it again"
            )
        return _received, (str(self.path), self.format, content, self.trusted)


def _received(path: str, form: Format, content: bytes, trusted: tuple[str, ...]) -> ModelFile:
    """The model in the bytes of a file that another process has opened before."""
    model = _opened(content, form, trusted)
    return ModelFile(Path(path), form, hashlib.sha256(content).hexdigest(), model, trusted)


def load_model(
    path: str | PathLike[str],
    *,
    trusted: Sequence[str] = (),
    allow_pickle: bool = False,
    memory_mb: int = 4096,
    timeout_s: float = 60.0,
) -> ModelFile:
    """The model in a file: ONNX, XGBoost (JSON, UBJ), LightGBM (text), CatBoost (cbm) or skops.

    The format is decided by the content. The file is first opened in a child process that may use
    `memory_mb` megabytes and `timeout_s` seconds, so that a broken or hostile file ends in a
    `ModelFileError` there.

    Parameters
    ----------
    path : the file.
    trusted : names of types a skops file may hold beside those that skops knows.
    allow_pickle : open pickle and joblib files as well. They run code that their author chose.
    memory_mb : the most memory opening the file may take.
    timeout_s : the most seconds opening the file may take.
    """
    if isinstance(trusted, str):
        raise OptionError(f"trusted= takes a list of names, not {trusted!r}")
    path = require_path("path", path).absolute()
    try:
        content = _content(path)
        form = format_of(content)
        if form != "pickle":
            try_open(content, form, trusted, memory_mb, timeout_s)
        elif not allow_pickle:
            raise _running_code()
        model = _opened(content, form, trusted)
    except ModelFileError as error:
        raise ModelFileError(f"{path}: {error}") from error
    return ModelFile(path, form, hashlib.sha256(content).hexdigest(), model, tuple(trusted))


def _content(path: Path) -> bytes:
    if path.is_dir():
        raise ModelFileError(
            "this is a folder; an MLflow model is opened with mlflow.pyfunc.load_model, which runs "
            "its code: give the result to Explainer"
        )
    if path.exists() and not path.is_file():
        raise ModelFileError("this is no plain file")
    return path.read_bytes()


def _running_code() -> ModelFileError:
    return ModelFileError(
        "this looks like a pickle or joblib file, which can run code when opened; "
        "allow_pickle=True opens it, if you trust whoever wrote it"
    )


def _opened(content: bytes, form: Format, trusted: Sequence[str]) -> Any:
    try:
        return opened(content, form, trusted)
    except ModelFileError:
        raise
    except Exception as error:
        raise ModelFileError(f"the {form} file cannot be opened: {error!r}") from error
