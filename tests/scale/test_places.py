"""Rows are read, and answers written, wherever fsspec reaches: the same bytes as on the disk."""

from __future__ import annotations

import gzip
import io
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pandas as pd
import pytest

import macex as mx
from lending import loans
from macex.scale.places import place_of
from macex.scale.readers import read_table
from scale.town import bank

fsspec = pytest.importorskip("fsspec")
parquet = pytest.importorskip("pyarrow.parquet")
dataset = pytest.importorskip("pyarrow.dataset")
ROWS = loans(12, seed=5)


class Stopped(Exception):  # noqa: N818 - not an error of anybody's
    """A run was ended on its way."""


def stop(done: int, _total: int | None) -> None:
    if done >= 9:
        raise Stopped


@pytest.fixture
def memory():
    """A store in memory."""
    system = fsspec.filesystem("memory")
    system.store.clear()
    system.pseudo_dirs[:] = [""]
    yield system
    system.store.clear()


@pytest.fixture(scope="module")
def s3():
    """A bucket on a server of our own."""
    server_class = pytest.importorskip("moto.server").ThreadedMotoServer
    pytest.importorskip("s3fs")
    server = server_class(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    said = {"endpoint_url": f"http://{host}:{port}", "key": "none", "secret": "none"}
    before, fsspec.config.conf["s3"] = fsspec.config.conf.get("s3", {}), said
    system = fsspec.filesystem("s3")
    system.mkdir("bank")
    yield system
    fsspec.config.conf["s3"] = before
    server.stop()


def rows_csv(rows: pd.DataFrame = ROWS) -> bytes:
    return rows.to_csv(index=False).encode()


@pytest.mark.parametrize("form", ["csv", "csv.gz", "json", "jsonl", "parquet"])
def test_a_store_has_the_bytes_that_a_disk_has(memory, tmp_path, form):
    (tmp_path / "rows.csv").write_bytes(rows_csv())
    memory.pipe_file("/night/rows.csv", rows_csv())
    mx.explain_file(bank(), tmp_path / "rows.csv", tmp_path / f"out.{form}", chunk=5)
    done = mx.explain_file(bank(), "memory://night/rows.csv", f"memory://out/out.{form}", chunk=5)
    assert done.rows == 12
    assert memory.cat(f"/out/out.{form}") == (tmp_path / f"out.{form}").read_bytes()
    assert memory.find("/out") == [f"/out/out.{form}"]


def test_a_bucket_is_read_and_written(s3):
    for at in range(3):
        s3.pipe_file(f"bank/night/{at}.csv", rows_csv(ROWS.iloc[at * 4 : at * 4 + 4]))
    s3.pipe_file("bank/night/_log.csv", b"none,of,these\n")
    done = mx.explain_file(bank(), "s3://bank/night", "s3://bank/answers", chunk=3)
    assert done.rows == 12
    made = pd.concat(
        pd.read_parquet(io.BytesIO(s3.cat(name))) for name in sorted(s3.find("bank/answers"))[1:]
    )
    wanted = bank().explain(ROWS).to_frame()
    assert made["cf.score"].tolist() == wanted["cf.score"].tolist()
    assert min(s3.find("bank/answers")) == "bank/answers/_SUCCESS"


def test_a_run_in_a_bucket_goes_on_where_it_stopped(s3):
    s3.pipe_file("bank/rows.csv", rows_csv())
    call = {"source": "s3://bank/rows.csv", "out": "s3://bank/stopped.csv", "chunk": 3}
    with pytest.raises(Stopped):
        mx.explain_file(bank(), **call, progress=stop)
    assert not s3.exists("bank/stopped.csv")
    s3.pipe_file("bank/stopped.csv.parts/000000.part", b"damaged")
    done = mx.explain_file(bank(), **call, resume=True)
    assert done.resumed == 3  # two parts were whole, and one of them was damaged
    answers = pd.read_csv(io.BytesIO(s3.cat("bank/stopped.csv")))
    assert answers["cf.row"].tolist() == list(range(12))
    assert not s3.find("bank/stopped.csv.parts")


def test_rows_that_changed_in_a_bucket_are_noticed(s3):
    s3.pipe_file("bank/changed.csv", rows_csv())
    call = {"source": "s3://bank/changed.csv", "out": "s3://bank/other.csv", "chunk": 3}
    with pytest.raises(Stopped):
        mx.explain_file(bank(), **call, progress=stop)
    s3.pipe_file("bank/changed.csv", rows_csv(loans(12, seed=6)))
    with pytest.raises(mx.OptionError, match="begun with another rows"):
        mx.explain_file(bank(), **call, resume=True)


def test_rows_are_read_from_the_web(tmp_path):
    (tmp_path / "rows.csv").write_bytes(rows_csv())
    ROWS.to_parquet(tmp_path / "rows.parquet")

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_given):
            """Say nothing."""

    pytest.importorskip("aiohttp")
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=tmp_path))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        base = f"http://127.0.0.1:{server.server_port}"
        for name in ("rows.csv", "rows.parquet"):
            assert mx.explain_file(bank(), f"{base}/{name}", tmp_path / f"of-{name}").rows == 12
        with pytest.raises(FileNotFoundError, match=r"none\.csv"):
            mx.explain_file(bank(), f"{base}/none.csv", tmp_path / "none.csv")
        with pytest.raises(mx.DataError, match="cannot be read or written"):
            mx.explain_file(bank(), tmp_path / "rows.csv", f"{base}/out.csv")
    finally:
        server.shutdown()
        server.server_close()


