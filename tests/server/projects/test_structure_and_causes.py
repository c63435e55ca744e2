"""A project says what holds between its columns and what causes what: its answers keep to it."""

from __future__ import annotations

import json

import httpx
import numpy as np
import pandas as pd
import pytest

import macex as mx
from macex.errors import MacexError
from macex.server import Settings
from macex.server.projects.catalogue import Catalogue
from macex.server.projects.parts import FILE, described, read_description

skops = pytest.importorskip("skops.io")

EDGES = {"income": ["school"], "savings": ["income"]}
CAUSES = {"edges": EDGES, "mechanisms": {"savings": "0.3 * income + u"}}
BILL = {"only": ["months", "price", "total"]}
ROOT = "/projects/people"


def people(count=400, seed=0):
    draw = np.random.default_rng(seed)
    school = draw.integers(8, 20, count)
    income = np.round(3.0 * school + draw.normal(0, 4, count), 1)
    rows = pd.DataFrame({"school": school, "income": income})
    rows["savings"] = np.round(0.3 * income + draw.normal(0, 1, count), 2)
    rows["months"], rows["price"] = draw.integers(1, 60, count), draw.integers(20, 90, count)
    return rows.assign(total=rows["months"] * rows["price"])


def fitted(rows):
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    merit = rows["savings"] / 3 + rows["total"] / 1500 - 5.5
    return make_pipeline(StandardScaler(), LogisticRegression()).fit(rows, merit > 0)


def bill(row):
    return row["months"] * row["price"]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder, rows = tmp_path_factory.mktemp("people"), people()
    skops.dump(fitted(rows), folder / "model.skops")
    rows.to_csv(folder / "train.csv", index=False)
    return {name: (folder / name).read_bytes() for name in ("model.skops", "train.csv")}


@pytest.fixture(scope="module")
def site(files, tmp_path_factory, start):
    state = tmp_path_factory.mktemp("state")
    folder = state / "projects" / "people"
    folder.mkdir(parents=True)
    for name, content in files.items():
        (folder / name).write_bytes(content)
    parts = {"title": "People", "model": "model.skops", "data": "train.csv", "causes": CAUSES}
    described(parts).write(folder)
    with start(Settings(state=state, demo=False, sync_rows=10, job_chunk=4)) as served:
        yield served


@pytest.fixture
def http(site):
    with httpx.Client(base_url=f"{site.url}/api/v1", timeout=120) as one:
        yield one


@pytest.fixture
def refused(site):
    """Places of rows that the model says no to."""
    table = site.server.projects["people"].open().table
    return np.flatnonzero(table.predictions.decision == 0)[:6].tolist()


def test_a_project_says_what_it_keeps_and_what_causes_what(http):
    info = http.get(ROOT).json()
    assert (info["structure"], info["causes"]) == ("keep", {**CAUSES, "edges": EDGES})


def test_what_follows_from_a_change_follows_over_http_as_in_the_library(site, refused):
    """By causes and by structure, for a few rows and in a job, in the caller's own frame."""
    own = mx.Explainer(
        skops.loads(site.server.projects["people"].parts.model_file.read_bytes(), trusted=[]),
        people(),
        causes=mx.Causes(EDGES, CAUSES["mechanisms"]),
    )
    rows = people().iloc[refused]
    with mx.Client(site.url, project="people") as client:
        few, many = client.explain(rows), client.explain(pd.concat([rows] * 2))
        expected = own.explain(rows)
        assert few.to_json(canonical=True) == expected.to_json(canonical=True)
        pd.testing.assert_frame_equal(few.to_changes(), expected.to_changes())
        assert [e.to_json(canonical=True) for e in many[: len(rows)]] == [
            e.to_json(canonical=True) for e in expected
        ]
    following = {c.column for e in few for one in e.counterfactuals for c in one.consequences}
    assert following & {"savings", "total"}


def test_a_question_may_warn_of_what_is_broken_or_ignore_it(site, http, refused):
    """A total is months times price: it follows them, is told apart from them, or is any number."""
    said = {}
    for structure in (None, "keep", "warn", "ignore"):
        asked = {"places": refused, "structure": structure, "constraints": BILL, "n": 3}
        found = http.post(f"{ROOT}/explain", json=asked).json()["explanations"]
        said[structure] = [answer for one in found for answer in one["counterfactuals"]]
    assert said[None] == said["keep"]
    assert all(answer["row"]["total"] == bill(answer["row"]) for answer in said["keep"])
    assert any("total" in " ".join(answer.get("breaks", ())) for answer in said["warn"])
    assert any(answer["row"]["total"] != bill(answer["row"]) for answer in said["ignore"])
    assert not any("breaks" in answer for answer in said["ignore"])


