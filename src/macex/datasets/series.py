"""Sets of time series: three from a folder, aeon's own, and an ECG, where those are installed.

The ECG is one lead of a healthy person who looks at pictures (Legrand et al., Scientific Reports,
2020), 25 minutes at 1000 Hz. It comes with the package systole, which is not imported:
`pip install --no-deps systole` brings the file. It is cut into windows of two seconds at 50 Hz with
two heartbeats or three; the first half of them is the training part. Labels are counted from the
recording itself.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from macex.datasets.sources import FOLDER_VARIABLE, DatasetSource, check_sha256
from macex.errors import DataError, closest

AEON = "aeon/"
HEARTBEATS = "systole/ECG"
SHIPPED = (
    *("aeon/BasicMotions", "aeon/JapaneseVowels", "aeon/GunPoint", "aeon/ArrowHead"),
    *("aeon/ItalyPowerDemand", HEARTBEATS),
)
PARTS = ("X_train", "y_train", "X_test", "y_test", "channels")
SERIES = {
    "natops": DatasetSource(
        "natops.npz",
        "feebbfab8aaa3fb61fcd2ec720e30d6b46fad0916db5a3685d1a993e30aaa119",
        "NATOPS (Song, Demirdjian, Davis, 2011), UEA archive",
    ),
    "spoken_digits_563": DatasetSource(
        "spoken_digits_563.npz",
        "ae0bb407bfdc59d02dbef498d86405d6deaa486666d35537e5338d6177d11374",
        "Free Spoken Digit Dataset (Jackson et al.), CC BY-SA 4.0, as 563 log-power spectra",
    ),
    "tennessee_eastman": DatasetSource(
        "tennessee_eastman.npz",
        "8e6348cc32aaa85eb872cefaf9c39284229eae0a6f81623b652b21a13f8d2c18",
        "Tennessee Eastman Process (Downs and Vogel, 1993; data of Braatz et al.)",
    ),
}
ECG_FILE = "Task1_ECG.npy"
ECG_SHA256 = "7949947ec206785bd2e2bc007d7954edd1b8c4b2de19a07bdf68b66a8676bc40"
ECG_CITATION = "ECG of a healthy person (Legrand et al., 2020), from systole"
EACH, RATE, WINDOW = 20, 50, 100  # samples that are averaged; points a second; points of a window
APART = 0.4  # seconds between two heartbeats, at least
Floats = NDArray[np.floating[Any]]


@dataclass(frozen=True, slots=True, eq=False)
class SeriesDataset:
    """Labelled time series: `X` is (samples, channels, time), `y` one label per sample.

    The first `training` samples are the training part, as the source divides them.
    """

    name: str
    X: NDArray[np.float32]
    y: NDArray[Any]
    channels: tuple[str, ...]
    training: int
    source: str

    def split(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Positions of the training samples and of the test samples."""
        order = np.arange(len(self.X))
        return order[: self.training], order[self.training :]

    def __repr__(self) -> str:
        samples, channels, time = self.X.shape
        return f"SeriesDataset({self.name!r}, {samples} samples, {channels} channels x {time})"


def load_series(name: str, *, folder: str | Path | None = None) -> SeriesDataset:
    """Load a set of time series.

    "natops", "spoken_digits_563" and "tennessee_eastman" are read from `folder` or the folder named
    by the environment variable MACEX_DATA; "aeon/BasicMotions" and the like are aeon's, or read
    from `BasicMotions_TRAIN.ts` and `BasicMotions_TEST.ts` in that folder. "systole/ECG" is one
    lead of a recording, cut into windows with two heartbeats or three.
    """
    if name == HEARTBEATS:
        return _heartbeats(folder or os.environ.get(FOLDER_VARIABLE))
    if name.startswith(AEON):
        return _shipped(name, folder or os.environ.get(FOLDER_VARIABLE))
    if name not in SERIES:
        known = (*SERIES, f"{AEON}BasicMotions")
        raise DataError(f"no set of time series is called {name!r}{closest(name, known)}")
    source = SERIES[name]
    place = folder or os.environ.get(FOLDER_VARIABLE)
    path = Path(place or "") / source.file
    if not place or not path.is_file():
        raise DataError(
            f"{source.file!r} is in no folder that was given; set {FOLDER_VARIABLE} to a folder "
            "that holds it, or pass folder="
        )
    content = path.read_bytes()
    check_sha256(source.file, content, source.sha256)
    return read_series(name, content, source.citation)


