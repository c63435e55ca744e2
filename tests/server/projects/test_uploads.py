"""Projects from uploads; hostile files end in 4xx, and memory stays bounded."""

from __future__ import annotations

import gzip
import io
import json
import pickle
import resource
import struct
import time
import zipfile
from concurrent.futures import ThreadPoolExecutor

import httpx
import numpy as np
import pandas as pd
import pytest

from macex.server import Settings
from macex.server.projects import uploads
from macex.server.projects.catalogue import Catalogue
from models.files.hostile_onnx import READS
from server.at_work import AtWork


@pytest.fixture(scope="module")
def server(tmp_path_factory, start):
    """A server that takes small uploads and reads them in little memory."""
    settings = Settings(
        state=tmp_path_factory.mktemp("uploads"),
        upload_bytes=40_000_000,
        upload_memory_mb=600,
        upload_columns=2_000,
        upload_seconds=30,
    )
    with start(settings) as served:
        yield served


@pytest.fixture
def client(server):
    with httpx.Client(base_url=f"{server.url}/api/v1", timeout=180) as one:
        yield one


@pytest.fixture(scope="module")
def model(loan_files):
    return (loan_files / "model.skops").read_bytes()


@pytest.fixture(scope="module")
def train(loan_files):
    return (loan_files / "train.csv").read_bytes()


def upload(client, model, data, rows=None, **said):
    files = {"model": ("model", model), "data": ("data", data)}
    files |= {} if rows is None else {"rows": ("rows", rows)}
    parts = {"title": "Loans", "label": "outcome", **said}
    return client.post("/projects", data=parts, files=files)


def test_an_uploaded_project_answers(client, model, train, loan_files):
    said = upload(
        client,
        model,
        train,
        rows=(loan_files / "rows.csv").read_bytes(),
        title="Loans, 2nd",
        constraints=json.dumps({"fixed": ["age"]}),
        schema=json.dumps({"income": {"kind": "continuous", "step": 5}}),
    )
    assert said.status_code == 201
    info = said.json()
    assert (info["name"], info["rows"], info["training_rows"]) == ("loans-2nd", 300, 400)
    assert info["columns"][0]["step"] == 5
    found = client.post("/projects/loans-2nd/explain", json={"places": [0]}).json()
    assert found["explanations"][0]["status"] == "found"
    assert client.delete("/projects/loans-2nd").status_code == 204
    assert client.get("/projects/loans-2nd").status_code == 404


def test_a_table_is_looked_at_before_a_project_is_made(client, train):
    files = {"data": ("train.csv", train)}
    said = client.post("/inspect", data={"label": "outcome"}, files=files).json()
    assert said["rows"] == 400
    assert said["columns"]["job"] == {"kind": "categorical"}
    assert said["columns"]["age"]["kind"] == "continuous"


@pytest.mark.slow
def test_parquet_is_read_as_well(client, model, train):
    packed = io.BytesIO()
    pd.read_csv(io.BytesIO(train)).to_parquet(packed)
    said = upload(client, model, packed.getvalue(), title="Packed")
    assert said.status_code == 201
    assert client.delete("/projects/packed").status_code == 204


def inspect(client, train):
    return client.post("/inspect", files={"data": ("data", train)})


def test_few_files_are_read_at_a_time(client, train, monkeypatch):
    workers, take_in = AtWork(), uploads.take_in

    def slowly(*given):
        with workers:
            time.sleep(0.1)
        take_in(*given)

    monkeypatch.setattr(uploads, "take_in", slowly)
    with ThreadPoolExecutor(8) as pool:
        said = list(pool.map(lambda _: inspect(client, train), range(8)))
    assert {one.status_code for one in said} == {200}
    assert workers.most <= uploads.AT_ONCE


