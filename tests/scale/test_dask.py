"""Dask answers as one process does, however the rows lie."""

from __future__ import annotations

import pytest

from macex.scale.dask import explain
from scale.town import applicants, bank, deadly_bank, expected, ordered

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
