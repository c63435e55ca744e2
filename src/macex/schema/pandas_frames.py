"""pandas: frames into cells, codes into frames."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype

from macex.errors import SchemaError
from macex.schema.cells import BLANKS, Array, Cells, array_cells, unsupported
from macex.schema.codes import Decoders, objects, plain_column, plain_numbers
from macex.schema.columns import Column, Floats
from macex.schema.frames import Patch, Write


class Pandas:
    """What the engine needs from pandas."""

    def labels(self, data: pd.DataFrame) -> list[Hashable]:
        """The column labels."""
        if isinstance(data.columns, pd.MultiIndex):
            raise SchemaError(
                "the columns are a MultiIndex; flatten them: "
                "data.columns = ['_'.join(map(str, label)) for label in data.columns]"
            )
        return list(data.columns)

    def cells(self, data: pd.DataFrame, names: Sequence[str]) -> Iterator[Cells]:
        """The columns one by one."""
        for name, array in zip(names, _arrays(data), strict=True):
            yield _cells(array, name)

    def cell(self, data: pd.DataFrame, row: int, position: int) -> object:
        """One cell as it stands."""
        return data.iloc[row, position]

    def index(self, data: pd.DataFrame) -> Sequence[object] | None:
        """The labels of the rows."""
        labels = data.index
        if isinstance(labels, pd.RangeIndex):
            return range(labels.start, labels.stop, labels.step)
        return labels.tolist()

    def builder(self, columns: Sequence[Column]) -> PandasBuilder:
        """What builds frames for a model trained on these columns."""
        return PandasBuilder(columns)

    def written(self, data: pd.DataFrame, at: Array, writes: Sequence[Write]) -> pd.DataFrame:
        """Rows `at` of a caller's frame with some cells written."""
        frame = data.set_flags(allows_duplicate_labels=True).take(at)
        for write in writes:
            array = _overwritten(frame.iloc[:, write.position].array.copy(), write)
            series = pd.Series(array, index=frame.index, dtype=array.dtype, copy=False)
            frame.isetitem(write.position, series)
        return frame

    def dtype_to_dict(self, dtype: Any) -> object:
        """A dtype as JSON."""
        if isinstance(dtype, pd.CategoricalDtype):
            categories = dtype.categories
            return {
                "categories": categories.tolist(),
                "of": self.dtype_to_dict(categories.dtype),
                "ordered": bool(dtype.ordered),
            }
        if isinstance(dtype, pd.StringDtype):
            return {"string": dtype.storage, "blank": "NA" if dtype.na_value is pd.NA else "nan"}
        return str(dtype)

    def dtype_from_dict(self, stored: Any) -> object:
        """The dtype that was stored."""
        if isinstance(stored, str):
            return pd.api.types.pandas_dtype(stored)
        if "string" in stored:
            blank: Any = BLANKS[stored["blank"]]
            if blank is pd.NA:
                return pd.StringDtype(stored["string"])  # pandas 2.2 knows no other blank
            return pd.StringDtype(stored["string"], na_value=blank)
        of: Any = self.dtype_from_dict(stored["of"])
        categories: Any = pd.Index(stored["categories"], dtype=of)
        return pd.CategoricalDtype(categories, ordered=stored["ordered"])


def _arrays(data: pd.DataFrame) -> Iterator[Any]:
    """The columns as arrays, to be read only.

    An internal shortcut of pandas is ten times as fast as making a series of each column, which
    matters for a frame of one row.
    """
    own_way = getattr(data, "_iter_column_arrays", None)
    if callable(own_way):
        return iter(own_way())
    columns = (series for _, series in data.items())
    return (s.to_numpy() if isinstance(s.dtype, np.dtype) else s.array for s in columns)


def _cells(array: Any, name: str) -> Cells:
    dtype = array.dtype
    if isinstance(dtype, np.dtype):
        values = np.asarray(array).view()
        values.flags.writeable = False
        return array_cells(values, name)
    missing = np.asarray(array.isna())
    if isinstance(dtype, pd.CategoricalDtype):
        declared = tuple(dtype.categories.tolist())
        values = objects([*declared, None]).take(array.codes)
        return Cells(
            "object", values, missing, dtype, declared=declared, ordered=bool(dtype.ordered)
        )
    if isinstance(dtype, pd.StringDtype):
        return Cells("object", array.to_numpy(dtype=object), missing, dtype)
    if isinstance(dtype, pd.BooleanDtype):
        return Cells("bool", array.to_numpy(dtype=bool, na_value=False), missing, dtype)
    if isinstance(dtype, pd.DatetimeTZDtype):
        stamps = array.tz_convert("UTC").tz_localize(None).to_numpy()
        return Cells("time", stamps, missing, dtype, zone=str(dtype.tz))
    kept = getattr(dtype, "numpy_dtype", None)
    if not is_numeric_dtype(dtype) or not isinstance(kept, np.dtype) or kept.kind not in "iuf":
        raise unsupported(name, dtype)
    values = array.to_numpy(dtype=kept, na_value=0)
    if kept.kind == "f":
        return Cells("number", values, missing | np.isnan(values), dtype, several_blanks=True)
    return Cells("number", values, missing, dtype)


