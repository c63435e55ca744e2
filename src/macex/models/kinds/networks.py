"""PyTorch and Keras networks: frames made into tensors on the network's own device."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from macex.errors import needed
from macex.models.kinds.matrix import Matrix
from macex.schema import Array


class Network:
    """A PyTorch module or Keras model as a function of a frame.

    Parameters
    ----------
    module : the network; its device is kept, and it is asked in evaluation mode, without gradients.
    prepare : turns a frame into what the network takes: an array or tensor, or a tuple, list or
        mapping of them. Without it the columns must be numbers and become one float32 matrix.
    classes : names of the outputs in order; one output and two names make it the second's.
    logits : the outputs are log odds, to be read as probabilities: sigmoid of one, softmax of many.
    """

    def __init__(
        self,
        module: Any,
        prepare: Callable[[Any], Any] | None = None,
        *,
        classes: Sequence[object] | None = None,
        logits: bool = False,
    ) -> None:
        self.module = module
        self.prepare = prepare or _matrix
        self.logits = logits
        self.classes_ = None if classes is None else tuple(classes)
        self._ask = _keras if _is_keras(module) else _torch

    def __call__(self, frame: Any) -> Array:
        """The scores of a frame."""
        outputs = np.asarray(self._ask(self.module, self.prepare(frame)), dtype=float)
        return _probabilities(outputs) if self.logits else outputs

    def __repr__(self) -> str:
        return f"Network({type(self.module).__name__}, classes={self.classes_})"


def _matrix(frame: Any) -> Array:
    return Matrix()(frame).astype(np.float32)


def _is_keras(module: Any) -> bool:
    return any(kind.__module__.startswith("keras.") for kind in type(module).__mro__)


def _keras(model: Any, inputs: Any) -> Array:
    return model.predict_on_batch(inputs)


def _torch(module: Any, inputs: Any) -> Array:
    torch = needed("torch", "torch")
    weight = next(module.parameters(), None)
    device = torch.device("cpu") if weight is None else weight.device
    with evaluating(module), torch.inference_mode():
        return _called(module, _moved(torch, inputs, device)).float().cpu().numpy()


@contextmanager
def evaluating(module: Any) -> Iterator[None]:
    """A torch module as it predicts; each of its layers then goes on as it was."""
    learning = [layer for layer in module.modules() if layer.training]
    for layer in learning:
        layer.training = False
    try:
        yield
    finally:
        for layer in learning:
            layer.training = True


def _called(module: Any, inputs: Any) -> Any:
    if isinstance(inputs, (tuple, list)):
        return module(*inputs)
    return module(inputs)


def _moved(torch: Any, inputs: Any, device: Any) -> Any:
    """Tensors on the device of the network."""
    if isinstance(inputs, Mapping):
        return {name: _moved(torch, part, device) for name, part in inputs.items()}
    if isinstance(inputs, (tuple, list)):
        return [_moved(torch, part, device) for part in inputs]
    if isinstance(inputs, np.ndarray):
        inputs = np.require(inputs, requirements="W")  # frames hand out arrays that are read-only
    return torch.as_tensor(inputs, device=device)


def _probabilities(logits: Array) -> Array:
    """Log odds as probabilities.

    >>> _probabilities(np.array([[0.0, 0.0], [0.0, 1000.0]])).tolist()
    [[0.5, 0.5], [0.0, 1.0]]
    """
    if logits.ndim == 1 or logits.shape[1] == 1:
        return np.exp(-np.logaddexp(0, -logits))
    weights = np.exp(logits - logits.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True)
