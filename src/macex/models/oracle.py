"""One face for every model: a frame in, answers out.

`consult` looks once at what a model is (does it give probabilities, a decision function, labels or
a bare score?) by asking it about the training rows; the `Oracle` it returns asks the same way ever
after and refuses answers that no model may give.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from macex.ask.answers import Answers, Outlook, Scale
from macex.errors import ModelError, OptionError
from macex.models.deciding import by_probability
from macex.models.files.loading import ModelFile
from macex.models.kinds import adapted
from macex.models.labels import are_tables, count_labels, each_label, many_labels
from macex.models.prepared import Prepared, prepared
from macex.models.quick import Quick
from macex.schema import Array

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from macex.schema import Schema

EACH_LABEL = "each label"
EXTREME = 1e100  # what an infinite score counts as


class NotAScoreError(Exception):
    """Rows whose answers are no scores; `rows` are their positions in the frame that was asked."""

    def __init__(self, message: str, bad: Array) -> None:
        super().__init__(message)
        self.rows = np.flatnonzero(bad)


@dataclass(frozen=True)
class Oracle:
    """A model that can be asked about frames.

    `ask` gives the numbers, `decide` the model's own decision where that is not simply the class
    with the highest number, `quick` the same numbers faster, as far as was checked, `prepared` the
    same numbers from codes. An oracle whose model came from a `file` is sent to another process as
    that file.
    """

    ask: Callable[[Any], Any]
    outlook: Outlook
    decide: Callable[[Any], Any] | None = None
    quick: Quick | None = None
    file: ModelFile | None = None
    prepared: Prepared | None = None

    def __reduce__(self) -> str | tuple[Any, ...]:
        if self.file is None:
            return super().__reduce__()
        way = "" if self.ask is self.file.scores else _name_of(self.ask)
        return _from_file, (self.file, way, self.outlook, self.quick)

    @property
    def own(self) -> Oracle:
        """The oracle that asks nobody but the caller's own model."""
        if self.quick is None and self.prepared is None:
            return self
        return replace(self, quick=None, prepared=None)

    def prepare(self, schema: Schema, codes: Array) -> Oracle:
        """This oracle, asked about codes instead of frames where its model allows it."""
        if self.quick is not None or self.outlook.tuned:
            return self
        model = getattr(self.ask, "__self__", None)
        return replace(self, prepared=prepared(model, schema, codes))

    @property
    def takes_codes(self) -> bool:
        """Whether codes may be asked about as they are, without a frame."""
        return self.prepared is not None and self.prepared.current

    def of_codes(self, full: Array) -> Answers:
        """The answers for codes of an oracle that takes them."""
        return self.read(self._of_codes(full, self.ask), len(full))

    def _of_codes(self, full: Array, method: Callable[[Any], Any]) -> Any:
        if self.prepared is None:
            raise TypeError("only a prepared model takes codes")
        return self.prepared(full, method.__name__)

    def __call__(self, frame: Any, count: int) -> Answers:
        """The answers for a frame of `count` rows."""
        given = None if self.quick is None else self.quick(frame, count)
        answers = self.read(self.ask(frame) if given is None else given, count)
        decided = self.decisions(frame, count) if self.outlook.tuned else None
        return answers if decided is None else Answers(answers.scores, decided)

    def read(self, given: Any, count: int) -> Answers:
        """What the model returned, as answers."""
        scores = self._scores(given, count)
        if self.outlook.classes is None:
            return Answers(scores, np.full(count, -1))
        if self.outlook.width == 2:  # a quicker argmax
            return Answers(scores, (scores[:, 1] > scores[:, 0]).astype(int))
        return Answers(scores, scores.argmax(axis=1) if count else np.zeros(0, int))

    @property
    def calls_per_ask(self) -> int:
        """How often the model is called for one frame."""
        return 2 if self.decide is not None and self.outlook.tuned else 1

    @cached_property
    def has_two_minds(self) -> bool:
        """Whether the model's own decision may differ from its highest number."""
        model = getattr(self.decide, "__self__", None)
        same = model is not None and model is getattr(self.ask, "__self__", None)
        return self.decide is not None and not (same and by_probability(model))

    def decisions(self, frame: Any, count: int) -> Array | None:
        """What the model itself decides, as positions of classes; None if it cannot be asked."""
        if self.decide is None or self.outlook.classes is None:
            return None
        return _positions(self.decide(frame), self.outlook.classes, count)

    def decisions_of_codes(self, full: Array) -> Array | None:
        """What the model itself decides for codes; None if it cannot be asked."""
        if self.decide is None or self.outlook.classes is None:
            return None
        return _positions(self._of_codes(full, self.decide), self.outlook.classes, len(full))

    def heeding(self, scores: Array, decided: Array) -> Oracle:
        """This oracle, asked for its own decision from now on if that is not the best score.

        For two classes the threshold where the decision turns is estimated.
        """
        if np.array_equal(scores.argmax(axis=1), decided):
            return self
        threshold = None
        if self.outlook.width == 2:
            yes, no = scores[decided == 1, 1], scores[decided == 0, 1]
            if len(yes) and len(no) and yes.min() >= no.max():
                threshold = float((yes.min() + no.max()) / 2)
        return replace(self, outlook=replace(self.outlook, tuned=True, threshold=threshold))

    def _scores(self, given: Any, count: int) -> Array:
        if self.outlook.scale == "labels":
            return _one_hot(
                _positions(given, self.outlook.classes or (), count), self.outlook.width
            )
        table = _table(given, count)
        if self.outlook.width == 2 and table.shape[1] == 1:
            table = _two_sided(table, self.outlook.scale)
        if table.shape[1] != self.outlook.width:
            raise ModelError(
                f"the model returned {table.shape[1]} columns, {self.outlook.width} were expected"
            )
        if self.outlook.scale != "probabilities":
            return _within_reach(table)
        if not _plainly_probable(table):
            _refuse_unbounded(table)
            _refuse_improbable(table)
        return table


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
        table = _table(given, count)
        _refuse_unbounded(table, infinite=scale == "probabilities")
        outlook = _outlook(table, scale, known)
        if known is None and _regresses(model):
            outlook = replace(outlook, classes=None, scale="raw")
    oracle = Oracle(ask, outlook, _decider(model, outlook), quick, file)
    return oracle, oracle.read(given, count)