def test_a_job_has_its_own_structure(http, refused):
    asked = {"places": refused, "structure": "ignore", "constraints": BILL}
    job = http.post(f"{ROOT}/jobs", json=asked).json()
    assert job["question"]["options"]["structure"] == "ignore"
    with http.stream("GET", f"/jobs/{job['id']}/events") as events:
        assert any('"status":"done"' in line for line in events.iter_lines())
    lines = http.get(f"/jobs/{job['id']}/result").text.splitlines()
    at_once = http.post(f"{ROOT}/explain", json=asked).json()["explanations"]
    assert [json.loads(line)["counterfactuals"] for line in lines] == [
        one["counterfactuals"] for one in at_once
    ]


def test_a_structure_that_there_is_not_is_refused(http):
    said = http.post(f"{ROOT}/explain", json={"places": [0], "structure": "bend"})
    assert said.status_code == 422
    assert "'keep', 'warn' or 'ignore'" in said.json()["detail"]


def upload(http, files, **said):
    sent = {"model": files["model.skops"], "data": files["train.csv"]}
    return http.post("/projects", data={"title": "Sent", **said}, files=sent)


def test_an_upload_says_relations_and_causes(http, files):
    relations = [{"kind": "order", "columns": ["savings", "income"]}]
    said = upload(http, files, structure=json.dumps(relations), causes=json.dumps(CAUSES))
    assert said.status_code == 201, said.text
    assert said.json()["causes"]["edges"] == EDGES
    assert http.delete("/projects/sent").status_code == 204


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ({"structure": "bend"}, "keep"),
        ({"structure": '[{"kind": "orders", "columns": []}]'}, "did you mean 'order'"),
        ({"structure": '[{"kind": "order", "columns": ["age", "income"]}]'}, "age"),
        ({"causes": '{"edges": {"incom": ["school"]}}'}, "did you mean 'income'"),
        ({"causes": '{"edges": {"school": ["school"]}}'}, "circle"),
        ({"causes": '{"edges": "/etc/passwd"}'}, "edges are a table"),
        ({"causes": '{"edges": {"income": "school"}, "mechanism": {}}'}, "mechanism"),
        ({"causes": '{"edges": {"income": ["school"]}, "mechanisms": {"income": "2 *"}}'}, "2"),
        ({"kind": "series", "causes": json.dumps(CAUSES)}, "not for a project of 'series'"),
    ],
)
def test_what_is_wrong_with_them_is_said_and_nothing_is_left(http, files, said, why):
    answer = upload(http, files, **said)
    assert answer.status_code == 422
    assert why in answer.json()["detail"]
    assert [one["name"] for one in http.get("/projects").json()["projects"]] == ["people"]


def test_a_description_keeps_them(tmp_path):
    parts = {"model": "m", "data": "d", "structure": [{"kind": "order", "columns": ["a", "b"]}]}
    written = described({**parts, "causes": CAUSES})
    written.write(tmp_path)
    assert read_description(tmp_path) == written
    assert "structure" not in _text(described({"model": "m", "data": "d"}), tmp_path)
    with pytest.raises(MacexError, match="edges are a table"):
        described({"model": "m", "data": "d", "causes": {"edges": str(tmp_path / FILE)}})


def _text(description, folder):
    description.write(folder)
    return (folder / FILE).read_text(encoding="utf-8")


def test_other_options_learn_nothing_anew(files, tmp_path):
    """A preference, a search and a structure stand on what the project has learnt once."""
    folder = tmp_path / "people"
    folder.mkdir()
    for name, content in files.items():
        (folder / name).write_bytes(content)
    described({"title": "People", "model": "model.skops", "data": "train.csv"}).write(folder)
    project = Catalogue(tmp_path, None, lambda _name: None, demo=False)["people"]
    first = project.explainer()
    for asked in (("reinforce", "fewest"), ("exhaustive", "surest", "ignore")):
        other = project.explainer(*asked)
        assert other.engine.fitted.answers is first.engine.fitted.answers
        assert (other.method, other.engine.options.prefer) == asked[:2]
