"""A model in a worker answers as it does here; one that hangs or dies costs nobody but itself."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

pytest.importorskip("onnxruntime")

import macex as mx
from lending import lender, loans
from macex.errors import ModelFileError, UnavailableError
from macex.server.projects import demo
from macex.server.workers import process
from macex.server.workers.messages import LENGTH, packed, receive, unpacked
from macex.server.workers.pool import Workers
from macex.server.workers.process import ModelFault, WorkerLimits
from models.files.hostile_onnx import READS, loop, memory

FRAME = pd.DataFrame({"x": np.linspace(-3, 3, 40), "z": np.linspace(2, -2, 40)})
HANGS = FRAME.head(1).assign(x=5000.0)


@pytest.fixture(scope="module")
def workers():
    pool = Workers(WorkerLimits(memory_mb=1000, seconds=4, opening_s=120))
    yield pool
    pool.close()


@pytest.fixture
def opened(workers, tmp_path):
    def put(content: bytes):
        path = tmp_path / f"{len(content)}.model"
        path.write_bytes(content)
        return workers.open_model(path)

    return put


@pytest.fixture
def no_pause(monkeypatch):
    monkeypatch.setattr(process, "LONGEST_PAUSE_S", 0.0)


def niceness(model) -> int:
    return os.getpriority(os.PRIO_PROCESS, model.worker.pid)


def test_answers_are_the_same_bytes_as_in_one_process(opened):
    skops = pytest.importorskip("skops.io")
    rows = loans(200, seed=1)
    model = lender(rows)
    here = mx.Explainer(model, rows).explain(rows.head(6))
    there = mx.Explainer(opened(skops.dumps(model)), rows).explain(rows.head(6))
    assert there.to_json(canonical=True) == here.to_json(canonical=True)


def test_columns_that_a_pipeline_drops_are_no_part_of_plausibility_here_either(opened):
    skops = pytest.importorskip("skops.io")
    chosen = make_column_transformer((StandardScaler(), ["z"]))
    model = make_pipeline(chosen, LogisticRegression()).fit(FRAME, FRAME["z"] > 0.3)
    here = mx.Explainer(model, FRAME)
    there = mx.Explainer(opened(skops.dumps(model)), FRAME)
    assert (there.unread, here.unread) == (["x"], ["x"])
    odd = FRAME.assign(x=50.0)
    assert there.plausibility(odd).tolist() == here.plausibility(FRAME).tolist()


def test_a_call_without_end_is_ended_and_the_next_one_is_answered(opened, no_pause):
    model = opened(loop(above=1000))
    before = model(FRAME)
    with pytest.raises(UnavailableError, match="more than 4 s for one call"):
        model(HANGS)
    assert model.worker.pid is None
    assert np.array_equal(model(FRAME), before)
    assert model.worker.starts == 2
    assert niceness(model) == max(os.getpriority(os.PRIO_PROCESS, 0), process.LOWERED)


def test_after_a_failure_nobody_asks_for_a_while(opened):
    model = opened(loop(above=1000, turns=10**12 + 1))
    with pytest.raises(UnavailableError):
        model(HANGS)
    for _ in range(3):
        with pytest.raises(UnavailableError, match=r"asked again in \d+ s") as error:
            model(FRAME)
        assert error.value.retry_s >= 1
    assert model.worker.starts == 1


def test_an_explanation_does_not_ask_a_dead_model_row_by_row(opened):
    """What is kept as the reason of a row is the row's own fault, not that of the process."""
    model = opened(loop(above=1000, turns=10**12 + 2))
    explainer = mx.Explainer(model, FRAME, classes=("no", "yes"))
    with pytest.raises(UnavailableError):
        explainer.explain(HANGS, on_error="keep")
    assert model.worker.starts == 1


