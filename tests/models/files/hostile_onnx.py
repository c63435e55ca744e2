"""Small ONNX files that a stranger might send, by what they try."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import onnx
from onnx import TensorProto as Tensor
from onnx import helper

NEIGHBOR = "secret.txt"  # beside the model, where a relative path finds it
HUGE = 10**12


def outside(name: str = "w", location: str = NEIGHBOR, **entries: str) -> Any:
    """A tensor that lies in another file."""
    tensor = Tensor(name=name, data_type=Tensor.UINT8, dims=[8], data_location=Tensor.EXTERNAL)
    for key, value in {"location": location, "offset": "0", "length": "8", **entries}.items():
        tensor.external_data.add(key=key, value=value)
    return tensor


def graph(nodes: Any = (), tensors: Any = (), wide: int | None = 1, name: str = "g") -> Any:
    """A graph from x to y that can be run, and what is smuggled into it."""
    return helper.make_graph(
        [*nodes, helper.make_node("Identity", ["x"], ["y"])],
        name,
        [helper.make_tensor_value_info("x", Tensor.FLOAT, [None, wide])],
        [helper.make_tensor_value_info("y", Tensor.FLOAT, [None, wide])],
        list(tensors),
    )


def branch(nodes: Any = (), tensors: Any = ()) -> Any:
    """The body of a branch or a loop."""
    return helper.make_graph(
        [
            *nodes,
            helper.make_node("Constant", [], ["out"], value=helper.make_tensor("c", 1, [], [0])),
        ],
        "branch",
        [],
        [helper.make_tensor_value_info("out", Tensor.FLOAT, [])],
        list(tensors),
    )


def whole(made: Any, functions: Any = ()) -> Any:
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.evil", 1)]
    return helper.make_model(made, opset_imports=opsets, ir_version=8, functions=list(functions))


def of_nodes(*nodes: Any, tensors: Any = ()) -> bytes:
    return whole(graph(nodes, tensors)).SerializeToString()


def constant(**value: Any) -> Any:
    return helper.make_node("Constant", [], ["k"], **value)


def sparse(values: Any, indices: Any, dims: Any = (8,)) -> Any:
    return onnx.SparseTensorProto(values=values, indices=indices, dims=dims)


def plain(name: str = "p") -> Any:
    return helper.make_tensor(name, Tensor.FLOAT, [1], [1.0])


def places() -> Any:
    return helper.make_tensor("i", Tensor.INT64, [1], [0])


def condition(inside: Any) -> Any:
    return helper.make_node("If", ["yes"], ["z"], then_branch=inside, else_branch=branch())


def function(domain: str, nodes: Any = ()) -> Any:
    return helper.make_function(
        domain,
        "Own",
        ["a"],
        ["b"],
        [*nodes, helper.make_node("Identity", ["a"], ["b"])],
        [helper.make_opsetid("", 17)],
    )


def in_function() -> bytes:
    nodes = [constant(value=outside())]
    own = helper.make_node("Own", ["x"], ["z"], domain="com.evil")
    return whole(graph([own]), [function("com.evil", nodes)]).SerializeToString()


def in_function_default() -> bytes:
    made = function("com.evil")
    made.attribute_proto.append(helper.make_attribute("t", outside()))
    return whole(graph(), [made]).SerializeToString()


def in_training(part: str) -> bytes:
    model = whole(graph())
    getattr(model.training_info.add(), part).CopyFrom(graph(tensors=[outside()]))
    return model.SerializeToString()


def in_sparse(which: str) -> bytes:
    model = whole(graph())
    parts = {"values": plain(), "indices": places(), which: outside()}
    model.graph.sparse_initializer.append(sparse(**parts))
    return model.SerializeToString()


def unsaid() -> bytes:
    """The flag says that the tensor is inside; the entries say where else."""
    tensor = outside()
    tensor.data_location = Tensor.DEFAULT
    return of_nodes(tensors=[tensor])


def field(number: int, content: bytes) -> bytes:
    """A field of bytes as protocol buffers write it."""
    size, head = len(content), bytes([number << 3 | 2])
    while size > 0x7F:
        head += bytes([size & 0x7F | 0x80])
        size >>= 7
    return head + bytes([size]) + content


def of_bytes(made: bytes) -> bytes:
    """A model whose graph is given as bytes."""
    head = onnx.ModelProto(ir_version=8, opset_import=[helper.make_opsetid("", 17)])
    return head.SerializeToString() + field(7, made)


def twice() -> bytes:
    """The flag is written twice, as some readers take the first and some the last."""
    tensor = outside().SerializeToString() + b"\x70\x00"
    return of_bytes(graph().SerializeToString() + field(5, tensor))


def deep(depth: int) -> bytes:
    """Graphs in attributes of nodes of graphs."""
    inside = branch(tensors=[outside()]).SerializeToString()
    for _ in range(depth):
        inside = field(1, field(5, field(6, inside)))
    return of_bytes(inside)


def promised(dims: list[int]) -> bytes:
    tensor = Tensor(name="w", data_type=Tensor.FLOAT, dims=dims, raw_data=b"1234")
    return of_nodes(tensors=[tensor])


def sized(where: str) -> bytes:
    model = whole(graph(wide=HUGE if where == "input" else 1))
    if where == "inside":
        model.graph.value_info.append(helper.make_tensor_value_info("v", 1, [10**6, 10**6]))
    return model.SerializeToString()


def in_runtime_format() -> bytes:
    """Its fifth byte begins the mark of onnxruntime's own format, and it is ONNX as well."""
    model = whole(graph())
    model.ClearField("ir_version")
    return b"\x08\x08\x12\x06ORTM12" + model.SerializeToString()


