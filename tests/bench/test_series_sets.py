"""Sets that aeon ships are found among the peers, where aeon is not installed beside macex."""

from __future__ import annotations

import pytest

from macex.bench.series_sets import series_set
from macex.datasets import series
from macex.errors import DataError

LINES = "@problemName Made\n@data\n1,2,3:a\n3,2,1:b\n"


@pytest.fixture(autouse=True)
def _without_aeon(monkeypatch, tmp_path):
    def none(name):
        raise DataError(f"{name!r} needs aeon")

    monkeypatch.setattr(series, "_from_aeon", none)
    monkeypatch.setenv("MACEX_PEERS", str(tmp_path))


def test_data_of_the_peers_are_read(tmp_path):
    folder = tmp_path / "lib/python3.11/site-packages/aeon/datasets/data/Made"
    folder.mkdir(parents=True)
    for part in ("TRAIN", "TEST"):
        (folder / f"Made_{part}.ts").write_text("@data\n1,2:a\n", encoding="utf-8")
        (folder / f"Made_eq_{part}.ts").write_text(LINES, encoding="utf-8")
    found = series_set("aeon/Made")
    assert found.X.shape == (4, 1, 3)
    assert found.training == 2


def test_without_them_the_fault_is_the_first():
    with pytest.raises(DataError, match="needs aeon"):
        series_set("aeon/Made")


def test_a_recording_is_sought_among_the_peers_too(tmp_path):
    folder = tmp_path / "lib/python3.11/site-packages/systole/datasets"
    folder.mkdir(parents=True)
    (folder / "Task1_ECG.npy").write_bytes(b"another file")
    with pytest.raises(DataError, match="not the file this dataset is defined by"):
        series_set("systole/ECG")
