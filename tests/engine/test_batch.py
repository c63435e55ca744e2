"""Blocks cover every row once, are bounded, and hold rows that can be answered together."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import macex as mx
from macex.ask.constraints import Constraints
from macex.ask.goals import any_of
from macex.ask.question import Question
from macex.engine import batch as cutting
from macex.engine.batch import BLOCK_S, Batch, Tempo, blocks
from macex.schema import Schema

PLAIN = Constraints()
KINDS = [
    PLAIN,
    Constraints(fixed=["a"]),
    Constraints(groups=[["a", "b"]]),
    Constraints(derived={"c": "a + b"}),
    Constraints(groups=[["a", "b"]], fixed=["c"]),
    Constraints(derived={"c": "a - b"}),
]
ALIKE = [0, 0, 1, 2, 1, 3]  # which of them may share a block


def asked_of(wished: list[Constraints], places=None) -> Batch:
    count = len(wished)
    data = pd.DataFrame({"a": np.arange(count + 2), "b": 1, "c": 2.5})
    rows = Schema.infer(data).read(data.head(count))
    goals = [any_of(f"label {i}") for i in range(count)]
    return Batch(rows, goals, wished, places=places)


@given(kinds=st.lists(st.integers(0, 5), max_size=30), size=st.integers(1, 8))
def test_every_row_is_in_one_block_with_what_is_asked_of_it(kinds, size):
    asked = asked_of([KINDS[kind] for kind in kinds])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cutting, "MOST_QUERIES", size)
        made = list(blocks(asked, 3))
    assert sorted(int(p) for places, _ in made for p in places) == list(range(len(kinds)))
    for places, part in made:
        assert 1 <= len(places) <= size
        assert part.rows.codes[:, 0].tolist() == places.tolist()
        assert [g.labels for g in part.goals] == [(f"label {p}",) for p in places]
        assert all(c is KINDS[kinds[p]] for c, p in zip(part.constraints, places, strict=True))
        assert len({ALIKE[kinds[p]] for p in places}) == 1


def test_a_small_call_is_one_block_as_it_was_asked():
    asked = asked_of([PLAIN] * 5)
    ((places, part),) = blocks(asked, 3)
    assert part is asked
    assert places.tolist() == [0, 1, 2, 3, 4]


def test_nothing_asked_no_blocks():
    assert list(blocks(asked_of([]), 3)) == []


def test_rows_know_their_place_in_the_caller_s_call():
    asked = asked_of([PLAIN, KINDS[2], PLAIN, KINDS[2]], places=np.array([100, 101, 102, 103]))
    assert [part.places.tolist() for _, part in blocks(asked, 3)] == [[100, 102], [101, 103]]
    asked = asked_of([PLAIN, KINDS[2], PLAIN])
    assert [part.places.tolist() for _, part in blocks(asked, 3)] == [[0, 2], [1]]


@pytest.mark.parametrize(
    ("columns", "screened", "most"),
    [
        (3, False, 2048),
        (100, False, 266),
        (1000, False, 26),
        (1000, True, 128),
        (3000, True, 42),
        (100_000, True, 1),
    ],
)
def test_blocks_shrink_with_the_width_of_rows(columns, screened, most):
    asked = asked_of([PLAIN] * 3000)
    sizes = [len(places) for places, _ in blocks(asked, columns, screened=screened)]
    assert sum(sizes) == 3000
    assert max(sizes) == most


def test_blocks_of_wide_tables_are_smaller_where_constraints_leave_columns_out():
    asked = asked_of([Constraints(fixed=("a",))] * 300)
    assert max(len(places) for places, _ in blocks(asked, 3000, screened=True)) == 8


def test_blocks_of_wide_tables_are_small_where_columns_are_not_screened():
    asked = replace(asked_of([PLAIN] * 300), question=Question(max_rows=2000))
    assert max(len(places) for places, _ in blocks(asked, 1000, screened=True)) == 8


@pytest.mark.parametrize(("answers", "most"), [(1, 266), (2, 133), (6, 44), (10, 26), (500, 26)])
def test_blocks_shrink_with_the_number_of_answers(answers, most):
    asked = replace(asked_of([PLAIN] * 500), question=Question(n=answers))
    assert max(len(places) for places, _ in blocks(asked, 100)) == most


def test_blocks_follow_the_tempo():
    tempo, sizes = Tempo(), []
    for places, _ in blocks(asked_of([PLAIN] * 100), 3, tempo=tempo):
        sizes.append(len(places))
        tempo.after(len(places), 0.01 if len(sizes) < 3 else 8 * BLOCK_S)
    assert sizes == [8, 32, 60]
    tempo = Tempo(most=2)
    assert [len(places) for places, _ in blocks(asked_of([PLAIN] * 5), 3, tempo=tempo)] == [2, 2, 1]


def test_equal_constraints_that_are_not_the_same_object_share_a_block():
    wished = [Constraints(groups=[["a", "b"]]) for _ in range(4)]
    assert len(list(blocks(asked_of(wished), 3))) == 1


def counted_model(seen: list[int]):
    """Approves of many hours, or of a work that has a long name; counts the rows it is asked."""

    def model(frame: pd.DataFrame) -> np.ndarray:
        seen.append(len(frame))
        points = frame["hours"].to_numpy() / 10 + frame["work"].str.len().to_numpy() / 2
        return 1 / (1 + 2.0 ** (8.2 - points))

    return model


WORK = ["law", "farm", "clerk", "sales"]


def people(count: int) -> pd.DataFrame:
    debt = np.round(np.linspace(0, 9, count), 3)  # no two have the same
    return pd.DataFrame(
        {"hours": 20 + np.arange(count) % 40, "work": (WORK * count)[:count], "debt": debt}
    )


def several_blocks(rows: pd.DataFrame, size: int) -> tuple[mx.Explanations, int]:
    """The answers in blocks of a size, and how many rows the model was asked about."""
    seen: list[int] = []
    explainer = mx.Explainer(counted_model(seen), people(90), classes=["no", "yes"])
    before = sum(seen)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cutting, "MOST_QUERIES", size)
        return explainer.explain(rows), sum(seen) - before


def test_a_later_block_asks_nothing_that_an_earlier_one_has_asked():
    rows = people(40)
    _, once = several_blocks(rows, 40)
    found, twice = several_blocks(pd.concat([rows, rows], ignore_index=True), 40)
    assert once > 20 * len(rows)
    assert twice - once < once / 5  # what is returned is confirmed anew
    answers = [one.counterfactuals[0].changes for one in found]
    assert answers[:40] == answers[40:]


def test_rows_with_values_of_their_own_are_no_repeats_of_those_in_other_blocks():
    """Both have the code of an unknown value, at the same place of their blocks."""
    rows = people(80).assign(debt=1.0, hours=30, work="law")
    rows.loc[[0, 40], "work"] = ["x", "y" * 15]
    apart = [several_blocks(rows.iloc[[at]], 40)[0][0] for at in (0, 40)]
    found, _ = several_blocks(rows, 40)
    assert found[0].score != found[40].score
    for at, alone in zip((0, 40), apart, strict=True):
        assert found[at].score == alone.score
        assert found[at].counterfactuals[0].changes == alone.counterfactuals[0].changes
