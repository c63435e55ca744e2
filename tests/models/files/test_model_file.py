"""Files give back the models they hold; broken and hostile ones end in an error, no more."""

from __future__ import annotations

import io
import os
import pickle
import struct
import zipfile
from functools import cache
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import macex as mx
from macex.models.files import trial
from macex.models.files.model_file import ModelFile
from macex.models.files.opening import opened
from models.people import CATEGORIES, GAPS, GRANTED, NUMBERS, onnx_session, words

ROWS = [3, 17, 40]


@cache
def written(name: str) -> tuple[bytes, np.ndarray, pd.DataFrame]:
    """The content of a file, what the model says of the rows it was trained on, and those."""
    return MADE[name]()


def of_xgboost(form: str) -> tuple[bytes, np.ndarray, pd.DataFrame]:
    library = pytest.importorskip("xgboost")
    model = library.XGBClassifier(n_estimators=8, enable_categorical=True)
    model.fit(CATEGORIES, GRANTED.astype(int))
    content = bytes(model.get_booster().save_raw(form))
    return content, model.predict_proba(CATEGORIES)[:, 1], GAPS


def of_lightgbm() -> tuple[bytes, np.ndarray, pd.DataFrame]:
    library = pytest.importorskip("lightgbm")
    model = library.LGBMClassifier(n_estimators=8, verbose=-1).fit(CATEGORIES, GRANTED)
    text = model.booster_.model_to_string()
    return text.encode(), model.predict_proba(CATEGORIES)[:, 1], GAPS


def of_catboost() -> tuple[bytes, np.ndarray, pd.DataFrame]:
    library = pytest.importorskip("catboost")
    model = library.CatBoostClassifier(
        iterations=8, verbose=0, cat_features=["job"], allow_writing_files=False
    ).fit(GAPS, words(GRANTED))
    # "granted" comes before "refused"
    return bytes(model._serialize_model()), model.predict_proba(GAPS)[:, 1], GAPS


def of_onnx() -> tuple[bytes, np.ndarray, pd.DataFrame]:
    pytest.importorskip("skl2onnx")
    session, data, _ = onnx_session()
    feed = {
        "age": data[["age"]].to_numpy(np.float32),
        "income": data[["income"]].to_numpy(np.float32),
        "job": data[["job"]].to_numpy(object),
        "owns": data[["owns"]].to_numpy(np.int64),
    }
    scores = [one["refused"] for one in session.run(None, feed)[1]]
    return session._model_bytes, np.array(scores), data


def linear():
    return make_pipeline(StandardScaler(), LogisticRegression()).fit(NUMBERS, GRANTED)


def of_skops() -> tuple[bytes, np.ndarray, pd.DataFrame]:
    skops = pytest.importorskip("skops.io")
    model = linear()
    return skops.dumps(model), model.predict_proba(NUMBERS)[:, 1], NUMBERS


MADE = {
    "xgboost json": lambda: of_xgboost("json"),
    "xgboost ubj": lambda: of_xgboost("ubj"),
    "lightgbm": of_lightgbm,
    "catboost": of_catboost,
    "onnx": of_onnx,
    "skops": of_skops,
}
every_format = pytest.mark.parametrize("name", MADE)


def received(note: bytes) -> object:
    return pickle.loads(note)  # noqa: S301 - our own


def put(folder: Path, content: bytes, name: str = "model.bin") -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


@pytest.mark.parametrize(
    "name",
    [name if name == "onnx" else pytest.param(name, marks=pytest.mark.slow) for name in MADE],
)
def test_a_file_gives_back_its_model_whatever_its_name(name, tmp_path):
    content, scores, data = written(name)
    model = mx.load_model(put(tmp_path, content, "model.pkl"))
    assert model.format == name.split()[0]
    assert model.path == tmp_path / "model.pkl"
    explainer = mx.Explainer(model, data)
    found = explainer.explain(data.iloc[ROWS])
    last = explainer.classes[-1]
    for place, explanation in zip(ROWS, found, strict=True):
        yes = scores[place]
        assert (explanation.label == last) == (yes > 0.5)
        assert explanation.status == "found"


@pytest.mark.slow
@every_format
@pytest.mark.parametrize("share", [0.03, 0.5, 0.9])
def test_a_file_that_breaks_off_is_an_error(name, share, tmp_path):
    content, _, _ = written(name)
    cut = put(tmp_path, content[: int(share * len(content))])
    with pytest.raises(mx.ModelFileError, match=r"model\.bin"):
        mx.load_model(cut)


@pytest.mark.slow
@every_format
def test_a_file_with_flipped_bytes_never_brings_the_caller_down(name, tmp_path):
    content, _, _ = written(name)
    draw = np.random.default_rng(0)
    for _ in range(3):
        spoilt = bytearray(content)
        for place in draw.integers(8, len(content), 40):
            spoilt[place] ^= 0xFF
        try:
            assert mx.load_model(put(tmp_path, bytes(spoilt))).format
        except mx.ModelFileError:
            continue


