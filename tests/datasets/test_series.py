"""Sets of time series, on files made here in the form of the real ones."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from macex.datasets import SERIES_NAMES, load_series
from macex.datasets.series import SERIES, read_series
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
