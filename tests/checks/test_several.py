"""Several answers differ in what they change, and all of them are distinct rows."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

import macex as mx
from checks import puzzles
from checks.loans import by_merit, chance, found_rows, loans
from checks.oracle import Oracle

ROWS = loans()[chance(loans()) < 0.4].head(5)


def sets_of(explanation: mx.Explanation) -> list[frozenset[str]]:
    return [frozenset(c.column for c in found.changes) for found in explanation.counterfactuals]


@pytest.mark.parametrize("selection", ["diverse", "printed"])
def test_all_rows_are_distinct(method, selection):
    for explanation in by_merit(method, selection=selection).explain(ROWS, n=4):
        rows = pd.concat([found.row for found in explanation.counterfactuals])
        assert not rows.duplicated().any()
        assert len(rows) <= 4


def test_three_answers_change_three_different_sets_of_columns(method):
    found = by_merit(method).explain(ROWS, n=3)
    for explanation in found:
        assert len(set(sets_of(explanation))) == len(explanation.counterfactuals)
    assert np.mean([len(e.counterfactuals) for e in found]) >= 2.5


def test_as_many_sets_are_found_as_there_are():
    for seed in range(4):
        table, data = puzzles.Table(seed, 0.05), puzzles.data(seed)
        asked = mx.Explainer(
            table,
            data,
            classes=("no", "yes"),
            method=mx.Exhaustive(max_rows=100_000),
            candidates="domain",
        )
        rows = data[~table.says_yes(data)].head(4)
        for place, explanation in enumerate(asked.explain(rows, n=3, want="yes")):
            oracle = Oracle(rows.iloc[[place]], puzzles.VALUES, table.says_yes)
            assert len(explanation.counterfactuals) >= min(3, len(needed_sets(oracle)))
            for answer in explanation.counterfactuals:
                for change in answer.changes:
                    assert not table.says_yes(answer.row.assign(**{change.column: change.before}))[
                        0
                    ]


def curved(seed: int) -> tuple[pd.DataFrame, Callable[[pd.DataFrame], np.ndarray]]:
    """Rows of four small numbers, and a model in which they work against each other."""
    draw = np.random.default_rng(seed)
    rows = pd.DataFrame(draw.integers(0, 4, (200, 4)), columns=list("abcd"))
    slope, bend = draw.normal(size=4), 0.7 * draw.normal(size=(4, 4))

    def model(frame: pd.DataFrame) -> np.ndarray:
        away = frame.to_numpy(float) - 1.5
        return 1 / (1 + np.exp(2 - away @ slope - np.einsum("ni,ij,nj->n", away, bend, away)))

    return rows, model


@pytest.mark.parametrize("most", [100, 200, 300])
def test_an_answer_that_holds_another_needs_its_changes_even_where_rows_run_out(most):
    for seed in range(12):
        rows, model = curved(seed)
        asked = mx.Explainer(model, rows, classes=("no", "yes"), finetune=None)
        for explanation in asked.explain(rows.head(6), n=20, max_rows=most):
            sets = sets_of(explanation)
            for answer, mine in zip(explanation.counterfactuals, sets, strict=True):
                if any(other < mine for other in sets):
                    back = [answer.row.assign(**{c.column: c.before}) for c in answer.changes]
                    decided = model(pd.concat(back)) > 0.5
                    assert (decided == (explanation.label == "yes")).all()


def needed_sets(oracle: Oracle) -> set[frozenset[str]]:
    """Sets of columns that suffice with values none of which can be taken back."""
    found = set()
    for size in range(1, 5):
        good = oracle.good(size)
        for _, row in () if good is None else good.iterrows():
            changes = {c: row[c] for c in row.index if row[c] != oracle.row[c].iloc[0]}
            if not any(oracle.reached(without(oracle.row, changes, c))[0] for c in changes):
                found.add(frozenset(changes))
    return found


def without(row: pd.DataFrame, changes: dict[str, object], column: str) -> pd.DataFrame:
    """The row with all changes but one."""
    return row.assign(**{name: value for name, value in changes.items() if name != column})


@pytest.mark.parametrize("prefer", ["fewest", "nearest"])
def test_no_answer_makes_all_changes_of_another_and_more(method, prefer):
    for explanation in by_merit(method, prefer=prefer).explain(ROWS, n=4):
        made = [
            {(c.column, str(c.after)) for c in found.changes}
            for found in explanation.counterfactuals
        ]
        assert not any(one < other for one in made for other in made)


def test_answers_come_best_first(method):
    for explanation in by_merit(method).explain(ROWS, n=3):
        sizes = [found.sparsity for found in explanation.counterfactuals]
        assert sizes == sorted(sizes)
    for explanation in by_merit(method, prefer="nearest").explain(ROWS, n=3):
        distances = [found.distance for found in explanation.counterfactuals]
        assert distances == sorted(distances)
    for explanation in by_merit(method, prefer="surest").explain(ROWS, n=3):
        scores = [found.score for found in explanation.counterfactuals]
        assert scores == sorted(scores, reverse=True)


def test_asking_for_more_keeps_every_answer_valid(method):
    for n in (1, 12):
        found = by_merit(method).explain(ROWS, n=n)
        assert all(chance(c.row)[0] > 0.5 for _, c in found_rows(found))
        assert all(1 <= len(e.counterfactuals) <= n for e in found)