def _name_of(ask: Any) -> str:
    """Which method of a model is asked, or that each of its labels is."""
    return EACH_LABEL if isinstance(ask, partial) else str(ask.__name__)


def _from_file(file: ModelFile, way: str, outlook: Outlook, quick: Quick | None) -> Oracle:
    """The oracle of a model that has just been opened from its file."""
    model = file.scores
    ask = partial(each_label, model) if way == EACH_LABEL else getattr(model, way, model)
    return Oracle(ask, outlook, _decider(model, outlook), quick, file)


def _decider(model: Any, outlook: Outlook) -> Callable[[Any], Any] | None:
    """What a model with scores has, beside them, for decisions of its own."""
    if outlook.classes is None or outlook.scale == "labels":
        return None
    scored = hasattr(model, "predict_proba") or hasattr(model, "decision_function")
    return getattr(model, "predict" if scored else "decide", None)


def _way_of_asking(
    model: Any, frame: Any, classes: Sequence[object] | None
) -> tuple[Any, Scale, Any]:
    """How to ask, what the numbers mean, and the classes as far as they are known."""
    known: Any = classes if classes is not None else getattr(model, "classes_", None)
    if known is not None and not len(known):
        known = None  # what CatBoost says of a model without classes
    if known is not None and not any(np.ndim(label) for label in known):
        known = tuple(_item(c) for c in known)
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
    if _regresses(model):
        return "raw"
    given = np.asarray(_plain(model.predict(frame)))
    return "raw" if given.dtype.kind == "f" else "labels"


def _regresses(model: Any) -> bool:
    """Whether a model says of itself that it gives numbers and not classes."""
    if getattr(model, "_estimator_type", None) == "regressor":
        return True
    tags = getattr(model, "__sklearn_tags__", None)
    return tags is not None and tags().estimator_type == "regressor"


def _label_outlook(given: Any, known: Any) -> Outlook:
    if known is None:
        known = tuple(_item(value) for value in np.unique(np.asarray(_plain(given)).reshape(-1)))
    return Outlook(known, "labels", len(known))


