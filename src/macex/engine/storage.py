"""The file of a saved explainer: a zip of plain arrays and one JSON document, without pickle."""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from macex.ask.answers import Answers, Outlook
from macex.errors import SavedError, require_path
from macex.models.consultation import consult
from macex.models.oracle import Oracle
from macex.render.exports import write_whole

DOCUMENT = "explainer.json"


def write(path: Any, document: Mapping[str, Any], arrays: Mapping[str, Any]) -> None:
    """Write an explainer; nothing half-written is left under `path`."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as box:
        box.writestr(DOCUMENT, json.dumps(document))
        for part, array in arrays.items():
            with box.open(f"{part}.npy", "w", force_zip64=True) as file:
                np.save(file, array, allow_pickle=False)
    write_whole(require_path("path", path), packed.getvalue())


def read(
    path: Any, format_: str, needed: Sequence[str], more: tuple[str, ...] = ()
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The document and the arrays of a file: those `needed`, and all whose names begin as `more`.

    Its form must be `format_`.
    """
    place = require_path("path", path)
    try:
        with zipfile.ZipFile(place) as box:
            document = json.loads(box.read(DOCUMENT))
            check_format(path, document, format_)
            known = [*needed, *(n[:-4] for n in box.namelist() if more and n.startswith(more))]
            arrays = {
                part: np.load(io.BytesIO(box.read(f"{part}.npy")), allow_pickle=False)
                for part in known
            }
    except FileNotFoundError:
        raise
    except (OSError, KeyError, ValueError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise SavedError(f"{path} is not a saved explainer: {error}") from error
    return document, arrays


def stored_format(path: Any) -> object:
    """The form of a saved explainer; None for any other file."""
    place = require_path("path", path)
    try:
        with zipfile.ZipFile(place) as box:
            document = json.loads(box.read(DOCUMENT))
    except (OSError, KeyError, ValueError, EOFError, zipfile.BadZipFile, zlib.error):
        return None
    return document.get("format") if isinstance(document, dict) else None


def check_format(path: Any, document: Any, format_: str) -> None:
    """Raise unless a document has the form."""
    if not isinstance(document, dict):
        raise SavedError(f"{path} is not a saved explainer: its document is no object")
    if document.get("format") != format_:
        raise SavedError(
            f"{path} has the format {document.get('format')!r}; this version reads {format_!r}"
        )


def outlook_read(stored: Mapping[str, Any]) -> Outlook:
    """What the model's numbers mean, as it was written."""
    classes = stored["classes"]
    return Outlook(**{**stored, "classes": None if classes is None else tuple(classes)})


def asked_again(
    model: Any, given: Any, count: int, outlook: Outlook, path: Path | str
) -> tuple[Oracle, Answers]:
    """The model of a saved explainer, and its answers for some training rows."""
    try:
        return consult(model, given, count, outlook.classes)
    except Exception as fault:
        raise SavedError(
            f"the model cannot be asked as the one {path} was made with: {fault}"
        ) from fault


def agree(now: Answers, then: Answers, path: Path | str) -> None:
    """Raise unless the model answers as it did when the explainer was saved."""
    same = now.scores.shape == then.scores.shape and np.allclose(
        now.scores, then.scores, rtol=1e-4, atol=1e-4
    )
    if not same:
        raise SavedError(
            f"the model answers otherwise than the one {path} was made with: make a new explainer"
        )
