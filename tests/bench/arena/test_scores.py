"""Figures over results, on numbers that are worked out by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from macex.bench.arena.board import Board
from macex.bench.arena.layout import COLUMNS
from macex.bench.arena.scores import dominators, duels, firsts, front, fronts, interval


def figures(**columns):
    return pd.DataFrame(columns, list("abcd")[: len(next(iter(columns.values())))])


def test_the_front_is_who_nobody_beats():
    """By trying all pairs: b is beaten by a, d by c; a and c are better in one each."""
    table = figures(changed=[1, 1, 2, 2], plausibility=[0.5, 0.4, 0.9, 0.9], rows=[9, 9, 9, 10])
    assert front(table, ["changed", "plausibility", "rows"]) == ["a", "c"]


def test_who_is_equal_in_all_is_on_the_front_with_the_other():
    assert front(figures(changed=[1, 1, 2]), ["changed"]) == ["a", "b"]


def test_who_has_no_answers_beats_nobody():
    table = figures(changed=[np.nan, 3.0], rows=[0.0, 5.0])
    assert front(table, ["changed", "rows"]) == ["a", "b"]
    assert front(table, ["changed"]) == ["b"]


def test_few_answers_are_on_the_front_by_five_alone():
    """a solved a quarter, with the best answers: b is on the front of who solved at least half."""
    table = figures(
        valid=[0.25, 1.0, 1.0],
        changed=[1.0, 2.0, 2.0],
        plausibility=[0.9, 0.5, 0.4],
        refits=[0.9, 0.5, 0.5],
        rows=[10, 50, 50],
    )
    assert fronts(table) == (["b"], ["a", "b"])


def test_rivals_are_held_against_the_default_on_the_queries_that_both_solved():
    """`a` solved all six and is 1 better in each, `b` solved three and is 2 worse, `c` none."""
    own = {"default": [3.0] * 6, "a": [2.0] * 6, "b": [5.0] * 3 + [np.nan] * 3, "c": [np.nan] * 6}
    first = pd.DataFrame(
        [
            {"dataset": "d", "model": "m", "split": 0, "budget": 9, "seed": 0, "query": query,
             "method": name, "changed": value}
            for name, values in own.items() for query, value in enumerate(values)
        ]
    )  # fmt: skip
    found = {duel.rival: duel for duel in duels(first, "default", ["changed"])}
    assert set(found) == {"a", "b"}
    assert [tuple(found[name].gap) for name in "ab"] == [(1, 1, 1, 6), (-2, -2, -2, 3)]
    assert found["a"].lost
    assert not found["b"].lost
    assert found["a"].chance == pytest.approx(2 * 2 * 0.5**6)  # two rivals; all six one-sided


def test_an_interval_draws_queries_within_their_cells():
    """Cells that differ and do not vary leave nothing to chance; one that varies does."""
    assert interval([np.full(20, 1.0), np.full(20, 9.0)]) == (5.0, 5.0)
    low, high = interval([np.array([0.0, 1.0] * 50)])
    assert low == pytest.approx(0.5 - 1.96 * 0.05, abs=0.02)
    assert high == pytest.approx(0.5 + 1.96 * 0.05, abs=0.02)


def lines(**columns):
    count = len(columns["query"])
    usual = {"dataset": "d", "model": "m", "split": 0, "budget": 9, "seed": 0, "n": 1}
    rest = {name: [np.nan] * count for name in COLUMNS if name not in {*usual, *columns}}
    return pd.DataFrame({**usual, **rest, **columns})


def test_no_answer_is_not_a_wrong_answer():
    told = lines(query=[0, 1, 2], method=["a"] * 3, rank=[0, 1, 1], valid=[False, False, True])
    first = firsts(told)
    assert first["unanswered"].tolist() == [1, 0, 0]
    assert first["wrong"].tolist() == [0, 1, 0]
    assert first["valid"].tolist() == [0, 0, 1]


def test_the_board_says_how_far_chance_may_move_a_mean():
    many = range(40)
    told = lines(
        query=[*many, *many],
        method=["default"] * 40 + ["other"] * 40,
        rank=[1] * 40 + [0] * 30 + [1] * 10,
        valid=[True] * 40 + [False] * 30 + [True] * 10,
        changed=[1.0, 3.0] * 20 + [1.0] * 40,
    )
    (table,) = (b for b in Board(told).intervals(9).blocks if not isinstance(b, str))
    shown = {line[0]: list(line[1:]) for line in table.lines}
    assert shown["default"][0] == "1.00 [1.00, 1.00]"
    assert shown["default"][1].startswith("2.00 [1.")
    assert shown["other"][0].startswith("0.25 [0.1")
    assert shown["other"][1] == "-"  # few answers are not ranked


def rivals(**gaps):
    """Ten queries of a method and of a rival who is better by so much in each measure."""
    held = {"changed": 3.0, "plausibility": 0.5, "refits": 0.5, "rows": 90.0}
    better = {"changed": -1, "plausibility": 1, "refits": 1, "rows": -1}
    ours = pd.DataFrame(held, range(10)).assign(method="default", query=range(10), valid=1.0)
    theirs = ours.assign(method="rival")
    for measure, gap in gaps.items():
        theirs[measure] += better.get(measure, 1) * np.asarray(gap)
    return pd.concat([ours, theirs], ignore_index=True)


LUCK = [5, -4, 5, -4, 5, -4, 5, -4, 5, -4]  # better on average, and by chance


@pytest.mark.parametrize(
    ("gaps", "known"),
    [
        ({"rows": 9}, {"rival": ["rows"]}),
        ({"rows": 9, "changed": LUCK}, {"rival": ["rows"]}),
        ({"rows": 9, "changed": 1}, {"rival": ["changed", "rows"]}),
        ({"changed": LUCK}, {}),
        ({}, {}),
        ({"rows": 9, "refits": -0.01}, {}),
        ({"rows": 9, "changed": [*[np.nan] * 4, *[1] * 6]}, {"rival": ["changed", "rows"]}),
        ({"rows": 9, "changed": [*[np.nan] * 6, *[1] * 4]}, {}),
        ({"rows": 9, "valid": [*[-1] * 6, *[0] * 4]}, {}),
    ],
)
def test_who_is_better_beyond_chance_is_so_on_queries_that_both_solved(gaps, known):
    assert dominators(rivals(**gaps), "default") == known
