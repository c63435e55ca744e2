"""How the model scores the rows, and how right it is where the true labels are known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from macex.errors import OptionError, closest
from macex.render.charts import Curve, Dot, Histogram, Layer, Line, Mark, Measure
from macex.schema import Array
from macex.schema.text import text_of
from macex.server.projects.project import Project

BINS = 30
DRAWN = 120  # points of a curve
TENTHS = 10  # groups of a calibration curve
MOST_CLASSES = 12  # in a table of decisions by labels


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
