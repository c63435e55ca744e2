"""From a model to the splits of its trees, through pipelines and whatever joins several models."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from typing import Any

from macex.models.trees.splits import Reading, unreadable

READERS = {
    "catboost": "macex.models.trees.catboost_trees",
    "lightgbm": "macex.models.trees.lightgbm_trees",
    "sklearn": "macex.models.trees.sklearn_trees",
    "xgboost": "macex.models.trees.xgboost_trees",
}


def readings(model: Any) -> list[Reading]:
    """Every set of splits in a model, each with the steps before it."""
    library = next(
        (
            room
            for room in (k.__module__.split(".")[0] for k in type(model).__mro__)
            if room in READERS
        ),
        None,
    )
    if library is None:
        raise unreadable(f"the model is a {type(model).__name__}")
    if library == "sklearn":
        return _of_sklearn(model)
    return _read(library, model)


def _read(library: str, model: Any) -> list[Reading]:
    return [Reading(splits) for splits in import_module(READERS[library]).read(model)]


def _of_sklearn(model: Any) -> list[Reading]:
    from macex.models.trees.sklearn_trees import BAGS, INNER, bagged

    kind = type(model).__name__
    if hasattr(model, "steps"):
        *steps, last = [step for _, step in model.steps]
        return [replace(reading, steps=(*steps, *reading.steps)) for reading in readings(last)]
    if kind in INNER:
        return [reading for inner in INNER[kind](model) for reading in readings(inner)]
    if kind in BAGS:
        found = []
        for member, subset in bagged(model):
            for reading in readings(member):
                if reading.steps or reading.subset is not None:
                    raise unreadable(f"the members of the {kind} are no plain trees")
                found.append(replace(reading, subset=subset))
        return found
    return _read("sklearn", model)
