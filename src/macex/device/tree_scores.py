"""An XGBoost classifier as a function of codes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from macex.device.arrays import on_host, place_named
from macex.device.forest import INSTEAD, read_forest
from macex.device.tree_inputs import inputs_of
from macex.device.tree_leaves import leaf_sums, lines_of, placed
from macex.device.tree_tables import batches_of
from macex.errors import ModelError, needed
from macex.models.first_steps import steps_of
from macex.models.kinds import adapted
from macex.models.kinds.xgboost import BoostedXGBoost, of_estimator
from macex.models.quick import Quick
from macex.schema import Array

if TYPE_CHECKING:
    from macex.explainer import Explainer

CLOSE = 1e-6
CHECKED = 2000
CELLS_ON_HOST = 1 << 20  # rows times pieces that are worked on at a time
CELLS_ON_GPU = 1 << 27


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
    compiled : have torch compile the sums for a GPU: it takes some ten seconds, and pays for
        hundreds of thousands of rows.
    """

    def __init__(
        self,
        explainer: Explainer,
        model: Any = None,
        device: str | None = None,
        *,
        compiled: bool = True,
    ) -> None:
        self._torch = needed("torch", "torch")
        if device is None:
            device = "cuda" if self._torch.cuda.is_available() else "cpu"
        self._place = place_named(device)
        self.device = self._place.device
        fitted = explainer.engine.fitted
        if model is None:
            model = getattr(fitted.oracle.ask, "__self__", fitted.oracle.ask)
        model = model.original if isinstance(model, Quick) else model
        boosted = _boosted(model)
        forest = read_forest(boosted)
        codes = fitted.ground.codes
        inputs = inputs_of(model, boosted, explainer.schema, codes, forest.width)
        self._start = self._place.array(forest.start)
        columns = explainer.schema.columns
        gaps = any(column.missing for column in columns)
        self._batches = [
            placed(batch, len(columns), self._place, gaps=gaps)
            for batch in batches_of(forest, inputs)
        ]
        some = codes[:: max(1, -(-len(codes) // CHECKED))]
        self._leaf_sums = leaf_sums
        if compiled and self.device.type == "cuda":
            self._compile(some)
        self._check(explainer, some)

    def _compile(self, codes: Array) -> None:
        """Have torch compile the sums; where it has no compiler, all stays as it is."""
        self._leaf_sums = self._torch.compile(leaf_sums, dynamic=True)
        try:
            self(codes)
        except Exception:  # noqa: BLE001 - whatever a compiler lacks, torch does without one
            self._leaf_sums = leaf_sums

    def __call__(self, codes: Any) -> Any:
        """The scores of rows of codes (n, d): of the second class (n,), or of many (n, classes)."""
        torch = self._torch
        codes = torch.as_tensor(codes, dtype=torch.float64, device=self.device)
        with torch.inference_mode():
            total = self._start.repeat(len(codes), 1)
            most = CELLS_ON_GPU if self.device.type == "cuda" else CELLS_ON_HOST
            for batch in self._batches:
                step = max(1, most // batch.values.shape[1])
                for start in range(0, len(codes), step):
                    some = slice(start, start + step)
                    lines = lines_of(codes[some], batch)
                    sums = self._leaf_sums(batch.masks, lines, batch.values, total.shape[1])
                    total[some] += sums
            margin = total.to(torch.float32)
            many = margin.shape[1] > 1
            return torch.softmax(margin, dim=1) if many else torch.sigmoid(margin[:, 0])

    def _check(self, explainer: Explainer, codes: Array) -> None:
        """Raise unless the explainer's own model scores some training rows the same."""
        oracle = explainer.engine.fitted.oracle.own
        told = oracle(explainer.schema.frame(codes), len(codes)).scores
        made = on_host(self(codes)).astype(float)
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


def _boosted(model: Any) -> BoostedXGBoost:
    """The booster of a model or of the last step of a pipeline, and which of its trees count."""
    steps = steps_of(model)
    last = steps[-1] if steps else getattr(model, "best_estimator_", model)
    found = of_estimator(last) if hasattr(last, "get_booster") else last
    found = adapted(last) if found is last else found
    if not isinstance(found, BoostedXGBoost):
        raise ModelError(
            f"the model is a {type(last).__name__}, and XGBoost classifiers with trees are known "
            f"here, alone or as the last step of a pipeline: {INSTEAD}"
        )
    return found
