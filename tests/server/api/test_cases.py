"""Projects of time series over HTTP: uploaded, looked at, scored, explained, as a job, recorded."""

from __future__ import annotations

import io
import json

import httpx
import numpy as np
import pytest

pytest.importorskip("onnxruntime")

import macex as mx
from macex.series.json import BATCH_FORMAT
from macex.server import Settings
from macex.server.storage.audit import records
from server.pages.series_project import CHANNELS, LENGTH, cases, onnx_model, write_series
from server.waiting import ended

NAMES = ["current", "heat", "noise"]
ASK = "/projects/motors/explain"


def npz(array):
    file = io.BytesIO()
    np.savez_compressed(file, X=array)
    return file.getvalue()


def upload(client, model, data, rows=None, **said):
    files = {"model": ("model", model), "data": ("data", data)}
    files |= {} if rows is None else {"rows": ("rows", rows)}
    parts = {"title": "Uploaded", "kind": "series", "channels": NAMES, "classes": ["well", "worn"]}
    return client.post("/projects", data={**parts, **said}, files=files)


@pytest.fixture(scope="module")
def works(tmp_path_factory, start):
    state = tmp_path_factory.mktemp("works")
    write_series(state / "projects" / "motors")
    settings = Settings(
        state=state, admin_key="boss", sync_rows=10, job_chunk=4, body_values=200_000, demo=False
    )
    with start(settings) as served:
        key = served.server.keys.make("alice", ("explain",))
        shown = {"boss": "boss", "alice": key}
        clients = {
            name: httpx.Client(
                base_url=f"{served.url}/api/v1",
                headers={"Authorization": f"Bearer {given}"},
                timeout=180,
            )
            for name, given in shown.items()
        }
        yield served, clients, key
        for one in clients.values():
            one.close()


@pytest.fixture
def client(works):
    return works[1]["boss"]


def test_a_project_says_that_it_holds_series(client):
    (listed,) = client.get("/projects").json()["projects"]
    assert (listed["name"], listed["kind"]) == ("motors", "series")
    info = client.get("/projects/motors").json()
    assert info["channels"] == NAMES
    assert (info["length"], info["cases"], info["training_cases"]) == (LENGTH, 40, 120)
    assert info["classes"] == ["well", "worn"]
    assert sum(info["decisions"].values()) == 40


def test_a_client_says_that_it_is_for_rows(works):
    served, _, key = works
    with (
        mx.Client(served.url, key, "motors") as asking,
        pytest.raises(mx.OptionError, match="holds time series"),
    ):
        asking.explain({"current": 1})


def test_cases_are_paged_and_filtered(client):
    page = client.get("/projects/motors/cases", params={"start": 3, "size": 2}).json()
    assert [one["place"] for one in page["cases"]] == [3, 4]
    assert page["total"] == 40
    worn = client.get("/projects/motors/cases", params={"decision": "worn"}).json()
    assert {one["label"] for one in worn["cases"]} == {"worn"}
    one = client.get("/projects/motors/cases/3").json()
    assert np.allclose(one["values"], cases(40, 1)[3])
    assert client.get("/projects/motors/cases/40").status_code == 404
    assert client.get("/projects/motors/cases", params={"decision": "x"}).status_code == 422


def test_cases_are_scored(client):
    said = client.post("/projects/motors/predict", json={"cases": cases(40, 1)[:2].tolist()})
    listed = client.get("/projects/motors/cases", params={"size": 2}).json()["cases"]
    found = said.json()["predictions"]
    assert [one["label"] for one in found] == [one["label"] for one in listed]
    assert np.allclose([one["score"] for one in found], [one["score"] for one in listed])


def test_an_answer_is_what_the_library_says(works, client):
    served, _, _ = works
    ask = {"n": 2, "want": "worn", "constraints": {"fixed": ["noise"]}}
    at = client.get("/projects/motors/cases", params={"decision": "well"}).json()["cases"][0][
        "place"
    ]
    by_place = client.post(ASK, json={**ask, "places": [at]})
    assert by_place.status_code == 200, by_place.text
    by_case = client.post(ASK, json={**ask, "cases": [cases(40, 1)[at].tolist()]}).json()
    explainer = served.server.projects["motors"].case_explainer()
    own = explainer.explain(cases(40, 1)[[at]], **ask, on_error="keep")
    expected = json.loads(own.to_json(canonical=True))["explanations"]
    for said in (by_place.json(), by_case):
        assert said["format"] == BATCH_FORMAT
        for part in ("status", "counterfactuals", "minimal", "method"):
            assert said["explanations"][0][part] == expected[0][part]
    assert expected[0]["status"] == "found"


