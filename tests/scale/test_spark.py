"""Spark answers as one process does, however the rows lie."""

from __future__ import annotations

import sys

import pandas as pd
import pytest

import macex as mx
from lending import loans
from macex.scale.spark import explain, function, population
from scale.town import applicants, bank, deadly_bank, expected, ordered, same_findings

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


def clock(zone: str | None) -> tuple[mx.Explainer, pd.DataFrame]:
    """An explainer of points in time, of a zone or of none, and rows with a null."""
    when = pd.date_range("2020-10-24 20:00", periods=60, freq="30min", tz=zone).as_unit("us")
    rows = pd.DataFrame({"points": range(60), "when": when})

    def late(given):
        return (given["points"] > 30) * 0.8 + 0.1

    return mx.Explainer(late, rows, classes=("no", "yes")), rows.assign(key=range(60))


@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin", "America/New_York"])
def test_points_in_time_of_a_zone_are_features(spark, zone):
    explainer, rows = clock(zone)
    made = explain(spark.createDataFrame(rows), explainer)
    assert made.schema["when"].dataType.typeName() == "timestamp"
    seconds = "unix_micros(when) div 1000000 as second"
    found = made.selectExpr("key", "points", seconds, "`cf.status` as status").toPandas()
    told = expected(explainer, rows).set_index("key")
    found = found.set_index("key").loc[told.index]
    assert found["points"].tolist() == told["points"].tolist()
    assert found["second"].tolist() == [round(when.timestamp()) for when in told["when"]]
    assert (found["status"] == "found").all()


@pytest.fixture
def in_berlin(spark):
    before = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", "Europe/Berlin")
    yield spark
    spark.conf.set("spark.sql.session.timeZone", before)


def test_points_in_time_without_a_zone_are_those_of_the_session(in_berlin):
    explainer, rows = clock(None)
    rows = rows.head(8)  # before the hour that comes twice
    given = in_berlin.createDataFrame(rows).selectExpr(
        "key", "points", "cast(when as timestamp) as when"
    )
    made = explain(given, explainer)
    assert made.schema["when"].dataType.typeName() == "timestamp_ntz"
    assert ordered(made.toPandas()) == ordered(expected(explainer, rows))


def test_carried_times_are_the_same_also_in_the_hour_that_comes_twice(in_berlin):
    rows = in_berlin.createDataFrame(applicants(6)).selectExpr(
        "*",
        "timestamp_seconds(1603582200 + 1800 * key) as at",
        "if(key = 3, null, timestamp_seconds(1603582200 + 1800 * key)) as holed",
    )
    made = explain(rows, bank())
    assert made.schema["at"].dataType.typeName() == "timestamp"
    found = made.selectExpr("key", "unix_seconds(at) as at", "unix_seconds(holed) as holed")
    for line in found.collect():
        assert line["at"] == 1603582200 + 1800 * line["key"]
        assert line["holed"] == (None if line["key"] == 3 else line["at"])


def test_names_may_have_dots_and_quotes(spark):
    rows = applicants(10)
    given = spark.createDataFrame(rows).withMetadata("key", {"comment": "names the rows"})
    found = explain(given.toDF(*rows.columns[:4], "the.`key`"), bank())
    assert found.schema["the.`key`"].metadata == {"comment": "names the rows"}
    made = found.toPandas().rename(columns={"the.`key`": "key"})
    assert ordered(made) == ordered(expected(bank(), rows))
    dotted = loans(60, seed=1).rename(columns={"income": "income.of.a.year"})

    def granted(given):
        return (given["income.of.a.year"] > 60) * 0.8 + 0.1

    explainer = mx.Explainer(granted, dotted, classes=("no", "yes"))
    found = explain(spark.createDataFrame(dotted.head(9)), explainer).toPandas()
    assert (found["cf.status"] == "found").all()
    assert "income.of.a.year" in found


def test_decimals_are_numbers(spark):
    rows = applicants(20)
    given = spark.createDataFrame(rows).selectExpr(
        "key", "cast(income as decimal(10, 2)) as income", "debt", "age", "job"
    )
    assert ordered(explain(given, bank()).toPandas()) == ordered(expected(bank(), rows))


def test_a_frame_in_memory_is_no_table_of_spark():
    with pytest.raises(mx.OptionError, match="Spark DataFrame is expected, not a DataFrame"):
        explain(applicants(3), bank())


def test_a_stream_of_rows_is_answered_as_it_comes(spark, tmp_path):
    rows = applicants(30)
    (tmp_path / "night").mkdir()
    rows.head(20).to_json(tmp_path / "night" / "a.json", orient="records", lines=True)
    shape = spark.createDataFrame(rows).schema
    coming = spark.readStream.schema(shape).json(str(tmp_path / "night"))

    def follow() -> None:
        query = (
            explain(coming, bank())
            .writeStream.format("parquet")
            .option("checkpointLocation", str(tmp_path / "checkpoint"))
            .trigger(availableNow=True)
            .start(str(tmp_path / "answers"))
        )
        query.awaitTermination(120)

    follow()
    rows.tail(10).to_json(tmp_path / "night" / "b.json", orient="records", lines=True)
    follow()
    made = spark.read.parquet(str(tmp_path / "answers")).toPandas()
    assert ordered(made) == ordered(expected(bank(), rows))


def test_questions_about_a_population_are_answered_as_in_memory(spark):
    rows = applicants(160)
    frame = spark.createDataFrame(rows).repartition(3)
    same_findings(population(frame, bank(), index="key"), rows)


def test_a_population_has_points_in_time(spark):
    explainer, rows = clock("Europe/Berlin")
    found = population(spark.createDataFrame(rows), explainer).recourse(want="yes")
    assert found.counts == explainer.recourse(rows.drop(columns="key"), want="yes").counts


def test_a_function_of_sql_gives_the_answer_as_a_struct(spark):
    rows, explainer = applicants(80), bank()
    spark.udf.register("counterfactual", function(explainer, want="granted"))
    spark.createDataFrame(rows).repartition(3).createOrReplaceTempView("applicants")
    query = """
        SELECT key, cf.* FROM (
            SELECT key, counterfactual(income, debt, age, job) AS cf FROM applicants
        ) WHERE cf.cf_status = 'found'
    """
    made = spark.sql(query).toPandas()
    frame = rows[explainer.columns]
    told = explainer.explain(frame, want="granted").to_frame()
    told = told.assign(key=rows["key"].to_numpy()).drop(columns=["cf.row", "cf.rank"])
    told.columns = [name.replace(".", "_") for name in told.columns]
    assert set(made.columns) == set(told.columns)
    mine, others = (one.sort_values("key")[made.columns] for one in (made, told))
    pd.testing.assert_frame_equal(
        mine.reset_index(drop=True), others.reset_index(drop=True), check_dtype=False
    )


def test_a_function_of_sql_is_used_on_columns_and_keeps_what_cannot_be_read(spark):
    rows = applicants(10)
    rows["income"] = rows["income"].astype(float)
    rows.loc[3, "income"] = 30.5
    frame = spark.createDataFrame(rows)
    made = frame.select("key", function(bank())("income", "debt", "age", "job").alias("cf"))
    found = made.select("key", "cf.cf_status", "cf.income").toPandas()
    bad = found[found["key"] == rows.loc[3, "key"]]
    assert bad["cf_status"].tolist() == ["not_found"]
    assert bad["income"].isna().all()
    assert len(found) == 10


def test_a_function_of_sql_refuses_times():
    with pytest.raises(mx.OptionError, match="'when' holds times"):
        function(clock(None)[0])
