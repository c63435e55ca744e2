"""A sample of the rows of files: the same rows each time, with the answers they have anyway."""

from __future__ import annotations

import io
from collections import Counter

import numpy as np
import pandas as pd
import pytest

import macex as mx
from lending import loans
from macex.scale.readers import Chunk, raw_chunks
from macex.scale.run import drawn_numbers, picked
from scale.town import bank

pytest.importorskip("pyarrow.parquet")
ROWS = loans(90, seed=4).assign(applicant=[f"a{at}" for at in range(90)])


@pytest.fixture
def night(tmp_path):
    """A folder of files in two forms."""
    folder = tmp_path / "night"
    folder.mkdir()
    ROWS.iloc[:40].to_parquet(folder / "a.parquet", index=False)
    ROWS.iloc[40:].to_csv(folder / "b.csv", index=False)
    return folder


@pytest.fixture(scope="module")
def told() -> pd.DataFrame:
    return bank().explain(ROWS.drop(columns="applicant"), n=2).to_frame()


def chunks_of(count: int, size: int) -> list[Chunk]:
    rows = pd.DataFrame({"a": range(count)})
    cut = (rows.iloc[at : at + size] for at in range(0, count, size))
    return [Chunk(part, "csv", "a.csv", at * size, at * size) for at, part in enumerate(cut)]


@pytest.mark.parametrize("chunk", [7, 4096])
@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_rows_of_a_sample_have_the_answers_they_have_anyway(night, tmp_path, told, chunk, form):
    out = tmp_path / f"out.{form}"
    done = mx.explain_file(bank(), night, out, n=2, index="applicant", sample=20, chunk=chunk)
    made = {"csv": pd.read_csv, "parquet": pd.read_parquet}[form](out)
    assert done.rows == made["cf.row"].nunique() == 20
    assert made["cf.row"].is_monotonic_increasing
    assert made["applicant"].tolist() == [f"a{at}" for at in made["cf.row"]]
    wanted = told[told["cf.row"].isin(made["cf.row"])].reset_index(drop=True)
    pd.testing.assert_frame_equal(made.drop(columns="applicant"), wanted, check_dtype=False)


def test_the_bytes_are_the_same_each_time_with_two_workers_and_after_a_kill(night, tmp_path):
    options = {"sample": 30, "chunk": 5, "index": "applicant"}

    def stop(done: int, total: int | None) -> None:
        assert total == 30
        if done >= 10:
            raise KeyboardInterrupt

    for name, jobs in (("one.csv", 1), ("two.csv", 2)):
        mx.explain_file(bank(), night, tmp_path / name, jobs=jobs, **options)
    with pytest.raises(KeyboardInterrupt):
        mx.explain_file(bank(), night, tmp_path / "three.csv", progress=stop, **options)
    other = options | {"sample": 31}
    with pytest.raises(mx.OptionError, match=r"another sample \(30 then, 31 now\)"):
        mx.explain_file(bank(), night, tmp_path / "three.csv", resume=True, **other)
    done = mx.explain_file(bank(), night, tmp_path / "three.csv", resume=True, **options)
    assert (done.rows, done.resumed) == (30, 10)
    bytes_of = [(tmp_path / f"{name}.csv").read_bytes() for name in ("one", "two", "three")]
    assert bytes_of[0] == bytes_of[1] == bytes_of[2]


def test_every_row_is_drawn_as_often_as_any_other_however_they_lie():
    times = Counter()
    for seed in range(600):
        numbers = drawn_numbers(chunks_of(40, 9), 10, seed)
        assert numbers.tolist() == drawn_numbers(chunks_of(40, 40), 10, seed).tolist()
        times.update(numbers.tolist())
    assert times.total() == 6000
    counts = np.array([times[row] for row in range(40)])
    assert (np.abs(counts - 150) < 6 * np.sqrt(150 * 0.75)).all()
    assert drawn_numbers(chunks_of(5, 2), 10, 0).tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("size", [1, 4, 100])
def test_what_is_picked_stands_where_it_stood(night, size):
    numbers = np.array([0, 1, 17, 39, 40, 41, 70, 89])
    found = [one for one in raw_chunks(night, 10) if isinstance(one, Chunk)]
    parts = list(picked(found, numbers, size))
    assert max(part.rows for part in parts) <= size
    assert [number for part in parts for number in part.numbers] == numbers.tolist()
    named = [name for part in parts for name in part.frame["applicant"]]
    assert named == [f"a{number}" for number in numbers]
    places = [part.place(at) for part in parts for at in range(part.rows)]
    rows = [f"{night / 'a.parquet'} row {number}" for number in (0, 1, 17, 39)]
    lines = [f"{night / 'b.csv'} line {line}" for line in (2, 3, 32, 51)]
    assert places == rows + lines


def test_what_cannot_be_read_is_said_once_where_it_stands(tmp_path):
    rows = ROWS.drop(columns="applicant").astype({"income": object})
    rows.loc[7, "income"] = "much"
    rows.to_csv(tmp_path / "rows.csv", index=False)
    done = mx.explain_file(bank(), tmp_path / "rows.csv", tmp_path / "out.csv", sample=90, chunk=20)
    assert (done.rows, done.unreadable, len(done.faults)) == (90, 1, 1)
    assert "rows.csv line 9: " in done.faults[0]


def test_where_no_sample_can_be_drawn_it_is_said(night, tmp_path):
    with pytest.raises(mx.OptionError, match="sample= reads the rows twice"):
        mx.explain_file(bank(), io.BytesIO(b"a\n1\n"), tmp_path / "out.csv", sample=3)
    with pytest.raises(mx.OptionError, match="sample= is drawn from all rows"):
        mx.explain_file(bank(), night, tmp_path / "out", sample=3, add=True)
    with pytest.raises(mx.OptionError, match="sample"):
        mx.explain_file(bank(), night, tmp_path / "out.csv", sample=0)


def test_a_folder_of_a_sample_does_not_grow(night, tmp_path):
    mx.explain_file(bank(), night, tmp_path / "out", sample=10, index="applicant")
    ROWS.iloc[:5].to_parquet(night / "c.parquet", index=False)
    with pytest.raises(mx.OptionError, match="another sample"):
        mx.explain_file(bank(), night, tmp_path / "out", add=True, index="applicant")