def test_who_waits_for_other_uploads_in_vain_is_told(client, train, monkeypatch):
    monkeypatch.setattr(uploads, "WAIT_S", 0.01)
    for _ in range(uploads.AT_ONCE):
        uploads.READING.acquire()
    try:
        said = inspect(client, train)
    finally:
        uploads.READING.release(uploads.AT_ONCE)
    assert (said.status_code, said.headers["retry-after"]) == (503, "5")
    assert inspect(client, train).status_code == 200


def mostly_slow(kinds, quick):
    """Each starts a process or two: a few of them stand for all where time matters."""
    return [kind if kind in quick else pytest.param(kind, marks=pytest.mark.slow) for kind in kinds]


def zip_bomb():
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as box:
        box.writestr("schema.json", b" " * 300_000_000)
    return packed.getvalue()


class Loud:
    def __reduce__(self):
        return print, ("a pickle was opened",)


MODELS = {
    "nothing": lambda model: b"",
    "text": lambda model: b"hello, world",
    "half": lambda model: model[: len(model) // 2],
    "pickle": lambda model: pickle.dumps(Loud()),
    "skops with a bomb": lambda model: zip_bomb(),
    "a broken zip": lambda model: b"PK\x03\x04" + b"\xff" * 1000,
    "onnx of noise": lambda model: b"\x08\x07\x12" + np.random.default_rng(0).bytes(5000),
    "ubj without end": lambda model: b"{L\x00\x00\x00\x00\x00\x00\x00\x07learner" + b"{" * 5000,
    "ubj that promises much": lambda model: (
        b"{L\x00\x00\x00\x00\x00\x00\x00\x07learner[$D#L" + struct.pack(">q", 2**40)
    ),
    "lightgbm that breaks off": lambda model: b"tree\nversion=v4\nnum_class=1\n",
    "onnx that reads a file": lambda model: READS["an absolute path"](),
    "json of depth": lambda model: b'{"learner":' + b"[" * 100_000,
}


@pytest.mark.parametrize("kind", mostly_slow(MODELS, {"nothing", "pickle"}))
def test_a_hostile_model_is_refused_and_leaves_nothing(client, server, model, train, kind, capfd):
    said = upload(client, MODELS[kind](model), train)
    assert said.status_code == 422, said.text
    assert said.headers["content-type"] == "application/problem+json"
    assert list(server.server.settings.projects.glob("*")) == []
    assert "a pickle was opened" not in capfd.readouterr().out


def gzipped(size):
    return gzip.compress(b"a,b\n" + b"1,2\n" * (size // 4), 9)


def parquet_bomb():
    packed = io.BytesIO()
    table = pd.DataFrame({"a": np.zeros(30_000_000), "b": ["x" * 200] * 30_000_000})
    table.to_parquet(packed, compression="gzip")
    return packed.getvalue()


TABLES = {
    "nothing": lambda train: b"",
    "no rows": lambda train: b"income,debt,age,job,outcome\n",
    "noise": lambda train: np.random.default_rng(0).bytes(100_000),
    "half a line": lambda train: train[: train.rindex(b",")],
    "an open quote": lambda train: train + b'1,2,3,"none',
    "a million columns": lambda train: b",".join(b"c%d" % at for at in range(1_000_000)) + b"\n",
    "many columns": lambda train: b",".join(b"c%d" % at for at in range(3_000)) + b"\n1\n",
    "one endless line": lambda train: b"x" * 39_000_000,
    "one endless cell": lambda train: b"income,outcome\n" + b"x" * 39_000_000,
    "a gzip bomb": lambda train: gzipped(800_000_000),
    "half a gzip": lambda train: gzipped(100_000)[:-20],
    "half a parquet": lambda train: b"PAR1" + b"\x00" * 1000,
    "two columns of one name": lambda train: b"a,a\n1,2\n",
    "json lines that differ": lambda train: b'{"a": 1}\n{"b": 2}\n',
    "onnx that reads a file": lambda model: READS["an absolute path"](),
    "json of depth": lambda train: b'{"a":' + b"[" * 100_000,
}


@pytest.mark.parametrize("kind", mostly_slow(TABLES, {"half a line", "one endless line"}))
def test_a_hostile_table_is_refused_in_bounded_memory(client, server, model, train, kind):
    content = TABLES[kind](train)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    said = upload(client, model, content)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert said.status_code in (413, 422), said.text
    assert len(said.json()["detail"]) < 1000
    assert grown < 600_000  # kilobytes: what the server may hold of 40 MB on their way to the disk
    assert list(server.server.settings.projects.glob("*")) == []


@pytest.mark.slow
def test_a_parquet_bomb_is_refused(client, model):
    assert upload(client, model, parquet_bomb()).status_code == 422


@pytest.mark.slow
@pytest.mark.parametrize(
    ("said", "names"),
    [
        ({"label": "outcom"}, "did you mean 'outcome'"),
        ({"drop": "nothing"}, "nothing"),
        ({"schema": "{"}, "schema must be an object"),
        ({"schema": '{"income": "continuos"}'}, "continuous"),
        ({"constraints": '{"fixed": ["agee"]}'}, "agee"),
        ({"title": ""}, "title"),
    ],
)
def test_what_is_wrong_with_the_rest_is_said(client, server, model, train, said, names):
    answer = upload(client, model, train, **said)
    assert answer.status_code == 422
    assert names in answer.json()["detail"]
    assert list(server.server.settings.projects.glob("*")) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", ["../../../etc/cron.d/x", "/etc/passwd", "C:\\x", "a\x00b"])
def test_a_file_s_own_name_is_never_used(client, server, model, train, name, tmp_path):
    title = name.replace("\x00", "")
    files = {"model": (title, model), "data": (title, train)}
    said = client.post("/projects", data={"title": title, "label": "outcome"}, files=files)
    assert said.status_code == 201
    made = said.json()["name"]
    folder = server.server.settings.projects / made
    assert folder.parent == server.server.settings.projects
    assert sorted(one.name for one in folder.iterdir()) == [
        "model.bin",
        "project.toml",
        "train.parquet",
    ]
    assert client.delete(f"/projects/{made}").status_code == 204


def test_a_project_that_was_not_uploaded_is_not_removed(loan_project, tmp_path, start):
    with start(Settings(state=tmp_path, project=loan_project)) as served:
        said = httpx.delete(f"{served.url}/api/v1/projects/loans")
    assert said.status_code == 422
    assert (loan_project / "model.skops").exists()


@pytest.mark.parametrize(
    "said",
    [
        {"constraints": '{"max_changes": null}'},
        {"constraints": '{"ranges": {"age": [null, 40]}}'},
        {"names": '{"age": "\\ud800"}'},
        {"title": "a\0b"},
    ],
)
def test_what_cannot_be_kept_is_refused_and_leaves_nothing(client, model, train, said, server):
    before = sorted(server.server.projects.folder.glob("*"))
    assert upload(client, model, train, **said).status_code == 422
    assert sorted(server.server.projects.folder.glob("*")) == before


def test_a_column_may_not_be_called_like_a_column_of_answers(client, model, train):
    said = upload(client, model, train.replace(b"debt", b"cf.row", 1))
    assert said.status_code == 422
    assert "'cf.row'" in said.json()["detail"]


def test_nobody_is_told_where_the_files_lie(client, train, server):
    for content in (b"", b"\x80\x04\x95", b"nonsense"):
        said = upload(client, content, train)
        assert said.status_code == 422
        assert str(server.server.settings.state) not in said.text


def test_a_folder_of_any_name_has_an_address(loan_project, tmp_path):
    place = tmp_path / "Crédit & more?"
    place.mkdir()
    for file in loan_project.iterdir():
        (place / file.name).write_bytes(file.read_bytes())
    assert [one.name for one in Catalogue(tmp_path, None, lambda _: None, demo=False)] == [
        "cr-dit-more"
    ]
