"""A small project of time series: three channels, of which the level of the second decides."""

from __future__ import annotations

import numpy as np
import pytest

CHANNELS, LENGTH = 3, 48
TOML = """kind = "series"
title = "Motors"
model = "model.onnx"
data = "train.npz"
rows = "cases.npz"
channels = ["current", "heat", "noise"]
classes = ["well", "worn"]
time_unit = "s"
times = [{times}]

[names.heat]
text = "bearing heat"
unit = "°C"
"""


def cases(count, seed):
    rng = np.random.default_rng(seed)
    walks = rng.normal(0, 0.3, (count, CHANNELS, LENGTH)).cumsum(axis=2)
    return walks + rng.normal(1, 1, (count, CHANNELS, 1))


def onnx_model():
    """The mean of the second channel against 1, as two probabilities."""
    onnx = pytest.importorskip("onnx")
    make, number = onnx.helper, onnx.TensorProto.FLOAT
    weights = np.zeros((CHANNELS * LENGTH, 2), np.float32)
    weights[LENGTH : 2 * LENGTH, 1] = 4.0 / LENGTH
    held = {"W": weights, "B": np.array([0, -4.0], np.float32)}
    graph = make.make_graph(
        [
            make.make_node("Flatten", ["X"], ["flat"], axis=1),
            make.make_node("Gemm", ["flat", "W", "B"], ["logits"]),
            make.make_node("Softmax", ["logits"], ["scores"], axis=1),
        ],
        "motors",
        [make.make_tensor_value_info("X", number, [None, CHANNELS, LENGTH])],
        [make.make_tensor_value_info("scores", number, [None, 2])],
        [onnx.numpy_helper.from_array(array, name) for name, array in held.items()],
    )
    model = make.make_model(graph, opset_imports=[make.make_opsetid("", 18)])
    model.ir_version = 9
    return model.SerializeToString()


def write_series(folder):
    folder.mkdir(parents=True)
    (folder / "project.toml").write_text(
        TOML.format(times=", ".join(str(at / 4) for at in range(LENGTH)))
    )
    (folder / "model.onnx").write_bytes(onnx_model())
    np.savez(folder / "train.npz", X=cases(120, 0))
    np.savez(folder / "cases.npz", X=cases(40, 1))
