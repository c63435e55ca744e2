"""A recorded electrocardiogram as labelled windows: two heartbeats or three.

One lead of a healthy person who looks at pictures (Legrand et al., Scientific Reports, 2020), 25
minutes at 1000 Hz. It comes with the package systole, which is not imported:
`pip install --no-deps systole` brings the file. The windows are two seconds at 50 Hz, one after the
other; the first half of them is the training part. Labels are counted from the recording itself.
"""

from __future__ import annotations

from io import BytesIO
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from macex.errors import DataError

HEARTBEATS = "systole/ECG"
FILE = "Task1_ECG.npy"
SHA256 = "7949947ec206785bd2e2bc007d7954edd1b8c4b2de19a07bdf68b66a8676bc40"
CITATION = "ECG of a healthy person (Legrand et al., 2020), from systole"
EACH, RATE, WINDOW = 20, 50, 100  # samples that are averaged; points a second; points of a window
APART = 0.4  # seconds between two heartbeats, at least
Floats = NDArray[np.floating[Any]]


def read_heartbeats(content: bytes) -> tuple[NDArray[np.float32], NDArray[Any]]:
    """The windows (n, 1, time) that hold two heartbeats or three, and which of the two."""
    try:
        recorded = np.load(BytesIO(content), allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise DataError(f"{FILE!r} cannot be read: {error}") from error
    whole = len(recorded) // (EACH * WINDOW) * EACH * WINDOW
    line = recorded[:whole].reshape(-1, EACH).mean(axis=1)
    windows = line.reshape(-1, 1, WINDOW).astype(np.float32)
    counts = np.bincount(beats(line) // WINDOW, minlength=len(windows))
    kept = np.isin(counts, (2, 3))
    return windows[kept], np.where(counts[kept] == 2, "two beats", "three beats")


def beats(line: Floats) -> NDArray[np.intp]:
    """Where the heartbeats of a lead are: peaks that stand out of the second around them.

    >>> line = np.zeros(200)
    >>> line[[30, 70, 110, 150]] = 1.0
    >>> beats(line).tolist()
    [30, 70, 110, 150]
    """
    around = sliding_window_view(np.pad(line, RATE // 2, mode="edge"), 2 * (RATE // 2) + 1)
    height = line - np.median(around, axis=1)
    apart = round(APART * RATE)
    near = sliding_window_view(np.pad(height, apart, constant_values=-np.inf), 2 * apart + 1)
    return np.flatnonzero(
        (height == near.max(axis=1)) & (height > np.quantile(height, 0.98) / 2) & (height > 0)
    )
