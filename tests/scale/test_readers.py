"""A table is the same whatever the form of its file and the size of its chunks."""

from __future__ import annotations

import gzip
import io
import zlib

import numpy as np
import pandas as pd
import pytest

import macex as mx
from macex.errors import DataError
from macex.scale.readers import Chunk, count_rows, raw_chunks, read_chunks, read_table

TABLE = pd.DataFrame(
    {
        "whole": [1, 2, 3, 40],
        "part": [0.1, np.nan, -1e90, 2.5],
        "word": ["a", "b,c", 'say "d"', None],
        "truth": [True, False, True, True],
    }
)


@pytest.fixture
def path(tmp_path):
    TABLE.to_csv(tmp_path / "table.csv", index=False)
    return tmp_path / "table.csv"


def test_a_csv_is_read_as_pandas_reads_it(path):
    pd.testing.assert_frame_equal(read_table(path), pd.read_csv(path))


@pytest.mark.parametrize("size", [1, 2, 3, 100])
def test_chunks_are_the_table(path, size):
    columns = mx.Schema.infer(TABLE).columns
    chunks = list(read_chunks(path, columns, size))
    assert max(map(len, chunks)) <= size
    joined = pd.concat(chunks)
    pd.testing.assert_frame_equal(joined, TABLE, check_dtype=False)
    assert joined.index.tolist() == [0, 1, 2, 3]


def test_a_chunk_has_the_types_of_training_not_of_its_own_cells(tmp_path):
    data = pd.DataFrame({"code": ["007", "x"], "ratio": [0.5, 2.0]})
    (tmp_path / "rows.csv").write_text("code,ratio\n007,2\n008,3\n")
    (chunk,) = read_chunks(tmp_path / "rows.csv", mx.Schema.infer(data).columns, 10)
    assert chunk["code"].tolist() == ["007", "008"]
    assert chunk["ratio"].dtype == np.float64


@pytest.mark.parametrize("mark", [",", ";", "\t"])
def test_the_mark_between_cells_is_seen(tmp_path, mark):
    TABLE.to_csv(tmp_path / "table", index=False, sep=mark)
    assert read_table(tmp_path / "table").columns.tolist() == list(TABLE)


def test_a_stream_is_read_like_a_file(path):
    pd.testing.assert_frame_equal(read_table(io.BytesIO(path.read_bytes())), read_table(path))


@pytest.mark.parametrize("form", ["parquet", "feather"])
def test_binary_forms_keep_their_types(tmp_path, form):
    pytest.importorskip("pyarrow")
    getattr(TABLE, f"to_{form}")(tmp_path / "table")
    pd.testing.assert_frame_equal(read_table(tmp_path / "table"), TABLE)


def test_rows_are_counted(path):
    assert count_rows(path) == 4
    assert count_rows(io.BytesIO(b"a\n1\n")) is None


def test_numbers_come_back_to_the_last_bit(tmp_path):
    numbers = np.random.default_rng(0).normal(size=200) * 1e-7
    pd.DataFrame({"x": numbers}).to_csv(tmp_path / "x.csv", index=False)
    assert read_table(tmp_path / "x.csv")["x"].tolist() == numbers.tolist()


def test_a_damaged_gzip_file_is_said_and_costs_itself_alone(path, tmp_path):
    packed, damaged = bytearray(gzip.compress(path.read_bytes(), mtime=0)), tmp_path / "z.csv.gz"
    packed[10] = 0xFF  # a kind of block that there is not
    damaged.write_bytes(packed)
    with pytest.raises(zlib.error):
        gzip.decompress(packed)
    for read in (read_table, count_rows):
        with pytest.raises(mx.DataError, match=r"z\.csv\.gz is not a whole gzip file"):
            read(damaged)
    table, fault = raw_chunks([path, damaged], 10)
    assert isinstance(table, Chunk)
    assert "not a whole gzip file" in str(fault)


@pytest.mark.parametrize("size", [1, 100])
def test_wrong_bytes_in_a_gzip_file_are_seen_before_its_rows_are_taken(path, tmp_path, size):
    packed = bytearray(gzip.compress(path.read_bytes(), 0, mtime=0))
    packed[packed.index(b"40,")] = ord("9")
    (tmp_path / "z.csv.gz").write_bytes(packed)
    read = list(raw_chunks([tmp_path / "z.csv.gz", path], size))
    assert "CRC" in str(read[0])
    assert sum(chunk.rows for chunk in read[1:]) == 4


@pytest.mark.parametrize("size", [1, 100])
def test_the_rows_before_a_gzip_file_is_cut_off_are_read(path, tmp_path, size):
    packed = gzip.compress(path.read_bytes(), 0, mtime=0)
    (tmp_path / "z.csv.gz").write_bytes(packed[:-12])
    *chunks, fault = raw_chunks([path, tmp_path / "z.csv.gz"], size)
    assert "not a whole gzip file" in str(fault)
    assert sum(chunk.rows for chunk in chunks) == 4 + 3


LINES = {
    "csv": 'a,"b\nb"\n1,x\n\n\n2,"y\ny"\nmany,z\n',
    "jsonl": '{"a": 1, "b": "x"}\n\n \n{"a": 2, "b": "y"}\n\n{"a": "many", "b": "z"}\n',
}


@pytest.mark.parametrize("size", [1, 2, 100])
@pytest.mark.parametrize(("form", "line"), [("csv", 8), ("jsonl", 6)])
def test_a_fault_names_the_line_that_an_editor_shows(tmp_path, form, line, size):
    (tmp_path / "rows").write_text(LINES[form])
    chunks = [part for part in raw_chunks(tmp_path / "rows", size) if isinstance(part, Chunk)]
    assert [len(part.frame) for part in chunks][:-1] == [size] * (len(chunks) - 1)
    assert chunks[-1].place(chunks[-1].rows - 1) == f"{tmp_path / 'rows'} line {line}"


@pytest.mark.parametrize(("text", "line"), [('a,b\n\n1,"x\n\n"\n3\n', 6), ("a,b\n1,2\n\n\n3\n", 5)])
def test_a_broken_line_is_named_by_where_it_begins(tmp_path, text, line):
    (tmp_path / "rows.csv").write_text(text)
    with pytest.raises(DataError, match=f"line {line} has 1 cells, the header has 2"):
        read_table(tmp_path / "rows.csv")


def test_a_day_that_is_none_is_named_by_its_line(tmp_path):
    (tmp_path / "rows.csv").write_text("a,day\n\n1,2024-01-01\n2,soon\n")
    with pytest.raises(DataError, match=r"line 4: column 'day' holds 'soon'"):
        read_table(tmp_path / "rows.csv", dates=["day"])


def test_whole_numbers_and_fractions_of_json_lines_are_numbers(tmp_path):
    (tmp_path / "rows.jsonl").write_text('{"a": 1}\n{"a": 2.5}\n{"a": null}\n')
    pd.testing.assert_frame_equal(
        read_table(tmp_path / "rows.jsonl"), pd.DataFrame({"a": [1, 2.5, np.nan]})
    )
