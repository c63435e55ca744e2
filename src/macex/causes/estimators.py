"""Estimators of scikit-learn's kind as mechanisms use them.

They are fitted and asked on one thread: the tables are small, and threads would wait. One that
fails, or says what cannot be, is an error that names it.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache
from typing import Any

import numpy as np
from threadpoolctl import ThreadpoolController

from macex.errors import ConstraintError
from macex.schema import Array


def learnt(estimator: Any, table: Array, values: Array) -> Any:
    """A clone of an estimator, fitted to a table (n, t) and values (n,)."""
    from sklearn.base import clone

    try:
        with one_thread():
            return clone(estimator).fit(table, values)
    except Exception as fault:
        raise ConstraintError(f"{_called(estimator)} could not be fitted: {fault}") from fault


def answered(estimator: Any, verb: str, table: Array, width: int) -> Array:
    """What an estimator says of a table (n, t): `width` numbers for every row, (n, width)."""
    try:
        with one_thread():
            made = np.asarray(getattr(estimator, verb)(table), dtype=float)
    except Exception as fault:
        raise ConstraintError(f"{_called(estimator)} failed in {verb}: {fault}") from fault
    if made.size != len(table) * width or not np.isfinite(made).all():
        raise ConstraintError(
            f"{_called(estimator)} must answer {verb} with {len(table)} x {width} finite numbers; "
            f"its answer has the shape {made.shape}, with {int((~np.isfinite(made)).sum())} that "
            "are not finite"
        )
    return made.reshape(len(table), width)


def _called(estimator: Any) -> str:
    return f"the mechanism {type(estimator).__name__}"


def one_thread() -> AbstractContextManager[object]:
    """A span in which OpenMP and BLAS have one thread."""
    limits: AbstractContextManager[object] = _controller().limit(limits=1)
    return limits


@cache
def _controller() -> ThreadpoolController:
    import sklearn.ensemble  # noqa: F401 - libraries that are loaded later are not known

    return ThreadpoolController()