def _overwritten(array: Any, write: Write) -> Any:
    """A caller's column with the chosen cells written, in a wider dtype only where needed."""
    trained, chosen = write.trained, write.chosen
    text = isinstance(array.dtype, pd.StringDtype)  # without pyarrow it is such an array, too
    plain = isinstance(array, pd.arrays.NumpyExtensionArray) and not text
    own = array.dtype.numpy_dtype if plain else array.dtype
    same = trained is not None and str(trained.dtype) == str(own)
    if same and bool(trained.dtype == own):
        array[chosen] = trained[chosen]
        return array
    values = write.values()
    if isinstance(array.dtype, pd.CategoricalDtype):
        levels = _levels(array.categories, values, trained)
        array = array.set_categories(levels).copy()  # its codes may be read-only otherwise
        array[chosen] = values
        return array
    fitting = _fitting(values, array.dtype)
    if fitting is not None:
        array[chosen] = fitting
        return array
    if trained is not None:
        return pd.array(trained, dtype=trained.dtype, copy=False)
    array = array.astype(object)
    array[chosen] = values
    return pd.Series(list(array)).array


def _levels(own: Any, values: list[object], trained: Any) -> list[object]:
    """Levels for a column and its new values: those of training if it knows them all."""
    needed = dict.fromkeys([*own, *(value for value in values if value is not None)])
    known = list(getattr(getattr(trained, "dtype", None), "categories", ()))
    return known if all(value in known for value in needed) else list(needed)


def _fitting(values: list[object], dtype: Any) -> Any:
    """The values in a dtype, or None where it cannot hold them."""
    try:
        array = pd.array(objects(values), dtype=dtype)
    except (TypeError, ValueError, OverflowError):
        return None
    return array if all(map(_equal, array, values)) else None


def _equal(held: Any, wanted: object) -> bool:
    if wanted is None or pd.isna(held):
        return bool(pd.isna(held)) and wanted is None
    return bool((held.item() if isinstance(held, np.generic) else held) == wanted)


class PandasBuilder(Decoders):
    """Builds pandas frames from codes, natively: this runs for every call of the model.

    pandas holds the columns of one NumPy dtype in one array, a line each, and any other column in
    an array of its own. Frames are made of these arrays, so that numbers are decoded at once.
    """

    def __init__(self, columns: Sequence[Column]) -> None:
        super().__init__(columns)
        self.labels = pd.Index([column.label for column in columns], tupleize_cols=False)
        kinds: dict[Any, list[int]] = {}
        for at in range(len(columns)):
            kinds.setdefault(self.array(at, np.zeros(0)).dtype, []).append(at)
        joint = {kind: places for kind, places in kinds.items() if isinstance(kind, np.dtype)}
        self.lines = [Lines.of(columns, kind, places) for kind, places in joint.items()]
        own = np.setdiff1d(np.arange(len(columns)), [at for part in joint.values() for at in part])
        self.own = [(int(at), own[turn : turn + 1]) for turn, at in enumerate(own)]

    def frame(self, codes: Floats, patches: Mapping[int, Patch]) -> pd.DataFrame:
        """The frame of all columns."""
        if self.uniform is not None:
            block = self.block(codes, self.uniform, patches)
            return pd.DataFrame(block, columns=self.labels, copy=False)
        arrays = [(self._joint(lines, codes, patches), lines.places) for lines in self.lines]
        texts = {} if self.texts is None else self.texts(codes)
        for at, place in self.own:
            known = at in texts and at not in patches
            array = texts[at] if known else self.array(at, codes[:, at], patches.get(at))
            arrays.append((array, place))
        return _frame(arrays, pd.RangeIndex(len(codes)), self.labels)

    def _joint(self, lines: Lines, codes: Floats, patches: Mapping[int, Patch]) -> Array:
        """The columns of one NumPy dtype, (lines, rows)."""
        if lines.others:
            held = np.empty((len(lines.places), len(codes)), lines.kind)
            for line, at in lines.others:
                held[line] = self.decoders[at](codes[:, at])
            if len(lines.numbers):
                held[lines.numbers] = _numbers(codes, lines.places[lines.numbers], lines.kind)
        else:
            held = _numbers(codes, lines.places, lines.kind)
        for at, (mask, values) in patches.items():
            if at in lines.line:
                held[lines.line[at], mask] = values
        return held


@dataclass(frozen=True)
class Lines:
    """The columns of one NumPy dtype."""

    kind: np.dtype[Any]
    places: Array  # (c,) which columns
    line: Mapping[int, int]  # column -> its line
    numbers: Array  # (p,) the lines of plain numbers
    others: tuple[tuple[int, int], ...]  # line and column of what is no plain number

    @staticmethod
    def of(columns: Sequence[Column], kind: np.dtype[Any], places: Sequence[int]) -> Lines:
        """The lines for the columns at some places."""
        line = {at: turn for turn, at in enumerate(places)}
        numbers = [line[at] for at in places if plain_column(columns[at])]
        others = tuple((turn, at) for at, turn in line.items() if not plain_column(columns[at]))
        return Lines(kind, np.array(places), line, np.array(numbers, np.intp), others)


def _numbers(codes: Floats, places: Array, kind: np.dtype[Any]) -> Array:
    """Columns of plain numbers, (columns, rows)."""
    return plain_numbers(codes.T.take(places, axis=0), kind)


def _frame(arrays: list[tuple[Any, Array]], index: pd.RangeIndex, labels: Any) -> pd.DataFrame:
    """A frame of arrays (lines, rows) or (rows,), each with the columns that it holds."""
    door = getattr(pd.api, "internals", None)  # since pandas 3
    if door is not None:
        made: pd.DataFrame = door.create_dataframe_from_blocks(arrays, index, labels)
        return made
    single = {
        at: array[line] if array.ndim == 2 else array
        for array, places in arrays
        for line, at in enumerate(places.tolist())
    }
    older: Any = pd.DataFrame
    ordered = list(map(single.get, range(len(labels))))
    found: pd.DataFrame = older._from_arrays(ordered, labels, index, verify_integrity=False)  # noqa: SLF001
    return found
