"""Dask answers as one process does, however the rows lie."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import macex as mx
from macex.scale.dask import explain, population
from scale.town import applicants, bank, deadly_bank, expected, ordered, same_findings

pytest.importorskip("dask.dataframe")
pytest.importorskip("distributed")
import dask.dataframe as dd
from distributed import Client, LocalCluster


@pytest.fixture(scope="module")
def cluster():
    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None
        ) as local,
        Client(local),
    ):
        yield local


def test_two_workers_answer_as_one_process(cluster):
    rows, explainer = applicants(500), bank()
    made = explain(dd.from_pandas(rows, npartitions=5), explainer, n=2)
    assert ordered(made.compute()) == ordered(expected(explainer, rows, n=2))


@pytest.mark.slow
def test_twenty_thousand_rows(cluster):
    rows, explainer = applicants(20_000), bank()
    made = explain(dd.from_pandas(rows, npartitions=4), explainer)
    assert ordered(made.compute()) == ordered(expected(explainer, rows))


def test_a_worker_that_dies_is_replaced_and_nothing_is_there_twice(cluster, tmp_path):
    rows = applicants(60)
    deadly = deadly_bank(tmp_path / "died", income=int(rows["income"].iloc[30]))
    made = explain(dd.from_pandas(rows, npartitions=4), deadly).compute()
    assert ordered(made) == ordered(expected(bank(), rows))
    assert (tmp_path / "died").exists()


def test_the_columns_are_known_before_any_row_is_explained():
    rows = applicants(30)
    made = explain(dd.from_pandas(rows, npartitions=3), bank())
    computed = made.compute(scheduler="synchronous")
    assert made.dtypes.to_dict() == computed.dtypes.to_dict()


@pytest.mark.parametrize("partitions", [1, 7])
def test_answers_do_not_depend_on_the_partitions(partitions):
    rows, explainer = applicants(60), bank()
    made = explain(dd.from_pandas(rows, npartitions=partitions), explainer)
    found = made.compute(scheduler="synchronous")
    assert ordered(found) == ordered(expected(explainer, rows))
    assert (rows["key"][found.index] == found["key"]).all()


def test_a_partition_without_rows_has_no_answers():
    rows = dd.from_pandas(applicants(60), npartitions=3)
    nobody = rows[rows["income"] < 0]
    assert len(explain(nobody, bank()).compute(scheduler="synchronous")) == 0


def test_partitions_may_be_without_rows(cluster):
    rows = applicants(40)
    frame = dd.from_pandas(rows, npartitions=4)
    some, none = frame[frame["key"] == 7], frame[frame["key"] < 0]
    made = explain(some, bank()).compute()
    assert ordered(made) == ordered(expected(bank(), rows[rows["key"] == 7]))
    assert explain(none, bank()).compute().dtypes.equals(made.dtypes)


def test_objects_that_dask_makes_text_of_are_what_they_were():
    draw = np.random.default_rng(0)
    flags = np.array([True, False, None], dtype=object)[draw.integers(0, 3, 80)]
    rows = pd.DataFrame({"points": draw.integers(0, 50, 80), "flag": flags})

    def late(given):
        return 1 / (1 + np.exp(25 - given["points"] - 9.0 * (given["flag"] == True)))  # noqa: E712

    explainer = mx.Explainer(late, rows, classes=("no", "yes"))
    given = dd.from_pandas(rows.assign(key=range(80)), npartitions=3)
    assert given.dtypes["flag"] == "string"
    made = explain(given, explainer).compute(scheduler="synchronous")
    told = expected(explainer, rows.assign(key=range(80)))
    assert made["cf.status"].tolist() == told["cf.status"].tolist() == ["found"] * 80
    assert made["points"].tolist() == told["points"].tolist()


def test_columns_may_be_called_by_numbers():
    rows = pd.DataFrame(np.random.default_rng(0).integers(0, 50, (60, 2)))
    explainer = mx.Explainer(lambda given: given[0] / 50, rows, classes=("no", "yes"))
    given = dd.from_pandas(rows.assign(key=range(60)), npartitions=2)
    made = explain(given, explainer)
    found = made.compute(scheduler="synchronous")
    assert found.columns.tolist()[:3] == made.columns.tolist()[:3] == ["key", 0, 1]
    assert found[0].tolist() == explainer.explain(rows).to_frame()[0].tolist()


def test_two_columns_of_one_name_are_refused():
    rows = applicants(5)
    twice = pd.concat([rows, rows[["key"]]], axis=1)
    with pytest.raises(mx.DataError, match="two columns 'key'"):
        explain(dd.from_pandas(twice, npartitions=1), bank())


def test_a_frame_in_memory_is_no_table_of_dask():
    with pytest.raises(mx.OptionError, match="Dask DataFrame is expected, not a DataFrame"):
        explain(applicants(3), bank())


def test_questions_about_a_population_are_answered_as_in_memory(cluster):
    rows = applicants(160)
    same_findings(population(dd.from_pandas(rows, npartitions=3), bank(), index="key"), rows)


def test_a_population_is_named_by_its_index_unless_a_column_does():
    rows = applicants(30).set_axis([f"r{at}" for at in range(30)])
    spread = dd.from_pandas(rows, npartitions=3, sort=False)
    asked = population(spread, bank())
    assert set(asked.bias(protected=["job"]).table["row"]) <= set(rows.index)
    with pytest.raises(mx.DataError, match="index names 'kee', which the table does not have"):
        population(spread, bank(), index="kee")
    with pytest.raises(mx.OptionError, match="Dask DataFrame is expected"):
        population(rows, bank())