def loop(above: float | None = None, turns: int = HUGE) -> bytes:
    """A loop of 10^12 turns, for every row or for rows with a number above a limit
    and under a million, which no trial asks about.

    The score is the sigmoid of the first number and an eighth of the second.
    """
    body = helper.make_graph(
        [
            helper.make_node("Identity", ["go"], ["on"]),
            helper.make_node("Add", ["sum", "little"], ["more"]),
        ],
        "body",
        [
            helper.make_tensor_value_info("turn", Tensor.INT64, []),
            helper.make_tensor_value_info("go", Tensor.BOOL, []),
            helper.make_tensor_value_info("sum", Tensor.FLOAT, [None, 2]),
        ],
        [
            helper.make_tensor_value_info("on", Tensor.BOOL, []),
            helper.make_tensor_value_info("more", Tensor.FLOAT, [None, 2]),
        ],
    )
    tensors = [
        helper.make_tensor("limit", Tensor.FLOAT, [], [-1e38 if above is None else above]),
        helper.make_tensor("roof", Tensor.FLOAT, [], [3e38 if above is None else 1e6]),
        helper.make_tensor("many", Tensor.INT64, [], [turns]),
        helper.make_tensor("once", Tensor.INT64, [], [1]),
        helper.make_tensor("yes", Tensor.BOOL, [], [True]),
        helper.make_tensor("little", Tensor.FLOAT, [1], [1e-9]),
        helper.make_tensor("weights", Tensor.FLOAT, [2, 1], [1.0, 0.125]),
    ]
    nodes = [
        helper.make_node("ReduceMax", ["x"], ["highest"], keepdims=0),
        helper.make_node("Greater", ["highest", "limit"], ["above"]),
        helper.make_node("Less", ["highest", "roof"], ["below"]),
        helper.make_node("And", ["above", "below"], ["over"]),
        helper.make_node("Where", ["over", "many", "once"], ["turns"]),
        helper.make_node("Loop", ["turns", "yes", "x"], ["after"], body=body),
        helper.make_node("MatMul", ["after", "weights"], ["sum_of"]),
        helper.make_node("Sigmoid", ["sum_of"], ["y"]),
    ]
    made = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", Tensor.FLOAT, [None, 2])],
        [helper.make_tensor_value_info("y", Tensor.FLOAT, [None, 1])],
        tensors,
    )
    return whole(made).SerializeToString()


def memory(operator: str) -> bytes:
    """An array of terabytes, made when the model is asked."""
    shape = helper.make_tensor("shape", Tensor.INT64, [2], [10**6, 10**6])
    if operator == "Expand":
        node = helper.make_node("Expand", ["x", "shape"], ["big"])
    else:
        node = helper.make_node("ConstantOfShape", ["shape"], ["big"])
    size = helper.make_node("ReduceSum", ["big"], ["sum"], keepdims=0)
    made = helper.make_graph(
        [node, size, helper.make_node("Add", ["x", "sum"], ["y"])],
        "g",
        [helper.make_tensor_value_info("x", Tensor.FLOAT, [None, 1])],
        [helper.make_tensor_value_info("y", Tensor.FLOAT, [None, 1])],
        [shape],
    )
    return whole(made).SerializeToString()