class Trap:
    """Writes a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


@pytest.mark.parametrize("dump", [pickle.dumps, lambda trap: pickle.dumps(trap, 0)])
def test_a_pickle_is_refused_before_any_of_it_runs(dump, tmp_path):
    sprung = tmp_path / "sprung"
    path = put(tmp_path, dump(Trap(sprung)), "model.onnx")
    with pytest.raises(mx.ModelFileError, match="allow_pickle=True"):
        mx.load_model(path)
    assert not sprung.exists()


@pytest.mark.parametrize("compress", [0, 3])
def test_a_pickle_is_opened_for_those_who_ask(compress, tmp_path):
    joblib.dump(linear(), tmp_path / "model.joblib", compress=compress)
    model = mx.load_model(tmp_path / "model.joblib", allow_pickle=True)
    assert model.format == "pickle"
    assert mx.Explainer(model, NUMBERS).explain(NUMBERS.head(1))[0].status == "found"


def test_a_broken_pickle_is_an_error(tmp_path):
    path = put(tmp_path, pickle.dumps(linear())[:200])
    with pytest.raises(mx.ModelFileError, match="cannot be opened"):
        mx.load_model(path, allow_pickle=True)


@pytest.mark.slow
def test_types_that_skops_does_not_know_are_named_and_trusted_by_name(tmp_path):
    skops = pytest.importorskip("skops.io")
    from sklearn.preprocessing import FunctionTransformer

    model = make_pipeline(FunctionTransformer(np.cbrt), LogisticRegression()).fit(NUMBERS, GRANTED)
    model.steps[0][1].func = os.getcwd
    path = put(tmp_path, skops.dumps(model))
    with pytest.raises(mx.ModelFileError, match=r"not trusted: posix\.getcwd") as error:
        mx.load_model(path)
    assert "trusted=['posix.getcwd']" in str(error.value)
    assert mx.load_model(path, trusted=["posix.getcwd"]).format == "skops"
    with pytest.raises(mx.OptionError, match="list of names"):
        mx.load_model(path, trusted="posix.getcwd")


def test_a_file_that_takes_too_long_is_given_up(tmp_path):
    content, _, _ = written("skops")
    with pytest.raises(mx.ModelFileError, match=r"more than 0\.01 s"):
        mx.load_model(put(tmp_path, content), timeout_s=0.01)


HEAD = b"{'descr': '<f8', 'fortran_order': False, 'shape': (20000000,), }\n"
HUGE = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(HEAD)) + HEAD + bytes(160_000_000)


@pytest.mark.slow
def test_a_file_that_eats_memory_is_given_up(tmp_path):
    """A zip that unpacks to gigabytes."""
    skops = pytest.importorskip("skops.io")
    source = zipfile.ZipFile(io.BytesIO(skops.dumps(linear())))
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as box:
        big = next(name for name in source.namelist() if name.endswith(".npy"))
        for name in source.namelist():
            box.writestr(name, HUGE if name == big else source.read(name))
    with pytest.raises(mx.ModelFileError, match=r"cannot be opened|crashed|memory"):
        mx.load_model(put(tmp_path, packed.getvalue()), memory_mb=64)


@pytest.mark.slow
def test_a_process_that_crashes_is_not_ours(tmp_path):
    """XGBoost crashes on nesting that no model has."""
    pytest.importorskip("xgboost")
    with pytest.raises(mx.ModelFileError, match="crashed the process"):
        mx.load_model(put(tmp_path, b'{"learner":' + b"[" * 200_000))


@pytest.mark.slow
def test_a_model_is_sent_as_its_file(tmp_path):
    content, _, data = written("skops")
    path = put(tmp_path, content)
    model = mx.load_model(path)
    sent = received(pickle.dumps(model))
    assert isinstance(sent, ModelFile)
    assert sent.sha256 == model.sha256
    assert len(sent.live_model.predict(data)) == len(data)
    note = pickle.dumps(model)
    path.write_bytes(b"another")
    assert received(note).sha256 == model.sha256
    with pytest.raises(mx.ModelFileError, match="another file"):
        pickle.dumps(model)


def test_folders_and_absent_files_are_told_apart(tmp_path):
    with pytest.raises(mx.ModelFileError, match="folder"):
        mx.load_model(tmp_path)
    with pytest.raises(FileNotFoundError):
        mx.load_model(tmp_path / "none")
    with pytest.raises(mx.ModelFileError, match="no plain file"):
        mx.load_model("/dev/null")


@pytest.mark.slow
def test_a_category_is_found_in_the_file_itself(tmp_path):
    """Plain text goes to a booster that was trained on categories."""
    content, scores, data = written("xgboost ubj")
    model = mx.load_model(put(tmp_path, content))
    assert np.allclose(model.scores(data), scores)
    turned = data[data.columns[::-1]]
    assert np.allclose(model.scores(turned), scores)
    with pytest.raises(mx.ModelError, match="'job'"):
        model.scores(data.drop(columns="job"))


def test_the_reasons_of_a_child_are_short():
    assert trial._reason("onnx", -11, "") == (
        "opening the onnx file crashed the process that tried it (signal 11)"
    )
    assert trial._reason("onnx", 1, "trace\nbad magic").endswith("cannot be opened: bad magic")


def test_a_lightgbm_file_names_no_other_file(tmp_path):
    """Its parameters of training may name some; they are not read."""
    content, scores, data = written("lightgbm")
    named = content.replace(b"\nparameters:\n", b"\nparameters:\n[input_model: /etc/passwd]\n", 1)
    assert named != content
    model = opened(named, "lightgbm")
    assert "input_model" not in model.params
    assert np.allclose(ModelFile(tmp_path, "lightgbm", "", model).scores(data), scores)


def test_a_vectorizer_that_reads_the_files_that_cells_name_is_refused():
    skops = pytest.importorskip("skops.io")
    from sklearn.feature_extraction.text import CountVectorizer

    model = make_pipeline(CountVectorizer(), LogisticRegression()).fit(
        ["one two", "two three"], [0, 1]
    )
    model.steps[0][1].input = "filename"
    with pytest.raises(mx.ModelFileError, match="CountVectorizer reads the files that cells name"):
        opened(skops.dumps(model), "skops")
