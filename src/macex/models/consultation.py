"""Finding out, once, how a model is to be asked and how it decides.

`consult` asks about some rows and sees what comes back: probabilities, a decision function, labels
or a bare score. `consulted` asks about the training rows. A classifier may decide by a threshold of
its own instead of by its highest probability. Unless it is known that it does not, see
`BY_HIGHEST_SCORE`, its `predict` is asked with every score. Training rows, and blends of rows from
both sides of the decision, show where the decision turns.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from inspect import getattr_static
from typing import Any

import numpy as np

from macex.ask.answers import Answers, Outlook, Scale
from macex.errors import MacexError, ModelError, OptionError, UnavailableError
from macex.models.asker import CHUNK_ROWS
from macex.models.files.model_file import ModelFile
from macex.models.first_steps import kind_of, last_step
from macex.models.kinds import adapted
from macex.models.oracle import (
    EXTREME,
    NotAScoreError,
    Oracle,
    are_tables,
    decider,
    each_label,
    on_host,
    plain_label,
    refuse_improbable,
    refuse_unbounded,
    table_of,
)
from macex.models.quick import Quick
from macex.schema import Array, Rows, Schema, special

PAIRS = 48
SHARES = np.arange(1, 8) / 8
ASKED_TWICE = 100  # training rows
CLOSE = 1e-4


def consulted(
    model: Any, rows: Rows, schema: Schema, classes: Sequence[object] | None
) -> tuple[Oracle, Answers]:
    """The oracle for a model, and its answers for the training rows."""
    oracle, answers = _asked(model, rows, schema, classes)
    some = np.arange(min(ASKED_TWICE, len(rows)))
    warn_if_fickle(oracle, schema.frame(rows.codes[some], rows, some), answers.take(some))
    if not oracle.outlook.by_predict:
        return oracle, answers
    return oracle.compared(_joined([answers, _between(oracle, rows, schema, answers)])), answers


def _between(oracle: Oracle, rows: Rows, schema: Schema, answers: Answers) -> Answers:
    """The answers for blends; none where the model fails on such rows."""
    blends = blended(schema, rows.codes, answers)
    if not len(blends):
        return answers.take(np.zeros(0, int))
    try:
        return oracle(schema.frame(blends), len(blends))
    except UnavailableError:
        raise
    except Exception:  # noqa: BLE001 - only the estimate of a threshold rests on these rows
        return answers.take(np.zeros(0, int))


def _asked(
    model: Any, rows: Rows, schema: Schema, classes: Sequence[object] | None
) -> tuple[Oracle, Answers]:
    parts: list[Answers] = []
    oracle: Oracle | None = None
    for start in range(0, len(rows), CHUNK_ROWS):
        at = np.arange(start, min(start + CHUNK_ROWS, len(rows)))
        frame = schema.frame(rows.codes[at], rows, at)
        try:
            if oracle is None:
                oracle, answers = consult(model, frame, len(at), classes)
            else:
                answers = oracle(frame, len(at))
        except NotAScoreError as fault:
            row = start + int(fault.rows[0])
            raise ModelError(f"{fault}, for training row {row}", row=rows.row(row)) from fault
        except MacexError:
            raise
        except Exception as fault:
            message = f"the model raised {fault!r} when asked about the training rows"
            raise ModelError(f"{message}: {_advice(model, fault, schema)}") from fault
        parts.append(answers)
    if oracle is None:
        raise TypeError("there is at least one training row")
    return oracle, _joined(parts)


def _advice(model: Any, fault: Exception, schema: Schema) -> str:
    """What to do about a model that fails on the training rows."""
    if type(fault).__name__ == "NotFittedError":
        return "fit the model before it is explained"
    fitted = getattr(model, "feature_names_in_", None)
    given = list(schema.frame_names)
    extra = [] if fitted is None else [name for name in given if name not in set(fitted)]
    if extra:
        names = ", ".join(map(repr, extra[:8])) + ("" if len(extra) <= 8 else ", …")
        return (
            f"data has {names}, which the model was not fitted on; data is without the label, as "
            f"in data.drop(columns=[{names}])"
        )
    return "it is called with frames of exactly the columns, order and dtypes of data"


def _joined(parts: Sequence[Answers]) -> Answers:
    return Answers(*map(np.concatenate, zip(*parts, strict=True)))


def warn_if_fickle(oracle: Oracle, frame: Any, answers: Answers) -> None:
    """Warn if the model answers differently when asked about some rows again."""
    count = len(answers.scores)
    try:
        again = oracle.own(frame, count).scores
    except UnavailableError:
        raise
    except Exception:  # noqa: BLE001 - it answered before: the rows it is asked about will show
        return
    difference = float(np.abs(again - answers.scores).max(initial=0.0))
    if difference > CLOSE * oracle.outlook.spread:
        warnings.warn(
            "the model is not deterministic: asked twice about the same training rows, its scores "
            f"differ by up to {difference:.2g}. Answers cannot be repeated, and a counterfactual "
            "that holds now may not hold the next time",
            stacklevel=5,
        )


def blended(schema: Schema, codes: Array, answers: Answers) -> Array:
    """Rows between training rows of different decisions that are least certain.

    Numbers are interpolated; of the categories more and more are the other row's.
    """
    ranked = np.sort(answers.scores, axis=1)
    lead = ranked[:, -1] - ranked[:, -2] if ranked.shape[1] > 1 else ranked[:, -1]
    order = np.argsort(lead, kind="stable")
    first = answers.decision[order[0]]
    here = order[answers.decision[order] == first][:PAIRS]
    there = order[answers.decision[order] != first][:PAIRS]
    if not len(there):
        return codes[:0]
    count = max(len(here), len(there))
    a, b = codes[np.resize(here, count)], codes[np.resize(there, count)]
    made = np.repeat(a[:, None], len(SHARES), axis=1)  # (pair, share, d)
    for place, column in enumerate(schema.columns):
        turn = (sorted(schema.names).index(column.name) + 1) / (len(schema.columns) + 1)
        x, y = a[:, place][:, None], b[:, place][:, None]
        plain = ~special(x) & ~special(y) & (not column.discrete)
        moved = column.snap(np.where(plain, x + SHARES * (y - x), 0.0))
        made[:, :, place] = np.where(plain, moved, np.where(turn <= SHARES, y, x))
    return made.reshape(-1, codes.shape[1])


def consult(
    model: Any, frame: Any, count: int, classes: Sequence[object] | None
) -> tuple[Oracle, Answers]:
    """The oracle for `model`, found by asking it about `count` training rows, and its answers."""
    quick = model if isinstance(model, Quick) else None
    model = model if quick is None else quick.original
    file = model if isinstance(model, ModelFile) else None
    model = adapted(model) if file is None else file.scores
    ask, scale, known = _way_of_asking(model, frame, classes)
    given = ask(frame)
    if scale == "probabilities" and many_labels(model, given, frame):
        ask, outlook = partial(each_label, model), Outlook(None, "raw", count_labels(given))
        given = ask(frame)
    elif scale == "labels":
        outlook = _label_outlook(given, known)
    else:
        table = table_of(given, count)
        refuse_unbounded(table, infinite=scale == "probabilities")
        outlook = _outlook(table, scale, known)
        if known is None and regresses(model):
            outlook = replace(outlook, classes=None, scale="raw")
    oracle = Oracle(ask, outlook, decider(model, outlook), quick=quick, file=file)
    answers = oracle.read(given, count)
    if oracle.decide is None or by_highest_score(model):
        return oracle, answers
    try:
        decided = on_host(oracle.decide(frame))
    except NotImplementedError:  # the model says that it has no decision of its own
        return replace(oracle, decide=None), answers
    oracle = replace(oracle.by_predict, labels=_labels(model, outlook, decided))
    return oracle, Answers(answers.scores, oracle.positions(decided, count))


def _labels(model: Any, outlook: Outlook, decided: Any) -> tuple[object, ...]:
    """What a model's own decisions are called: its classes, or what the caller renamed."""
    classes = outlook.classes or ()
    own = getattr(model, "classes_", None)
    seen = {plain_label(label) for label in np.unique(np.asarray(decided).reshape(-1))}
    for names in (own, classes, range(len(classes))):
        if (
            names is not None
            and len(names) == len(classes)
            and seen <= set(map(plain_label, names))
        ):
            return tuple(map(plain_label, names))
    strange = sorted(map(repr, seen - set(classes)))
    raise ModelError(
        f"the model's predict returned {', '.join(strange[:3])}, none of its classes "
        f"{list(classes)}: give classes= in the order of its scores, or pass the function that "
        "scores, such as model.predict_proba, to decide by the highest score"
    )


