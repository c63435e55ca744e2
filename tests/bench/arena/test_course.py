"""Quality against rows: more rows of the same cells, and of no others."""

from __future__ import annotations

import pandas as pd
import pytest

from macex.bench.arena.course import Course
from macex.bench.arena.effort import effort


def first():
    """A cell at 10 and 100 rows, and one that was asked at 10 alone."""
    found = pd.DataFrame(
        [
            ("easy", name, budget, query, changed)
            for name, by in (("default", {10: 3.0, 100: 1.0}), ("other", {10: 2.0, 100: 2.0}))
            for budget, changed in by.items()
            for query in range(4)
        ]
        + [("hard", name, 10, query, 9.0) for name in ("default", "other") for query in range(4)],
        columns=["dataset", "method", "budget", "query", "changed"],
    )
    return found.assign(model="m", split=0, seed=0, valid=1.0)


def test_only_cells_that_were_asked_at_every_budget_count():
    course = Course(first())
    assert course.cells == 1
    assert course.table("changed").loc["default"].to_dict() == {10: 3.0, 100: 1.0}


def test_the_tables_have_the_best_at_the_most_rows_first():
    (section,) = Course(first()).sections()
    tables = {table.title: table.lines for table in section.blocks if not isinstance(table, str)}
    assert tables["changed by rows"] == [("default", "3.00", "1.00"), ("other", "2.00", "2.00")]


def test_the_picture_tells_the_default_beside_the_best_of_the_others():
    said = str(Course(first()).pictures()["anytime-changed"][1])
    assert "from 10 to 100 rows" in said
    assert "default 3.00 to 1.00" in said
    assert "best baseline 2.00 to 2.00" in said


@pytest.mark.parametrize("budgets", [[10], []])
def test_one_budget_is_no_course(budgets):
    some = first()
    course = Course(some[some["budget"].isin(budgets)])
    assert course.sections() == []
    assert course.pictures() == {}


def test_what_a_run_took_is_added_up_once_a_task():
    tasks = first().assign(n=1, took=30.0)
    (section,) = effort(tasks)
    (table,) = (one for one in section.blocks if not isinstance(one, str))
    assert [line[:3] for line in table.lines] == [("10", "2", "4"), ("100", "1", "4")]
    assert [line[4] for line in table.lines] == ["60.00", "60.00"]  # two methods in every cell
    assert effort(tasks.assign(took=float("nan"))) == []
