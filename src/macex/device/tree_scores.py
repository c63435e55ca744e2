"""An XGBoost classifier as a function of codes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from macex.device.arrays import on_host, place_named
from macex.device.forest import INSTEAD, read_forest
from macex.device.tree_inputs import inputs_of
from macex.device.tree_tables import Batch, States, batches_of
from macex.errors import ModelError
from macex.models.first_steps import steps_of
from macex.models.kinds import adapted
from macex.models.kinds.xgboost import Boosted
from macex.models.optional import needed
from macex.models.quick import Quick
from macex.schema import MISSING

if TYPE_CHECKING:
    from macex.explainer import Explainer

CLOSE = 1e-6
CHECKED = 2000
CELLS_ON_HOST = 1 << 20  # rows times pieces that are worked on at a time
CELLS_ON_GPU = 1 << 27
MANTISSA = 23  # bits of a number of 32 that are behind its exponent


class Axis(NamedTuple):
    """How a column takes part in the line of a table."""

    column: int
    cuts: Any  # of numbers
    blank: int | None  # the state of a missing value, if there may be one
    stride: int


class Placed(NamedTuple):
    """A batch of trees on the device."""

    tables: list[tuple[list[Axis], Any]]
    values: Any


class TreeScores:
    """An XGBoost classifier as a function of codes, on a torch device.

    The trees are turned into tables and looked up by torch: neither XGBoost nor the host is asked.
    Features and splits are exact. Leaves are added in 64 bits where XGBoost has 32, so the last
    bits of a score may differ. That scores are the explainer's is checked on training rows.

    Parameters
    ----------
    explainer : whose columns the codes are of.
    model : an `XGBClassifier`, a `Booster` of `binary:logistic` or `multi:softprob`, or a
        scikit-learn pipeline of one step and one of these; the explainer's own without it.
    device : "cpu", "cuda" or "cuda:1"; the GPU if there is one without it.
    """

    def __init__(
        self, explainer: Explainer, model: Any = None, device: str | None = None
    ) -> None:
        self._torch = needed("torch", "torch")
        if device is None:
            device = "cuda" if self._torch.cuda.is_available() else "cpu"
        self._place = place_named(device)
        self.device = self._place.device
        fitted = explainer._fitted  # noqa: SLF001 - the model and rows it has learnt
        if model is None:
            model = getattr(fitted.oracle.ask, "__self__", fitted.oracle.ask)
        model = model.original if isinstance(model, Quick) else model
        boosted = _boosted(model)
        forest = read_forest(boosted)
        codes = fitted.ground.codes
        inputs = inputs_of(model, boosted, explainer.schema, codes, forest.width)
        self._start = self._place.array(forest.start)
        self._blank = {at for at, column in enumerate(explainer.schema.columns) if column.missing}
        self._batches = [self._moved(batch) for batch in batches_of(forest, inputs)]
        self._check(explainer, codes[:: max(1, len(codes) // CHECKED)])

    def _moved(self, batch: Batch) -> Placed:
        """A batch on the device."""
        tables = []
        for table in batch.tables:
            sizes = [len(states.masks) for states in table.columns]
            strides = np.cumprod([1, *sizes])[:-1].tolist()
            axes = [self._axis(*each) for each in zip(table.columns, strides, strict=True)]
            tables.append((axes, self._place.array(table.masks)))
        return Placed(tables, self._place.array(batch.values))

    def _axis(self, states: States, stride: int) -> Axis:
        cuts = None if states.cuts is None else self._place.array(states.cuts)
        blank = len(states.masks) - 1 if states.column in self._blank else None
        return Axis(states.column, cuts, blank, stride)

    def __call__(self, codes: Any) -> Any:
        """The scores of rows of codes (n, d): of the second class (n,), or of many (n, classes)."""
        torch = self._torch
        with torch.inference_mode():
            total = self._start.repeat(len(codes), 1)
            most = CELLS_ON_GPU if self.device.type == "cuda" else CELLS_ON_HOST
            columns = codes.T.contiguous()
            for batch in self._batches:
                step = max(1, most // batch.values.shape[1])
                for start in range(0, len(codes), step):
                    some = slice(start, start + step)
                    total[some] += self._sums(batch, columns[:, some])
            margin = total.to(torch.float32)
            many = margin.shape[1] > 1
            return torch.softmax(margin, dim=1) if many else torch.sigmoid(margin[:, 0])

    def _sums(self, batch: Placed, columns: Any) -> Any:
        """What the leaves of a batch add to each class, (n, classes)."""
        torch, left = self._torch, None
        for axes, masks in batch.tables:
            line = torch.zeros(columns.shape[1], dtype=torch.int64, device=self.device)
            for axis in axes:
                line += axis.stride * self._state(axis, columns[axis.column])
            found = masks[line]
            left = found if left is None else left.bitwise_and_(found)
        exponent = left.to(torch.float32).view(torch.int32) >> MANTISSA
        leaves = batch.values.gather(0, exponent.to(torch.int64))
        by_class = leaves.view(len(leaves), len(self._start), -1)
        return by_class.sum(dim=2, dtype=torch.float64)

    def _state(self, axis: Axis, codes: Any) -> Any:
        """The states of a column that codes are in."""
        torch = self._torch
        if axis.cuts is None:
            state = codes.to(torch.int64)
        else:
            state = torch.searchsorted(axis.cuts, codes.contiguous(), right=True)
        return state if axis.blank is None else state.masked_fill_(codes <= MISSING, axis.blank)

    def _check(self, explainer: Explainer, codes: Any) -> None:
        """Raise unless the explainer's own model scores some training rows the same."""
        oracle = explainer._fitted.oracle.own  # noqa: SLF001 - the model itself
        told = oracle(explainer.schema.frame(codes), len(codes)).scores
        made = on_host(self(self._place.array(codes))).astype(float)
        if made.ndim == 1:
            made = np.stack([1.0 - made, made], axis=1)
        if made.shape != told.shape:
            raise ModelError(
                f"the trees tell {made.shape[1]} classes apart, the explainer's model "
                f"{told.shape[1]}: is it another model?"
            )
        apart = np.abs(made - told).max()
        if not apart <= CLOSE:
            raise ModelError(
                f"the trees and the explainer's own model score training rows by up to {apart:.2g} "
                f"apart: is it another model? If not, {INSTEAD}"
            )


def _boosted(model: Any) -> Boosted:
    """The booster of a model or of the last step of a pipeline, and which of its trees count."""
    steps = steps_of(model)
    last = steps[-1] if steps else model
    found = last if isinstance(last, Boosted) else adapted(last)
    if not isinstance(found, Boosted):
        raise ModelError(
            f"the model is a {type(last).__name__}, and XGBoost classifiers with trees are known "
            f"here, alone or as the last step of a pipeline: {INSTEAD}"
        )
    return found