def _way_of_asking(
    model: Any, frame: Any, classes: Sequence[object] | None
) -> tuple[Any, Scale, Any]:
    """How to ask, what the numbers mean, and the classes as far as they are known."""
    known: Any = classes if classes is not None else getattr(model, "classes_", None)
    if known is not None and not len(known):
        known = None  # what CatBoost says of a model without classes
    if known is not None and not any(np.ndim(label) for label in known):
        known = tuple(plain_label(c) for c in known)
    if hasattr(model, "predict_proba"):
        return model.predict_proba, "probabilities", known
    if hasattr(model, "decision_function"):
        return _margins(model, frame, known)
    if hasattr(model, "predict"):
        return model.predict, _scale_of_predict(model, frame, known), known
    if callable(model):
        return model, "raw", known
    raise OptionError(
        "model must have predict_proba or predict, or be a function of a frame; "
        f"got {type(model).__name__}"
    )


def _margins(model: Any, frame: Any, known: Any) -> tuple[Any, Scale, Any]:
    """A decision function; one that has not a number per class leaves only the labels."""
    if known is None:
        return model.decision_function, "raw", None
    width = np.shape(model.decision_function(frame))[1:]
    if width in ((), (1,), (len(known),)) or not hasattr(model, "predict"):
        return model.decision_function, "margins", known
    return model.predict, "labels", known


