"""A torch module as a function of codes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from macex.device.arrays import compiling, fused, rows_at
from macex.device.embedding import Embedding, learn_embedding, tables_of
from macex.errors import needed
from macex.models.kinds.matrix import Matrix
from macex.models.kinds.networks import evaluating
from macex.schema import MISSING, Array

if TYPE_CHECKING:
    from macex.explainer import Explainer


class TorchScores:
    """A torch module as a function of codes, on the device of the module.

    Parameters
    ----------
    explainer : whose columns the codes are of.
    module : a network of dense float32 inputs, a row each, as it is now: a first linear layer is
        taken into the tables of inputs.
    prepare : turns a frame into the inputs of the module: one-hot, scaling and the like, so that
        each input is a sum over columns. Without it the columns must be numbers.
    logits : the outputs are log odds: sigmoid of one, softmax of many.
    """

    def __init__(
        self,
        explainer: Explainer,
        module: Any,
        prepare: Callable[[Any], Any] | None = None,
        *,
        logits: bool = False,
    ) -> None:
        self._torch = needed("torch", "torch")
        codes = explainer.engine.fitted.ground.codes
        embedding = learn_embedding(explainer.schema, codes, prepare or Matrix())
        weight = next(module.parameters(), None)
        self.device = self._torch.device("cpu") if weight is None else weight.device
        self.module, self.logits = module, logits
        self._rest, self._embedding = self._taken_in(module, embedding)
        self._rest, self._lead = self._led(self._rest)
        self._scores_of = fused(self._scored)
        tables = tables_of(self._embedding)
        self._lines = [self._wide(lines) for lines in tables.lines]
        self._narrow = [table.view(self._torch.float32) for table in self._lines]
        self._slope, self._blank = map(self._table, (self._embedding.slope, self._embedding.blank))
        self._stride, self._first, self._center = map(
            self._exact, (tables.stride, tables.first, self._embedding.center)
        )
        self._categories, self._numbers = (
            self._exact(part).to(self._torch.int64)
            for part in (self._embedding.categories, self._embedding.numbers)
        )
        self._may_blank = any(column.missing for column in explainer.schema.columns)

    def _table(self, values: Array) -> Any:
        return self._torch.as_tensor(values, dtype=self._torch.float32, device=self.device)

    def _exact(self, values: Array) -> Any:
        return self._torch.as_tensor(values, dtype=self._torch.float64, device=self.device)

    def _wide(self, lines: Array) -> Any:
        """A table of 32 bits seen as one of fewer and wider cells, which are quicker to look up."""
        torch, width = self._torch, lines.shape[1]
        wider = torch.complex128 if width % 4 == 0 else torch.float64
        table = self._table(lines)
        return table if width % 2 else table.view(wider)

    def _taken_in(self, module: Any, embedding: Embedding) -> tuple[Any, Embedding]:
        """What is left of a module whose first linear layer is taken into the embedding."""
        layers = self._torch.nn
        if not isinstance(module, layers.Sequential) or not isinstance(module[0], layers.Linear):
            return module, embedding
        weight = module[0].weight.detach().cpu().numpy().astype(float)
        bias = module[0].bias
        shift = np.zeros(len(weight)) if bias is None else bias.detach().cpu().numpy().astype(float)
        return module[1:], embedding.through(weight, shift)

    def _led(self, rest: Any) -> tuple[Any, tuple[Any, Any] | None]:
        """A module without a last linear layer of two log odds, and how far these are apart."""
        layers = self._torch.nn
        if not self.logits or not isinstance(rest, layers.Sequential) or not len(rest):
            return rest, None
        last = rest[-1]
        if not isinstance(last, layers.Linear) or last.out_features != 2:
            return rest, None
        weight = last.weight.detach().double()
        bias = weight.new_zeros(2) if last.bias is None else last.bias.detach().double()
        return rest[:-1], ((weight[1] - weight[0]).float(), (bias[1] - bias[0]).float())

    def inputs(self, codes: Any) -> Any:
        """The inputs (n, F) of rows of codes (n, d), float32, past a first linear layer."""
        torch = self._torch
        chosen = codes[:, self._categories].clamp(min=-1.0)
        if compiling(codes):  # products with so few columns share the passes of the rest
            line = (self._first + (chosen[:, :, None] * self._stride).sum(dim=1)).to(torch.int64)
            found = [table[line[:, group]] for group, table in enumerate(self._narrow)]
        else:
            line = torch.addmm(self._first, chosen, self._stride).to(torch.int64)
            found = [
                rows_at(table, line[:, group]).view(torch.float32)
                for group, table in enumerate(self._lines)
            ]
        total = found[0] if len(found) == 1 else torch.stack(found).sum(dim=0)
        if not len(self._numbers):
            return total
        numbers = codes[:, self._numbers]
        if compiling(codes):
            missing = numbers <= MISSING
            plain = ((numbers - self._center) * ~missing).to(torch.float32)
            total = total + (plain[:, :, None] * self._slope).sum(dim=1)
            return total + (missing[:, :, None] * self._blank).sum(dim=1)
        if not self._may_blank:
            return total.addmm_((numbers - self._center).to(torch.float32), self._slope)
        missing = numbers <= MISSING
        plain = (numbers - self._center).masked_fill_(missing, 0.0).to(torch.float32)
        both = total.addmm_(plain, self._slope)
        return both.addmm_(missing.to(torch.float32), self._blank)

    def __call__(self, codes: Any) -> Any:
        """The scores of rows of codes (n, d)."""
        with evaluating(self.module), self._torch.inference_mode():
            return self._scores_of(codes)

    def _scored(self, codes: Any) -> Any:
        torch, outputs = self._torch, self._rest(self.inputs(codes))
        if not self.logits:
            return outputs
        if self._lead is not None:
            weight, bias = self._lead
            outputs = torch.mv(outputs, weight) + bias
        elif outputs.ndim == 2 and outputs.shape[1] == 2:
            outputs = outputs[:, 1] - outputs[:, 0]
        outputs = outputs.to(torch.float64)
        many = outputs.ndim == 2 and outputs.shape[1] > 2
        return torch.softmax(outputs, dim=1) if many else torch.sigmoid(outputs)