def test_answers_may_have_to_be_robust_and_to_hold_with_another_model(client):
    ask = {"places": [0], "robust": 0.5, "also": ["motors"]}
    said = client.post(ASK, json=ask)
    assert said.status_code == 200, said.text
    assert said.json()["explanations"][0]["status"] == "found"


def test_a_score_may_be_asked_for(client):
    said = client.post(ASK, json={"places": [0], "want": "at_least(0.9, label=worn)"}).json()
    assert said["explanations"][0]["counterfactuals"][0]["score"] >= 0.9


@pytest.mark.parametrize("given", ["filter", "cases", "places"])
def test_many_cases_become_a_job(works, given):
    served, clients, _ = works
    ask = {"filter": {"decision": "well"}} if given == "filter" else {"places": list(range(11))}
    ask = {"cases": cases(40, 1)[:11].tolist()} if given == "cases" else ask
    path = "/projects/motors/jobs" if given == "filter" else ASK
    said = clients["alice"].post(path, json=ask)
    assert said.status_code == 202, said.text
    job = ended(clients["alice"], said.json()["id"])
    assert (job["status"], job["done"]) == ("done", job["total"])
    lines = clients["alice"].get(f"/jobs/{job['id']}/result").text.splitlines()
    assert len(lines) == job["total"]
    first = json.loads(lines[0])
    one = {"cases": [ask["cases"][0]]} if given == "cases" else {"places": [first["id"]]}
    alone = clients["alice"].post(ASK, json=one).json()["explanations"][0]
    assert first["counterfactuals"] == alone["counterfactuals"]
    refused = clients["alice"].get(f"/jobs/{job['id']}/result", params={"format": "csv"})
    assert (refused.status_code, "ndjson" in refused.json()["detail"]) == (422, True)
    kept = [
        one
        for one in records(served.server.engine, "motors")
        if one.get("by", {}).get("job") == job["id"]
    ]
    assert len(kept) == job["total"]


def test_records_name_the_caller_the_model_and_the_question(works, tmp_path):
    served, clients, key = works
    ask = {"places": [5], "n": 2, "constraints": {"max_changes": 1}}
    clients["alice"].post(ASK, json=ask)
    clients["alice"].get(f"{served.url}/projects/motors/cases/6")
    api, page = list(records(served.server.engine, "motors"))[-2:]
    assert (api["by"]["name"], api["call"]["n"]) == ("alice", 2)
    assert np.allclose(api["input"]["values"], cases(40, 1)[5])
    assert api["constraints"]["max_changes"] == 1
    assert np.allclose(page["input"]["values"], cases(40, 1)[6])
    assert len(api["files"]["model"]["sha256"]) == 64
    assert api["versions"]["macex"]
    assert key not in json.dumps([api, page])
    file = tmp_path / "audit.jsonl"
    file.write_text(json.dumps(api) + "\n")
    again = mx.replay(api["id"], file, data=cases(120, 0))
    assert again.agrees, again.difference


def test_limits_of_values_hold_and_are_said(client):
    limits = {"ranges": {name: [-0.5, 1.5] for name in NAMES}}
    found = client.post(ASK, json={"places": [*range(8)], "constraints": limits}).json()
    held = [
        change
        for one in found["explanations"]
        for answer in one["counterfactuals"]
        for change in answer["changes"]
    ]
    assert any("limit" in change for change in held)
    assert all(-0.5 <= value <= 1.5 for change in held for value in change["after"])


JSON = {"content-type": "application/json"}


def case_of(number):
    channel = "[" + ",".join([number] * LENGTH) + "]"
    return f'{{"cases": [[{",".join([channel] * CHANNELS)}]]}}'


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity"])
def test_what_is_no_json_is_refused(client, number):
    said = client.post("/projects/motors/predict", content=case_of(number), headers=JSON)
    assert (said.status_code, said.json()["code"]) == (422, "invalid")
    assert "not JSON" in said.json()["detail"]


GOOD = cases(1, 2)[0].tolist()


