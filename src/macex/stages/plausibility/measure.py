"""How real a row looks, and the share of training rows that look less real.

Trees learn to tell training rows from copies in which one to three cells were swapped. A row in
which a total does not fit its factors, or two categories exclude each other, looks swapped to them,
however near its neighbours are.

The trees look at every column, and at how far each number is from what others predict. A tree sees
that a total does not fit its factors only by cutting all three into pieces. A linear prediction of
every number from all other columns, once of the numbers and once of their logarithms, says it in
one number each: sums and differences hold in the first, products and ratios in the second.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from macex.schema import MISSING, Array, special
from macex.stages.plausibility.trees import Sample, Trees, fit_trees, swapped

ROWS = 4500  # that are learnt from
COPIES = 3  # of each
FOLDS = 3
LEAST = 6  # training rows to compare with
COMPARED = 2000  # the most


@dataclass(frozen=True)
class Realness:
    """Trees that say how real a row looks: the higher, the more."""

    order: Array  # (d,) the columns by name, the order in which trees know them
    inputs: Inputs
    trees: Trees
    rows: Array  # the training rows that were learnt from
    unseen: Array  # (rows,) how real each looks to trees that have not learnt from it

    def __call__(self, codes: Array) -> Array:
        """How real rows of codes (n, d) look, (n,)."""
        return self.trees(self.inputs(codes[:, self.order]))

    def of_training(self, rows: Array, codes: Array) -> Array:
        """How real training rows look, given as positions (n,) and codes (n, d).

        A row that was learnt from is judged by the trees that have not learnt from it.
        """
        real = self(codes)
        if not len(self.rows):
            return real
        place = np.minimum(np.searchsorted(self.rows, rows), len(self.rows) - 1)
        learnt = self.rows[place] == rows
        real[learnt] = self.unseen[place[learnt]]
        return real


@dataclass(frozen=True)
class Compared:
    """How real rows look among some training rows; `usual` is how real these look, sorted."""

    realness: Realness
    usual: Array  # (R,)

    def share(self, codes: Array) -> Array:
        """The share of the training rows that look no more real than each row of codes (n, d).

        NaN where there are too few training rows.
        """
        if len(self.usual) < LEAST:
            return np.full(len(codes), np.nan)
        return np.searchsorted(self.usual, self.realness(codes), side="right") / len(self.usual)


def learn_realness(codes: Array, discrete: Array, order: Array) -> Realness:
    """Learn from training rows (T, d); `order` are the columns by name.

    The rows are dealt into three folds, and trees are fitted to each two of them, so that every
    row can be judged by trees that do not know it.
    """
    draw = np.random.default_rng(0)
    rows = np.sort(draw.permutation(len(codes))[:ROWS])
    source, discrete = codes[:, order], discrete[order]
    known = source[rows]
    copies = [swapped(known, source, draw) for _ in range(COPIES)]
    inputs = learn_inputs(known, copies[0][0], discrete)
    fold = draw.permutation(len(rows)) % FOLDS
    bins = [inputs(known), *(inputs(copy) for copy, _ in copies)]
    differs = [np.ones(len(rows), bool), *(one for _, one in copies)]
    parts = []
    for aside in range(FOLDS):
        learnt, left = (_sample(bins, differs, who) for who in (fold != aside, fold == aside))
        parts.append(fit_trees(learnt, left, inputs.sizes, inputs.unordered, draw))
    unseen = np.zeros(len(rows))
    for aside, trees in enumerate(parts):
        unseen[fold == aside] = trees(bins[0][:, fold == aside])
    return Realness(order, inputs, Trees.join(parts), rows, unseen)


def _sample(bins: list[Array], differs: list[Array], who: Array) -> Sample:
    """Real rows and their copies; both kinds weigh as much."""
    parts = [part[:, who & some] for part, some in zip(bins, differs, strict=True)]
    real = np.repeat(np.arange(len(parts)) == 0, [part.shape[1] for part in parts]).astype(float)
    share = real.sum() / max(1.0, (1 - real).sum())
    return Sample(np.concatenate(parts, axis=1), real, np.where(real > 0, 1.0, share))


BINS = 32  # of a number
LEVELS = 63  # categories with a bin of their own; all others share one
NUMBERS = 48  # that are predicted
INDICATORS = 144  # categories that predictions use
INDICATORS_EACH = 12  # of one column
RIDGE = 1e-5
LARGEST = 1e100  # squares of larger numbers are not finite
DIGITS = 6  # of weights: fewer than those in which two machines may differ


@dataclass(frozen=True)
class NumberPrediction:
    """Every number from the others and from categories, of numbers or of their logarithms."""

    logarithms: bool
    numbers: Array  # (k,) columns
    center: Array  # (k,)
    scale: Array  # (k,)
    weights: Array  # (1 + k, k) of the constant and the numbers
    tables: dict[int, Array]  # by column of categories: (bins, k) what each bin adds

    def residuals(self, codes: Array, bins: Array) -> Array:
        """How far each number is from its prediction, (n, k); the same alone and among others.

        `bins` (d, n) are those of the columns.
        """
        known = self.standard(codes)
        total = np.repeat(self.weights[:1], len(codes), axis=0)
        for place in range(len(self.numbers)):
            total += known[:, place, None] * self.weights[1 + place]
        for column, table in self.tables.items():
            total += table[bins[column]]
        return total

    def standard(self, codes: Array) -> Array:
        """The numbers with a mean of 0 and a spread of 1; a missing one is at the mean."""
        values = codes[:, self.numbers]
        known = np.clip(values, -LARGEST, LARGEST)
        if self.logarithms:
            known = np.sign(known) * np.log1p(np.abs(known))
        return np.where(special(values), 0.0, (known - self.center) / self.scale)


@dataclass(frozen=True)
class Columns:
    """The columns as small whole numbers."""

    discrete: Array  # (d,) bool
    edges: tuple[Array, ...]  # (d,) categories with a bin, sorted; of a number, where bins end

    def __call__(self, codes: Array) -> Array:
        """The bins of rows of codes (n, d): (d, n) uint8; 0 is any category without a bin."""
        bins = np.empty(codes.T.shape, np.uint8)
        for place, (line, edges) in enumerate(zip(codes.T, self.edges, strict=True)):
            found = np.searchsorted(edges, line)
            if self.discrete[place]:
                known = edges[np.minimum(found, len(edges) - 1)] == line
                bins[place] = np.where(known, found + 1, 0)
            else:
                bins[place] = found
        return bins


@dataclass(frozen=True)
class Inputs:
    """Rows of codes as small whole numbers, one for each column and each residual."""

    columns: Columns
    predictions: tuple[NumberPrediction, ...]
    cuts: tuple[Array, ...]  # of each residual, sorted: where bins end

    @property
    def sizes(self) -> Array:
        """How many bins each input has."""
        return np.array([len(edges) + 1 for edges in (*self.columns.edges, *self.cuts)])

    @property
    def unordered(self) -> Array:
        """Which inputs are categories."""
        return np.concatenate([self.columns.discrete, np.zeros(len(self.cuts), bool)])

    def __call__(self, codes: Array) -> Array:
        """The inputs of rows of codes (n, d): (inputs, n) uint8."""
        bins = self.columns(codes)
        lines = [line for one in self.predictions for line in one.residuals(codes, bins).T]
        cut = [np.searchsorted(at, line) for at, line in zip(self.cuts, lines, strict=True)]
        return np.concatenate([bins, np.array(cut, np.uint8).reshape(len(cut), len(codes))])


def learn_inputs(codes: Array, swapped: Array, discrete: Array) -> Inputs:
    """Bins and predictions from real rows (n, d), and bins of residuals from swapped ones, too."""
    edges = [
        np.sort(frequent(line, LEVELS)) if sort else _cuts(line)
        for line, sort in zip(codes.T, discrete, strict=True)
    ]
    columns = Columns(discrete, tuple(edges))
    predictions, bins = learn_predictions(codes, columns), columns(codes)
    others, cuts = columns(swapped), []
    for one in predictions:
        both = np.concatenate([one.residuals(codes, bins), one.residuals(swapped, others)])
        cuts += [_cuts(line) for line in both.T]
    return Inputs(columns, predictions, tuple(cuts))


def learn_predictions(codes: Array, columns: Columns) -> tuple[NumberPrediction, ...]:
    """Predictions of the numbers that vary, if anything can be predicted."""
    varied = (codes != codes[:1]).any(axis=0) & ~columns.discrete
    numbers = np.flatnonzero(varied)
    hot = _indicators(codes, columns)
    made = (_prediction(codes, numbers, hot, columns, logarithms=way) for way in (False, True))
    return tuple(one for one in made if one is not None)


def _prediction(
    codes: Array, numbers: Array, hot: Array, columns: Columns, *, logarithms: bool
) -> NumberPrediction | None:
    """The inverse of the correlations holds all regressions of one column on all others."""
    none = np.zeros((0, 0))
    plain = np.zeros(len(numbers)), np.ones(len(numbers))
    values = NumberPrediction(logarithms, numbers, *plain, none, {}).standard(codes)
    missing = special(codes[:, numbers])
    known = np.maximum(1, (~missing).sum(axis=0))
    center = values.sum(axis=0) / known
    scale = np.sqrt((np.where(missing, 0.0, values - center) ** 2).sum(axis=0) / known)
    usable = scale > 1e-9 * np.abs(center)
    draft = NumberPrediction(logarithms, numbers[usable], center[usable], scale[usable], none, {})
    count = int(usable.sum())
    if not count or count + len(hot) < 2:
        return None
    levels = [columns.edges[int(c)][int(bin_) - 1] == codes[:, int(c)] for c, bin_ in hot]
    design = np.column_stack([draft.standard(codes), *levels]).astype(float)
    chosen, constant, weights = _regressions(design, count)
    tables: dict[int, Array] = {}
    for place, (column, bin_) in enumerate(hot.tolist(), len(chosen)):
        empty = np.zeros((len(columns.edges[column]) + 1, len(chosen)))
        tables.setdefault(column, empty)[bin_] = weights[place]
    moments = draft.numbers[chosen], draft.center[chosen], draft.scale[chosen]
    lines = np.concatenate([constant[None], weights[: len(chosen)]])
    return NumberPrediction(logarithms, *moments, lines, tables)


def _regressions(design: Array, count: int) -> tuple[Array, Array, Array]:
    """The best correlated of the first `count` columns; constants and weights of residuals."""
    mean, spread = design.mean(axis=0), np.maximum(design.std(axis=0), 1e-9)
    standard = (design - mean) / spread
    together = np.round(standard.T @ standard / len(design), 9)
    links = np.abs(together[:count] - np.eye(count, len(together))).max(axis=1)
    chosen = np.sort(np.argsort(-np.round(links, 6), kind="stable")[:NUMBERS])
    kept = np.concatenate([chosen, np.arange(count, len(together))])
    precise = np.linalg.inv(together[np.ix_(kept, kept)] + RIDGE * np.eye(len(kept)))
    own = precise[: len(chosen)]
    weights = (own / np.diag(own)[:, None]).T / spread[kept, None] * spread[chosen]
    return chosen, _rounded(-(mean[kept] @ weights)), _rounded(weights)


def _rounded(weights: Array) -> Array:
    """Weights to a few digits, as many for all of a column."""
    size = np.abs(weights).max(axis=0, initial=1e-9, keepdims=weights.ndim > 1)
    unit = 10.0 ** (np.floor(np.log10(size)) - DIGITS)
    return np.round(weights / unit) * unit


def _indicators(codes: Array, columns: Columns) -> Array:
    """The most frequent categories of every column that has several: column and bin, (h, 2)."""
    found: list[tuple[int, int]] = []
    for column in np.flatnonzero(columns.discrete).tolist():
        levels = frequent(codes[:, column], INDICATORS_EACH)
        bins = 1 + np.searchsorted(columns.edges[column], levels)
        found += [(column, int(one)) for one in bins] if len(bins) > 1 else []
    return np.array(found[:INDICATORS], dtype=int).reshape(-1, 2)


def frequent(line: Array, most: int) -> Array:
    """The most frequent values, the more frequent first.

    >>> frequent(np.array([3.0, 1.0, 2.0, 2.0]), 2).tolist()
    [2.0, 1.0]
    """
    values, counts = np.unique(line, return_counts=True)
    return values[np.argsort(-counts, kind="stable")[:most]]


def _cuts(line: Array) -> Array:
    """Where the bins of a number end: between its values if they are few; missing is apart."""
    odd = special(line)
    values = np.unique(line[~odd])
    if len(values) > BINS:
        share = np.arange(1, BINS) / BINS
        cuts = np.unique(np.quantile(line[~odd], share, method="lower"))
    else:
        cuts = values[:-1] + (values[1:] - values[:-1]) / 2
    return np.concatenate([[MISSING / 2], cuts]) if odd.any() else cuts


WAYS = {"plain": False, "log": True}
TREES = ("place", "bound", "equal", "values")


def arrays_of(realness: Realness) -> dict[str, Array]:
    """The arrays that `realness_of` reads."""
    inputs, trees = realness.inputs, realness.trees
    found = {"order": realness.order, "discrete": inputs.columns.discrete}
    found |= {name: getattr(trees, name) for name in TREES}
    found |= _packed("edges", inputs.columns.edges) | _packed("cuts", inputs.cuts)
    for one in inputs.predictions:
        way = "log" if one.logarithms else "plain"
        found[f"{way}.moments"] = np.stack([one.numbers, one.center, one.scale]).astype(float)
        found[f"{way}.weights"] = one.weights
        found[f"{way}.columns"] = np.array(list(one.tables), dtype=int)
        found |= _packed(f"{way}.tables", [table.reshape(-1) for table in one.tables.values()])
    return found


def realness_of(arrays: Mapping[str, Array]) -> Realness:
    """What `arrays_of` was given, without the training rows that it was learnt from."""
    predictions = [
        _read_prediction(arrays, way) for way in WAYS if f"{way}.moments" in arrays
    ]  # in this order the trees know them
    columns = Columns(arrays["discrete"], _unpacked("edges", arrays))
    inputs = Inputs(columns, tuple(predictions), _unpacked("cuts", arrays))
    trees = Trees(*(arrays[name] for name in TREES))
    return Realness(arrays["order"], inputs, trees, np.zeros(0, int), np.zeros(0))


def _read_prediction(arrays: Mapping[str, Array], way: str) -> NumberPrediction:
    numbers, center, scale = arrays[f"{way}.moments"]
    columns, width = arrays[f"{way}.columns"].tolist(), len(numbers)
    tables = [table.reshape(-1, width) for table in _unpacked(f"{way}.tables", arrays)]
    return NumberPrediction(
        WAYS[way],
        numbers.astype(int),
        center,
        scale,
        arrays[f"{way}.weights"],
        dict(zip(columns, tables, strict=True)),
    )


def _packed(name: str, parts: Sequence[Array]) -> dict[str, Array]:
    sizes = np.array([len(part) for part in parts], dtype=int)
    return {name: np.concatenate([*parts, np.zeros(0)]), f"{name}.sizes": sizes}


def _unpacked(name: str, arrays: Mapping[str, Array]) -> tuple[Array, ...]:
    ends = np.cumsum(arrays[f"{name}.sizes"])
    return tuple(np.split(arrays[name], ends[:-1])) if len(ends) else ()
