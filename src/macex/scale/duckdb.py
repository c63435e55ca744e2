"""A function of SQL for DuckDB: the features of a row in, its counterfactual out as a struct."""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from macex.ask.constraints import Constraints
from macex.errors import OptionError, needed
from macex.explainer import Explainer
from macex.scale.chunks import question_of
from macex.scale.layout import AnswerField
from macex.scale.partition import Structs, refuse_other, said
from macex.scale.workers import limited_threads
from macex.schema.arrow_tables import pandas_frame

TYPES = {
    "whole": "BIGINT",
    "number": "DOUBLE",
    "truth": "BOOLEAN",
    "text": "VARCHAR",
    "time": "TIMESTAMP",
}


def register(
    connection: Any,
    explainer: Explainer,
    name: str = "counterfactual",
    *,
    want: Any = None,
    constraints: Constraints | Mapping[str, Any] | None = None,
    max_rows: int | None = None,
    margin: float = 1e-6,
    on_error: str = "keep",
    robust: float | None = None,
    also: Iterable[Any] = (),
) -> list[str]:
    """Make a function of SQL known to a DuckDB connection; the names of its arguments, in order.

    Its arguments are the features, in the order of the training rows. It gives a struct of the
    counterfactual's features and its fields: `cf_status`, `cf_label`, `cf_score`,
    `cf_sparsity`, `cf_proximity`, `cf_plausibility`, `cf_minimal` and, where columns have reason
    codes, `cf_reasons`. A row without an answer has its own features and a status that says so.

    Parameters
    ----------
    connection : an open DuckDB connection.
    explainer : an explainer without an audit.
    name : what the function is called in SQL.
    want, constraints, max_rows, margin, on_error, robust, also : as in `Explainer.explain`.
    """
    refuse_other(connection, "create_function", "a DuckDB connection")
    if not isinstance(name, str) or not name.isidentifier():
        raise OptionError(
            f"name= is a word that SQL can say, such as 'counterfactual', not {name!r}"
        )
    question = question_of(locals())
    structs = Structs.of(explainer, question)
    types = {field: _type(kind) for field, kind in structs.fields.items()}
    made = ", ".join(f'"{field}" {kind}' for field, kind in types.items())
    connection.create_function(
        name,
        _function(structs, explainer.columns),
        [types[said(column)] for column in explainer.columns],
        f"STRUCT({made})",
        type="arrow",
        null_handling="special",
    )
    return list(explainer.columns)


def _function(structs: Structs, columns: Sequence[str]) -> Callable[..., Any]:
    """What DuckDB calls with one column of Arrow for each feature."""
    arrow, lock = needed("pyarrow", "files"), threading.Lock()

    def explained(*features: Any) -> Any:
        rows = pandas_frame(arrow.table(dict(zip(columns, features, strict=True))))
        with lock, limited_threads(1):
            answers = structs.made(rows)
        table = arrow.Table.from_pandas(answers, preserve_index=False).combine_chunks()
        cells = [column.combine_chunks() for column in table.columns]
        return arrow.StructArray.from_arrays(cells, table.column_names)

    kind = inspect.Parameter.POSITIONAL_ONLY  # DuckDB counts the parameters
    counted = [inspect.Parameter(f"c{at}", kind) for at in range(len(columns))]
    explained.__signature__ = inspect.Signature(counted)  # type: ignore[attr-defined]
    return explained


def _type(field: AnswerField) -> str:
    if field.kind == "span":
        raise OptionError(
            f"{field.name!r} is a length of time, which DuckDB hands over in months, days and "
            "nanoseconds: explain frames with explain_frames"
        )
    if field.kind == "time" and field.zone:
        return "TIMESTAMP WITH TIME ZONE"
    return TYPES[field.kind]
