"""Windows of a recorded ECG, on a recording made here."""

from __future__ import annotations

import io

import numpy as np
import pytest

from macex.datasets import heartbeats, load_series
from macex.datasets.heartbeats import HEARTBEATS, beats, read_heartbeats
from macex.errors import DataError


def recording(gap=0.8, seconds=40) -> np.ndarray:
    """Beats that are 40 ms wide, on a slow wave, at 1000 Hz."""
    time = np.arange(seconds * 1000) / 1000
    line = 0.5 * np.sin(time / 3)
    for peak in np.arange(0.5, seconds, gap):
        line += 2 * np.exp(-(((time - peak) / 0.02) ** 2))
    return line


def packed(array) -> bytes:
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def test_windows_hold_two_beats_or_three():
    X, y = read_heartbeats(packed(recording()))
    assert X.shape == (20, 1, 100)
    assert X.dtype == np.float32
    counts = [len(beats(window[0].astype(float))) for window in X]
    assert y.tolist() == ["two beats" if count == 2 else "three beats" for count in counts]
    assert set(y) == {"two beats", "three beats"}


def test_windows_with_other_counts_are_left_out():
    slow = recording(gap=1.9)  # one beat in most windows
    X, y = read_heartbeats(packed(slow))
    assert len(X) == len(y) < 10


def test_a_line_without_beats_has_none():
    assert not len(beats(np.zeros(300)))


def test_the_set_is_read_from_a_folder_and_known_by_its_checksum(tmp_path, monkeypatch):
    content = packed(recording())
    (tmp_path / heartbeats.FILE).write_bytes(content)
    with pytest.raises(DataError, match="not the file this dataset is defined by"):
        load_series(HEARTBEATS, folder=tmp_path)
    monkeypatch.setattr("macex.datasets.series.check_sha256", lambda *_: None)
    found = load_series(HEARTBEATS, folder=tmp_path)
    assert (found.channels, found.training, len(found.X)) == (("lead",), 10, 20)


def test_without_the_file_the_error_says_what_brings_it(tmp_path, monkeypatch):
    monkeypatch.setattr("macex.datasets.series.find_spec", lambda _: None)
    with pytest.raises(DataError, match="pip install --no-deps systole"):
        load_series(HEARTBEATS, folder=tmp_path)


def test_what_is_no_array_is_refused():
    with pytest.raises(DataError, match="cannot be read"):
        read_heartbeats(b"nothing")
