"""Questions about a population whose rows are spread over the partitions of an engine.

A pass sends the explainer and what is to be found of a frame to where the rows are. What is found
of every frame comes back pickled, and is added up where the question was asked.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import pandas as pd

from macex.errors import DataError, closest
from macex.explainer import Explainer
from macex.scale.partition import carried_columns, cut, features_of
from macex.scale.passes import Work
from macex.scale.populations import PartedPopulation


@dataclass(frozen=True)
class Finder:
    """What travels to a worker: who is asked, and what is to be found of a frame."""

    explainer: Explainer
    index: str | None  # the column that names the rows
    work: Work

    def found(self, frame: pd.DataFrame) -> Iterator[bytes]:
        """What is found of the rows of a partition, some thousands at a time."""
        for part in cut(frame):
            features = features_of(self.explainer, part)
            if self.index is not None:
                features.index = pd.Index(part[self.index])
            yield pickle.dumps(self.work(features))


def spread(
    explainer: Explainer,
    columns: Iterable[Any],
    index: str | None,
    sent: Callable[[Finder], Iterable[bytes]],
) -> PartedPopulation:
    """A population in a table with these columns; `sent` runs a finder on all its partitions."""
    names = list(map(str, columns))
    carried_columns(explainer, names)
    if index is not None and index not in names:
        raise DataError(
            f"index names {index!r}, which the table does not have{closest(index, names)}"
        )
    return PartedPopulation(explainer, partial(_over, explainer, index, sent))


def _over(
    explainer: Explainer,
    index: str | None,
    sent: Callable[[Finder], Iterable[bytes]],
    work: Work,
) -> Iterator[Any]:
    return map(pickle.loads, sent(Finder(explainer, index, work)))
