"""Datasets by name: the paper's own, and those that were added.

Another package adds one by an entry point of the group `macex.datasets`, a program by `register`;
either names a function without arguments that returns a `Dataset`.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

from macex.datasets.series import SERIES
from macex.datasets.tables import NAMES, Dataset, load_table
from macex.errors import DataError, closest

GROUP = "macex.datasets"
Loader = Callable[[], Dataset]

_registered: dict[str, Loader] = {}


def register(name: str, loader: Loader) -> None:
    """Make `load(name)` return what `loader()` returns; the paper's names cannot be used.

    >>> import numpy as np, pandas as pd
    >>> def coins():
    ...     frame = pd.DataFrame({"side": ["head", "tail"]})
    ...     return Dataset("coins", frame, np.array([0, 1]), ("no", "yes"), ("side",), (), "mine")
    >>> register("coins", coins)
    >>> load("coins")
    Dataset('coins', 2 rows, 1 columns)
    """
    if name in NAMES or name in SERIES:
        raise DataError(f"{name!r} is a dataset of macex's own; register yours by another name")
    if not callable(loader):
        raise DataError(f"register({name!r}) needs a function that returns a Dataset")
    _registered[name] = loader


def names() -> tuple[str, ...]:
    """All tables that `load` knows: the paper's, registered ones, and those of other packages."""
    return tuple(dict.fromkeys([*NAMES, *_registered, *_entry_points()]))


def load(
    name: str,
    *,
    variant: str | None = None,
    folder: str | Path | None = None,
    download: bool = True,
) -> Dataset:
    """Load a dataset by name.

    "adult", "breast" and "german" come with macex. "compas", "credit" and "titanic" are read from
    `folder`, or from the folder named by the environment variable MACEX_DATA, or else are fetched
    from OpenML in its own version. `variant="paper"` prepares them as the paper prints them, which
    makes a difference to the fares of "titanic".

    >>> load("adult")
    Dataset('adult', 48842 rows, 8 columns)
    >>> int(load("breast").label.sum())
    239
    """
    if name in NAMES:
        return load_table(name, variant, folder, download=download)
    if name in SERIES:
        raise DataError(f"{name!r} is a set of time series: use load_series({name!r})")
    loader = _registered.get(name) or _entry_loader(name)
    if variant is not None:
        raise DataError(f"dataset {name!r} has no variant {variant!r}; leave variant=None")
    try:
        found = loader()
    except DataError:
        raise
    except Exception as error:
        raise DataError(f"the loader of dataset {name!r} raised {error!r}") from error
    if not isinstance(found, Dataset):
        raise DataError(
            f"the loader of dataset {name!r} returned {type(found).__name__}, not a Dataset"
        )
    return found


def _entry_points() -> dict[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=GROUP)}


def _entry_loader(name: str) -> Loader:
    point = _entry_points().get(name)
    if point is None:
        raise DataError(f"no dataset is called {name!r}{closest(name, names())}")
    try:
        loader: Loader = point.load()
    except Exception as error:
        raise DataError(f"dataset {name!r} ({point.value}) cannot be loaded: {error!r}") from error
    return loader
