"""Sets of time series, on files made here in the form of the real ones."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import macex as mx
from macex.datasets import SERIES_NAMES, load_series
from macex.datasets.series import ECG_FILE, HEARTBEATS, SERIES, beats, read_heartbeats, read_series
from macex.errors import DataError

ROOT = Path(__file__).parents[2]
PEERS = ROOT / ".venv-peers" / "bin" / "python"


def packed(**changes) -> bytes:
    rng = np.random.default_rng(0)
    parts = {
        "X_train": rng.normal(size=(4, 3, 5)).astype(np.float16),
        "X_test": rng.normal(size=(2, 3, 5)).astype(np.float16),
        "y_train": np.array(["a", "b", "a", "b"]),
        "y_test": np.array(["a", "b"]),
        "channels": np.array(["x", "y", "z"]),
    }
    file = io.BytesIO()
    np.savez(file, **{k: v for k, v in {**parts, **changes}.items() if v is not None})
    return file.getvalue()


def test_both_parts_are_joined_and_the_given_split_is_kept():
    found = read_series("made", packed(), "nobody")
    train, test = found.split()
    assert found.X.shape == (6, 3, 5)
    assert found.X.dtype == np.float32
    assert (len(train), len(test)) == (4, 2)
    assert found.y[test].tolist() == ["a", "b"]
    assert found.channels == ("x", "y", "z")
    assert repr(found) == "SeriesDataset('made', 6 samples, 3 channels x 5)"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"no zip", "cannot be read"),
        (packed()[:200], "cannot be read"),
        (packed(y_test=None), "cannot be read: .*y_test"),
        (packed(y_test=np.array([object()])), "cannot be read: .*pickle"),
        (packed(channels=np.array(["x"])), r"do not fit: X \(6, 3, 5\), 6 labels, 1 channels"),
    ],
)
def test_a_file_of_another_form_is_an_error(content, said):
    with pytest.raises(DataError, match=said):
        read_series("made", content, "nobody")


def test_the_file_is_sought_in_the_folder_and_known_by_its_checksum(tmp_path, monkeypatch):
    monkeypatch.setenv("MACEX_DATA", str(tmp_path))
    with pytest.raises(DataError, match=r"'natops\.npz' is in no folder.*MACEX_DATA"):
        load_series("natops")
    (tmp_path / SERIES["natops"].file).write_bytes(packed())
    with pytest.raises(DataError, match="not the file this dataset is defined by"):
        load_series("natops")


def test_an_unknown_name_gets_the_nearest_one():
    with pytest.raises(DataError, match="did you mean 'natops'"):
        load_series("natop")
    assert set(SERIES_NAMES) == set(SERIES)


def test_without_aeon_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "aeon", None)
    with pytest.raises(DataError, match=r"'aeon/BasicMotions' needs aeon.*pip install aeon"):
        load_series("aeon/BasicMotions")


@pytest.mark.slow
def test_aeons_own_sets_are_read_where_aeon_is_installed():
    if not PEERS.exists():
        pytest.skip("there is no environment with aeon: make peers")
    script = "from macex.datasets import load_series; print(load_series('aeon/BasicMotions'))"
    done = subprocess.run(
        [PEERS, "-c", script],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
    )
    assert done.stdout == "SeriesDataset('aeon/BasicMotions', 80 samples, 6 channels x 100)\n"


HEAD = "#a remark\n@problemName Made\n@equalLength true\n@classLabel true a b\n@data\n"


def written(folder, part, lines):
    (folder / "Made").mkdir(exist_ok=True)
    (folder / "Made" / f"Made_{part}.ts").write_text(HEAD + "\n".join(lines) + "\n")


def test_a_set_is_read_from_its_two_files(tmp_path):
    written(tmp_path, "TRAIN", ["1,2,3:4,5,6:a", "0,0,?:1,1,1:b"])
    written(tmp_path, "TEST", ["7,8,9:0.5,-1,2e1:a"])
    data = load_series("aeon/Made", folder=tmp_path)
    assert data.X.shape == (3, 2, 3)
    assert data.training == 2
    assert data.y.tolist() == ["a", "b", "a"]
    assert data.X[2].tolist() == [[7, 8, 9], [0.5, -1, 20]]
    assert np.isnan(data.X[1, 0, 2])


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (["1,2,3:4,5:a"], "different lengths"),
        (["1,2:3,4:a", "1:2:b"], "different lengths"),
        (["1,x:3,4:a"], "sample 1 of 'Made_TRAIN.ts' is not numbers"),
        (["a"], "no label"),
        ([], "no samples"),
    ],
)
def test_what_cannot_be_read_is_told(tmp_path, lines, said):
    written(tmp_path, "TRAIN", lines)
    written(tmp_path, "TEST", ["1,2:3,4:a"])
    with pytest.raises(mx.MacexError, match=said):
        load_series("aeon/Made", folder=tmp_path)


def test_a_file_without_data_is_told(tmp_path):
    for part in ("TRAIN", "TEST"):
        (tmp_path / f"Made_{part}.ts").write_text("1,2:a\n")
    with pytest.raises(mx.MacexError, match="no line @data"):
        load_series("aeon/Made", folder=tmp_path)


def recording(gap=0.8, seconds=40) -> np.ndarray:
    """Beats that are 40 ms wide, on a slow wave, at 1000 Hz."""
    time = np.arange(seconds * 1000) / 1000
    line = 0.5 * np.sin(time / 3)
    for peak in np.arange(0.5, seconds, gap):
        line += 2 * np.exp(-(((time - peak) / 0.02) ** 2))
    return line


def stored(array) -> bytes:
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def test_windows_hold_two_beats_or_three():
    X, y = read_heartbeats(stored(recording()))
    assert X.shape == (20, 1, 100)
    assert X.dtype == np.float32
    counts = [len(beats(window[0].astype(float))) for window in X]
    assert y.tolist() == ["two beats" if count == 2 else "three beats" for count in counts]
    assert set(y) == {"two beats", "three beats"}


def test_windows_with_other_counts_are_left_out():
    slow = recording(gap=1.9)  # one beat in most windows
    X, y = read_heartbeats(stored(slow))
    assert len(X) == len(y) < 10


def test_a_line_without_beats_has_none():
    assert not len(beats(np.zeros(300)))


def test_the_set_is_read_from_a_folder_and_known_by_its_checksum(tmp_path, monkeypatch):
    content = stored(recording())
    (tmp_path / ECG_FILE).write_bytes(content)
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
