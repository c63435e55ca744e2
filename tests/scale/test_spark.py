"""Spark answers as one process does, however the rows lie."""

from __future__ import annotations

import sys

import pandas as pd
import pytest

import macex as mx
from macex.scale.spark import explain
from scale.town import applicants, bank, deadly_bank, expected, ordered

pytest.importorskip("pyspark")


@pytest.fixture(scope="module")
def spark():
    from pyspark.sql import SparkSession

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        patch.setenv("PYTHONPATH", ":".join(sys.path))
        session = (
            SparkSession.builder.master("local[2,4]")
            .config("spark.driver.host", "127.0.0.1")
            .config("spark.driver.bindAddress", "127.0.0.1")
            .config("spark.ui.enabled", "false")
            .config("spark.log.level", "OFF")
            .getOrCreate()
        )
        yield session
        session.stop()


def answers(spark, explainer, rows, partitions, **options) -> pd.DataFrame:
    return explain(
        spark.createDataFrame(rows).repartition(partitions), explainer, **options
    ).toPandas()


def test_answers_do_not_depend_on_the_partitions(spark):
    rows, explainer = applicants(500), bank()
    told = ordered(expected(explainer, rows, n=2))
    assert ordered(answers(spark, explainer, rows, 1, n=2)) == told
    assert ordered(answers(spark, explainer, rows, 5, n=2)) == told


@pytest.mark.slow
def test_twenty_thousand_rows(spark):
    rows, explainer = applicants(20_000), bank()
    assert ordered(answers(spark, explainer, rows, 4)) == ordered(expected(explainer, rows))


def test_a_task_that_dies_is_done_again_and_nothing_twice(spark, tmp_path):
    rows = applicants(60)
    deadly = deadly_bank(tmp_path / "died", income=int(rows["income"].iloc[30]))
    assert ordered(answers(spark, deadly, rows, 4)) == ordered(expected(bank(), rows))
    assert (tmp_path / "died").exists()


def test_the_schema_is_known_before_any_row_is_explained(spark):
    rows = applicants(3)
    columns = explain(spark.createDataFrame(rows), bank()).schema
    assert columns.fieldNames()[:3] == ["key", "income", "debt"]
    assert columns["income"].dataType.typeName() == "long"
    assert columns["cf.label"].dataType.typeName() == "string"


def test_a_row_that_cannot_be_read_keeps_its_place(spark):
    rows = applicants(20)
    rows["income"] = rows["income"].astype(float)
    rows.loc[7, "income"] = 30.5
    made = answers(spark, bank(), rows, 2)
    bad = made[made["key"] == rows.loc[7, "key"]]
    assert bad["cf.status"].tolist() == ["not_found"]
    assert bad["income"].isna().all()
    assert sorted(made["key"]) == list(range(20))


def test_a_missing_column_is_said_at_once(spark):
    rows = spark.createDataFrame(applicants(3).drop(columns="debt"))
    with pytest.raises(mx.DataError, match="no column 'debt'"):
        explain(rows, bank())


def test_partitions_may_be_without_rows(spark):
    rows = applicants(40)
    frame = spark.createDataFrame(rows).repartition(4)
    made = explain(frame.where("key = 7"), bank()).toPandas()
    assert ordered(made) == ordered(expected(bank(), rows[rows["key"] == 7]))
    assert explain(frame.where("key < 0"), bank()).count() == 0
