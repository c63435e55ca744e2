"""The text files of the UEA and UCR archives become arrays."""

from __future__ import annotations

import numpy as np
import pytest

import macex as mx
from macex.datasets import load_series

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