def read_series(name: str, content: bytes, citation: str) -> SeriesDataset:
    """The set in the bytes of an npz file with the arrays of `PARTS`; never unpickles."""
    try:
        with np.load(BytesIO(content), allow_pickle=False) as box:
            parts = {part: box[part] for part in PARTS}
    except (OSError, ValueError, KeyError, EOFError, BadZipFile) as error:
        raise DataError(f"the file of {name!r} cannot be read: {error}") from error
    labels = tuple(str(channel) for channel in parts["channels"])
    halves = (parts["X_train"], parts["y_train"]), (parts["X_test"], parts["y_test"])
    return _joined(name, halves, labels, citation)


def _joined(name: str, halves: Any, channels: tuple[str, ...], citation: str) -> SeriesDataset:
    (first, first_label), (second, second_label) = halves
    X = np.concatenate([first, second]).astype(np.float32)
    y = np.concatenate([first_label, second_label])
    if X.ndim != 3 or X.shape[1] != len(channels) or len(y) != len(X):
        raise DataError(
            f"the parts of {name!r} do not fit: X {X.shape}, {len(y)} labels, "
            f"{len(channels)} channels"
        )
    return SeriesDataset(name, X, y, channels, len(first), citation)


def _shipped(name: str, folder: str | Path | None) -> SeriesDataset:
    """A set in .ts files, else one of aeon's."""
    wanted = name.removeprefix(AEON)
    parts = ts_parts(Path(folder), wanted) if folder else None
    if parts is None:
        return _from_aeon(name)
    halves = tuple(read_ts(path) for path in parts)
    channels = tuple(f"channel {place}" for place in range(halves[0][0].shape[1]))
    return _joined(name, halves, channels, f"UEA and UCR archive, {wanted}")


def _from_aeon(name: str) -> SeriesDataset:
    try:
        from aeon.datasets import load_classification
    except ImportError as error:
        raise DataError(f"{name!r} needs aeon, which is not installed: pip install aeon") from error
    wanted = name.removeprefix(AEON)
    try:
        halves = tuple(load_classification(wanted, split=part) for part in ("train", "test"))
    except Exception as error:
        raise DataError(f"aeon cannot load {wanted!r}: {error}") from error
    if any(not isinstance(samples, np.ndarray) for samples, _ in halves):
        raise DataError(f"{name!r} has series of different lengths, which cannot be stacked")
    channels = tuple(f"channel {place}" for place in range(halves[0][0].shape[1]))
    return _joined(name, halves, channels, f"aeon, {wanted}")


def _heartbeats(folder: str | Path | None) -> SeriesDataset:
    """The windows of an ECG in a folder, or of the package that brings it."""
    spec = find_spec("systole")
    installed = [
        Path(place) / "datasets" for place in (spec and spec.submodule_search_locations) or []
    ]
    for place in (*([Path(folder)] if folder else []), *installed):
        path = place / ECG_FILE
        if path.is_file():
            content = path.read_bytes()
            check_sha256(ECG_FILE, content, ECG_SHA256)
            X, y = read_heartbeats(content)
            return SeriesDataset(HEARTBEATS, X, y, ("lead",), len(X) // 2, ECG_CITATION)
    raise DataError(
        f"{HEARTBEATS!r} needs the file {ECG_FILE!r}: pip install --no-deps systole, or "
        "pass folder="
    )


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


def read_heartbeats(content: bytes) -> tuple[NDArray[np.float32], NDArray[Any]]:
    """The windows (n, 1, time) that hold two heartbeats or three, and which of the two."""
    try:
        recorded = np.load(BytesIO(content), allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise DataError(f"{ECG_FILE!r} cannot be read: {error}") from error
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
