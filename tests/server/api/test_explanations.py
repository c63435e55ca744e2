"""Questions over HTTP are answered as by the library."""

from __future__ import annotations

import json
import math

import httpx
import pytest

import macex as mx
from macex.server import Settings

EXPLAIN = "/projects/loans/explain"


def canonical(document):
    kept = [
        {part: value for part, value in one.items() if part not in ("id", "cost")}
        for one in document["explanations"]
    ]
    text = {"format": document["format"], "explanations": kept}
    return json.dumps(text, sort_keys=True, separators=(",", ":"))


def without_copies(text):
    """`copies` and `why` are not part of the canonical form."""
    document = json.loads(text)
    for one in document["explanations"]:
        for found in (*one["counterfactuals"], *([one["miss"]] if one["miss"] else [])):
            for part in ("copies", "why"):
                found.pop(part, None)
    return json.dumps(document, sort_keys=True, separators=(",", ":"))


@pytest.fixture(scope="module")
def explainer(served):
    return served.server.projects["loans"].explainer()


def test_answers_are_those_of_the_library(http, explainer, served):
    rows = served.server.projects["loans"].table.rows.head(15)
    cells = json.loads(rows.to_json(orient="records"))
    said = http.post(EXPLAIN, json={"rows": cells, "n": 2}).json()
    own = explainer.explain(rows, n=2, on_error="keep").to_json(canonical=True)
    assert without_copies(canonical(said)) == without_copies(own)


def test_rows_can_be_named_by_their_places(http, served):
    table = served.server.projects["loans"].table
    by_place = http.post(EXPLAIN, json={"places": [3, 5]}).json()
    by_cells = http.post(EXPLAIN, json={"rows": [table.cells(3), table.cells(5)]}).json()
    assert canonical(by_place) == canonical(by_cells)


@pytest.mark.parametrize(
    ("want", "goal"),
    [
        ("granted", "granted"),
        ("at_least(0.7, label=granted)", mx.at_least(0.7, label="granted")),
        (
            {"kind": "band", "low": 0.4, "high": 0.6, "label": "granted"},
            mx.between(0.4, 0.6, "granted"),
        ),
        ({"kind": "rise_by", "by": 0.1, "label": "granted"}, mx.rise_by(0.1, "granted")),
        ({"kind": "any_of", "labels": ["granted", "refused"]}, mx.any_of("granted", "refused")),
    ],
)
def test_goals_travel(http, explainer, row, want, goal):
    said = http.post(EXPLAIN, json={"rows": [row], "want": want}).json()
    own = explainer.explain(row, want=goal, on_error="keep").to_json(canonical=True)
    assert without_copies(canonical(said)) == without_copies(own)


def test_a_goal_above_another_row_travels(http, explainer, row):
    other = {**row, "income": 60}
    want = {"kind": "above_row", "row": other, "label": "granted"}
    said = http.post(EXPLAIN, json={"rows": [row], "want": want}).json()["explanations"][0]
    found = explainer.explain(row, want=mx.above_row(other, "granted"))[0]
    assert said["counterfactuals"][0]["score"] == pytest.approx(found.counterfactuals[0].score)


def test_constraints_bind(http, row):
    asked = {"rows": [row], "constraints": {"fixed": ["income"], "max_changes": 2}}
    found = http.post(EXPLAIN, json=asked).json()["explanations"][0]
    for one in found["counterfactuals"]:
        assert {change["column"] for change in one["changes"]}.isdisjoint({"income", "age"})


def test_what_each_row_wants_is_its_own(http, row):
    good = {**row, "income": 110, "debt": 1.0, "job": "full-time"}
    asked = {"rows": [row, good], "want": ["granted", "refused"], "constraints": [None, {}]}
    said = http.post(EXPLAIN, json=asked).json()["explanations"]
    assert [one["counterfactuals"][0]["label"] for one in said] == ["granted", "refused"]


def test_many_rows_become_a_job(http, row):
    said = http.post(EXPLAIN, json={"rows": [row] * 25})
    assert said.status_code == 202
    assert said.headers["location"] == f"/api/v1/jobs/{said.json()['id']}"


