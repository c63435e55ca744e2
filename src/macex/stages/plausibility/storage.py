"""How real rows look, as plain arrays: bins, weights and trees, and no training row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from macex.schema import Array
from macex.stages.plausibility.inputs import Columns, Inputs, NumberPrediction
from macex.stages.plausibility.measure import Realness
from macex.stages.plausibility.trees import Trees

WAYS = {"plain": False, "log": True}
TREES = ("place", "bound", "equal", "values")


def arrays_of(realness: Realness) -> dict[str, Array]:
    """The arrays that `realness_of` reads."""
    inputs, trees = realness.inputs, realness.trees
    found = {"order": realness.order, "discrete": inputs.columns.discrete}
    found |= {name: getattr(trees, name) for name in TREES}
    found |= _packed("edges", inputs.columns.edges) | _packed("cuts", inputs.cuts)
    for one in inputs.predictions:
        way = "log" if one.logarithms else "plain"
        found[f"{way}.moments"] = np.stack([one.numbers, one.center, one.scale]).astype(float)
        found[f"{way}.weights"] = one.weights
        found[f"{way}.columns"] = np.array(list(one.tables), dtype=int)
        found |= _packed(f"{way}.tables", [table.reshape(-1) for table in one.tables.values()])
    return found


def realness_of(arrays: Mapping[str, Array]) -> Realness:
    """What `arrays_of` was given, without the training rows that it was learnt from."""
    predictions = [
        _prediction(arrays, way) for way in WAYS if f"{way}.moments" in arrays
    ]  # in this order the trees know them
    columns = Columns(arrays["discrete"], _unpacked("edges", arrays))
    inputs = Inputs(columns, tuple(predictions), _unpacked("cuts", arrays))
    trees = Trees(*(arrays[name] for name in TREES))
    return Realness(arrays["order"], inputs, trees, np.zeros(0, int), np.zeros(0))


def _prediction(arrays: Mapping[str, Array], way: str) -> NumberPrediction:
    numbers, center, scale = arrays[f"{way}.moments"]
    columns, width = arrays[f"{way}.columns"].tolist(), len(numbers)
    tables = [table.reshape(-1, width) for table in _unpacked(f"{way}.tables", arrays)]
    return NumberPrediction(
        WAYS[way],
        numbers.astype(int),
        center,
        scale,
        arrays[f"{way}.weights"],
        dict(zip(columns, tables, strict=True)),
    )


def _packed(name: str, parts: Sequence[Array]) -> dict[str, Array]:
    sizes = np.array([len(part) for part in parts], dtype=int)
    return {name: np.concatenate([*parts, np.zeros(0)]), f"{name}.sizes": sizes}


def _unpacked(name: str, arrays: Mapping[str, Array]) -> tuple[Array, ...]:
    ends = np.cumsum(arrays[f"{name}.sizes"])
    return tuple(np.split(arrays[name], ends[:-1])) if len(ends) else ()
