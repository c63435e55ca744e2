"""The explainer for devices: codes in, codes out, searched block by block and level by level."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from macex.ask.constraints import Constraints
from macex.ask.question import Question
from macex.device.arrays import (
    Array,
    ArrayPlace,
    at_once,
    fusing,
    memory,
    on_host,
    place_named,
    place_of,
)
from macex.device.candidates import singles
from macex.device.layout import DeviceLayout, layout_of
from macex.device.levels import (
    DeviceLevel,
    best_parts,
    extensions,
    first_level,
    frugal_parents,
    nearer,
    pairs,
    scored,
    surest_parents,
)
from macex.device.neighbors import Nearby, nearby
from macex.device.plausibility import DeviceReference, usual_of
from macex.device.selection import DeviceSelection
from macex.device.torch_scores import TorchScores
from macex.device.tree_scores import TreeScores
from macex.device.verdicts import (
    MOST_ROWS,
    DeviceAsker,
    DeviceJudge,
    Score,
    Wanted,
    toward,
    wanted_of,
)
from macex.engine.fitted import Fitted
from macex.errors import ModelError, OptionError, SchemaError, require_count
from macex.explainer import Explainer
from macex.models.asker import CHUNK_ROWS
from macex.schema import MISSING, UNKNOWN, Column
from macex.schema import Array as HostArray
from macex.stages.candidates import Both
from macex.stages.finetune.section import Section
from macex.stages.search.exhaustive import Exhaustive
from macex.stages.search.protocol import by_levels

SINGLE_BYTES = 150  # what a single change of a query takes at the worst
PAIR_BYTES = 60_000  # what all its combinations take


class CodeAnswers(NamedTuple):
    """Answers, one entry for each row of codes; arrays of the device."""

    codes: Array  # (n, d) the counterfactuals; the row itself where none was found
    found: Array  # (n,) bool
    changed: Array  # (n,) int: how many columns differ
    score: Array  # (n,) of these codes, toward the goal


class DeviceExplainer:
    """The default search of an explainer for many rows of codes, on NumPy or a torch device.

    Parameters
    ----------
    explainer : of classes, with `candidates="both"`, `method="exhaustive"` and `finetune="section"`
        or None. With `prefer="balanced"`, as with `"fewest"`, the nearest of the rows with as few
        changes is found, relations that `structure="keep"` asks for are not known here, and
        plausibility is by distance; `on_device` also respects stability and relations.
    score : the model as a function of codes (n, d) in the order of `explainer.schema.columns` that
        returns its scores (n, classes), or (n,) for the second of two, where the codes lie; for
        torch modules there is `TorchScores`.
    device : "cpu", "cuda" or "cuda:1" for torch; by default that of `TorchScores` or `TreeScores`,
        and NumPy for other functions.
    constraints : further constraints, the same for all rows. Groups, rules, derived columns,
        may_blank and strict are not known here.
    margin : by how much the wanted class must lead.
    confirm : ask the explainer's own model about every answer, and drop those it does not confirm.
    most_rows : how many rows the model is asked about at once; by default about a million, four on
        a large GPU.
    compiled : have torch compile the steps of the search. The answers are the same. It takes
        minutes, once for a process, and pays for hundreds of millions of rows.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from macex import Explainer
    >>> data = pd.DataFrame({"hours": range(20, 60), "debt": [1, 2] * 20})
    >>> model = lambda rows: 1 / (1 + np.exp(44.5 - rows["hours"]))
    >>> explainer = Explainer(model, data, classes=("no", "yes"))
    >>> fast = DeviceExplainer(explainer, lambda codes: 1 / (1 + np.exp(44.5 - codes[:, 0])))
    >>> fast.explain(np.array([[40.0, 1.0]])).codes.tolist()
    [[45.0, 1.0]]
    """

    def __init__(
        self,
        explainer: Explainer,
        score: Score,
        *,
        device: str | None = None,
        constraints: Constraints | Mapping[str, Any] | None = None,
        margin: float = 1e-6,
        confirm: bool = True,
        most_rows: int | None = None,
        compiled: bool = False,
    ) -> None:
        Question(margin=margin)
        if most_rows is not None:
            require_count("most_rows", most_rows)
        if not callable(score):
            raise OptionError(f"score is a function of codes, not a {type(score).__name__}")
        fitted = explainer.engine.fitted
        refuse_options(fitted)
        self._fitted, self.margin, self.confirm = fitted, float(margin), confirm
        self.compiled = compiled
        self.place = place_named(_device_of(score) if device is None else device)
        merged = explainer.engine.merged(constraints)
        self.layout = layout_of(fitted, merged, self.place)
        most = at_once(self.place, MOST_ROWS) if most_rows is None else most_rows
        self._asker = DeviceAsker(score, self.layout, fitted.outlook, most)
        self._searchers: dict[bytes, Searcher] = {}

    def explain(self, codes: Any, want: Any = None) -> CodeAnswers:
        """The counterfactual of every row of codes (n, d).

        `want` is None for any other class, a label, `any_of(...)`, or one of these for each row.
        """
        with fusing(on=self.compiled):
            return self._explained(codes, want)

    def _explained(self, codes: Any, want: Any) -> CodeAnswers:
        xp, place = self.place.xp, self.place
        own = self._read(codes)
        wanted = wanted_of(want, self._decision(own), self._fitted.outlook)
        rows, found = own + 0.0, place.zeros(own.shape[0], xp.bool)
        score = place.full(own.shape[0], 0.0)
        for number, classes in enumerate(wanted.classes):
            for part in self._blocks(xp.nonzero(wanted.number == number)[0]):
                rows[part], found[part], score[part] = self._searcher(classes)(own[part])
        if self.confirm:
            sure = found & place.array(self._confirmed(on_host(rows), on_host(found), wanted))
            self._rescore(score, own, found & ~sure, wanted)
            found = sure
        rows = xp.where(found[:, None], rows, own)
        return CodeAnswers(rows, found, xp.sum(xp.astype(rows != own, xp.int64), axis=1), score)

    def _rescore(self, score: Array, own: Array, dropped: Array, wanted: Wanted) -> None:
        """The scores of the rows themselves, where their answers are dropped."""
        xp = self.place.xp
        for number, classes in enumerate(wanted.classes if bool(xp.any(dropped)) else ()):
            for part in self._blocks(xp.nonzero(dropped & (wanted.number == number))[0]):
                score[part] = self._searcher(classes).judge(own[part])[1]

    def _read(self, codes: Any) -> Array:
        """The codes where they are worked on; those that cannot be worked on are refused."""
        xp, columns = self.place.xp, self._fitted.ground.schema.columns
        own = self._array(codes)
        if own.ndim != 2 or own.shape[1] != len(columns):
            raise SchemaError(
                f"codes of shape {tuple(own.shape)} were given: (rows, {len(columns)}) are "
                "expected, as explainer.schema.read(rows).codes gives them"
            )
        own = xp.astype(own, xp.float64)
        bad = _unread(own, self.place, columns)
        if bool(xp.any(bad)):
            row, column = (int(place[0]) for place in xp.nonzero(bad))
            raise SchemaError(
                f"row {row} has in column {columns[column].name!r} a value that training has not: "
                "such rows cannot be explained on a device, ask explainer.explain about them"
            )
        return own

    def _array(self, codes: Any) -> Array:
        """What was given as an array; a frame is not codes."""
        if not hasattr(codes, "columns"):
            given = np.ascontiguousarray(codes) if isinstance(codes, np.ndarray) else codes
            with suppress(TypeError, ValueError, RuntimeError):
                return self.place.array(given)
        raise SchemaError(
            f"a {type(codes).__name__} that holds no codes was given: "
            "explainer.schema.read(rows).codes makes codes of rows"
        )

    def _decision(self, own: Array) -> Array:
        """What the model decides for the rows themselves."""
        xp, ask, found = self.place.xp, self._asker, [self.place.arange(0)]
        for part in ask.parts(own.shape[0]):
            scores = ask(own[part])
            if not bool(xp.all(xp.isfinite(scores))):
                raise ModelError("the model returned a score that is not a number for some codes")
            found.append(ask.decision(scores))
        return xp.concat(found)

    def _blocks(self, queries: Array) -> Iterator[Array]:
        """Queries in parts that fit into memory."""
        entries = sum(offer.width for offer in self.layout.offers)
        size = max(64, memory(self.place) // (PAIR_BYTES + entries * SINGLE_BYTES))
        for start in range(0, queries.shape[0], size):
            yield queries[start : start + size]

    def _searcher(self, classes: HostArray) -> Searcher:
        """The search for a goal, made when it is first needed."""
        key, fitted = classes.tobytes(), self._fitted
        if key not in self._searchers:
            goals = toward(classes, fitted.outlook, self.margin)
            blank = any(column.missing for column in fitted.ground.schema.columns)
            search, section = fitted.options.method, fitted.options.finetune
            self._searchers[key] = Searcher(
                self.layout,
                DeviceJudge(self._asker, classes, self.margin),
                nearby(fitted, self.layout, fitted.meeting(goals, 0)),
                usual_of(fitted.reference(goals, 0), self.layout, may_blank=blank),
                search if by_levels(search) else Exhaustive(),
                section if isinstance(section, Section) else None,
            )
        return self._searchers[key]

    def _confirmed(self, codes: HostArray, found: HostArray, wanted: Wanted) -> HostArray:
        """Which answers (n, d) the explainer's own model confirms, (n,) bool."""
        fitted, number = self._fitted, on_host(wanted.number)
        confirmed = np.zeros(len(codes), bool)
        goals = [toward(classes, fitted.outlook, self.margin) for classes in wanted.classes]
        at = np.flatnonzero(found)
        for start in range(0, len(at), CHUNK_ROWS):
            some = at[start : start + CHUNK_ROWS]
            answers = fitted.oracle.own(fitted.ground.schema.frame(codes[some]), len(some))
            for goal in np.unique(number[some]):
                mine = np.flatnonzero(number[some] == goal)
                verdict = goals[goal].judge(answers.take(mine), np.zeros(len(mine), int))
                confirmed[some[mine]] = verdict.reached
        return confirmed