def _scale_of_predict(model: Any, frame: Any, known: Any) -> Scale:
    if known is not None:
        return "labels"
    if regresses(model):
        return "raw"
    given = np.asarray(on_host(model.predict(frame)))
    return "raw" if given.dtype.kind == "f" else "labels"


def regresses(model: Any) -> bool:
    """Whether a model says of itself that it gives numbers and not classes."""
    if getattr(model, "_estimator_type", None) == "regressor":
        return True
    tags = getattr(model, "__sklearn_tags__", None)
    return tags is not None and tags().estimator_type == "regressor"


def _label_outlook(given: Any, known: Any) -> Outlook:
    if known is None:
        known = tuple(
            plain_label(value) for value in np.unique(np.asarray(on_host(given)).reshape(-1))
        )
    return Outlook(known, "labels", len(known))


def _outlook(table: Array, scale: Scale, known: Any) -> Outlook:
    """What the numbers mean, from those of the training rows."""
    width = table.shape[1]
    if scale == "raw" and (width > 1 or known is not None):
        known = tuple(range(width)) if known is None else known
        scale = "probabilities" if are_probable(table) else "margins"
    elif scale == "probabilities" and width > 1:
        refuse_improbable(table)
    if known is None and scale == "probabilities" and width == 1:
        known = (0, 1)
    if known is not None and width == 1 and len(known) == 2:
        width = 2
    if known is not None and len(known) != width:
        raise ModelError(
            f"the model has {len(known)} classes but returned {width} columns: "
            "its classes_ (or classes=) do not fit its output"
        )
    if scale == "probabilities":
        return Outlook(known if known is not None else tuple(range(width)), scale, width)
    finite = table[np.abs(table) < EXTREME]
    spread = float(np.quantile(finite, 0.9) - np.quantile(finite, 0.1)) if finite.size else 1.0
    spread = spread or float(np.abs(finite).max(initial=0.0)) or 1.0
    unit = float(10.0 ** np.floor(np.log10(1e-6 * spread) + 0.5))
    return Outlook(known, scale, width, unit=unit, spread=spread)


