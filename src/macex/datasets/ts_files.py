"""The text format of the UEA and UCR archives (.ts), for series of one length."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from macex.errors import DataError


def ts_parts(folder: Path, name: str) -> tuple[Path, Path] | None:
    """The training and test files of a set, in a folder or one of its own there; None if absent.

    Files in which series were brought to one length ("_eq") come first.
    """
    for stem in (f"{name}_eq", name):
        for place in (folder / name, folder):
            both = place / f"{stem}_TRAIN.ts", place / f"{stem}_TEST.ts"
            if all(path.is_file() for path in both):
                return both
    return None


def read_ts(path: Path) -> tuple[NDArray[np.float32], NDArray[Any]]:
    """The samples (n, channels, time) and their labels."""
    samples: list[list[list[float]]] = []
    labels: list[str] = []
    for number, line in enumerate(_lines(path), 1):
        *channels, label = line.split(":")
        if not channels:
            raise DataError(f"sample {number} of {path.name!r} has no label after its values")
        try:
            samples.append([[_number(text) for text in one.split(",")] for one in channels])
        except ValueError as error:
            raise DataError(f"sample {number} of {path.name!r} is not numbers: {error}") from error
        labels.append(label)
    if not samples:
        raise DataError(f"{path.name!r} has no samples")
    shapes = {tuple(len(channel) for channel in sample) for sample in samples}
    if len(shapes) != 1 or len(set(*shapes)) != 1:
        raise DataError(f"{path.name!r} has series of different lengths, which cannot be stacked")
    return np.array(samples, np.float32), np.array(labels)


def _lines(path: Path) -> list[str]:
    """The lines after @data."""
    text = path.read_text(encoding="utf-8", errors="replace").splitlines()
    data = [place for place, line in enumerate(text) if line.strip().lower() == "@data"]
    if not data:
        raise DataError(f"{path.name!r} has no line @data")
    return [line.strip() for line in text[data[0] + 1 :] if line.strip()]


def _number(text: str) -> float:
    return float("nan") if text.strip() == "?" else float(text)