def test_a_process_that_dies_is_said_to_have(opened, no_pause):
    model = opened(loop(above=1000, turns=10**12 + 3))
    threading.Timer(1, os.kill, [model.worker.pid, signal.SIGSEGV]).start()
    with pytest.raises(UnavailableError, match="crashed its process"):
        model(HANGS)
    assert len(model(FRAME)) == len(FRAME)
    assert niceness(model) == os.getpriority(os.PRIO_PROCESS, 0)  # it was not slow


def test_memory_is_bounded(workers, tmp_path):
    path = tmp_path / "model"
    path.write_bytes(memory("Expand"))
    with pytest.raises(mx.ModelFileError, match="more than 1,000 MB"):
        workers.open_model(path)


def test_what_a_model_raises_is_raised_here(opened):
    model = opened(loop(above=1000, turns=10**12 + 4))
    with pytest.raises(mx.ModelError, match="trained on 2 columns, data has 1"):
        model(FRAME[["x"]])
    with pytest.raises((mx.ModelError, ModelFault)):
        model(FRAME.astype(str) + "a")
    assert model.worker.starts == 1


def test_a_file_that_is_no_model_is_refused_and_not_opened_again(workers, tmp_path):
    path = tmp_path / "model"
    path.write_bytes(READS["an initializer"]())
    for _ in range(3):
        with pytest.raises(mx.ModelFileError, match="lies in another file"):
            workers.open_model(path)
    assert workers._workers[path].starts == 1


def test_a_worker_has_no_environment_and_an_empty_folder(opened, monkeypatch):
    monkeypatch.setenv("MACEX_ADMIN_KEY", "hunter2")
    worker = opened(loop(above=1000, turns=10**12 + 5)).worker
    place = Path(f"/proc/{worker.pid}")
    if not place.exists():
        pytest.skip("only Linux shows the environment of a process")
    assert b"hunter2" not in (place / "environ").read_bytes()
    assert list((place / "cwd").iterdir()) == []


def test_an_idle_process_is_ended_and_started_again_when_it_is_asked(opened):
    model = opened(loop(above=1000, turns=10**12 + 6))
    model.worker.look(now=model.worker.asked + process.IDLE_S + 1)
    assert model.worker.pid is None
    assert len(model(FRAME)) == len(FRAME)


@pytest.fixture
def two(tmp_path):
    """A pool with room for two processes, and three models in it."""
    pool = Workers(WorkerLimits(memory_mb=1000, seconds=30, opening_s=120), at_once=2)
    paths = [tmp_path / str(number) for number in range(3)]
    for number, path in enumerate(paths):
        path.write_bytes(loop(above=1000, turns=10**12 + 20 + number))
    yield pool, paths
    pool.close()


def test_the_model_that_was_asked_longest_ago_makes_room(two, monkeypatch):
    monkeypatch.setattr(process, "RESTS_S", 0.0)
    pool, paths = two
    first, second = (pool.open_model(path) for path in paths[:2])
    before = first(FRAME)
    third = pool.open_model(paths[2])
    pids = [one.worker.pid for one in (first, second, third)]
    assert [pid is None for pid in pids] == [False, True, False]
    assert np.array_equal(second(FRAME), before)
    pids = [one.worker.pid for one in (first, second, third)]
    assert [pid is None for pid in pids] == [True, False, False]


def test_where_all_models_are_being_asked_one_more_is_told_to_come_back(two):
    pool, paths = two
    models = [pool.open_model(path) for path in paths[:2]]
    for model in models:
        assert len(model(FRAME)) == len(FRAME)  # a moment ago
    with pytest.raises(UnavailableError, match="2 models are being asked") as error:
        pool.open_model(paths[2])
    assert (error.value.retry_s, error.value.lost) == (2, "")
    os.kill(models[0].worker.pid, signal.SIGKILL)
    pool.forget(paths[1])
    assert len(pool.open_model(paths[2])(FRAME)) == len(FRAME)


