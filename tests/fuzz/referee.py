"""The referee: whatever an explanation says, checked by trying everything with the model itself.

It knows frames, the caller's model and the contract, and nothing of the engine. What the contract
leaves open (a score on the very edge, a direction from a missing value) is held against nobody.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

import macex as mx
from fuzz.aims import SLIGHT, Answers
from fuzz.generator import Call, Case
from fuzz.laws import compared, consistent, listed, ranked, same_cells, tabled, written
from fuzz.tables import Field
from fuzz.trying import Query
from fuzz.wishes import BROKEN, KEPT, UNCLEAR

BOXED = 4  # of so many cases one has its boxes tried


@dataclass(frozen=True)
class Fault:
    """A law that does not hold, and for which row of a call."""

    place: int
    law: str
    detail: str


@dataclass(frozen=True)
class Trial:
    """Rows to be scored, and the law: all of them reach the goal, or none does."""

    place: int
    rows: pd.DataFrame
    law: str
    reach: bool
    said: mx.Counterfactual | mx.Explanation | None = None  # tells the label and the score


@dataclass
class Referee:
    """Checks the explanations of a case, counts what it checked, and collects what is wrong."""

    case: Case
    tally: Counter[str] = field(default_factory=Counter)

    def check(self, call: Call, found: mx.Explanations) -> list[Fault]:
        """All that is wrong with the answers to a call."""
        self.queries = [
            Query(self.case.table, call.rows.iloc[[at]], aim, wish)
            for at, (aim, wish) in enumerate(zip(call.aims, call.wishes, strict=True))
        ]
        self.call, self.own = call, self.asked(call.rows)
        faults: list[Fault] = []
        trials: list[Trial] = []
        for place, explanation in enumerate(found):
            for made in self.claims(place, explanation):
                (faults if isinstance(made, Fault) else trials).append(made)
        faults += self.tried(trials)
        self.tally["queries"] += len(found)
        return faults

    def exported(self, found: mx.Explanations) -> list[Fault]:
        """Frames and JSON hold what the explanations hold."""
        self.tally["exported"] += len(found)
        laws = [*tabled(found), *written(found, canonical=self.case.seed % 2 == 0)]
        return [Fault(0, law, "") for law in laws]

    def repeated(self, call: Call, explainer: mx.Explainer, found: mx.Explanations) -> list[Fault]:
        """The answer for a row is the same bytes alone, in a batch, and in another order."""
        faults, half = [], len(found) // 2
        for places in (list(range(half))[::-1], [half]):
            rows, asked = call.part(places)
            for at, one in zip(places, explainer.explain(rows, **asked), strict=True):
                self.tally["repeated"] += 1
                before = found[at].to_json(canonical=True)
                if one.to_json(canonical=True) != before:
                    faults.append(Fault(at, f"the same bytes as among {places}", before[:300]))
        return faults

    def asked(self, rows: pd.DataFrame) -> Answers:
        """What the model says of rows, as its caller asks it."""
        outputs = np.asarray(self.case.subject.outputs(rows), float)
        return Answers(outputs, self.case.subject.decisions(rows, outputs))

    def own_answer(self, place: int) -> Answers:
        return self.own.of(slice(place, place + 1))

    def reached(self, place: int, answers: Answers) -> np.ndarray:
        """Whether rows reach the goal of a query: kept, unclear or broken."""
        margin = self.call.options.get("margin", SLIGHT)
        own, aim = self.own_answer(place), self.call.aims[place]
        return aim.reached(self.case.subject, answers, own, margin)

    def tried(self, trials: list[Trial]) -> Iterator[Fault]:
        """Every trial, in one call of the model."""
        if not trials:
            return
        answers = self.asked(pd.concat([trial.rows for trial in trials], ignore_index=True))
        start = 0
        for trial in trials:
            part = answers.of(slice(start, start + len(trial.rows)))
            start += len(trial.rows)
            reached = self.reached(trial.place, part)
            wrong = reached == BROKEN if trial.reach else reached == KEPT
            if trial.said is not None:
                yield from self.told(trial, part)
            if wrong.any():
                at = int(wrong.argmax())
                row = trial.rows.iloc[at].to_dict()
                yield Fault(trial.place, trial.law, f"{row} has {part.outputs[at]}")

    def told(self, trial: Trial, answers: Answers) -> Iterator[Fault]:
        """The label and the score that are told are the model's."""
        subject, said, place = self.case.subject, trial.said, trial.place
        if subject.classes is not None and said.label != subject.classes[answers.decisions[0]]:
            yield Fault(place, "the label is the model's decision", repr(said))
        score = self.call.aims[place].score(subject, answers, self.own_answer(place))[0]
        if abs(said.score - score) > subject.near(score):
            yield Fault(place, "the score is the model's", f"{score}: {said!r}")

    def claims(self, place: int, one: mx.Explanation) -> Iterator[Fault | Trial]:
        """What an explanation claims: faults seen at once, and rows to be tried."""
        query, options = self.queries[place], self.call.options
        laws = [*consistent(one, options.get("n", 1)), *listed(one, query.wish)]
        laws += compared(one, query.aim)
        if self.case.options.get("selection") != "printed":
            two = self.own.outputs.shape[1] < 3  # of several classes the surest leads by most
            prefer = self.case.options.get("prefer", "fewest")
            laws += ranked(one, prefer, upward=two and query.aim.upward)
        for law in laws:
            yield Fault(place, law, repr(one)[:400])
        yield from self.told(Trial(place, query.own, "", True, one), self.own_answer(place))
        there = [answer.sparsity for answer in one.counterfactuals] == [0]
        if not there and query.lawful(query.own)[0] == KEPT:
            law = "a row that is there already is its own answer"
            yield Trial(place, query.own, law, reach=False)
        for answer in one.counterfactuals:
            yield from self.answer(place, one, answer)
        if one.status in ("none", "not_found") and one.miss is None and self.tries(query):
            yield Fault(place, "there is a miss where there is no answer", repr(one))
        if one.miss is not None:
            yield Trial(place, one.miss.row, "a miss misses", reach=False, said=one.miss)
        if one.status == "none" and not options.get("robust") and not options.get("also"):
            yield from self.nothing_smaller(place, one, len(query.units()) + 1)
            self.tally["none"] += one.minimal_over != "candidates"
        yield from self.flips(place, one)

    def tries(self, query: Query) -> bool:
        """Whether a search has a row to try: a cell of trees may hold the row's own value alone."""
        options = self.case.options | self.call.options
        cells = options.get("candidates") == "thresholds"
        alone = not options.get("fallback", True)  # neighbors may offer nothing
        demanding = options.get("robust") or options.get("also")
        return (
            not (cells or alone or demanding) and query.tries(range(1, 2), whole=False) is not None
        )

    def flips(self, place: int, one: mx.Explanation) -> Iterator[Trial]:
        """A reason that flips the decision does so alone."""
        query = self.queries[place]
        alone = {unit[0].name: unit[0] for unit in query.units() if len(unit) == 1}
        for action in one.reasons:
            if action.flips and action.column in alone:
                rows = query.setting_one(alone[action.column], [action.value])
                self.tally["flips"] += 1
                yield Trial(place, rows, f"{action} flips the decision", reach=True)

    def answer(
        self, place: int, one: mx.Explanation, answer: mx.Counterfactual
    ) -> Iterator[Fault | Trial]:
        """Laws about a counterfactual."""
        self.tally["answers"] += 1
        query, row = self.queries[place], answer.row
        if list(row.dtypes) != list(query.own.dtypes) or list(row.columns) != list(query.own):
            yield Fault(place, "the row has the columns and dtypes of the query", str(row.dtypes))
            return
        for law in self.changed(place, answer):
            yield Fault(place, law, f"{[change[:3] for change in answer.changes]}")
        if answer.sparsity and not self.holds(query, answer):
            yield Fault(place, "an answer holds as was asked", repr(answer))
        yield Trial(place, row, "an answer reaches its goal", reach=True, said=answer)
        yield from self.intervals(place, answer)
        if self.case.seed % BOXED == 0 and answer.changes:
            yield from self.boxed(place, answer)
        if answer.minimal:
            yield from self.nothing_smaller(place, one, answer.sparsity)
            self.tally["minimal"] += answer.sparsity > 0
            self.tally["minimal of two or more"] += answer.sparsity > 1

    def holds(self, query: Query, answer: mx.Counterfactual) -> bool:
        """Whether an answer is as robust as was asked, and other models agree with it."""
        robust = self.call.options.get("robust")
        also = self.call.options.get("also", ())
        agreed = all(int(score(answer.row)[0] > 0.5) in query.aim.wanted for score in also)
        return agreed and (not robust or (answer.robustness or 0) >= robust)

    def nothing_smaller(self, place: int, one: mx.Explanation, size: int) -> Iterator[Trial]:
        """No row with fewer changes reaches the goal, over the values that are named."""
        if one.minimal_over == "candidates" and size > 1:
            return
        rows = self.queries[place].tries(range(size), whole=one.minimal_over == "all values")
        law = "a certificate" if one.status == "none" else f"no fewer changes than {size}"
        if rows is not None:
            self.tally["rows tried"] += len(rows)
            yield Trial(place, rows, f"{law} over {one.minimal_over}", reach=False)

    def changed(self, place: int, answer: mx.Counterfactual) -> Iterator[str]:
        """Unchanged cells are the query's own; changes are told, counted and allowed."""
        query, table, row = self.queries[place], self.case.table, answer.row
        after = {one.name: one.values(row)[0] for one in table.fields}
        moved = {one.name for one in table.fields if not same_cells(one.columns, query.own, row)}
        told = {change.column: change for change in answer.changes}
        if moved - set(query.wish.derived) != set(told):
            yield "the changes are the columns that differ"
            return
        for name, change in told.items():
            if (change.before, change.after) != (query.before[name], after[name]):
                yield "a change tells the values before and after"
            if self.fits(table.field(name), after[name]) == BROKEN:
                yield "a value that is set lies on the grid, in the range of training"
        yield from self.allowed(query, answer, moved, after)

    def allowed(
        self, query: Query, answer: mx.Counterfactual, moved: set[str], after: dict[str, Any]
    ) -> Iterator[str]:
        """No constraint is broken."""
        units = [unit for unit in query.units() if moved & {one.name for one in unit}]
        if answer.sparsity != len(units):
            yield "the sparsity counts what changed"
        if query.wish.max_changes is not None and len(units) > query.wish.max_changes:
            yield "max_changes is kept"
        for unit in units:
            values = tuple(after[one.name] for one in unit)
            if query.setting(unit, values) == BROKEN:
                yield f"constraints on {[one.name for one in unit]} are kept"
            if len(unit) > 1 and values not in self.case.table.pool(unit, whole=False)[1]:
                yield "a group moves to a combination seen in training"
        if query.lawful(answer.row)[0] == BROKEN:
            yield "rules and strict bounds are kept"
        if not answer.row.equals(query.following(answer.row)):
            yield "a derived column is what its expression says"

    def fits(self, one: Field, value: Any) -> int:
        """Whether a column can hold a value at all."""
        known = self.case.table.known(one)
        if value is None:
            return UNCLEAR
        if one.kind not in ("number", "datetime"):
            return KEPT if value in known else BROKEN
        if not min(known) <= value <= max(known):
            return BROKEN
        if one.step is None or abs(value / one.step - round(value / one.step)) < 1e-4:
            return KEPT
        return BROKEN

    def intervals(self, place: int, answer: mx.Counterfactual) -> Iterator[Fault | Trial]:
        """What an interval says: its ends reach the goal, and if it is exact all between do."""
        for change in answer.changes:
            if change.interval is None:
                continue
            one, interval = self.case.table.field(change.column), change.interval
            self.tally["intervals"] += 1
            if not interval.low <= change.after <= interval.high:
                yield Fault(place, "an interval holds the value itself", str(change))
                continue
            if BROKEN in (self.fits(one, interval.low), self.fits(one, interval.high)):
                yield Fault(place, "an interval stays in the range of training", str(change))
            points = [interval.low, interval.high]
            if interval.exact:
                self.tally["exact intervals"] += 1
                points += self.inside(one, interval)
                yield from self.beyond(place, answer, one, interval)
            yield from self.points(place, answer, one, points)

    def beyond(
        self, place: int, answer: mx.Counterfactual, one: Field, interval: mx.Interval
    ) -> Iterator[Trial]:
        """The values just outside an exact interval, where they may be set, are no answers."""
        if one.kind != "number" or one.step is None:
            return
        query, kind = self.queries[place], type(interval.low)
        ends = (interval.low - one.step, interval.high + one.step)
        points = [kind(round(end, 6)) for end in ends]
        rows = query.setting_one(one, points, answer.row)
        kept = query.lawful(rows) == KEPT
        for at, point in enumerate(points):
            if kept[at] and self.may_be_set(query, one, point):
                law = "an exact interval ends where the goal is missed"
                yield Trial(place, rows.iloc[[at]], law, reach=False)

    def may_be_set(self, query: Query, one: Field, value: Any) -> bool:
        """Whether a value is a change that fits the column and its constraints."""
        grouped = any(one.name in group for group in query.wish.groups)
        if grouped or value == query.before[one.name] or self.fits(one, value) == BROKEN:
            return False
        return query.wish.may_set(self.case.table, one, query.before[one.name], value) == KEPT

    def points(
        self, place: int, answer: mx.Counterfactual, one: Field, points: list[Any]
    ) -> Iterator[Fault | Trial]:
        """Rows with other values in one column, which must all be answers."""
        query = self.queries[place]
        rows = query.setting_one(one, points, answer.row)
        yield Trial(place, rows, "all of an interval reaches the goal", reach=True)
        broken = [
            query.wish.may_set(self.case.table, one, query.before[one.name], point) == BROKEN
            for point in points
            if point != query.before[one.name]
        ]
        if any(broken) or (query.lawful(rows) == BROKEN).any():
            yield Fault(place, "all of an interval keeps the constraints", str(answer.changes))

    def boxed(self, place: int, answer: mx.Counterfactual) -> Iterator[Fault | Trial]:
        """A box holds the answer, and if it is exact all its combinations are answers."""
        box, query, rng = answer.box, self.queries[place], np.random.default_rng(place)
        self.tally["boxes"] += 1
        after = {change.column: change.after for change in answer.changes}
        if {*after} != {one.column for one in box.ranges} | {column for column, _ in box.settings}:
            yield Fault(place, "a box speaks of every change", f"{box} {answer.changes}")
        if not all(one.low <= after[one.column] <= one.high for one in box.ranges):
            yield Fault(place, "a box holds the answer", f"{box} {answer.changes}")
        if not box.exact or not box.ranges:
            return
        self.tally["exact boxes"] += 1
        rows = answer.row
        for said in box.ranges:
            one = self.case.table.field(said.column)
            ends = mx.explanation.Interval(said.low, said.high, 0, exact=True)
            points = [said.low, said.high, *self.inside(one, ends)]
            chosen = [points[at] for at in rng.integers(0, len(points), 30)]
            rows = query.setting_one(one, chosen, rows)
        yield Trial(place, rows, f"every combination of {box} reaches the goal", reach=True)
        if (query.lawful(rows) == BROKEN).any():
            yield Fault(place, "a box keeps the constraints", str(box))

    def inside(self, one: Field, interval: mx.Interval) -> list[Any]:
        """Values between the ends of an interval: those of the grid, and those of training."""
        if one.kind == "number":
            return one.between(interval.low, interval.high, 40)
        return [v for v in self.case.table.known(one) if interval.low <= v <= interval.high]
