"""Sets of time series for the benchmarks: from a folder, from here, or from where the peers are."""

from __future__ import annotations

import os
from pathlib import Path

from macex.baselines.peers.process import PEERS, PEERS_VARIABLE
from macex.datasets import SeriesDataset, load_series
from macex.datasets.series import AEON, HEARTBEATS
from macex.errors import DataError

INSIDE = {  # the environment of the peers
    AEON: "lib/python*/site-packages/aeon/datasets/data",
    HEARTBEATS: "lib/python*/site-packages/systole/datasets",
}


def series_set(name: str, folder: str | Path | None = None) -> SeriesDataset:
    """The set, which `make peers` has brought if it is one of a package that is not here."""
    try:
        return load_series(name, folder=folder)
    except DataError:
        place = _of_peers(name)
        if place is None:
            raise
        return load_series(name, folder=place)


def _of_peers(name: str) -> Path | None:
    """The folder of the data of a package, in the environment of `make peers`."""
    given = Path(os.environ.get(PEERS_VARIABLE) or PEERS)
    room = given.parent.parent if given.is_file() else given
    places = [place for start, place in INSIDE.items() if name.startswith(start)]
    return next((found for place in places for found in sorted(room.glob(place))), None)
