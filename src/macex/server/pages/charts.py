"""How the model scores the rows, how right it is where labels are known, and the rows as points."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from macex.errors import OptionError, SchemaError, closest
from macex.explainer.curves import grid
from macex.render.charts import (
    Axis,
    Categories,
    Curve,
    Dot,
    Histogram,
    Layer,
    Line,
    Mark,
    Measure,
    Point,
    Scatter,
)
from macex.render.charts.chart import Kind
from macex.render.speech import Speech
from macex.schema import Array, Column, Rows
from macex.schema.columns import special
from macex.schema.text import text_of
from macex.server.projects.project import Project
from macex.stages.plausibility.distance import evenly

BINS = 30
DRAWN = 120  # points of a curve
TENTHS = 10  # groups of a calibration curve
MOST_CLASSES = 12  # in a table of decisions by labels
DOTS = 400
LEVELS = 12  # categories of a column that the plane knows apart
JITTER = 0.3  # by which points of a category are spread
Told = tuple[str, Kind, Array]  # a row to point out: what it is called, how it is drawn, its codes
Placing = Callable[[Array], Array]  # where codes of rows lie on an axis; NaN where they do not


@dataclass(frozen=True)
class ThresholdRates:
    """What a threshold does to rows with known labels."""

    table: tuple[tuple[int, int], tuple[int, int]]  # truth (other, the class) by decision
    accuracy: float
    precision: float
    recall: float
    alarms: float  # the share of other rows that are over it


@dataclass(frozen=True)
class Scored:
    """The scores of all rows for one class, a threshold, and what is known of the truth."""

    of: str
    low: float
    high: float
    at: float
    own: float | None  # the model's threshold, where the score alone decides
    over: int
    rows: int
    histogram: Histogram
    rates: ThresholdRates | None
    curves: tuple[Curve, ...]
    decided: tuple[tuple[str, tuple[int, ...]], ...]  # truth by decision, of several classes
    trained: bool  # the rows are those that the model learnt from


def scored(project: Project, of: str, at: str) -> Scored:
    """The scores of a class (the last one if not said) and what the threshold `at` does."""
    explainer, table = project.explainer(), project.table
    classes = [text_of(label) for label in explainer.classes or ()]
    which = _which(of, classes)
    scores = table.predictions.scores[:, which].astype(float)
    truth = project.truth
    mine = None if truth is None else truth == which
    known = np.ones(len(scores), bool) if truth is None else truth >= 0
    outlook = explainer.engine.outlook
    own = _threshold(outlook, which)
    low, high = (0.0, 1.0) if outlook.probable else _ends(scores)
    threshold = _number(at, own if own is not None else (low + high) / 2, low, high)
    name = f"score of {classes[which]}" if classes else "score"
    curves = () if mine is None else _curves(project, which, scores, mine, known, threshold)
    return Scored(
        of=classes[which] if classes else "",
        low=low,
        high=high,
        at=threshold,
        own=own,
        over=int((scores >= threshold).sum()),
        rows=len(scores),
        histogram=_histogram(name, scores, mine, (low, high), threshold, classes, which),
        rates=None if mine is None else _rates(scores[known], mine[known], threshold),
        curves=curves,
        decided=_decided(table.predictions.decision, truth, classes),
        trained=project.parts.rows is project.parts.training,
    )


def _which(of: str, classes: list[str]) -> int:
    if not of or not classes:
        return len(classes) - 1 if len(classes) == 2 else 0
    if of not in classes:
        raise OptionError(f"the model knows no class {of!r}{closest(of, classes)}")
    return classes.index(of)


def _threshold(outlook: Any, which: int) -> float | None:
    """The score from which a model of two classes decides for one of them."""
    if outlook.width != 2 or not outlook.classes:
        return None
    if outlook.threshold is not None:
        first = 1 - outlook.threshold if outlook.probable else -outlook.threshold
        return float(outlook.threshold if which == 1 else first)
    return 0.5 if outlook.probable and outlook.agrees else None


def _ends(scores: Array) -> tuple[float, float]:
    known = scores[np.isfinite(scores)]
    low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 1.0)
    return (low, high) if low < high else (low - 0.5, high + 0.5)


def _number(text: str, otherwise: float, low: float, high: float) -> float:
    if not text:
        return float(otherwise)
    try:
        number = float(text)
    except ValueError:
        raise OptionError(f"a threshold is a number, not {text[:20]!r}") from None
    return min(max(number, low), high) if np.isfinite(number) else float(otherwise)


def _histogram(
    name: str,
    scores: Array,
    mine: Array | None,
    ends: tuple[float, float],
    at: float,
    classes: list[str],
    which: int,
) -> Histogram:
    def counts(some: Array) -> tuple[float, ...]:
        return tuple(np.histogram(some, BINS, ends)[0].astype(float).tolist())

    layers: tuple[Layer, ...] = (Layer("rows", counts(scores)),)
    if mine is not None:
        others = f"truly {classes[1 - which]}" if len(classes) == 2 else "truly another"
        truly = Layer(f"truly {classes[which]}", counts(scores[mine]))
        layers = (truly, Layer(others, counts(scores[~mine])))
    marks = (Mark(at, "threshold", "after"),)
    title = "How often each score occurs"
    return Histogram(Measure(name, *ends), layers, marks, title=title, height=220.0)


def _rates(scores: Array, mine: Array, at: float) -> ThresholdRates:
    over = scores >= at
    hits, alarms = int((over & mine).sum()), int((over & ~mine).sum())
    missed, quiet = int((~over & mine).sum()), int((~over & ~mine).sum())
    return ThresholdRates(
        ((quiet, alarms), (missed, hits)),
        _share(hits + quiet, len(scores)),
        _share(hits, hits + alarms),
        _share(hits, hits + missed),
        _share(alarms, alarms + quiet),
    )


def _share(part: int, whole: int) -> float:
    return part / whole if whole else float("nan")


def _curves(
    project: Project, which: int, scores: Array, mine: Array, known: Array, at: float
) -> tuple[Curve, ...]:
    """ROC, precision by recall, and for probabilities calibration; the threshold as a dot."""
    scores, mine = scores[known], mine[known]
    if not 0 < mine.sum() < len(mine):
        return ()
    rates = _rates(scores, mine, at)
    roc, precision = project.remembered.get(
        ("rates", which), lambda: (_roc(scores, mine), _precision(scores, mine))
    )
    shares = Measure.shares
    made: list[Curve] = [
        Curve(
            shares("others over the threshold"),
            shares("found"),
            (Line((0.0, 1.0), (0.0, 1.0), "by chance", "other"), roc[0]),
            dots=(Dot(rates.alarms, rates.recall, "threshold"),),
            title=f"ROC: area {roc[1]:.3f}",
            height=240.0,
        ),
        Curve(
            shares("found (recall)"),
            shares("right (precision)"),
            (precision[0],),
            dots=(Dot(rates.recall, rates.precision, "threshold"),)
            * bool(np.isfinite(rates.precision)),
            title=f"Precision and recall: average precision {precision[1]:.3f}",
            height=240.0,
        ),
    ]
    if project.explainer().engine.outlook.probable:
        made.append(_calibration(scores, mine))
    return tuple(made)


def _thinned(x: Array, y: Array, name: str) -> Line:
    """A line of a bounded number of points, evenly spaced along it."""
    along = np.concatenate([[0.0], np.cumsum(np.abs(np.diff(x)) + np.abs(np.diff(y)))])
    at = np.unique(np.searchsorted(along, np.linspace(0, along[-1], DRAWN)).clip(0, len(x) - 1))
    return Line(tuple(x[at].tolist()), tuple(y[at].tolist()), name)


def _roc(scores: Array, mine: Array) -> tuple[Line, float]:
    from sklearn.metrics import auc, roc_curve

    alarms, found, _ = roc_curve(mine, scores)
    return _thinned(alarms, found, "the model"), float(auc(alarms, found))


def _precision(scores: Array, mine: Array) -> tuple[Line, float]:
    from sklearn.metrics import average_precision_score, precision_recall_curve

    right, found, _ = precision_recall_curve(mine, scores)
    right, found = right[found > 0], found[found > 0]  # of nothing found, no share is right
    return _thinned(found[::-1], right[::-1], "the model"), float(
        average_precision_score(mine, scores)
    )


def _calibration(scores: Array, mine: Array) -> Curve:
    """How often the class is true among rows of about equal scores."""
    bins = np.minimum((scores * TENTHS).astype(int), TENTHS - 1)
    counts = np.bincount(bins, minlength=TENTHS)
    some = np.flatnonzero(counts)
    said = np.bincount(bins, scores, TENTHS)[some] / counts[some]
    true = np.bincount(bins, mine, TENTHS)[some] / counts[some]
    return Curve(
        Measure.shares("mean score"),
        Measure.shares("truly so"),
        (
            Line((0.0, 1.0), (0.0, 1.0), "perfect", "other"),
            Line(tuple(said.tolist()), tuple(true.tolist()), "the model"),
        ),
        title="Calibration",
        height=240.0,
    )


def _decided(
    decision: Array, truth: Array | None, classes: list[str]
) -> tuple[tuple[str, tuple[int, ...]], ...]:
    """How often each class is decided for rows of each, of three to a few classes."""
    if truth is None or not 2 < len(classes) <= MOST_CLASSES:
        return ()
    known, size = truth >= 0, len(classes)
    counts = np.bincount(truth[known] * size + decision[known], minlength=size * size)
    table = counts.reshape(size, size)
    return tuple((name, tuple(line)) for name, line in zip(classes, table.tolist(), strict=True))


@dataclass(frozen=True)
class Scattered:
    """The picture, and how many of the rows it shows."""

    chart: Scatter
    shown: int
    rows: int


def scattered(
    project: Project,
    names: tuple[str, str],
    address: str,
    speech: Speech,
    told: Sequence[Told] = (),
) -> Scattered:
    """Some rows over two columns; over the plane of a projection where no columns are named.

    `address` is that of the list of rows, to which a row's own is added. The rows `told` are
    pointed out, with an arrow from the first to each of the others.
    """
    explainer, table = project.explainer(), project.table
    places = evenly(np.arange(len(table)), DOTS)
    rows = explainer.schema.read(table.frame(places))
    if any(names) and not all(names):
        names = ("", "")
    (x, across), (y, above) = (
        (_side(rows, rows.schema.position(name), speech) for name in names)
        if all(names)
        else _plane(rows)
    )
    left, up = _spread(x, across(rows.codes), 0), _spread(y, above(rows.codes), 1)
    here = np.isfinite(left) & np.isfinite(up)
    classes = explainer.classes
    labels = tuple(speech.plain(label) for label in classes or ())
    points = tuple(
        Point(
            float(left[at]),
            float(up[at]),
            int(max(0, table.predictions.decision[place])) if classes else 0,
            _called(project, place, speech),
            f"{address}/rows/{place}",
            str(place),
        )
        for at, place in zip(np.flatnonzero(here).tolist(), places[here].tolist(), strict=True)
    )
    dots = [
        Dot(float(across(codes[None])[0]), float(above(codes[None])[0]), text, kind)
        for text, kind, codes in told
    ]
    placed = tuple(dot for dot in dots if np.isfinite([dot.x, dot.y]).all())
    ways = tuple((0, at) for at in range(1, len(placed))) if dots[:1] == list(placed[:1]) else ()
    title = "Rows by the model's decision"
    chart = Scatter(x, y, points, labels, placed, ways, title=title)
    return Scattered(chart, len(points), len(table))


def _called(project: Project, place: int, speech: Speech) -> str:
    label = project.table.predictions.label(place)
    return f"Row {place}" + ("" if label is None else f", {speech.plain(label)}")


def _side(rows: Rows, at: int, speech: Speech) -> tuple[Axis, Placing]:
    """The axis of a column, and where values lie on it."""
    column = rows.schema.columns[at]
    made = grid(column, float(column.seen[0]) if len(column.seen) else 0.0, 2, speech)
    if made is None:
        raise SchemaError(f"column {column.name!r} has one value only: choose another")
    if isinstance(made.axis, Categories):

        def category(codes: Array) -> Array:
            known = [made.place(float(code)) for code in codes[:, at]]
            return np.array([np.nan if place is None else place for place in known])

        return made.axis, category

    def placing(codes: Array) -> Array:
        return np.where(special(codes[:, at]), np.nan, codes[:, at])

    if isinstance(made.axis, Measure) and made.axis.ticks:
        return made.axis, placing
    return Measure.over(made.axis.name, placing(rows.codes).tolist()), placing


def _spread(axis: Axis, places: Array, turn: int) -> Array:
    """Points of one category lie beside each other, not on each other."""
    if not isinstance(axis, Categories):
        return places
    return places + np.random.default_rng(turn).uniform(-JITTER, JITTER, len(places))


def _plane(rows: Rows) -> tuple[tuple[Axis, Placing], tuple[Axis, Placing]]:
    """The two directions in which the rows differ most, categories as flags of equal weight."""
    features = _features(rows, rows.codes)
    middle = features.mean(axis=0)
    _, _, ways = np.linalg.svd(features - middle, full_matrices=False)
    ways = np.vstack([ways[:2], np.zeros((2, ways.shape[1]))])[:2]
    flat = (features - middle) @ ways.T
    ways *= np.where(np.abs(flat).max(axis=0) == flat.max(axis=0), 1.0, -1.0)[:, None]

    def along(way: Array) -> Placing:
        return lambda codes: (_features(rows, codes) - middle) @ way

    made = []
    for turn, way in enumerate(ways):
        placing = along(way)
        axis = Measure.over(f"direction {turn + 1}", placing(rows.codes).tolist())
        made.append((axis, placing))
    return made[0], made[1]


def _features(rows: Rows, codes: Array) -> Array:
    """Rows of codes as numbers, scaled as the rows of the picture are."""
    columns = enumerate(rows.schema.columns)
    parts = [_scaled(column, rows.codes[:, at], codes[:, at]) for at, column in columns]
    return np.column_stack([part for part in parts if part.size] or [np.zeros((len(codes), 1))])


def _scaled(column: Column, scale: Array, codes: Array) -> Array:
    if column.discrete:
        common = column.seen[np.argsort(-column.counts, kind="stable")[:LEVELS]]
        return (codes[:, None] == common) / np.sqrt(2)
    known = scale[~special(scale)]
    if not len(known) or not known.std():
        return np.zeros((len(codes), 0))
    scaled = np.where(special(codes), 0.0, (codes - known.mean()) / known.std())
    return np.clip(scaled, -4, 4)[:, None]
