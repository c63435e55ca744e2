"""Sets of time series for the benchmarks: from a folder, from aeon, or from the peers' aeon."""

from __future__ import annotations

import os
from pathlib import Path

from macex.baselines.peers.process import PEERS, PEERS_VARIABLE
from macex.datasets import SeriesDataset, load_series
from macex.datasets.series import AEON
from macex.errors import DataError

INSIDE = "lib/python*/site-packages/aeon/datasets/data"


def series_set(name: str, folder: str | Path | None = None) -> SeriesDataset:
    """The set, which `make peers` has brought if it is one of aeon's and aeon is not here."""
    try:
        return load_series(name, folder=folder)
    except DataError:
        place = _of_peers()
        if place is None or not name.startswith(AEON):
            raise
        return load_series(name, folder=place)


def _of_peers() -> Path | None:
    """The folder of the data that aeon ships, in the environment of `make peers`."""
    given = Path(os.environ.get(PEERS_VARIABLE) or PEERS)
    room = given.parent.parent if given.is_file() else given
    return next(iter(sorted(room.glob(INSIDE))), None)