@pytest.mark.parametrize("number", ["null", "1e308", "1e999", "-1e999"])
@pytest.mark.parametrize("path", ["predict", "jobs"])
def test_cases_that_the_model_fails_on_are_refused(client, path, number):
    content = case_of(number)
    said = client.post(f"/projects/motors/{path}", content=content, headers=JSON)
    assert (said.status_code, said.json()["code"]) == (422, "model")


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({}, "not both"),
        ({"cases": [GOOD], "places": [0]}, "not both"),
        ({"rows": [{"a": 1}]}, "not rows"),
        ({"cases": []}, "cases"),
        ({"cases": [[]]}, "channels"),
        ({"cases": [GOOD[:2]]}, "channels"),
        ({"cases": [[one[:5] for one in GOOD]]}, "time points"),
        ({"cases": [[GOOD[0], GOOD[1], GOOD[2][:3]]]}, "as many numbers"),
        ({"cases": [[["a"] * LENGTH] * CHANNELS]}, "numbers"),
        ({"cases": [[[True] * LENGTH] * CHANNELS]}, "numbers"),
        ({"cases": [[[10**400] * LENGTH] * CHANNELS]}, ""),
        ({"cases": GOOD}, "channel"),
        ({"cases": {"a": 1}}, "list"),
        ({"places": [40]}, "no case 40"),
        ({"places": [0], "want": "wrn"}, "worn"),
        ({"places": [0], "want": {"kind": "above_row", "row": {"a": 1}}}, "above_row"),
        ({"places": [0], "want": ["worn", "well"]}, "2 entries"),
        ({"places": [0], "constraints": {"fixd": ["heat"]}}, "fixed"),
        ({"places": [0], "constraints": {"fixed": ["het"]}}, "heat"),
        ({"places": [0], "constraints": {"fixed": [99]}}, "99"),
        ({"places": [0], "constraints": {"fixed": {"heat": 1}}}, "fixed"),
        ({"places": [0], "constraints": {"fixed_times": [[5, 2]]}}, "empty"),
        ({"places": [0], "constraints": {"fixed_times": [[0, 9999]]}}, "ends after"),
        ({"places": [0], "constraints": {"fixed_times": "all"}}, "stretches"),
        ({"places": [0], "constraints": {"ranges": {"heat": [3, 1]}}}, "empty"),
        ({"places": [0], "constraints": {"weights": {"heat": "x"}}}, ""),
        ({"places": [0], "constraints": {"weights": {"heat": -1}}}, ""),
        ({"places": [0], "constraints": {"weights": {"heat": 10**400}}}, ""),
        ({"places": [0], "constraints": {"max_changes": "two"}}, "max_changes"),
        ({"places": [0], "constraints": {"max_changes": 10**400}}, ""),
        ({"places": [0], "constraints": {"groups": "all"}}, "groups"),
        ({"places": [0], "constraints": [{}, {}]}, "2 entries"),
        ({"places": [0], "robust": 7}, "robust"),
        ({"places": [0], "also": ["nothing"]}, "also"),
        ({"places": [0], "method": "magic"}, "method"),
        ({"places": [0], "n": 1000}, "answers"),
    ],
)
@pytest.mark.parametrize("path", ["explain", "jobs"])
def test_a_wrong_question_is_refused_with_a_sentence(client, path, body, said):
    content = json.dumps(body)
    answer = client.post(
        f"/projects/motors/{path}", content=content, headers={"content-type": "application/json"}
    )
    assert answer.status_code == 422, answer.text
    if path == "explain":
        assert said in answer.json()["detail"], answer.json()["detail"]


@pytest.mark.parametrize("path", ["rows", "rows/0", "values?column=heat", "views"])
def test_what_is_asked_of_rows_is_refused(client, path):
    assert client.get(f"/projects/motors/{path}").status_code in (200, 422)


def test_an_uploaded_project_answers_and_goes(client, works):
    served, _, _ = works
    said = upload(client, onnx_model(), npz(cases(60, 0)), npz(cases(5, 1)))
    assert said.status_code == 201, said.text
    assert (said.json()["cases"], said.json()["training_cases"]) == (5, 60)
    found = client.post("/projects/uploaded/explain", json={"places": [0]}).json()
    assert found["explanations"][0]["status"] == "found"
    folder = served.server.settings.projects / "uploaded"
    assert sorted(one.name for one in folder.iterdir()) == [
        "cases.npz",
        "model.bin",
        "project.toml",
        "train.npz",
    ]
    assert client.delete("/projects/uploaded").status_code == 204


def test_a_wrong_upload_is_refused_and_leaves_nothing(client, works):
    served, _, _ = works
    model, data = onnx_model(), npz(cases(20, 0))
    wrong = [
        upload(client, b"nothing", data),
        upload(client, model, b"a,b\n1,2\n"),
        upload(client, model, npz(cases(20, 0)[:, :, :5])),
        upload(client, model, data, npz(cases(20, 0)[:, :2])),
        upload(client, model, data, channels=["one"]),
        upload(client, model, data, label="y"),
        upload(client, model, data, constraints='{"fixed": ["nothing"]}'),
        upload(client, model, data, constraints='{"nothing": 1}'),
        upload(client, model, data, kind="table"),
        upload(client, model, data, kind="picture"),
    ]
    for said in wrong:
        assert said.status_code == 422, said.text
        assert str(served.server.settings.state) not in said.text
    assert [one.name for one in served.server.settings.projects.iterdir()] == ["motors"]
