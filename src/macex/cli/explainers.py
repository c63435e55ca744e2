"""The explainer that a command asks: made of the training rows, or saved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from macex.cli.inputs import Training, classes_named, label_hint, model_for
from macex.cli.toml import read_causes, read_structure
from macex.engine.options import PREFERENCES, STRUCTURES
from macex.errors import OptionError
from macex.explainer import Explainer
from macex.stages.search.names import DEFAULT_SEARCH

DEFAULTS = {"method": DEFAULT_SEARCH, "prefer": PREFERENCES[0], "seed": 0}


def explainer_made(
    learnt: Training,
    files: Mapping[str, Any],
    reading: Mapping[str, Any],
    more: Mapping[str, Any] | None = None,
) -> Explainer:
    """The explainer of the model, constraints and classes that `files` name.

    `reading` says how the model is opened; `more` are further arguments of `Explainer`.
    """
    data, label, rules = files["data"], files["label"], files["constraints"]
    opened = model_for(files["model"], data, learnt.rows, **reading)
    stated = {"structure": read_structure(rules) or STRUCTURES[0], "causes": read_causes(rules)}
    with label_hint(data, label):
        return Explainer(
            opened,
            learnt.rows,
            schema=learnt.kinds,
            classes=classes_named(files["classes"]),
            **{**stated, **(more or {})},
        )


def refuse_beside(explainer: Path, said: Mapping[str, Any]) -> None:
    """Refuse options that a saved explainer has answered already."""
    for option, value in said.items():
        if value != DEFAULTS.get(option):
            raise OptionError(
                f"--{option} stands beside --explainer {explainer}: it was settled when the "
                "explainer was made; leave one of them out"
            )


def required(data: Path | None) -> Path:
    """The training rows, which are needed where no explainer was saved."""
    if data is None:
        raise OptionError("give the training rows as --data, or a saved explainer as --explainer")
    return data


def columns_dropped(drop: Sequence[str] | None, label: str | None) -> tuple[str, ...]:
    """The columns of the rows that are not features."""
    return (*(drop or ()), *(() if label is None else (label,)))
