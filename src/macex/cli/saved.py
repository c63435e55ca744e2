"""A saved explainer in place of the training rows and their options."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from macex.engine.options import PREFERENCES
from macex.errors import OptionError
from macex.stages.search.names import DEFAULT_SEARCH

DEFAULTS = {"method": DEFAULT_SEARCH, "prefer": PREFERENCES[0], "seed": 0}


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