Make = Callable[[], bytes]
READS: dict[str, Make] = {
    "an initializer": lambda: of_nodes(tensors=[outside()]),
    "an absolute path": lambda: of_nodes(tensors=[outside(location="/etc/passwd")]),
    "a path upwards": lambda: of_nodes(tensors=[outside(location="../../etc/passwd")]),
    "a file URL": lambda: of_nodes(tensors=[outside(location="file:///etc/passwd")]),
    "a web address": lambda: of_nodes(tensors=[outside(location="http://127.0.0.1/x")]),
    "an address of memory": lambda: of_nodes(
        tensors=[outside(location="*/_ORT_MEM_ADDR_/*", offset="4096")]
    ),
    "no path": lambda: of_nodes(tensors=[outside(location="")]),
    "an entry that nobody knows": lambda: of_nodes(tensors=[outside(basepath="/etc")]),
    "a flag that is unset": unsaid,
    "a flag that is set twice": twice,
    "a branch": lambda: of_nodes(condition(branch(tensors=[outside()]))),
    "a branch in a branch": lambda: deep(3),
    "a loop's body": lambda: of_nodes(
        helper.make_node("Loop", ["n", "yes"], ["z"], body=branch(tensors=[outside()]))
    ),
    "a scan's body": lambda: of_nodes(
        helper.make_node("Scan", ["x"], ["z"], num_scan_inputs=1, body=branch(tensors=[outside()]))
    ),
    "a constant": lambda: of_nodes(constant(value=outside())),
    "a list of tensors": lambda: of_nodes(helper.make_node("Own", [], ["k"], many=[outside()])),
    "a list of graphs": lambda: of_nodes(
        helper.make_node("Own", [], ["k"], many=[branch(tensors=[outside()])])
    ),
    "a sparse constant": lambda: of_nodes(constant(sparse_value=sparse(outside(), places()))),
    "sparse values": lambda: in_sparse("values"),
    "sparse places": lambda: in_sparse("indices"),
    "a function": in_function,
    "a function's default": in_function_default,
    "training, before": lambda: in_training("initialization"),
    "training, its step": lambda: in_training("algorithm"),
}
RUNS: dict[str, Make] = {
    "an operator of a stranger": lambda: of_nodes(
        helper.make_node("Shell", ["x"], ["z"], domain="com.evil")
    ),
    "an operator that reads a context": lambda: of_nodes(
        helper.make_node(
            "EPContext", ["x"], ["z"], domain="com.microsoft", ep_cache_context="/etc/passwd"
        )
    ),
    "an operator of another library": lambda: of_nodes(
        helper.make_node("ATen", ["x"], ["z"], domain="org.pytorch.aten", operator="from_file")
    ),
    "a stranger's operator in a branch": lambda: of_nodes(
        condition(branch([helper.make_node("Shell", [], ["q"], domain="com.evil")]))
    ),
    "a function in the runtime's name": lambda: whole(
        graph(), [function("com.microsoft")]
    ).SerializeToString(),
    "a function in the standard's name": lambda: whole(
        graph(), [function("ai.onnx.ml")]
    ).SerializeToString(),
}
SIZES: dict[str, Make] = {
    "a tensor that promises much": lambda: promised([HUGE]),
    "a tensor whose size overflows": lambda: promised([2**62, 8]),
    "a tensor of a negative size": lambda: promised([-1]),
    "a sparse tensor without end": lambda: of_nodes(
        constant(sparse_value=sparse(plain(), places(), [HUGE]))
    ),
    "an input without end": lambda: sized("input"),
    "a shape without end": lambda: sized("inside"),
}
BROKEN: dict[str, Make] = {
    "the runtime's own format": in_runtime_format,
    "half a file": lambda: of_nodes(tensors=[plain()])[:-9],
    "branches without end": lambda: deep(2000),
    "noise": lambda: b"\x08\x08\x12" + bytes(range(256)) * 4,
}
COSTS: dict[str, Make] = {
    "a loop of 10^12 turns": loop,
    "terabytes of zeros": lambda: memory("ConstantOfShape"),
    "terabytes of a row": lambda: memory("Expand"),
}
REFUSED = READS | RUNS | SIZES | BROKEN