def readable(columns: Sequence[Column], codes: HostArray) -> HostArray:
    """Which rows of codes (n, d) can be worked on, (n,) bool."""
    bad: HostArray = np.asarray(_unread(codes, place_named(None), columns))
    return np.asarray(~bad.any(axis=1))


def _unread(own: Array, place: ArrayPlace, columns: Sequence[Column]) -> Array:
    """Which codes cannot be worked on, (n, d) bool: training has no such value."""
    xp = place.xp
    known, whole, named, last = (
        place.array(np.array(facts)) for facts in zip(*map(_facts, columns), strict=True)
    )
    wrong = (named & ((own < 0) | (own > last))) | (whole & (own != xp.floor(own)))
    bad: Array = ~xp.isfinite(own) | (own == UNKNOWN) | xp.where(own == MISSING, ~known, wrong)
    return bad


def _device_of(score: Score) -> Any:
    return score.device if isinstance(score, TorchScores | TreeScores) else None


def _facts(column: Column) -> tuple[bool, bool, bool, int]:
    """Whether a column may be missing, is whole, has categories, and the last of these."""
    whole = column.discrete or column.integer
    return column.missing, whole, column.discrete, len(column.table) - 1


def refuse_options(fitted: Fitted) -> None:
    """Raise for an explainer whose search is not the one that runs on a device."""
    options, outlook = fitted.options, fitted.outlook
    wrong = {
        "candidates": not isinstance(options.candidates, Both),
        "method": not by_levels(options.method),
        "selection": options.selection.printed,
        "prefer": options.prefer not in ("balanced", "fewest"),
        "distance": options.distance not in ("median", "mad"),
        "finetune": not (options.finetune is None or isinstance(options.finetune, Section)),
    }
    for option, refused in wrong.items():
        if refused:
            raise OptionError(
                f"an explainer with {option}={getattr(options, option)!r} has no twin on a device: "
                f"leave {option} at its default, or ask explainer.explain"
            )
    if outlook.classes is None:
        raise OptionError("the model gives a bare score: a device searches for classes only")
    if not outlook.agrees:
        raise OptionError(
            "the model decides by a threshold of its own, which is not known on a device: ask "
            "explainer.explain"
        )


