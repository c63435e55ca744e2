"""The client asks a real server and returns what the library itself would return."""

from __future__ import annotations

import json

import httpx
import numpy as np
import pandas as pd
import pytest
import skops.io
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder, StandardScaler

import macex as mx
from lending import loans
from macex.client import connection as connection_module
from macex.server import Settings
from macex.server.projects.parts import described
from serving import loan_files, loan_project, served, start

__all__ = ["loan_files", "loan_project", "served", "start"]


@pytest.fixture(scope="module")
def client(served):
    with mx.Client(served.url, project="loans") as one:
        yield one


@pytest.fixture(scope="module")
def explainer(served):
    return served.server.projects["loans"].explainer()


@pytest.fixture(scope="module")
def rows():
    return loans(12, seed=9).set_axis([f"case {at}" for at in range(12)], axis=0)


def same(found, own):
    assert found.to_json(canonical=True) == own.to_json(canonical=True)
    pd.testing.assert_frame_equal(found.to_frame(), own.to_frame())
    pd.testing.assert_frame_equal(found.to_changes(), own.to_changes())


def test_answers_are_the_library_s_own_in_the_caller_s_frame(client, explainer, rows):
    found, own = client.explain(rows, n=2), explainer.explain(rows, n=2)
    same(found, own)
    assert repr(found) == repr(own)
    assert found.meta == own.meta


@pytest.mark.parametrize(
    ("want", "constraints"),
    [
        ("granted", None),
        (mx.at_least(0.8, label="granted"), mx.Constraints(fixed=["debt"])),
        (mx.rise_by(0.05, label="granted"), {"max_changes": 1}),
        (None, {"groups": [["debt", "job"]]}),
        (["granted", "refused"] * 6, [None, mx.Constraints(fixed=["job"])] * 6),
    ],
)
def test_goals_and_constraints_travel(client, explainer, rows, want, constraints):
    asked = {"want": want, "constraints": constraints, "diagnose": True}
    same(client.explain(rows, **asked), explainer.explain(rows, **asked))


def test_a_goal_above_a_row_travels(client, explainer, rows):
    want = mx.above_row(rows.iloc[[0]].assign(income=100), label="granted")
    found, own = (asker.explain(rows.head(3), want=want) for asker in (client, explainer))
    assert found.to_json(canonical=True) == own.to_json(canonical=True)


def test_many_rows_are_a_job_and_progress_is_told(client, explainer):
    many, seen = loans(50, seed=4), []
    found = client.explain(many, progress=lambda done, total: seen.append((done, total)))
    assert found.to_json(canonical=True) == explainer.explain(many).to_json(canonical=True)
    assert seen[-1] == (50, 50)
    assert seen == sorted(seen)


@pytest.fixture
def stumbling(client, monkeypatch):
    """A function that lets the next requests go wrong, each in a way of its own."""
    connection = client._connection
    send, sent, faults = connection._http.request, [], []

    def request(method, path, **more):
        sent.append((method, path, more["headers"].get("Idempotency-Key")))
        if not faults:
            return send(method, path, **more)
        fault = faults.pop(0)
        if fault == "lost":
            send(method, path, **more)
            raise httpx.ReadError("the connection broke")
        headers = {"retry-after": "0.01"} if isinstance(fault, int) else fault
        status = fault if isinstance(fault, int) else 503
        return httpx.Response(status, headers=headers, json={"type": "", "detail": "come back"})

    def stumble(*more):
        faults.extend(more)
        return sent

    monkeypatch.setattr(connection._http, "request", request)
    monkeypatch.setattr(connection_module, "LOST_S", 0.01)
    return stumble


def test_a_busy_server_is_come_back_to(client, explainer, rows, stumbling):
    sent = stumbling(503, 429, 503)
    same(client.explain(rows, n=2), explainer.explain(rows, n=2))
    assert len(sent) == 4


def test_a_wait_has_bounds(client, rows, stumbling):
    sent = stumbling({"retry-after": "100000"})
    with pytest.raises(mx.MacexError, match="come back"):
        client.predict(rows)
    stumbling({})
    with pytest.raises(mx.MacexError, match="come back"):
        client.predict(rows)
    assert len(sent) == 2


def test_a_job_whose_answer_was_lost_is_made_once(client, explainer, served, rows, stumbling):
    before = served.server.jobs.count()
    sent = stumbling("lost", 503)
    same(client.submit(rows, n=2).result(), explainer.explain(rows, n=2))
    assert served.server.jobs.count() == before + 1
    keys = [key for method, path, key in sent if path.endswith("/jobs")]
    assert len(keys) == 3
    assert len(set(keys)) == 1
    assert keys[0]


def test_a_question_whose_answer_was_lost_is_not_sent_again(client, rows, stumbling):
    sent = stumbling("lost")
    with pytest.raises(mx.MacexError, match="cannot be reached"):
        client.predict(rows)
    assert len(sent) == 1


