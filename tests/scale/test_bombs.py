"""A table that unpacks to far more than it is long is refused by its ratio."""

from __future__ import annotations

import gzip

import pandas as pd
import pytest

from macex.errors import DataError
from macex.scale.intake import IntakeLimits, take_in

LINES = b"a,b\n" + b"1,2\n" * 50_000_000
HONEST = gzip.compress(b"a,b\n" + b"".join(b"%d,2\n" % at for at in range(1000)))
BOMBS = {
    "one file": lambda: gzip.compress(LINES, 9),
    "a bomb behind an honest file": lambda: HONEST + gzip.compress(LINES, 9),
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_is_refused_by_its_ratio(tmp_path, name):
    (tmp_path / "t").write_bytes(BOMBS[name]())
    with pytest.raises(DataError, match="the rows unpacks to more than 200 times its length"):
        take_in(tmp_path / "t", tmp_path / "out", "the rows", IntakeLimits(), [])


def test_an_honest_file_is_read_whole(tmp_path):
    (tmp_path / "t").write_bytes(HONEST)
    take_in(tmp_path / "t", tmp_path / "out", "the rows", IntakeLimits(), [])
    assert len(pd.read_parquet(tmp_path / "out")) == 1000
