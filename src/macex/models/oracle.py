"""One interface for every model: a frame in, answers out.

`consult` finds out once what a model returns (probabilities, a decision function, labels or a bare
score) by asking it about the training rows. The `Oracle` that it returns always asks in the same
way, and refuses invalid answers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from macex.ask.answers import Answers, Outlook, Scale
from macex.errors import ModelError, OptionError
from macex.models.decision import by_highest_score
from macex.models.files.model_file import ModelFile
from macex.models.first_steps import columns_dropped
from macex.models.kinds import adapted
from macex.models.outputs import (
    are_probable,
    count_labels,
    each_label,
    many_labels,
    on_host,
    one_hot,
    plain_label,
    plainly_probable,
    positions_of,
    refuse_improbable,
    refuse_unbounded,
    table_of,
    two_sided,
)
from macex.models.prepared import TakesCodes, prepared
from macex.models.quick import Quick
from macex.schema import Array

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from macex.schema import Schema

EACH_LABEL = "each label"
EXTREME = 1e100  # what an infinite score counts as


@dataclass(frozen=True)
class Oracle:
    """A model that can be asked about frames.

    `ask` gives the numbers and `decide` the model's own decision, one of `labels` (the classes,
    unless the caller has renamed them). Where `outlook.by_predict` is set, every answer carries
    that decision; otherwise it is known to be the class with the highest number. `quick` gives the
    same numbers faster, as far as was checked, `prepared` the same numbers from codes. An oracle
    whose model came from a `file` is sent to another process as that file.
    """

    ask: Callable[[Any], Any]
    outlook: Outlook
    decide: Callable[[Any], Any] | None = None
    labels: tuple[object, ...] | None = None
    quick: Quick | None = None
    file: ModelFile | None = None
    prepared: TakesCodes | None = None

    def __reduce__(self) -> str | tuple[Any, ...]:
        if self.file is None:
            return super().__reduce__()
        way = "" if self.ask is self.file.scores else _name_of(self.ask)
        return _from_file, (self.file, way, self.outlook, self.labels, self.quick)

    @property
    def own(self) -> Oracle:
        """The oracle that asks the caller's own model and nothing else."""
        if self.quick is None and self.prepared is None:
            return self
        return replace(self, quick=None, prepared=None)

    @property
    def by_predict(self) -> Oracle:
        """The oracle that asks for the model's own decision, wherever it has one, every time."""
        if self.decide is None or self.outlook.by_predict:
            return self
        return replace(self, outlook=replace(self.outlook, by_predict=True))

    def prepare(self, schema: Schema, codes: Array) -> Oracle:
        """This oracle, asked about codes instead of frames where its model allows it."""
        if self.quick is not None:
            return self
        model = getattr(self.ask, "__self__", None)
        own = getattr(model, "prepared_for", None)  # of a model in another process
        way = prepared(model, schema, codes) if own is None else own(schema, codes)
        return replace(self, prepared=way)

    def unread(self, schema: Schema) -> list[str]:
        """The columns that the model is known never to read."""
        model = getattr(self.ask, "__self__", None)
        own = getattr(model, "unread_for", None)  # of a model in another process
        return columns_dropped(model, schema) if own is None else own(schema)

    @property
    def takes_codes(self) -> bool:
        """Whether codes may be asked about as they are, without a frame."""
        return self.prepared is not None and self.prepared.current

    def of_codes(self, full: Array) -> Answers:
        """The answers for codes of an oracle that takes them."""
        answers = self.read(self._of_codes(full, self.ask), len(full))
        if self.decide is None or not self.outlook.by_predict:
            return answers
        return Answers(answers.scores, self.positions(self._of_codes(full, self.decide), len(full)))

    def _of_codes(self, full: Array, method: Callable[[Any], Any]) -> Any:
        if self.prepared is None:
            raise TypeError("only a prepared model takes codes")
        return self.prepared(full, method.__name__)

    def __call__(self, frame: Any, count: int) -> Answers:
        """The answers for a frame of `count` rows."""
        given = None if self.quick is None else self.quick(frame, count)
        answers = self.read(self.ask(frame) if given is None else given, count)
        if self.decide is None or not self.outlook.by_predict:
            return answers
        return Answers(answers.scores, self.positions(self.decide(frame), count))

    def read(self, given: Any, count: int) -> Answers:
        """What the model returned, as answers."""
        scores = self._scores(given, count)
        if self.outlook.classes is None:
            return Answers(scores, np.full(count, -1))
        if self.outlook.width == 2:  # a quicker argmax
            return Answers(scores, (scores[:, 1] > scores[:, 0]).astype(int))
        return Answers(scores, scores.argmax(axis=1) if count else np.zeros(0, int))

    @cached_property
    def calls_per_ask(self) -> int:
        """How often the model is called for one frame."""
        return 2 if self.decide is not None and self.outlook.by_predict else 1

    def positions(self, decided: Any, count: int) -> Array:
        """The labels a model has decided for, as positions of its classes."""
        return positions_of(decided, self.labels or self.outlook.classes or (), count)

    def compared(self, answers: Answers) -> Oracle:
        """This oracle, knowing whether its decisions are those of the highest score.

        `answers` carry its decisions for some rows. Where they are not, the threshold at which the
        decision turns is estimated for two classes; nothing but the order of a search and what is
        said of the score rests on it.
        """
        scores, decided = answers
        if not self.outlook.by_predict or np.array_equal(scores.argmax(axis=1), decided):
            return self
        threshold = None
        if self.outlook.width == 2:
            yes, no = scores[decided == 1, 1], scores[decided == 0, 1]
            if len(yes) and len(no) and yes.min() >= no.max():
                threshold = float((yes.min() + no.max()) / 2)
        return replace(self, outlook=replace(self.outlook, agrees=False, threshold=threshold))

    def _scores(self, given: Any, count: int) -> Array:
        if self.outlook.scale == "labels":
            return one_hot(
                positions_of(given, self.outlook.classes or (), count), self.outlook.width
            )
        table = table_of(given, count)
        if self.outlook.width == 2 and table.shape[1] == 1:
            table = two_sided(table, self.outlook.scale)
        if table.shape[1] != self.outlook.width:
            raise ModelError(
                f"the model returned {table.shape[1]} columns, {self.outlook.width} were expected"
            )
        if self.outlook.scale != "probabilities":
            return _within_reach(table)
        if not plainly_probable(table):
            refuse_unbounded(table)
            refuse_improbable(table)
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
        table = table_of(given, count)
        refuse_unbounded(table, infinite=scale == "probabilities")
        outlook = _outlook(table, scale, known)
        if known is None and regresses(model):
            outlook = replace(outlook, classes=None, scale="raw")
    oracle = Oracle(ask, outlook, _decider(model, outlook), quick=quick, file=file)
    answers = oracle.read(given, count)
    if oracle.decide is None or by_highest_score(model):
        return oracle, answers
    try:
        decided = on_host(oracle.decide(frame))
    except NotImplementedError:  # the model says that it has no decision of its own
        return replace(oracle, decide=None), answers
    oracle = replace(oracle.by_predict, labels=_labels(model, outlook, decided))
    return oracle, Answers(answers.scores, oracle.positions(decided, count))


def _name_of(ask: Any) -> str:
    """Which method of a model is asked, or that each of its labels is."""
    return EACH_LABEL if isinstance(ask, partial) else str(ask.__name__)


def _from_file(
    file: ModelFile,
    way: str,
    outlook: Outlook,
    labels: tuple[object, ...] | None,
    quick: Quick | None,
) -> Oracle:
    """The oracle of a model that has just been opened from its file."""
    model = file.scores
    ask = partial(each_label, model) if way == EACH_LABEL else getattr(model, way, model)
    return Oracle(ask, outlook, _decider(model, outlook), labels, quick, file)


def _decider(model: Any, outlook: Outlook) -> Callable[[Any], Any] | None:
    """What a model with scores has, beside them, for decisions of its own."""
    if outlook.classes is None or outlook.scale == "labels":
        return None
    scored = hasattr(model, "predict_proba") or hasattr(model, "decision_function")
    return getattr(model, "predict" if scored else "decide", None)


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


def _within_reach(table: Array) -> Array:
    """Scores that can be compared and subtracted: an infinite one counts as an extreme one."""
    if (np.abs(table) <= EXTREME).all():
        return table
    refuse_unbounded(table, infinite=False)
    return np.clip(table, -EXTREME, EXTREME)
