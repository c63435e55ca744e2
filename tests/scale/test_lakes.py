"""Of a Delta or Iceberg table the rows of its newest version are read, and no others."""

from __future__ import annotations

import pandas as pd
import pytest

import macex as mx
from lending import loans
from scale.town import bank

pa = pytest.importorskip("pyarrow")
FIRST, SECOND = loans(12, seed=5), loans(6, seed=6)


def arrow(rows: pd.DataFrame) -> object:
    return pa.Table.from_pandas(rows, preserve_index=False)


def scores(rows: pd.DataFrame) -> list[float]:
    return sorted(bank().explain(rows).to_frame()["cf.score"])


def told(source: object, out: object, **call) -> list[float]:
    mx.explain_file(bank(), source, out, **call)
    return sorted(pd.read_parquet(out)["cf.score"])


def test_files_of_older_versions_of_a_delta_table_are_no_rows(tmp_path):
    delta = pytest.importorskip("deltalake")
    table = str(tmp_path / "table")
    delta.write_deltalake(table, arrow(FIRST.assign(day=[1, 2] * 6)), partition_by=["day"])
    delta.write_deltalake(
        table, arrow(SECOND.assign(day=3)), partition_by=["day"], mode="overwrite"
    )
    assert told(table, tmp_path / "new.parquet", index="day") == scores(SECOND)
    assert set(pd.read_parquet(tmp_path / "new.parquet")["day"]) == {"3"}
    delta.write_deltalake(table, arrow(FIRST.assign(day=4)), partition_by=["day"], mode="append")
    assert told(table, tmp_path / "all.parquet") == scores(pd.concat([FIRST, SECOND]))


def test_a_delta_table_grows(tmp_path):
    delta = pytest.importorskip("deltalake")
    table, out = str(tmp_path / "table"), tmp_path / "out"
    delta.write_deltalake(table, arrow(FIRST))
    assert mx.explain_file(bank(), table, out, add=True).rows == 12
    delta.write_deltalake(table, arrow(SECOND), mode="append")
    assert mx.explain_file(bank(), table, out, add=True).rows == 6
    assert sorted(pd.read_parquet(out)["cf.score"]) == scores(pd.concat([FIRST, SECOND]))


def test_a_delta_table_whose_files_are_not_its_rows_is_refused(tmp_path):
    delta = pytest.importorskip("deltalake")
    table = str(tmp_path / "table")
    delta.write_deltalake(table, arrow(FIRST))
    log = next((tmp_path / "table" / "_delta_log").glob("*.json"))
    needs = '"minReaderVersion":3,"minWriterVersion":7,"readerFeatures":["deletionVectors"]'
    needs += ',"writerFeatures":["deletionVectors"]'
    text = log.read_text()
    assert '"minReaderVersion":1,"minWriterVersion":2' in text
    log.write_text(text.replace('"minReaderVersion":1,"minWriterVersion":2', needs))
    with pytest.raises(mx.DataError, match="deletionVectors, so its files are not its rows"):
        mx.explain_file(bank(), table, tmp_path / "out.csv")


def test_the_newest_snapshot_of_an_iceberg_table_is_read(tmp_path):
    catalogs = pytest.importorskip("pyiceberg.catalog.sql")
    (tmp_path / "lake").mkdir()
    catalog = catalogs.SqlCatalog(
        "c", uri=f"sqlite:///{tmp_path}/catalog.db", warehouse=f"file://{tmp_path}/lake"
    )
    catalog.create_namespace("bank")
    made = catalog.create_table("bank.loans", schema=arrow(FIRST).schema)
    made.append(arrow(FIRST))
    made.append(arrow(SECOND))
    place = made.location().removeprefix("file://")
    assert told(place, tmp_path / "all.parquet") == scores(pd.concat([FIRST, SECOND]))
    made.overwrite(arrow(SECOND))
    assert told(place, tmp_path / "new.parquet") == scores(SECOND)
    catalog.close()


def test_batches_of_a_table_are_frames(tmp_path):
    delta = pytest.importorskip("deltalake")
    delta.write_deltalake(str(tmp_path / "table"), arrow(FIRST))
    batches = pa.RecordBatchReader.from_stream(
        delta.QueryBuilder()
        .register("loans", delta.DeltaTable(str(tmp_path / "table")))
        .execute("select * from loans")
    )
    answers = pd.concat(mx.explain_frames(bank(), batches))
    assert sorted(answers["cf.score"]) == scores(FIRST)
