"""A torch module as a function of codes, which an embedding turns into its inputs.

An embedding is a line of a table for each category and a slope for each number. What a caller's
`prepare` does to frames (one-hot, scaling) is learnt from rows that differ in one column, and
checked on training rows. Then codes become inputs by few lookups and one small matrix product, on
the device.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from macex.device.arrays import compiling, fused, rows_at
from macex.errors import ModelError, needed
from macex.explainer import Explainer
from macex.models.kinds.matrix import Matrix
from macex.models.kinds.networks import evaluating
from macex.schema import MISSING, Array, Column, Schema

CLOSE = 1e-4
CHECKED = 1000
MOST_LINES = 1 << 16  # of a table that several columns of categories share
Prepare = Callable[[Array], Array]  # rows of codes (n, d) -> inputs (n, F)


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


@dataclass(frozen=True)
class Embedding:
    """Inputs (n, F) as a sum: a constant, a line for each category, a slope for each number.

    The first line of every column of categories, and `blank`, is what a missing value adds.
    """

    constant: Array  # (F,)
    categories: Array  # (C,) which columns are categories
    lines: tuple[Array, ...]  # for each of them (1 + categories, F)
    numbers: Array  # (M,) which columns are numbers
    center: Array  # (M,) taken from numbers first, so that 32 bits hold what is left
    slope: Array  # (M, F)
    blank: Array  # (M, F)

    def __call__(self, codes: Array) -> Array:
        """The inputs of rows of codes (n, d)."""
        total = np.repeat(self.constant[None], len(codes), axis=0)
        for column, lines in zip(self.categories, self.lines, strict=True):
            total += lines[(np.maximum(codes[:, column], -1.0) + 1.0).astype(np.intp)]
        missing = codes[:, self.numbers] <= MISSING
        plain = np.where(missing, 0.0, codes[:, self.numbers] - self.center)
        return total + plain @ self.slope + missing @ self.blank

    def through(self, weight: Array, bias: Array) -> Embedding:
        """The same followed by a linear layer: inputs @ weight.T + bias."""
        return replace(
            self,
            constant=self.constant @ weight.T + bias,
            lines=tuple(lines @ weight.T for lines in self.lines),
            slope=self.slope @ weight.T,
            blank=self.blank @ weight.T,
        )


class Tables(NamedTuple):
    """The lines of several columns in one table, so that one lookup serves them all.

    Line `codes @ stride[:, g] + first[g]` of table g is what the categories of a row add, where
    the code of a missing one is -1; the first table holds the constant, too.
    """

    lines: tuple[Array, ...]  # for each table g (L, F)
    stride: Array  # (C, G)
    first: Array  # (G,)


def learn_embedding(schema: Schema, codes: Array, prepare: Callable[[Any], Any]) -> Embedding:
    """The embedding that gives what `prepare` gives, found out from training rows (T, d)."""

    def inputs(rows: Array) -> Array:
        return np.asarray(prepare(schema.frame(rows)), dtype=float).reshape(len(rows), -1)

    start = codes[:1]
    origin = inputs(start)[0]
    effects = [
        _effect(column, start, place, inputs) - origin
        for place, column in enumerate(schema.columns)
    ]
    discrete = np.array([column.discrete for column in schema.columns], dtype=bool)
    numbers = np.flatnonzero(~discrete)
    ends = np.array([_ends(schema.columns[at]) for at in numbers], dtype=float).reshape(-1, 2)
    three = np.array([effects[at] for at in numbers]).reshape(len(numbers), 3, len(origin))
    middle = three[:, :2].mean(axis=1)
    found = Embedding(
        constant=origin + middle.sum(axis=0),
        categories=np.flatnonzero(discrete),
        lines=tuple(effects[at] for at in np.flatnonzero(discrete)),
        numbers=numbers,
        center=ends.mean(axis=1),
        slope=(three[:, 1] - three[:, 0]) / (ends[:, 1] - ends[:, 0])[:, None],
        blank=three[:, 2] - middle,
    )
    _check(found, codes, inputs)
    return found


def _ends(column: Column) -> tuple[float, float]:
    """Two different values of a column of numbers."""
    return column.low, column.high if column.high > column.low else column.low + 1.0


def _effect(column: Column, start: Array, place: int, inputs: Prepare) -> Array:
    """The inputs with each category in turn, missing first; or with two numbers, and missing."""
    if column.discrete:
        values = [MISSING, *map(float, range(len(column.table)))]
    else:
        values = [*_ends(column), MISSING]
    asked = [value for value in values if value != MISSING or column.missing]
    rows = np.repeat(start, len(asked), axis=0)
    rows[:, place] = asked
    found = dict(zip(asked, inputs(rows), strict=True))
    middle = inputs(start)[0] if column.discrete else (found[asked[0]] + found[asked[1]]) / 2
    return np.stack([found.get(value, middle) for value in values])


def _check(found: Embedding, codes: Array, inputs: Prepare) -> None:
    """Raise unless the embedding gives what was prepared for some training rows."""
    some = codes[:: max(1, len(codes) // CHECKED)]
    made, told = found(some), inputs(some)
    wrong = ~(np.abs(made - told) <= CLOSE * np.maximum(1.0, np.abs(told).max(axis=0)))
    if wrong.any():
        row, feature = (int(place[0]) for place in np.nonzero(wrong))
        raise ModelError(
            f"prepare is no sum over columns that is linear in numbers: input {feature} is "
            f"{told[row, feature]:g} for a training row, the sum gives {made[row, feature]:g}; "
            "give a function of codes of your own instead"
        )


def tables_of(embedding: Embedding, most: int = MOST_LINES) -> Tables:
    """The lines of all categories, those of columns with few of them joined.

    >>> one, two = np.array([[0.0], [1.0]]), np.array([[0.0], [10.0]])
    >>> none = np.zeros(0, int), np.zeros(0), np.zeros((0, 1)), np.zeros((0, 1))
    >>> joined = tables_of(Embedding(np.array([5.0]), np.arange(2), (one, two), *none))
    >>> joined.lines[0][:, 0].tolist(), joined.first.tolist()
    ([5.0, 6.0, 15.0, 16.0], [3.0])
    """
    groups, members = [embedding.constant[None]], [list[int]()]
    strides = np.zeros(len(embedding.lines))
    for place, lines in enumerate(embedding.lines):
        if len(groups[-1]) * len(lines) > most and members[-1]:
            groups.append(np.zeros_like(embedding.constant)[None])
            members.append([])
        strides[place] = len(groups[-1])
        members[-1].append(place)
        groups[-1] = (lines[:, None] + groups[-1][None]).reshape(-1, len(embedding.constant))
    stride = np.zeros((len(strides), len(groups)))
    for group, places in enumerate(members):
        stride[places, group] = strides[places]
    return Tables(tuple(groups), stride, stride.sum(axis=0))