@pytest.mark.parametrize(
    ("asked", "names"),
    [
        ({"rows": [{"income": 3}]}, "'debt'"),
        ({"places": [10_000]}, "10000"),
        ({"places": [1], "want": "grantd"}, "did you mean 'granted'"),
        ({"places": [1], "want": "at_leest(0.5)"}, "did you mean 'at_least'"),
        ({"places": [1], "want": ["granted", "granted"]}, "2 entries for 1 rows"),
        ({"places": [1], "constraints": {"fixd": []}}, "did you mean 'fixed'"),
        ({"places": [1], "constraints": {"fixed": ["agee"]}}, "did you mean 'age'"),
        ({"places": [1], "constraints": {"rules": ["income <"]}}, "found the end"),
        ({"places": [1], "n": 0}, "body.n"),
        ({"places": [1], "n": 999}, "at most 20"),
        ({"places": [1], "surprise": 1}, "surprise"),
        ({"places": [1], "rows": [{}]}, "not both"),
        ({}, "not both"),
        ({"places": [1], "want": {"kind": "band"}}, "needs a low or a high"),
        ({"places": [1], "want": {"kind": "band", "low": 1, "high": 0}}, "low is not above high"),
    ],
)
def test_a_wrong_question_is_a_problem_that_says_so(http, asked, names):
    said = http.post(EXPLAIN, json=asked)
    assert said.status_code == 422
    assert said.headers["content-type"] == "application/problem+json"
    assert names in said.json()["detail"]


@pytest.mark.parametrize("value", [10**400, -(10**30), "ten", [1], {"a": 1}])
def test_a_cell_that_is_no_number_is_refused(http, row, value):
    said = http.post(EXPLAIN, json={"rows": [{**row, "income": value}]})
    assert said.status_code == 422


def test_a_cell_that_is_not_finite_is_missing_or_refused(served, row):
    body = json.dumps({"rows": [{**row, "debt": math.inf}]})
    head = {"content-type": "application/json"}
    said = httpx.post(f"{served.url}/api/v1{EXPLAIN}", content=body, headers=head)
    assert said.status_code == 422


def test_predictions_are_the_model_s_own(http, explainer, row):
    said = http.post("/projects/loans/predict", json={"rows": [row, row]}).json()["predictions"]
    assert said[0] == said[1]
    assert said[0]["label"] == "refused"
    assert said[0]["scores"]["refused"] == pytest.approx(
        1 - float(explainer.score(row, want="granted")[0]), abs=1e-5
    )


def test_an_answer_holds_so_many_scores(http, row, monkeypatch):
    monkeypatch.setattr("macex.server.api.cases.ANSWER_SCORES", 10)
    said = http.post("/projects/loans/predict", json={"rows": [row] * 6})
    assert (said.status_code, said.json()["code"]) == (413, "too_many_values")
    assert "send at most 5 at a time to a model of 2" in said.json()["detail"]
    assert http.post("/projects/loans/predict", json={"rows": [row] * 5}).status_code == 200


def test_what_if_says_what_other_values_would_do(http, row):
    variants = [{"income": 110, "debt": "0.5"}, {}]
    said = http.post("/projects/loans/whatif", json={"row": row, "variants": variants}).json()
    assert (said["query"]["label"], said["variants"][0]["label"]) == ("refused", "granted")
    assert said["variants"][0]["changes"] == [
        {"column": "income", "before": 30, "after": 110},
        {"column": "debt", "before": 40.5, "after": 0.5},
    ]
    assert said["variants"][1] == {**said["query"], "changes": [], "consequences": []}


def test_a_counterfactual_put_into_what_if_reaches_its_goal(http):
    found = http.post(EXPLAIN, json={"places": [7]}).json()["explanations"][0]
    best = found["counterfactuals"][0]
    change = {one["column"]: one["after"] for one in best["changes"]}
    said = http.post("/projects/loans/whatif", json={"place": 7, "variants": [change]}).json()
    assert said["variants"][0]["label"] == best["label"] != said["query"]["label"]


def test_the_rows_that_the_model_scores_are_bounded_whoever_asks(loan_project, tmp_path, start):
    """Whether the client says how many, or more, or nothing; on the page, and in a job."""
    settings = Settings(state=tmp_path, project=loan_project, model_rows=40)
    with (
        start(settings) as one,
        httpx.Client(base_url=f"{one.url}/api/v1", timeout=120) as client,
    ):
        asks = [{"places": [7], "n": 3, **more} for more in ({}, {"max_rows": 10**6})]
        found = [client.post(EXPLAIN, json=ask).json() for ask in asks]
        found.append(client.get(f"{one.url}/projects/loans/rows/7/answers.json?n=3").json())
        jobs = [client.post("/projects/loans/jobs", json=ask).json()["id"] for ask in asks]
        kept = [one.server.jobs.get(job).question["options"]["max_rows"] for job in jobs]
        project = one.server.projects["loans"]
        free = project.explainer().explain(project.table.frame([7]), n=3)[0]
    assert [told["explanations"][0]["cost"]["rows"] <= 40 for told in found] == [True] * 3
    assert kept == [40, 40]
    assert free.cost.rows > 40


def test_constraints_are_checked_before_they_are_used(http):
    given = {"constraints": {"ranges": {"income": [20, 80]}, "rules": ["debt <= income"]}}
    said = http.post("/projects/loans/constraints", json=given).json()
    assert said["parts"] == ["ranges of 'income'", "rule 'debt <= income'"]
    assert said["constraints"]["fixed"] == ["age"]
