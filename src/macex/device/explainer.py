"""The stages joined: blocks of queries from codes to codes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from macex.ask.answers import Answers
from macex.ask.constraints import Constraints
from macex.ask.goals import AnyOf, compile_goals, resolve
from macex.device.arrays import Array, memory, on_host, place_named, place_of
from macex.device.candidates import singles
from macex.device.judging import MOST_ROWS, Asker, Judge, Score
from macex.device.layout import layout_of
from macex.device.levels import Level, best_parts, extended, first_level, pairs
from macex.device.neighbors import Nearby, nearby
from macex.device.plausibility import Usual, usual_of
from macex.device.selection import Selection
from macex.errors import GoalError, OptionError, SchemaError
from macex.models.asking import Asker as HostAsker
from macex.schema import MISSING, UNKNOWN
from macex.stages.candidates import Both
from macex.stages.finetune.section import Section
from macex.stages.search.exhaustive import Exhaustive

if TYPE_CHECKING:
    from macex.explainer import Explainer
    from macex.explainer.fitted import Fitted

SINGLE_BYTES = 150  # what a single change of a query takes at the worst
PAIR_BYTES = 150_000  # what all its combinations take


class CodeAnswers(NamedTuple):
    """Answers, one entry for each row of codes; arrays where the codes were."""

    codes: Array  # (n, d) the counterfactuals; the row itself where none was found
    found: Array  # (n,) bool
    changed: Array  # (n,) int: how many columns differ
    score: Array  # (n,) toward the goal


@dataclass(frozen=True)
class _Goal:
    """What some queries want, and what is known of it."""

    judge: Judge
    near: Nearby
    usual: Usual


class DeviceExplainer:
    """The default search of an explainer for many rows of codes, on NumPy or a torch device.

    Parameters
    ----------
    explainer : with `candidates="both"`, `method="exhaustive"` and `prefer="fewest"`.
    score : the model as a function of codes (n, d) in the order of `explainer.schema.columns`,
        that returns its scores (n, classes), or (n,) for the second of two, where the codes lie;
        for torch modules there is `TorchScores`.
    device : `None` for NumPy; "cpu", "cuda" or "cuda:1" for torch.
    constraints : further constraints, the same for all rows; groups, rules, derived columns,
        may_blank and strict are not known here.
    margin : by how much the wanted class must lead.
    confirm : ask the explainer's own model about every answer, and drop those it does not confirm.
    most_rows : how many rows the model is asked about at once.

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
        constraints: Constraints | None = None,
        margin: float = 1e-6,
        confirm: bool = True,
        most_rows: int = MOST_ROWS,
    ) -> None:
        fitted: Fitted = explainer._fitted  # noqa: SLF001 - what it has learnt is used here
        refuse_options(fitted)
        wished = explainer.constraints
        if constraints is not None:
            wished = wished.merge(constraints)
        self._fitted = fitted
        self.place = place_named(device)
        self.layout = layout_of(fitted, wished, self.place)
        self.margin, self.confirm = float(margin), confirm
        self._asker = Asker(score, self.layout, fitted.outlook, int(most_rows))
        self._may_blank = any(column.missing for column in fitted.ground.schema.columns)
        self._goals: dict[bytes, _Goal] = {}

    def explain(self, codes: Any, want: Any = None) -> CodeAnswers:
        """The counterfactual of every row of codes (n, d).

        `want` is None for any other class, a label, `any_of(...)`, or one of these for each row.
        """
        xp = self.place.xp
        own = self._read(codes)
        goal, wanted = self._wanted(own, want)
        rows, found = own + 0.0, self.place.zeros(own.shape[0], xp.bool)
        score = self.place.full(own.shape[0], 0.0)
        for number, mask in enumerate(wanted):
            mine = xp.nonzero(goal == number)[0]
            if mine.shape[0]:
                known = self._goal(mask)
                for part in self._blocks(mine):
                    rows[part], found[part], score[part] = self._block(known, own[part])
        answers = CodeAnswers(
            rows,
            found,
            xp.sum(xp.astype(rows != own, xp.int64), axis=1),
            score,
        )
        return self._confirmed(answers, wanted, goal) if self.confirm else answers

    def _read(self, codes: Any) -> Array:
        """The codes by unit, where they are worked on."""
        given = self.place.array(codes)
        width = len(self._fitted.ground.schema.columns)
        if given.ndim != 2 or given.shape[1] != width:
            raise SchemaError(
                f"codes of shape {tuple(given.shape)} were given: (rows, {width}) are expected, "
                "as explainer.schema.read(rows).codes gives them"
            )
        own = self.place.xp.astype(given, self.place.xp.float64)
        if bool(self.place.xp.any(own == UNKNOWN)) or bool(self.place.xp.any(own != own)):
            raise SchemaError(
                "some rows have a category never seen in training, or a number that is none: "
                "ask explainer.explain about these"
            )
        return own

    def _blocks(self, queries: Array) -> Iterator[Array]:
        """Queries in parts that fit into memory."""
        entries = sum(int(offer.values.shape[0]) + offer.rungs for offer in self.layout.offers)
        size = max(64, memory(self.place) // (PAIR_BYTES + entries * SINGLE_BYTES))
        for start in range(0, queries.shape[0], size):
            yield queries[start : start + size]

    def _wanted(self, own: Array, want: Any) -> tuple[Array, list[Any]]:
        """The number of each query's goal, and the wanted classes of each goal, (K,) bool."""
        xp, outlook = self.place.xp, self._fitted.outlook
        ask = self._asker
        parts = [ask.decision(ask(own[part])) for part in ask.parts(own.shape[0])]
        decision = xp.concat([*parts, self.place.arange(0)])
        alone = want is None or isinstance(want, (AnyOf, str)) or not hasattr(want, "__len__")
        goals = resolve(want, 1 if alone else int(own.shape[0]))
        distinct = list(dict.fromkeys(goals))
        for goal in distinct:
            if not isinstance(goal, AnyOf):
                raise GoalError(
                    f"{goal.text} is no goal that is known on a device: ask for classes here, "
                    "or ask explainer.explain"
                )
        masks = [~np.eye(outlook.width, dtype=bool)[k] for k in range(outlook.width)]
        named = [goal for goal in distinct if goal.labels is not None]
        own_answers = Answers(np.zeros((len(named), outlook.width)), np.zeros(len(named), int))
        masks += list(compile_goals(named, own_answers, outlook, self.margin).wanted)
        number = {goal: outlook.width + place for place, goal in enumerate(named)}
        each = self.place.array(np.array([number.get(goal, -1) for goal in goals]))
        return xp.where(each < 0, decision, each), masks

    def _goal(self, wanted: Any) -> _Goal:
        """What is known of a goal, learnt when it is first asked for."""
        key = wanted.tobytes()
        if key not in self._goals:
            fitted, outlook = self._fitted, self._fitted.outlook
            labels = tuple(np.array(outlook.classes, dtype=object)[wanted])
            own = Answers(np.zeros((1, outlook.width)), np.zeros(1, int))
            goals = compile_goals([AnyOf(labels)], own, outlook, self.margin)
            self._goals[key] = _Goal(
                Judge(self._asker, wanted, self.margin),
                nearby(fitted, self.layout, fitted.meeting(goals, 0)),
                usual_of(fitted.reference(goals, 0), self.layout, may_blank=self._may_blank),
            )
        return self._goals[key]

    def _block(self, goal: _Goal, own: Array) -> tuple[Array, Array, Array]:
        """One block: the rows chosen, which of them reach the goal, and their scores."""
        rows, (verdict, score) = own + 0.0, goal.judge(own)
        open_ = self.place.xp.nonzero(~verdict.reached)[0]
        if open_.shape[0] and self.layout.offers and self.layout.max_changes:
            base = verdict.progress[open_]
            for queries, chosen in self._searched(goal, own[open_], base):
                rows[open_[queries]] = chosen
            verdict, score = goal.judge(rows)
        return rows, verdict.reached, score

    def _searched(self, goal: _Goal, own: Array, base: Array) -> Iterator[tuple[Array, Array]]:
        """Level after level: the queries it answers, and their answers."""
        xp, judge, search = self.place.xp, goal.judge, self._fitted.options.method
        section = self._fitted.options.finetune
        if not isinstance(search, Exhaustive) or not (section is None or isinstance(section, Section)):
            raise TypeError("other options are refused before")
        choose = Selection(self.layout, judge, goal.usual, section)
        offered = singles(self.layout, own, goal.near.values(own))
        level = first_level(judge, own, offered)
        queries = self.place.arange(own.shape[0])
        helped, left = _split(level)
        if helped.shape[0]:
            yield queries[helped], choose(own[helped], level.take(helped))
        if not left.shape[0] or self.layout.max_changes < 2:
            return
        queries, own, base = queries[left], own[left], base[left]
        parts = best_parts(offered.take(left), level.take(left), base, search.parents)
        family = pairs(judge, own, base, parts, search)
        for size in range(2, min(self.layout.max_changes, search.deepest) + 1):
            if size > 2:
                family = extended(judge, own, parts, family, search)
            helped, left = _split(family.level)
            if helped.shape[0]:
                yield queries[helped], choose(own[helped], family.level.take(helped))
            if not left.shape[0]:
                return
            queries, own, parts, family = queries[left], own[left], parts.take(left), family.take(left)

    def _confirmed(self, answers: CodeAnswers, wanted: list[Any], goal: Array) -> CodeAnswers:
        """The answers that the explainer's own model confirms."""
        schema, found = self._fitted.ground.schema, on_host(answers.found).copy()
        codes, numbers = on_host(answers.codes), on_host(goal)
        at = np.flatnonzero(found)
        rows = schema.read(schema.frame(codes[at]))
        scores, _ = HostAsker(self._fitted.oracle.own, schema, rows)(codes[at], np.arange(len(at)))
        for number, mask in enumerate(wanted):
            mine = np.flatnonzero(numbers[at] == number)
            judge = self._goal(mask).judge
            some = judge.read(self.place.array(scores.scores[mine]))
            found[at[mine]] = on_host(some.reached) & mask[scores.decision[mine]]
        return answers._replace(found=self.place.array(found))


def _split(level: Level) -> tuple[Array, Array]:
    """The queries that a level helps, and the others."""
    xp = place_of(level.reached).xp
    helped = xp.any(level.reached, axis=1)
    return xp.nonzero(helped)[0], xp.nonzero(~helped)[0]


def refuse_options(fitted: Fitted) -> None:
    """Raise for an explainer whose search is not the one that runs on a device."""
    options, outlook = fitted.options, fitted.outlook
    wrong = {
        "candidates": not isinstance(options.candidates, Both),
        "method": not isinstance(options.method, Exhaustive),
        "prefer": options.prefer != "fewest",
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
        raise OptionError("the model gives a bare score: on a device only classes can be asked for")
    if outlook.tuned:
        raise OptionError(
            "the model decides by a threshold of its own, which is not known on a device: ask "
            "explainer.explain"
        )
    _ = MISSING