def test_a_model_that_is_always_slow_goes_behind_others(opened, monkeypatch):
    monkeypatch.setattr(process, "SLOWISH_S", 0.0)
    model = opened(loop(above=1000, turns=10**12 + 7))
    before = niceness(model)
    for _ in range(process.SLOWISH):
        assert niceness(model) == before
        model(FRAME)
    assert niceness(model) == max(before, process.LOWERED)


def test_a_model_without_a_file_is_made_once_and_before_it_is_asked_for():
    pool = Workers(WorkerLimits(seconds=60))
    pool.begin(demo.__name__)
    model = pool.make_model(demo.__name__)
    rows = demo.people().rows.head(20)
    here = demo.model()
    assert model.predict_proba(rows).tolist() == here.predict_proba(rows).tolist()
    assert list(model.classes_) == list(here.classes_)
    assert (model.sha256, model.worker.starts) == (None, 1)
    pool.close()


def test_one_that_cannot_be_made_says_so_to_who_asks():
    pool = Workers(WorkerLimits(seconds=60))
    pool.begin("macex.errors")  # which makes no model
    with pytest.raises(ModelFileError, match="no attribute 'model'"):
        pool.make_model("macex.errors").predict_proba(FRAME)
    pool.close()


def test_workers_begin_before_pandas_and_the_server_are_imported():
    told = "import sys; import macex.server.workers.pool; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=True)
    heavy = {"pandas", "sklearn", "scipy", "fastapi", "sqlalchemy", "jinja2", "pydantic"}
    assert heavy.isdisjoint(done.stdout.split())


def test_closing_ends_all_processes_and_tells_who_waits(tmp_path):
    pool = Workers(WorkerLimits(seconds=60))
    path = tmp_path / "model"
    path.write_bytes(loop(above=1000))
    model = pool.open_model(path)
    pid = model.worker.pid
    threading.Timer(1, pool.close).start()
    with pytest.raises(UnavailableError, match="server is ending"):
        model(HANGS)
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    with pytest.raises(UnavailableError, match="server is ending"):
        model(FRAME)


class Trap:
    def __reduce__(self):
        return os.abort, ()


@pytest.mark.parametrize(
    "content",
    [
        pickle.dumps(Trap()),
        b"",
        b"[]\n",
        b'{"parts": [{"dtype": "|O", "shape": [1]}], "listed": false}\n12345678',
        b'{"parts": [{"dtype": "<f8", "shape": [1000000000000]}], "listed": false}\n12345678',
        b'{"parts": [{"dtype": "<f8", "shape": [-1]}], "listed": false}\n12345678',
        b'{"parts": [{"dtype": "<f8", "shape": [1, 1, 1]}], "listed": false}\n12345678',
    ],
)
def test_a_reply_is_never_more_than_numbers(content):
    with pytest.raises((ValueError, KeyError, TypeError)):
        unpacked(content)


def test_a_reply_is_no_longer_than_expected(tmp_path):
    path = tmp_path / "pipe"
    path.write_bytes(LENGTH.pack(2**60) + b"x")
    with path.open("rb") as pipe, pytest.raises(ValueError, match="are expected"):
        receive(pipe, 1000)


@pytest.mark.parametrize(
    "answer",
    [
        np.arange(6.0).reshape(3, 2),
        np.arange(3, dtype=np.float32),
        np.array([True, False]),
        np.array([3, 4]),
        [np.eye(2), np.ones((2, 3))],
    ],
)
def test_numbers_travel_as_they_are(answer):
    said, found = unpacked(packed({"a": 1}, answer))
    assert said == {"a": 1}
    assert type(found) is type(answer)
    for one, other in zip(found, answer, strict=True):
        assert np.asarray(one).dtype == np.asarray(other).dtype
        assert np.array_equal(one, other)


def test_labels_travel_as_they_are():
    assert unpacked(packed({}, np.array(["yes", "no"], dtype=object)))[1].tolist() == ["yes", "no"]
