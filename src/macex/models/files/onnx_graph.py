"""Checking an ONNX file before a runtime reads it.

A tensor of an ONNX file may be stored in another file, at a path that the ONNX file names, and a
runtime reads whatever is there. So the file is parsed as a protocol buffer, every message in it is
checked, and the runtime gets only what was checked: unknown fields are left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import Any

from macex.errors import ModelFileError, needed

STANDARD = ("", "ai.onnx", "ai.onnx.ml")
NOT_FOR_FUNCTIONS = ("ai.onnx", "com.microsoft", "com.ms", "org.pytorch", "onnx")
MOST_CELLS = 100_000_000  # of a shape that is written in the file
PACKED = 8  # numbers that a byte, or an entry of a list, may stand for: more than any type has
LISTS = ("float_data", "int32_data", "string_data", "int64_data", "double_data", "uint64_data")
ORT = b"ORTM"  # at byte 4: a format of onnxruntime's own, in which nothing can be looked at


def checked(content: bytes) -> bytes:
    """The content of an ONNX file as a runtime may see it; raises for what it must not see."""
    onnx = needed("onnx", "onnx")
    if content[4:8] == ORT:
        raise ModelFileError("the file is in onnxruntime's own format: save it as ONNX")
    try:
        model = onnx.ModelProto.FromString(content)
    except Exception as error:  # google.protobuf's, which is no dependency of ours
        raise ModelFileError(f"the ONNX file is broken: {error}") from error
    functions = {(function.domain, function.name) for function in model.functions}
    for message in _messages(model):
        check = CHECKS.get(message.DESCRIPTOR.name)
        if check is not None:
            check(message)
        elif message.DESCRIPTOR.name == "NodeProto":
            _check_node(message, functions)
    model.DiscardUnknownFields()
    return model.SerializeToString()


def _messages(root: Any) -> Iterator[Any]:
    """A message and all messages in it, however deep."""
    waiting = [root]
    while waiting:
        message = waiting.pop()
        yield message
        for field, value in message.ListFields():
            if field.type == field.TYPE_MESSAGE:
                waiting.extend([value] if hasattr(value, "ListFields") else value)


def _check_tensor(tensor: Any) -> None:
    if tensor.data_location or tensor.external_data:
        where = {entry.key: entry.value for entry in tensor.external_data}.get("location", "")
        raise ModelFileError(
            f"the ONNX file's tensor {tensor.name[:80]!r} lies in another file, {where[:80]!r}: "
            "save the model with its tensors inside, save_as_external_data=False"
        )
    held = len(tensor.raw_data) + sum(len(getattr(tensor, part)) for part in LISTS)
    if min(tensor.dims, default=0) < 0 or prod(tensor.dims) > PACKED * held:
        raise ModelFileError(
            f"the ONNX file's tensor {tensor.name[:80]!r} says that it is {_shape(tensor.dims)} "
            f"and holds {held:,} bytes or numbers"
        )


def _check_sparse(tensor: Any) -> None:
    if min(tensor.dims, default=0) < 0 or prod(tensor.dims) > MOST_CELLS:
        raise ModelFileError(
            f"the ONNX file's sparse tensor {tensor.values.name[:80]!r} is {_shape(tensor.dims)}: "
            f"at most {MOST_CELLS:,} cells are opened"
        )


def _check_shape(shape: Any) -> None:
    sizes = [max(size.dim_value, 1) for size in shape.dim]
    if prod(sizes) > MOST_CELLS:
        raise ModelFileError(
            f"the ONNX file declares an array of {_shape(sizes)}: at most {MOST_CELLS:,} cells "
            "are opened"
        )


def _check_function(function: Any) -> None:
    if function.domain.partition(".")[0] == "" or function.domain.startswith(NOT_FOR_FUNCTIONS):
        raise ModelFileError(
            f"the ONNX file defines {function.name[:80]!r} of the domain {function.domain[:80]!r}, "
            "which is the runtime's own"
        )


def _check_node(node: Any, functions: set[tuple[str, str]]) -> None:
    if node.domain not in STANDARD and (node.domain, node.op_type) not in functions:
        raise ModelFileError(
            f"the ONNX file has an operator {node.op_type[:80]!r} of the domain "
            f"{node.domain[:80]!r}, and only those of the ONNX standard are run; if you trust "
            "whoever wrote it, give Explainer an onnxruntime.InferenceSession of it"
        )


def _shape(dims: Any) -> str:
    shown = " x ".join(f"{size:,}" for size in list(dims)[:6])
    return f"{shown} x …" if len(dims) > 6 else shown


CHECKS = {
    "FunctionProto": _check_function,
    "SparseTensorProto": _check_sparse,
    "TensorProto": _check_tensor,
    "TensorShapeProto": _check_shape,
}
