"""One interface for every model: a frame in, answers out.

An `Oracle` always asks its model in the same way, and refuses what no model may return. How a model
is to be asked is found out once, see `macex.models.consultation`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from macex.ask.answers import Answers, Outlook, Scale
from macex.errors import ModelError
from macex.models.files.model_file import ModelFile
from macex.models.first_steps import columns_dropped
from macex.models.prepared import TakesCodes, prepared
from macex.models.quick import Quick
from macex.schema import Array

if TYPE_CHECKING:
    from macex.schema import Schema


EACH_LABEL = "each label"
EXTREME = 1e100  # what an infinite score counts as


class NotAScoreError(Exception):
    """Rows whose answers are not scores; `rows` are their positions in the frame that was asked."""

    def __init__(self, message: str, bad: Array) -> None:
        super().__init__(message)
        self.rows = np.flatnonzero(bad)


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
    return Oracle(ask, outlook, decider(model, outlook), labels, quick, file)


def decider(model: Any, outlook: Outlook) -> Callable[[Any], Any] | None:
    """What a model with scores has, beside them, for decisions of its own."""
    if outlook.classes is None or outlook.scale == "labels":
        return None
    scored = hasattr(model, "predict_proba") or hasattr(model, "decision_function")
    return getattr(model, "predict" if scored else "decide", None)


def table_of(given: Any, count: int) -> Array:
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


def two_sided(table: Array, scale: Scale) -> Array:
    """The two columns that one number for 'yes' stands for."""
    yes = table[:, 0]
    return np.stack([1 - yes if scale == "probabilities" else -yes, yes], axis=1)


def plainly_probable(table: Array) -> bool:
    """Whether all numbers are probabilities, looked at in one go; NaN is none."""
    if not table.size:
        return True
    if not (table.min() >= -1e-6 and table.max() <= 1 + 1e-6):
        return False
    total = table[:, 0] + table[:, 1] if table.shape[1] == 2 else np.einsum("nk->n", table)
    return bool(np.abs(total - 1).max() <= 1e-3)


def refuse_unbounded(table: Array, *, infinite: bool = True) -> None:
    """Raise for NaN and, if `infinite` numbers are none either, for those."""
    refused = ~np.isfinite(table) if infinite else np.isnan(table)
    if refused.any():
        bad = np.asarray(refused.any(axis=1))
        row = int(bad.argmax())
        number = table[row][refused[row]][0]
        what = "NaN" if np.isnan(number) else f"an infinite score ({number})"
        raise NotAScoreError(f"the model returned {what}", bad)


def refuse_improbable(table: Array) -> None:
    """Raise for rows that are not probabilities."""
    outside = (table < -1e-6) | (table > 1 + 1e-6)
    uneven = np.abs(np.einsum("nk->n", table) - 1) > 1e-3
    if outside.any() or uneven.any():
        bad = outside.any(axis=1) | uneven
        row = int(bad.argmax())
        raise NotAScoreError(
            f"the model returned {table[row].tolist()}, which are no probabilities", bad
        )


def positions_of(given: Any, classes: Sequence[object], count: int) -> Array:
    """Labels as positions among the classes."""
    labels = np.asarray(on_host(given)).reshape(-1)
    if len(labels) != count:
        raise ModelError(f"the model returned {len(labels)} labels for {count} rows")
    known = {label: place for place, label in enumerate(classes)}
    distinct, inverse = np.unique(labels, return_inverse=True)
    places = np.array([known.get(plain_label(label), -1) for label in distinct], dtype=int)
    found: Array = places[inverse.reshape(-1)] if len(places) else np.zeros(0, int)
    if (found < 0).any():
        row = int((found < 0).argmax())
        raise NotAScoreError(
            f"the model returned the label {labels[row]!r}, which is none of its classes", found < 0
        )
    return found


def on_host(given: Any) -> Any:
    """What a model returned, without its graph and off its device."""
    return given.detach().cpu() if hasattr(given, "detach") else given


def plain_label(value: Any) -> Any:
    """A label as a value of Python."""
    return value.item() if isinstance(value, np.generic) else value


def one_hot(positions: Array, width: int) -> Array:
    """1 for the class at each position and 0 for the others."""
    table = np.zeros((len(positions), width))
    table[np.arange(len(positions)), positions] = 1.0
    return table


def _within_reach(table: Array) -> Array:
    """Scores that can be compared and subtracted: an infinite one counts as an extreme one."""
    if (np.abs(table) <= EXTREME).all():
        return table
    refuse_unbounded(table, infinite=False)
    return np.clip(table, -EXTREME, EXTREME)


def are_tables(given: Any) -> bool:
    """Whether an answer is a list of tables, one for each label."""
    return isinstance(given, list) and len(given) > 0 and getattr(given[0], "ndim", 0) == 2


def each_label(model: Any, frame: Any) -> Array:
    """The probability of each of several labels: the second class of each output."""
    given = model.predict_proba(frame)
    if not are_tables(given):
        return np.asarray(given)
    columns = []
    for place, (part, classes) in enumerate(zip(given, model.classes_, strict=True)):
        table = np.asarray(part)
        if len(classes) > 2:
            raise ModelError(
                f"output {place} of the model has {len(classes)} classes; explain it alone: "
                f"lambda rows: model.predict_proba(rows)[{place}]"
            )
        columns.append(table[:, 1] if len(classes) == 2 else table[:, 0] * float(classes[0]))
    return np.stack(columns, axis=1)
