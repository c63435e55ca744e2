"""Small files of other formats that a stranger might send, by what they try."""

from __future__ import annotations

import io
import json
import os
import pickle
import struct
import zipfile
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from models.people import GRANTED, NUMBERS

MARK = "sprung"  # the folder that code which runs makes, in the present one
Make = Callable[[], bytes]


class Trap:
    """Makes a folder when it is unpickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (MARK,)


def joblib_of(compress: Any) -> bytes:
    import joblib

    packed = io.BytesIO()
    joblib.dump(Trap(), packed, compress=compress)
    return packed.getvalue()


def zipped(files: dict[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as box:
        for name, content in files.items():
            box.writestr(name, content)
    return packed.getvalue()


def node(module: str, name: str, loader: str, **more: Any) -> dict[str, Any]:
    return {"__class__": name, "__module__": module, "__loader__": loader, "__id__": 1, **more}


def skops_of(root: Any, **files: bytes) -> bytes:
    """A skops file that was written by hand."""
    head = {"protocol": 2, "_skops_version": "0.16.0"}
    return zipped({"schema.json": json.dumps({**root, **head}).encode(), **files})


def text_of(value: Any) -> dict[str, Any]:
    return node(
        "builtins", type(value).__name__, "JsonNode", content=json.dumps(value), is_json=True
    )


def calling(module: str, name: str, *arguments: Any) -> dict[str, Any]:
    """A partial of a function, as skops writes it."""
    content = {
        "func": node(module, name, "FunctionNode", content={}),
        "args": node("builtins", "tuple", "TupleNode", content=[text_of(one) for one in arguments]),
        "kwds": node("builtins", "dict", "DictNode", content={}, key_types=text_of("")),
        "namespace": node("builtins", "dict", "DictNode", content={}, key_types=text_of("")),
    }
    return node("functools", "partial", "PartialNode", content=content)


def with_function(function: Any) -> bytes:
    """A pipeline whose first step is a function of a stranger's choice."""
    import skops.io

    model = make_pipeline(FunctionTransformer(np.cbrt), LogisticRegression()).fit(NUMBERS, GRANTED)
    model.steps[0][1].func = function
    return skops.io.dumps(model)


@cache
def linear() -> Any:
    return make_pipeline(StandardScaler(), LogisticRegression()).fit(NUMBERS, GRANTED)


def with_pickled_array() -> bytes:
    """A scaler whose means are an array of objects, which NumPy stores as a pickle."""
    import skops.io

    source = zipfile.ZipFile(io.BytesIO(skops.io.dumps(linear())))
    files = {name: source.read(name) for name in source.namelist()}
    array = io.BytesIO()
    np.save(array, np.array([Trap()], dtype=object), allow_pickle=True)
    victim = next(name for name in files if name.endswith(".npy"))
    return zipped({**files, victim: array.getvalue()})


def reading(how: str) -> bytes:
    import skops.io
    from sklearn.feature_extraction.text import TfidfVectorizer

    made = make_pipeline(TfidfVectorizer(), LogisticRegression())
    made.fit(["one two", "two three"], [0, 1])
    made.steps[0][1].input = how
    return skops.io.dumps(made)


@cache
def boosted() -> dict[str, Any]:
    import xgboost

    model = xgboost.XGBClassifier(n_estimators=2, max_depth=2).fit(NUMBERS, GRANTED[0] == GRANTED)
    return json.loads(bytes(model.get_booster().save_raw("json")))


def xgboost_with(change: Callable[[dict[str, Any]], None]) -> bytes:
    document = json.loads(json.dumps(boosted()))
    change(document["learner"])
    return json.dumps(document).encode()


def trees(learner: dict[str, Any]) -> list[dict[str, Any]]:
    return learner["gradient_booster"]["model"]["trees"]


def child(at: int) -> Callable[[dict[str, Any]], None]:
    """The root's left child is another node, or none."""

    def change(learner: dict[str, Any]) -> None:
        trees(learner)[0]["left_children"][0] = at

    return change


def split(feature: int) -> Callable[[dict[str, Any]], None]:
    def change(learner: dict[str, Any]) -> None:
        trees(learner)[0]["split_indices"][0] = feature

    return change


def parameter(name: str, value: str) -> Callable[[dict[str, Any]], None]:
    def change(learner: dict[str, Any]) -> None:
        learner["learner_model_param"][name] = value

    return change


def objective(name: str) -> Callable[[dict[str, Any]], None]:
    def change(learner: dict[str, Any]) -> None:
        learner["objective"]["name"] = name

    return change


@cache
def grown() -> str:
    import lightgbm

    model = lightgbm.LGBMClassifier(n_estimators=2, num_leaves=3, verbose=-1)
    return model.fit(NUMBERS, GRANTED[0] == GRANTED).booster_.model_to_string()


