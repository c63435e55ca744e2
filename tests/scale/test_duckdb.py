"""A function of SQL in DuckDB answers as `explain` does."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import macex as mx
from macex.scale.duckdb import register
from scale.town import applicants, bank

duckdb = pytest.importorskip("duckdb")
pytest.importorskip("pyarrow")


@pytest.fixture
def connection():
    with duckdb.connect() as made:
        yield made


def asked(connection, rows: pd.DataFrame) -> pd.DataFrame:
    connection.register("applicants", rows)
    call = "SELECT unnest(counterfactual(income, debt, age, job)) FROM applicants"
    made = connection.sql(call).df()
    return made.astype(object).where(made.notna(), None)


def told(explainer: mx.Explainer, rows: pd.DataFrame, **question: object) -> pd.DataFrame:
    table = explainer.explain(rows[explainer.columns], on_error="keep", **question).to_frame()
    table = table.drop(columns=["cf.row", "cf.rank"])
    table.columns = [name.replace(".", "_") for name in table]
    return table.astype(object).where(table.notna(), None)


@pytest.mark.parametrize("count", [0, 1, 2500])
def test_sql_gives_the_answers_of_explain(connection, count):
    rows, explainer = applicants(count), bank()
    assert register(connection, explainer, want="granted") == explainer.columns
    made, expected = asked(connection, rows), told(explainer, rows, want="granted")
    assert list(made) == list(expected)
    assert made.to_numpy().tolist() == expected.to_numpy().tolist()


def test_constraints_and_rows_without_an_answer(connection):
    rows, explainer = applicants(60), bank()
    fixed = mx.Constraints(fixed=["income", "debt"])
    register(connection, explainer, want="granted", constraints=fixed)
    made = asked(connection, rows)
    expected = told(explainer, rows, want="granted", constraints=fixed)
    assert set(made["cf_status"]) == {"found", "none"}
    assert made.to_numpy().tolist() == expected.to_numpy().tolist()


def test_a_row_that_cannot_be_read_says_so(connection):
    register(connection, bank())
    ((cell,),) = connection.sql("SELECT counterfactual(NULL, 3, 30, 'none')").fetchall()
    assert (cell["cf_status"], cell["income"], cell["job"]) == ("not_found", None, "none")


def test_times_and_truth_values_travel(connection):
    when = pd.date_range("2024-01-01", periods=60, freq="D")
    rows = pd.DataFrame({"when": when, "paid": [True, False] * 30, "share": np.arange(60) / 60})

    def late(given: pd.DataFrame) -> np.ndarray:
        return np.where((given["when"] > pd.Timestamp("2024-02-01")) & given["paid"], 0.9, 0.1)

    explainer = mx.Explainer(late, rows, classes=("no", "yes"))
    register(connection, explainer, "later", want="yes")
    connection.register("bills", rows)
    made = connection.sql('SELECT unnest(later("when", paid, share)) FROM bills').df()
    expected = explainer.explain(rows, want="yes").to_frame()
    for name in rows:
        assert made[name].tolist() == expected[name].tolist()
    assert set(made["cf_status"]) == {"found"}


def test_wrong_calls_are_told(connection):
    with pytest.raises(mx.OptionError, match="a DuckDB connection is expected, not a int"):
        register(3, bank())
    with pytest.raises(mx.OptionError, match="a word that SQL can say"):
        register(connection, bank(), "the answer")
    spans = pd.DataFrame({"gap": pd.to_timedelta(range(60), unit="h"), "share": np.arange(60) / 60})
    timed = mx.Explainer(lambda rows: rows["share"], spans, classes=("no", "yes"))
    with pytest.raises(mx.OptionError, match="'gap' is a length of time"):
        register(connection, timed)