@dataclass(frozen=True)
class Searcher:
    """The search for queries that all have the same goal."""

    layout: DeviceLayout
    judge: DeviceJudge
    near: Nearby
    usual: DeviceReference
    search: Exhaustive
    section: Section | None

    def __call__(self, own: Array) -> tuple[Array, Array, Array]:
        """Of a block (q, d): the rows chosen, which of them reach the goal, and their scores."""
        rows, (verdict, score) = own + 0.0, self.judge(own)
        open_ = self.layout.place.xp.nonzero(~verdict.reached)[0]
        if not open_.shape[0] or not self.layout.offers or not self.layout.max_changes:
            return rows, verdict.reached, score
        for queries, chosen in self._answered(own[open_], verdict.progress[open_]):
            rows[open_[queries]] = chosen
        verdict, score = self.judge(rows)
        return rows, verdict.reached, score

    def _answered(self, own: Array, base: Array) -> Iterator[tuple[Array, Array]]:
        """The queries that each level helps, and their answers."""
        choose = DeviceSelection(self.layout, self.judge, self.usual, self.section)
        offered = singles(self.layout, own, self.near.values(own))
        level = first_level(self.judge, own, offered)
        queries = self.layout.place.arange(own.shape[0])
        helped, left = _split(level)
        if helped.shape[0]:
            yield queries[helped], choose(own[helped], level.take(helped))
        most = min(self.layout.max_changes, self.search.deepest)
        if not left.shape[0] or most < 2:
            return
        queries, own, base, level = queries[left], own[left], base[left], level.take(left)
        surest, frugal = best_parts(level, base, offered.starts, self.search.parents)
        level = scored(self.judge, own, pairs(surest, base), self.search)
        level = nearer(self.judge, own, pairs(frugal, base), level)  # for those not helped, too
        for size in range(2, most + 1):
            if size > 2:
                before, parents = level, surest_parents(level, self.search)
                level = scored(self.judge, own, extensions(parents, surest), self.search)
            helped, left = _split(level)
            if helped.shape[0]:
                mine, found = own[helped], level.take(helped)
                if size > 2:
                    parents = frugal_parents(before.take(helped), base[helped], self.search)
                    brood = extensions(parents, frugal.take(helped))
                    found = nearer(self.judge, mine, brood, found)
                yield queries[helped], choose(mine, found)
            if not left.shape[0]:
                return
            queries, own, base = queries[left], own[left], base[left]
            surest, frugal, level = surest.take(left), frugal.take(left), level.take(left)


def _split(level: DeviceLevel) -> tuple[Array, Array]:
    """The queries that a level helps, and the others."""
    xp = place_of(level.reached).xp
    helped = xp.any(level.reached, axis=1)
    return xp.nonzero(helped)[0], xp.nonzero(~helped)[0]
