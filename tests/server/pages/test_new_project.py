"""The form that makes a project takes tables and time series."""

from __future__ import annotations

import io

import httpx
import numpy as np
import pytest

pytest.importorskip("onnxruntime")

from macex.server import Settings
from server.pages.series_project import cases, onnx_model


def npz(array):
    file = io.BytesIO()
    np.savez(file, X=array)
    return file.getvalue()


def test_a_numpy_file_becomes_a_project_of_time_series(tmp_path, start):
    with start(Settings(state=tmp_path, demo=False)) as served:
        fields = {"title": "Motors", "channels": "current, heat, noise", "classes": "well, worn"}
        files = {"model": ("m.onnx", onnx_model()), "data": ("train.NPZ", npz(cases(40, 0)))}
        sent = {"data": {**fields, "schema": "{}"}, "files": files, "timeout": 180}
        made = httpx.post(f"{served.url}/new", **sent)
        assert (made.status_code, made.headers["location"]) == (303, "/projects/motors")
        assert "40 cases" in httpx.get(f"{served.url}/projects/motors", timeout=120).text
        info = httpx.get(f"{served.url}/api/v1/projects/motors").json()
        assert info["channels"] == ["current", "heat", "noise"]
        wrong = {**files, "data": ("train.npz", b"a,b\n1,2\n")}
        refused = httpx.post(f"{served.url}/new", **{**sent, "files": wrong})
        assert refused.status_code == 422
        assert "no NumPy file" in refused.text