def test_folders_tell_columns(memory, tmp_path):
    rows = ROWS.drop(columns="job")
    for job, part in rows.groupby(ROWS["job"]):
        memory.pipe_file(f"/lake/job={job}/day=2024-02-01/a.csv", rows_csv(part))
    memory.pipe_file("/lake/_delta/x.csv", b"")
    out = tmp_path / "out.jsonl"
    assert mx.explain_file(bank(), "memory://lake", out, index="day").rows == 12
    found = mx.explain_file(bank(), "memory://lake", tmp_path / "out.csv", index="day")
    answers = pd.read_csv(tmp_path / "out.csv")
    assert set(answers["day"]) == {"2024-02-01"}
    ordered = ROWS.sort_values("job", kind="stable")
    wanted = bank().explain(ordered).to_frame()
    assert answers["cf.score"].tolist() == pytest.approx(wanted["cf.score"].tolist())
    assert found.faults == ()


def test_values_become_folders_that_tell_them_again(tmp_path):
    rows = ROWS.assign(region=["north/west", "south"] * 6, number=range(12))
    rows.loc[3, "region"] = None
    rows.to_parquet(tmp_path / "rows.parquet")
    mx.explain_file(
        bank(),
        tmp_path / "rows.parquet",
        tmp_path / "out",
        index=["region", "number"],
        partition_by="region",
        compression="zstd",
        chunk=5,
    )
    table = dataset.dataset(tmp_path / "out", partitioning="hive").to_table()
    made = table.to_pandas().sort_values("number")
    there = made["region"].astype(object).where(made["region"].notna(), None)
    assert (
        there.tolist() == rows["region"].astype(object).where(rows["region"].notna(), None).tolist()
    )
    first = next((tmp_path / "out").rglob("part-*.parquet"))
    assert parquet.ParquetFile(first).metadata.row_group(0).column(0).compression == "ZSTD"


def test_several_columns_name_the_rows(tmp_path):
    rows = ROWS.assign(branch="a", number=range(12))
    rows.to_csv(tmp_path / "rows.csv", index=False)
    for index in (["branch", "number"], "*"):
        mx.explain_file(bank(), tmp_path / "rows.csv", tmp_path / "a.csv", index=index, force=True)
        answers = pd.read_csv(tmp_path / "a.csv")
        assert [*answers.columns[:2]] == ["branch", "number"]
        assert answers["number"].tolist() == list(range(12))
    mx.explain_file(bank(), tmp_path / "rows.csv", tmp_path / "a.jsonl", index="*")
    assert '"id": {"branch": "a", "number": "0"}' in (tmp_path / "a.jsonl").read_text()
    mx.explain_file(bank(), tmp_path / "rows.csv", tmp_path / "a.parquet", index="*")
    assert pd.read_parquet(tmp_path / "a.parquet")["number"].tolist() == [*map(str, range(12))]
    with pytest.raises(mx.OptionError, match="twice"):
        mx.explain_file(bank(), tmp_path / "rows.csv", tmp_path / "b.csv", index=["branch"] * 2)


def test_packed_text_is_whole(tmp_path):
    (tmp_path / "rows.csv").write_bytes(rows_csv())
    for name in ("plain.json", "packed.json.gz"):
        mx.explain_file(bank(), tmp_path / "rows.csv", tmp_path / name, chunk=5)
    packed = gzip.decompress((tmp_path / "packed.json.gz").read_bytes())
    assert packed == (tmp_path / "plain.json").read_bytes()


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ({"out": "out.csv", "compression": "zstd"}, "compression of CSV is gzip"),
        ({"out": "out", "compression": "zip"}, "compression of PARQUET"),
        ({"out": "out", "partition_by": "regoin"}, "which the answers do not have"),
        ({"out": "out.parquet", "partition_by": "job"}, "for a folder of Parquet"),
        ({"out": "out.csv", "add": True}, "for a folder of Parquet"),
    ],
)
def test_what_cannot_be_written_so_is_refused_before_a_row_is_read(tmp_path, call, said):
    (tmp_path / "rows.csv").write_bytes(rows_csv())
    call["out"] = tmp_path / call["out"]
    with pytest.raises(mx.OptionError, match=said):
        mx.explain_file(bank(), tmp_path / "rows.csv", **call)


def test_an_output_among_the_rows_of_a_store_is_refused(memory):
    memory.pipe_file("/night/rows.csv", rows_csv())
    for out in ("memory://night/out.csv", "memory://night/rows.csv/x.csv"):
        with pytest.raises(mx.OptionError, match="in, what is read"):
            mx.explain_file(bank(), "memory://night", out)


def test_what_no_library_reaches_is_said(tmp_path):
    with pytest.raises(mx.DataError, match="Protocol not known"):
        mx.explain_file(bank(), "nowhere://rows.csv", tmp_path / "out.csv")


def test_a_file_url_is_a_path(tmp_path):
    assert str(place_of("source", f"file://{tmp_path}/a.csv")) == f"{tmp_path}/a.csv"


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_training_rows_may_be_a_folder(memory, form):
    rows = ROWS.assign(day=[1, 2, 3] * 4)
    for day, part in rows.groupby("day"):
        kept = part.drop(columns="day")
        text = rows_csv(kept) if form == "csv" else kept.to_parquet(index=False)
        memory.pipe_file(f"/train/day={day}/rows.{form}", text)
    made = read_table("memory://train")
    wanted = rows.sort_values("day", kind="stable").reset_index(drop=True)
    pd.testing.assert_frame_equal(made, wanted, check_dtype=False)
    assert made["day"].dtype == "int64"


def test_files_of_training_that_are_not_alike_are_refused(memory):
    memory.pipe_file("/train/a.csv", rows_csv())
    memory.pipe_file("/train/b.csv", rows_csv(ROWS.drop(columns="debt")))
    with pytest.raises(mx.DataError, match="files of one table are alike"):
        read_table("memory://train")
