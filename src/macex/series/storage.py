"""Writing an explainer of time series to a file and reading it again, without pickle."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from macex.ask.answers import Answers
from macex.audit import Audit
from macex.engine import storage
from macex.errors import SavedError
from macex.explainer import Explainer
from macex.explainer.storage import load as load_table
from macex.render.names import Name, read_names
from macex.schema import Array
from macex.series.cases import Cases, Layout
from macex.series.constraints import SeriesConstraints
from macex.series.engine import SeriesEngine
from macex.series.fitted import FittedSeries
from macex.series.options import options_read, written_options
from macex.series.records import SeriesRecorder
from macex.series.times import Times

if TYPE_CHECKING:
    from macex.series.explainer import SeriesExplainer

FORMAT = "macex.series_explainer/1"
ARRAYS = ("values", "lengths", "scores", "decision")
ASKED = 256  # training cases that the model is asked about again


def save(engine: SeriesEngine, path: Any) -> None:
    """Write an explainer of series, all but its model."""
    fitted = engine.fitted
    values, lengths = _packed(fitted.train)
    document = {
        "format": FORMAT,
        "channels": list(fitted.names),
        "layout": fitted.train.layout,
        "even": fitted.train.even,
        "constraints": engine.constraints.to_dict(),
        "times": asdict(fitted.times),
        "names": {c: asdict(n) if isinstance(n, Name) else n for c, n in fitted.called.items()},
        "options": written_options(fitted.options),
        "outlook": asdict(fitted.outlook),
    }
    answers = fitted.answers
    arrays = (values, lengths, answers.scores, answers.decision)
    storage.write(path, document, dict(zip(ARRAYS, arrays, strict=True)))


def load(
    path: Any, model: Any, *, audit: Audit | str | Path | None = None
) -> Explainer | SeriesExplainer:
    """The explainer saved at `path`, for `model`, which must be the model it was made with.

    The model is asked about a sample of the training rows or cases; answers that differ from the
    saved ones are an error, since every neighbor and every proof rests on them. `audit` is a file
    to which every explanation is recorded.
    """
    if storage.stored_format(path) != FORMAT:
        return load_table(path, model, audit=audit)
    from macex.series.explainer import SeriesExplainer

    document, arrays = storage.read(path, FORMAT, ARRAYS)
    try:
        train = _unpacked(document, arrays)
        options = options_read(document["options"])
        constraints = SeriesConstraints.from_dict(document["constraints"])
        outlook = storage.outlook_read(document["outlook"])
        times = Times(**document.get("times", {}))
        times = replace(times, labels=tuple(times.labels))
        names = read_names(document.get("names", {}))
        answers = Answers(arrays["scores"], arrays["decision"])
        _check(train, len(document["channels"]), answers)
    except Exception as error:
        raise SavedError(f"{path} is not a whole explainer: {error!r}") from error
    sample = np.unique(np.linspace(0, len(train) - 1, ASKED).astype(int))
    asked = train.take(sample)
    oracle, now = storage.asked_again(model, asked.given(asked.values), len(asked), outlook, path)
    storage.agree(now, answers.take(sample), path)
    oracle = replace(oracle, outlook=replace(outlook, by_predict=oracle.outlook.by_predict))
    fitted = FittedSeries(
        oracle, train, tuple(document["channels"]), answers, options, times, names
    )
    engine = SeriesEngine(fitted, constraints)
    if audit is not None and not isinstance(audit, Audit):
        audit = Audit(audit, explainer=path)
    return SeriesExplainer.of(engine, None if audit is None else SeriesRecorder(audit, engine))


def _packed(train: Cases) -> tuple[Array, Array]:
    """All cases as one array; those of unequal lengths one after the other."""
    lengths = np.array([case.shape[1] for case in train.values])
    if not isinstance(train.values, list):
        return np.asarray(train.values), lengths
    return np.concatenate(train.values, axis=1), lengths


def _unpacked(document: dict[str, Any], arrays: dict[str, Any]) -> Cases:
    layout: Layout = document["layout"]
    if document["even"]:
        return Cases(arrays["values"], layout)
    return Cases(np.split(arrays["values"], np.cumsum(arrays["lengths"])[:-1], axis=1), layout)


def _check(train: Cases, channels: int, answers: Answers) -> None:
    shapes = train.width, len(answers.scores), len(answers.decision)
    if shapes != (channels, len(train), len(train)) or not len(train):
        raise SavedError(f"{len(train)} cases of {channels} channels do not fit {shapes}")