def _outlook(table: Array, scale: Scale, known: Any) -> Outlook:
    """What the numbers mean, from those of the training rows."""
    width = table.shape[1]
    if scale == "raw" and (width > 1 or known is not None):
        known = tuple(range(width)) if known is None else known
        scale = "probabilities" if _are_probable(table) else "margins"
    elif scale == "probabilities" and width > 1:
        _refuse_improbable(table)
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


def _table(given: Any, count: int) -> Array:
    """Any answer as a float table (n, K)."""
    if hasattr(given, "detach"):
        given = given.detach().cpu()
    if are_tables(given):
        given = np.stack([np.asarray(one)[:, -1] for one in given], axis=1)
    try:
        table = np.asarray(given)
        table = table.astype(float, casting="same_kind" if table.dtype.kind == "c" else "unsafe")
    except (TypeError, ValueError) as error:
        raise ModelError(
            f"the model returned {type(given).__name__}, not numbers: {error}"
        ) from error
    if table.ndim == 1:
        table = table[:, None]
    if table.ndim != 2 or len(table) != count or not table.shape[1]:
        raise ModelError(
            f"the model returned an array of shape {np.shape(given)} for {count} rows: "
            f"({count},) or ({count}, classes) was expected"
        )
    return table


def _two_sided(table: Array, scale: Scale) -> Array:
    """The two columns that one number for 'yes' stands for."""
    yes = table[:, 0]
    return np.stack([1 - yes if scale == "probabilities" else -yes, yes], axis=1)


def _are_probable(table: Array) -> bool:
    inside = bool(((table >= -1e-6) & (table <= 1 + 1e-6)).all())
    return inside and (table.shape[1] == 1 or bool(np.allclose(table.sum(axis=1), 1, atol=1e-3)))


def _plainly_probable(table: Array) -> bool:
    """Whether all numbers are probabilities, looked at in one go; NaN is none."""
    if not table.size:
        return True
    if not (table.min() >= -1e-6 and table.max() <= 1 + 1e-6):
        return False
    total = table[:, 0] + table[:, 1] if table.shape[1] == 2 else np.einsum("nk->n", table)
    return bool(np.abs(total - 1).max() <= 1e-3)


def _within_reach(table: Array) -> Array:
    """Scores that can be compared and subtracted: an infinite one counts as an extreme one."""
    if (np.abs(table) <= EXTREME).all():
        return table
    _refuse_unbounded(table, infinite=False)
    return np.clip(table, -EXTREME, EXTREME)


def _refuse_unbounded(table: Array, *, infinite: bool = True) -> None:
    """Raise for NaN and, if `infinite` numbers are none either, for those."""
    refused = ~np.isfinite(table) if infinite else np.isnan(table)
    if refused.any():
        bad = np.asarray(refused.any(axis=1))
        row = int(bad.argmax())
        number = table[row][refused[row]][0]
        what = "NaN" if np.isnan(number) else f"an infinite score ({number})"
        raise NotAScoreError(f"the model returned {what}", bad)


def _refuse_improbable(table: Array) -> None:
    outside = (table < -1e-6) | (table > 1 + 1e-6)
    uneven = np.abs(np.einsum("nk->n", table) - 1) > 1e-3
    if outside.any() or uneven.any():
        bad = outside.any(axis=1) | uneven
        row = int(bad.argmax())
        raise NotAScoreError(
            f"the model returned {table[row].tolist()}, which are no probabilities", bad
        )


def _positions(given: Any, classes: Sequence[object], count: int) -> Array:
    """Labels as positions among the classes."""
    labels = np.asarray(_plain(given)).reshape(-1)
    if len(labels) != count:
        raise ModelError(f"the model returned {len(labels)} labels for {count} rows")
    known = {label: place for place, label in enumerate(classes)}
    distinct, inverse = np.unique(labels, return_inverse=True)
    places = np.array([known.get(_item(label), -1) for label in distinct], dtype=int)
    found: Array = places[inverse.reshape(-1)] if len(places) else np.zeros(0, int)
    if (found < 0).any():
        row = int((found < 0).argmax())
        raise NotAScoreError(
            f"the model returned the label {labels[row]!r}, which is none of its classes", found < 0
        )
    return found


def _plain(given: Any) -> Any:
    return given.detach().cpu() if hasattr(given, "detach") else given


def _item(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _one_hot(positions: Array, width: int) -> Array:
    table = np.zeros((len(positions), width))
    table[np.arange(len(positions)), positions] = 1.0
    return table
