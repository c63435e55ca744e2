"""Which library a frame belongs to, and what the engine needs from every library."""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from macex.errors import SchemaError
from macex.schema.cells import Array, Cells
from macex.schema.columns import Column, Floats

LibraryName: TypeAlias = Literal["pandas", "polars", "numpy"]
Patch: TypeAlias = tuple[npt.NDArray[np.bool_], Any]


@dataclass(frozen=True)
class Write:
    """Cells to be written into one column of a caller's frame.

    `chosen` (m,) marks them and `values()` gives their Python values. `trained` is the whole
    column (m,) in the dtype of training where training data and caller share a library.
    """

    position: int
    chosen: npt.NDArray[np.bool_]
    values: Callable[[], list[object]]
    trained: Any = None


class Builder(Protocol):
    """Builds frames of the training data's own form from codes."""

    def array(self, at: int, codes: Floats, patch: Patch | None = None) -> Any:
        """One column decoded; a patch (mask, values) goes over it."""

    def originals(self, at: int, values: list[object]) -> Any:
        """A caller's own values in the dtype of training, None where that cannot hold them."""

    def frame(self, codes: Floats, patches: Mapping[int, Patch]) -> Any:
        """The frame of all columns."""


class Library(Protocol):
    """What the engine needs from pandas, polars and NumPy."""

    def labels(self, data: Any) -> list[Hashable]:
        """The column labels."""

    def cells(self, data: Any, names: Sequence[str]) -> Iterator[Cells]:
        """The columns one by one, `names` being what errors call them."""

    def cell(self, data: Any, row: int, position: int) -> object:
        """One cell as it stands."""

    def index(self, data: Any) -> Sequence[object] | None:
        """The labels of the rows, if the library has any."""

    def builder(self, columns: Sequence[Column]) -> Builder:
        """What builds frames for a model trained on these columns."""

    def written(self, data: Any, at: Array, writes: Sequence[Write]) -> Any:
        """Rows `at` of a caller's frame with some cells written."""

    def dtype_to_dict(self, dtype: Any) -> object:
        """A dtype as JSON."""

    def dtype_from_dict(self, stored: Any) -> object:
        """The dtype that was stored."""


def library_of(data: object) -> LibraryName:
    """Which library a frame belongs to.

    >>> library_of(np.zeros((2, 3)))
    'numpy'
    """
    if isinstance(data, pd.DataFrame):
        return "pandas"
    if isinstance(data, np.ndarray):
        return "numpy"
    polars = sys.modules.get("polars")
    if polars is not None and isinstance(data, polars.DataFrame):
        return "polars"
    if polars is not None and isinstance(data, polars.LazyFrame):
        raise SchemaError("the rows are a polars LazyFrame; collect() it first")
    raise SchemaError(
        f"the rows are a {type(data).__name__}; give a pandas or polars frame, a table that "
        "speaks Arrow, or a 2-D array"
    )


def library(name: LibraryName) -> Library:
    """The code for one library, imported when first asked for."""
    if name == "pandas":
        from macex.schema.pandas_frames import Pandas

        return Pandas()
    if name == "polars":
        from macex.schema.polars_frames import Polars

        return Polars()
    from macex.schema.array_frames import Arrays

    return Arrays()