def are_probable(table: Array) -> bool:
    """Whether all rows of a table are probabilities."""
    inside = bool(((table >= -1e-6) & (table <= 1 + 1e-6)).all())
    return inside and (table.shape[1] == 1 or bool(np.allclose(table.sum(axis=1), 1, atol=1e-3)))


def many_labels(model: Any, given: Any, frame: Any) -> bool:
    """Whether probabilities are of several labels that do not exclude each other."""
    if are_tables(given):
        return True
    table = np.asarray(given.detach().cpu() if hasattr(given, "detach") else given)
    if table.dtype.kind not in "fi" or table.ndim != 2 or table.shape[1] < 2:
        return False
    if np.allclose(table.sum(axis=1), 1, atol=1e-3):
        return False
    return hasattr(model, "predict") and np.shape(model.predict(frame)) == table.shape


def count_labels(given: Any) -> int:
    """How many labels an answer is about."""
    return len(given) if are_tables(given) else int(np.shape(given)[1])


_HISTOGRAMS = "sklearn.ensemble._hist_gradient_boosting.gradient_boosting"
BY_HIGHEST_SCORE = {
    ("catboost.core", "CatBoostClassifier"),
    ("lightgbm.sklearn", "LGBMClassifier"),
    ("sklearn.calibration", "CalibratedClassifierCV"),
    ("sklearn.ensemble._bagging", "BaggingClassifier"),
    ("sklearn.ensemble._forest", "ExtraTreesClassifier"),
    ("sklearn.ensemble._forest", "RandomForestClassifier"),
    ("sklearn.ensemble._gb", "GradientBoostingClassifier"),
    (_HISTOGRAMS, "HistGradientBoostingClassifier"),
    ("sklearn.linear_model._logistic", "LogisticRegression"),
    ("sklearn.linear_model._ridge", "RidgeClassifier"),
    ("sklearn.neural_network._multilayer_perceptron", "MLPClassifier"),
    ("sklearn.svm._classes", "LinearSVC"),
    ("sklearn.tree._classes", "DecisionTreeClassifier"),
    ("xgboost.sklearn", "XGBClassifier"),
}
ASKED = ("predict", "predict_proba", "decision_function")


def by_highest_score(model: Any) -> bool:
    """Whether a model, or the last step of a pipeline, is such a classifier and unmodified.

    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.svm import SVC
    >>> by_highest_score(LogisticRegression()), by_highest_score(SVC(probability=True))
    (True, False)
    """
    told = getattr(model, "by_highest_score", None)  # of a model in another process
    if isinstance(told, bool):
        return told
    last = last_step(model)
    if kind_of(last) not in BY_HIGHEST_SCORE:
        return False
    cut = getattr(last, "get_probability_threshold", None)  # CatBoost's own
    if cut is not None and cut() not in (None, 0.5):
        return False
    return all(map(_as_made, (model, getattr(model, "best_estimator_", last), last)))


def original(kind: type, name: str) -> Any:
    """The function behind a method of a class, without its decorators."""
    held = getattr_static(kind, name)
    return getattr(held, "fn", held)


def _as_made(model: Any) -> bool:
    """Whether no method of this object was replaced by another function."""
    held = vars(model)
    return all(
        getattr(held[name], "__func__", None) is original(type(model), name)
        for name in ASKED
        if name in held
    )