def test_a_job_of_one_s_own(client, explainer, rows):
    job = client.submit(rows, n=2)
    same(job.result(), explainer.explain(rows, n=2))
    assert job.status()["done"] == 12


def test_a_cancelled_job_is_an_error_that_says_so(client, served):
    with served.server.projects["loans"].lock:
        job = client.submit(loans(60, seed=5))
        job.cancel()
    with pytest.raises(mx.ServerError, match="cancelled"):
        job.result()


def test_polars_rows_come_back_as_polars(client, rows):
    pl = pytest.importorskip("polars")
    frame = pl.from_pandas(rows.reset_index(drop=True))
    found = client.explain(frame)
    assert isinstance(found.to_frame(), pl.DataFrame)
    assert isinstance(found[0].query, pl.DataFrame)


@pytest.mark.parametrize(
    ("limit", "sizes"), [({"body_rows": 5}, [5, 5, 2]), ({"answer_scores": 8}, [4, 4, 4])]
)
def test_predictions_of_many_rows_are_several_requests(served, rows, monkeypatch, limit, sizes):
    with mx.Client(served.url, project="loans") as client:
        whole, sent, post = client.predict(rows), [], client._post
        client.limits.update(limit)

        def noted(what, body):
            sent.append(len(body["rows"]))
            return post(what, body)

        monkeypatch.setattr(client, "_post", noted)
        assert client.predict(rows) == whole
        assert sent == sizes


TOWNS = [f"town {at:04d}" for at in range(1200)]


@pytest.fixture(params=["category", "object"])
def towns(request, tmp_path):
    """A project whose model decides by one of 1,200 towns, and its training rows."""
    rows = pd.DataFrame({"town": TOWNS * 2, "age": range(2400)}).astype({"town": request.param})
    columns = make_column_transformer((OrdinalEncoder(), ["town"]))
    model = make_pipeline(columns, StandardScaler(), LogisticRegression(C=1e4))
    model.fit(rows, np.array(TOWNS * 2) >= "town 1100")
    folder = tmp_path / "towns"
    folder.mkdir()
    skops.io.dump(model, folder / "model.skops")
    rows.to_parquet(folder / "train.parquet")
    parts = {"title": "Towns", "model": "model.skops", "data": "train.parquet"}
    described(parts).write(folder)
    return folder, rows


def test_values_beyond_those_that_a_project_tells_are_asked_for(towns, tmp_path, start):
    folder, rows = towns
    with start(Settings(state=tmp_path / "state", project=folder)) as one:
        with mx.Client(one.url) as client:
            told = client.info["format"]
            found = client.explain(rows.iloc[[3, 700]])
            single = client.explain(rows.iloc[700].to_dict())
        explainer = one.server.projects["towns"].explainer()
        same(found, explainer.explain(rows.iloc[[3, 700]]))
        assert single.to_json(canonical=True) == found[1:].to_json(canonical=True)
    assert found[0].counterfactuals[0].changes[0].after >= "town 1100"
    (town, _) = told["schema"]["columns"]
    assert (len(town["table"]), told["values_total"]) == (100, {"town": 1200})
    assert len(json.dumps(told)) < 10_000


def test_one_row_is_a_mapping(client):
    row = {"income": 30, "debt": 40.5, "age": np.int64(33), "job": "none"}
    assert client.explain(row)[0].status == "found"
    assert client.predict(row)[0]["label"] == "refused"
    own, other = client.what_if(row, {"income": 115, "debt": 0.0})
    assert (own["label"], other["label"]) == ("refused", "granted")


@pytest.mark.parametrize(
    ("asked", "error"),
    [
        ({"want": "grantd"}, mx.GoalError),
        ({"constraints": mx.Constraints(fixed=["agee"])}, mx.ConstraintError),
        ({"constraints": mx.Constraints(rules=["income <"])}, mx.ExpressionError),
        ({"constraints": mx.Constraints(rules=[lambda frame: frame])}, mx.ConstraintError),
        ({"n": 0}, mx.ServerError),
        ({"constraints": [None]}, mx.ConstraintError),
    ],
)
def test_errors_are_the_library_s_own(client, rows, asked, error):
    with pytest.raises(error):
        client.explain(rows, **asked)


def test_rows_are_checked_before_they_travel(client, rows):
    with pytest.raises(mx.SchemaError, match="income"):
        client.explain(rows.drop(columns="income"))


def test_a_server_that_is_not_there_is_said():
    with pytest.raises(mx.ServerError, match="cannot be reached"):
        mx.Client("http://127.0.0.1:9").projects()


def test_an_unknown_project_is_said_with_the_nearest_name(served):
    with pytest.raises(mx.OptionError, match="did you mean 'loans'"):
        _ = mx.Client(served.url, project="loan").project


def test_a_key_is_shown(loan_project, tmp_path, start):
    settings = Settings(state=tmp_path, project=loan_project, admin_key="k")
    with start(settings) as guarded:
        assert mx.Client(guarded.url, "k").projects() == ["loans"]
        with pytest.raises(mx.ServerError, match="401"):
            mx.Client(guarded.url).projects()
