"""The results: one line for every answer, in Parquet files that any tool reads.

A query without an answer has one line with `rank` 0 and empty measures. `COLUMNS` documents every
column; a file of results has exactly these.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from macex.errors import DataError
from macex.render.exports import write_whole

COLUMNS: dict[str, tuple[str, str]] = {
    "dataset": ("string", "the table"),
    "model": ("string", "the kind of model"),
    "split": ("int32", "which split into training and test rows"),
    "method": ("string", "who answered"),
    "budget": ("int32", "the most rows the model may be asked about for one query"),
    "seed": ("int32", "the seed of the method"),
    "n": ("int32", "how many answers were asked for"),
    "query": ("int32", "the place among the test rows drawn; -1 where no model could be fitted"),
    "rank": ("int32", "1 is the first answer of a query; 0 says that there is none"),
    "label": ("string", "what the model says of the query"),
    "row": ("string", "the query as JSON, on its first line"),
    "changes": ("string", "changed columns with their values before and after, as JSON"),
    "valid": ("bool", "whether the model itself says that the goal is reached"),
    "changed": ("double", "changed columns"),
    "distance": ("double", "distance to the query; numbers over the column's median"),
    "distance_mad": ("double", "the same over the median absolute deviation"),
    "distance_percentile": ("double", "the same in shares of training rows passed"),
    "plausibility": ("double", "share of training rows so decided that look no more real"),
    "lof": ("double", "1 for an outlier by the local outlier factor"),
    "isolation": ("double", "1 for an outlier by an isolation forest"),
    "real": ("double", "distance to the nearest training row"),
    "broken": ("double", "relations between columns that the query keeps and the answer breaks"),
    "kept": ("double", "made tables: 1 if the answer keeps what the rows were made by"),
    "noise": ("double", "share of 20 copies with a little noise that reach the goal"),
    "refits": ("double", "share of 3 refits on bootstrap samples that agree with the answer"),
    "lawful": ("double", "1 if the constraints of the table are kept"),
    "idle": ("double", "changes that can be taken back alone"),
    "excess": ("double", "small tables: changes above the fewest there are"),
    "diversity_dpp": ("double", "sets: determinant of 1 / (1 + distance), on the first line"),
    "diversity_sets": ("double", "sets: mean Jaccard distance of the changed columns"),
    "diversity_spread": ("double", "sets: mean distance between answers"),
    "rows": ("double", "rows the model was asked about, for this query"),
    "calls": ("double", "calls of the model in which this query took part"),
    "seconds": ("double", "CPU seconds a query, of a batch; building the method is apart"),
    "setup": ("double", "CPU seconds to build the method"),
    "memory": ("double", "MiB that the batch took at most, beyond what was held before"),
    "took": ("double", "CPU seconds of all that was asked and measured together"),
    "error": (
        "string",
        "what the method raised instead of an answer, or the model when it was fitted",
    ),
    "code": ("string", "the version of the code that measured it"),
}
KEYS = ("dataset", "model", "split", "method", "budget", "seed", "n")
MEASURES = tuple(list(COLUMNS)[list(COLUMNS).index("changed") : list(COLUMNS).index("took")])
PARTS = "parts"
NO_CELL = -1  # the query of a line that says why a cell has no model


@dataclass(frozen=True, order=True)
class ArenaTask:
    """What one method is asked in one cell: the smallest piece that is done, and done once."""

    dataset: str
    model: str
    split: int
    method: str
    budget: int
    seed: int
    n: int
    queries: int
    data: str = ""  # the mark of the table, `ArenaTable.mark`

    @property
    def file(self) -> str:
        """The name of its file."""
        text = "|".join(f"{value}" for value in asdict(self).values())
        return hashlib.sha256(text.encode()).hexdigest()[:16] + ".parquet"

    @property
    def keys(self) -> dict[str, Any]:
        """Its fields that results hold."""
        return {name: getattr(self, name) for name in KEYS}


def write_part(folder: Path, task: ArenaTask, lines: Sequence[dict[str, Any]]) -> None:
    """Write the lines of a task at once, in the documented columns and types."""
    (folder / PARTS).mkdir(parents=True, exist_ok=True)
    write_lines(folder / PARTS / task.file, pd.DataFrame(lines))


def write_lines(path: Path, lines: pd.DataFrame) -> None:
    """Write any lines of results as one file."""
    import io

    pa, parquet = _arrow()
    fields = [pa.field(name, getattr(pa, _type(kind))()) for name, (kind, _) in COLUMNS.items()]
    table = pa.Table.from_pandas(
        lines.reindex(columns=list(COLUMNS)), pa.schema(fields), preserve_index=False
    )
    described = {f"column.{name}": said for name, (_, said) in COLUMNS.items()}
    held = io.BytesIO()
    parquet.write_table(table.replace_schema_metadata(described), held, compression="zstd")
    write_whole(path, held.getvalue())


def done(folder: Path, task: ArenaTask, code: str) -> bool:
    """Whether a task was done, by this version of the code and without an error."""
    path = folder / PARTS / task.file
    if not path.is_file():
        return False
    lines = pd.read_parquet(path, columns=["code", "error"])
    return bool((lines["code"] == code).all() and lines["error"].isna().all())


def read_parts(folder: Path, tasks: Iterable[ArenaTask]) -> pd.DataFrame:
    """The lines of all tasks that were done."""
    paths = [folder / PARTS / task.file for task in tasks]
    found = [pd.read_parquet(path) for path in paths if path.is_file()]
    if not found:
        raise DataError(f"{str(folder)!r} holds no results of this selection")
    return pd.concat(found, ignore_index=True)


def read_results(paths: Iterable[Path]) -> pd.DataFrame:
    """The lines of files of results, each answer once: several machines may have done a run."""
    found = []
    for path in paths:
        if not path.is_file():
            raise DataError(f"--results: there is no file {str(path)!r}")
        try:
            lines = pd.read_parquet(path)
        except (ValueError, OSError) as error:  # what pyarrow raises
            raise DataError(f"--results: {str(path)!r} is no Parquet file: {error}") from error
        if lacking := [name for name in COLUMNS if name not in lines]:
            raise DataError(f"--results: {str(path)!r} lacks the columns {lacking}")
        found.append(lines[list(COLUMNS)])
    every = pd.concat(found, ignore_index=True)
    return every.drop_duplicates([*KEYS, "query", "rank"], ignore_index=True)


def asked(lines: pd.DataFrame) -> pd.DataFrame:
    """The lines of cells that have a model, so that methods were asked."""
    return lines[lines["query"] != NO_CELL]


def _type(kind: str) -> str:
    return {"bool": "bool_", "double": "float64"}.get(kind, kind)


def _arrow() -> tuple[Any, Any]:
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError as error:
        raise ImportError("pyarrow is not installed: pip install macex[bench]") from error
    return pa, parquet