def lightgbm_with(line: str, content: str) -> bytes:
    lines = [content if one.startswith(line) else one for one in grown().splitlines()]
    return "\n".join(lines).encode() + b"\n"


@cache
def catboosted() -> bytes:
    import catboost

    model = catboost.CatBoostClassifier(iterations=2, verbose=0, allow_writing_files=False)
    return bytes(model.fit(NUMBERS, GRANTED)._serialize_model())


RUNS: dict[str, Make] = {
    "a pickle": lambda: pickle.dumps([Trap()], 5),
    "a pickle of the first protocol": lambda: pickle.dumps(Trap(), 0),
    "a pickle of the second protocol": lambda: pickle.dumps(Trap(), 2),
    "a joblib file": lambda: joblib_of(0),
    "a joblib file, zlib": lambda: joblib_of(("zlib", 3)),
    "a joblib file, gzip": lambda: joblib_of(("gzip", 3)),
    "a joblib file, bz2": lambda: joblib_of(("bz2", 3)),
    "a joblib file, xz": lambda: joblib_of(("xz", 3)),
    "a torch file": lambda: zipped({"m/data.pkl": pickle.dumps(Trap()), "m/version": b"3"}),
    "a keras file": lambda: zipped({"config.json": b"{}", "model.weights.h5": b""}),
    "skops with a call of os": lambda: skops_of(calling("os", "mkdir", MARK)),
    "skops with a call of a shell": lambda: skops_of(calling("subprocess", "getoutput", "id")),
    "skops with eval": lambda: skops_of(calling("builtins", "eval", "1")),
    "skops with an operator": lambda: skops_of(
        node("operator", "methodcaller", "OperatorFuncNode", attrs=text_of("mkdir"))
    ),
    "skops with a method": lambda: skops_of(
        node(
            "os",
            "mkdir",
            "MethodNode",
            content={"func": "mkdir", "obj": node("os", "PathLike", "TypeNode", content={})},
        )
    ),
    "skops with an object of a stranger": lambda: skops_of(
        node("subprocess", "Popen", "ObjectNode", content=None)
    ),
    "skops with a type of a stranger": lambda: skops_of(
        node("ctypes", "CDLL", "TypeNode", content={})
    ),
    "skops whose step makes folders": lambda: with_function(os.mkdir),
    "skops whose step lists folders": lambda: with_function(os.listdir),
    "skops whose step opens files": lambda: with_function(np.fromfile),
    "skops whose step loads files": lambda: with_function(np.load),
    "skops with a pickle in an array": with_pickled_array,
}
READS: dict[str, Make] = {
    "skops that reads names of files": lambda: reading("filename"),
    "skops that reads files": lambda: reading("file"),
}
BROKEN: dict[str, Make] = {
    "nothing": lambda: b"",
    "text": lambda: b"hello, world",
    "a web page": lambda: b"<html>http://127.0.0.1/model</html>",
    "a zip of nothing": lambda: zipped({}),
    "a zip of something": lambda: zipped({"a.txt": b"a"}),
    "skops with an unknown loader": lambda: skops_of(node("os", "mkdir", "NoSuchNode")),
    "skops without a schema": lambda: zipped({"schema.json": b"[1, 2"}),
    "skops of depth": lambda: zipped({"schema.json": b'{"a":' * 20_000}),
}
COSTS: dict[str, Make] = {
    "xgboost of depth": lambda: b'{"learner":' + b"[" * 100_000,
    "xgboost that promises much": lambda: (
        b"{L\x00\x00\x00\x00\x00\x00\x00\x07learner[$D#L" + struct.pack(">q", 2**40)
    ),
    "xgboost that goes in a circle": lambda: xgboost_with(child(0)),
    "xgboost that leaves its tree": lambda: xgboost_with(child(10**8)),
    "xgboost that asks for column 10^8": lambda: xgboost_with(split(10**8)),
    "xgboost of 10^9 columns": lambda: xgboost_with(parameter("num_feature", str(10**9))),
    "xgboost of 10^9 classes": lambda: xgboost_with(parameter("num_class", str(10**9))),
    "xgboost of an unknown objective": lambda: xgboost_with(objective("shell:id")),
    "lightgbm that breaks off": lambda: b"tree\nversion=v4\nnum_class=1\n",
    "lightgbm of 10^9 leaves": lambda: lightgbm_with("num_leaves=", "num_leaves=1000000000"),
    "lightgbm of 10^9 classes": lambda: lightgbm_with("num_class=", "num_class=1000000000"),
    "lightgbm without columns": lambda: lightgbm_with("feature_names=", "feature_names="),
    "catboost, half": lambda: catboosted()[: len(catboosted()) // 2],
    "catboost of zeros": lambda: b"CBM1" + bytes(4000),
    "catboost that promises much": lambda: b"CBM1" + struct.pack("<I", 2**32 - 1) + bytes(64),
}
REFUSED = RUNS | READS | BROKEN
