"""`also` names projects of the server whose models must agree: asked, recorded, and made again."""

from __future__ import annotations

import json
import time

import httpx
import numpy as np
import pytest
import skops.io
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import macex as mx
from lending import lender, loans, outcomes
from macex.server import Settings
from macex.server.projects.parts import described
from macex.server.storage.audit import records

ASK = "/projects/loans/explain"
REFUSED = {"income": 30, "debt": 40.5, "age": 33, "job": "none"}


def write(folder, title, model):
    """Loans with another model."""
    folder.mkdir(parents=True)
    rows = loans(400, seed=1)
    skops.io.dump(model, folder / "model.skops")
    rows.assign(outcome=outcomes(rows)).to_csv(folder / "train.csv", index=False)
    parts = {"title": title, "model": "model.skops", "data": "train.csv", "label": "outcome"}
    described(parts).write(folder)


def strict():
    """A model that grants a loan to fewer."""
    rows = loans(400, seed=1)
    merit = 0.1 * rows["income"] - 0.1 * rows["debt"] - 5
    fitted = lender(rows)
    return make_pipeline(*[step for _, step in fitted.steps[:-1]], LogisticRegression()).fit(
        rows, np.where(merit > 0, "granted", "refused")
    )


def numbered(rows):
    """A model with other classes."""
    steps = [step for _, step in lender(rows).steps[:-1]]
    return make_pipeline(*steps, LogisticRegression()).fit(rows, rows["income"] > 60)


@pytest.fixture(scope="module")
def office(loan_project, tmp_path_factory, start):
    state = tmp_path_factory.mktemp("others")
    rows = loans(400, seed=1)
    write(state / "projects" / "strict", "Strict", strict())
    write(state / "projects" / "numbered", "Numbered", numbered(rows))
    settings = Settings(state=state, project=loan_project, admin_key="boss", sync_rows=20)
    with start(settings) as served:
        keys = served.server.keys
        shown = {"boss": "boss", "loans": keys.make("l", ("explain",), ("loans",))}
        people = {
            name: httpx.Client(
                base_url=f"{served.url}/api/v1",
                headers={"Authorization": f"Bearer {key}"},
                timeout=120,
            )
            for name, key in shown.items()
        }
        yield served, people
        for one in people.values():
            one.close()


def answers(said):
    assert said.status_code == 200, said.text
    return said.json()["explanations"][0]["counterfactuals"]


def test_every_answer_holds_with_the_other_model(office):
    _, people = office
    ask = {"rows": [REFUSED], "want": "granted", "n": 3}
    alone, agreed = (
        answers(people["boss"].post(ASK, json={**ask, "also": also})) for also in ([], ["strict"])
    )
    judged = [
        [
            people["boss"]
            .post("/projects/strict/predict", json={"rows": [one["row"]]})
            .json()["predictions"][0]["label"]
            for one in found
        ]
        for found in (alone, agreed)
    ]
    assert "refused" in judged[0]
    assert set(judged[1]) == {"granted"}


def test_a_record_names_the_other_model_and_is_made_again(office, tmp_path):
    served, people = office
    ask = {"rows": [REFUSED], "want": "granted", "also": ["strict"]}
    answers(people["boss"].post(ASK, json=ask))
    record = [one for one in records(served.server.engine, "loans") if "also" in one["call"]][-1]
    (other,) = record["call"]["also"]
    assert other["path"].endswith("projects/strict/model.skops")
    assert len(other["sha256"]) == 64
    file = tmp_path / "audit.jsonl"
    file.write_text(json.dumps(record) + "\n")
    again = mx.replay(record["id"], file, data=served.server.projects["loans"].parts.training)
    assert again.agrees, again.difference


def test_a_job_asks_the_other_model_too(office):
    _, people = office
    ask = {"rows": [REFUSED], "want": "granted"}
    job = people["boss"].post("/projects/loans/jobs", json={**ask, "also": ["strict"]}).json()
    while (said := people["boss"].get(f"/jobs/{job['id']}").json())["status"] in (
        "queued",
        "running",
    ):
        time.sleep(0.05)
    assert said["status"] == "done", said
    line = json.loads(people["boss"].get(f"/jobs/{job['id']}/result").text)
    agreed = answers(people["boss"].post(ASK, json={**ask, "also": ["strict"]}))
    assert line["counterfactuals"][0]["changes"] == agreed[0]["changes"]


def test_the_client_asks_the_same(office):
    served, _ = office
    with mx.Client(served.url, key="boss", project="loans") as client:
        found = client.explain(REFUSED, want="granted", also=["strict"])
        plain = client.explain(REFUSED, want="granted")
        with pytest.raises(mx.OptionError, match="names of projects"):
            client.explain(REFUSED, also="strict")
        with pytest.raises(mx.OptionError, match="no name"):
            client.explain(REFUSED, also=[3])
    assert found[0].counterfactuals[0].changes != plain[0].counterfactuals[0].changes


@pytest.mark.parametrize("path", ["explain", "jobs"])
@pytest.mark.parametrize(
    ("who", "also", "said"),
    [
        ("boss", ["nothing"], "no project 'nothing'"),
        ("loans", ["strict"], "no project 'strict'"),
        ("boss", ["numbered"], "decides between"),
        ("boss", ["strict"] * 11, "at most 10"),
        ("boss", "strict", "Sequence"),
        ("boss", [3], "string"),
    ],
)
def test_what_cannot_agree_is_refused(office, path, who, also, said):
    _, people = office
    answer = people[who].post(f"/projects/loans/{path}", json={"rows": [REFUSED], "also": also})
    assert answer.status_code == 422
    assert said in answer.json()["detail"]
