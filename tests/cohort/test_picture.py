"""Rules say whom an action helps, and are counted with the model."""

from __future__ import annotations

import numpy as np
import pytest

import macex as mx
from cohort.test_plans import applied
from cohort.town import YES, Bank, explainer, merit, refused, town


def about(rows, rule):
    """The rows that meet all conditions of a rule."""
    for c in rule.conditions:
        values = rows[c.column]
        if c.over is not None:
            rows = rows[values > c.over]
        elif c.up_to is not None:
            rows = rows[values <= c.up_to]
        elif c.is_not is not None:
            rows = rows[values != c.is_not]
        else:
            rows = rows[values == c.value]
    return rows


def test_rules_divide_the_rows_and_count_what_they_flip():
    rows = refused(300)
    found = explainer().picture(rows, want=YES, constraints={"fixed": ["gender"]})
    assert sum(rule.rows for rule in found.rules) == len(rows) == found.rows
    assert sum(rule.coverage for rule in found.rules) == pytest.approx(1)
    for rule in found.rules:
        mine = about(rows, rule)
        assert len(mine) == rule.rows
        (move,) = rule.action.moves
        after = applied(mine, rule.action)
        low, high = town()[move.column].min(), town()[move.column].max()
        fits = True if move.by is None else after[move.column].between(low, high)
        assert ((merit(after) > 0) & fits).mean() == pytest.approx(1 - rule.error)


def test_the_picture_counts_changes_beside_shap():
    rows = refused(100)
    found = explainer().picture(rows, want=YES, shap={"income": 1.5, "debt": 0.5})
    assert dict(found.summary.columns)["income"] > 0
    assert "|SHAP|" in repr(found)
    assert "1.5" in repr(found)
    assert "<table" in found.to_html()
    assert list(found.to_frame().columns)[-1] == "error"


def test_one_part_is_one_rule_about_all():
    found = explainer().picture(refused(60), want=YES, parts=1)
    assert [rule.conditions for rule in found.rules] == [()]


def test_no_row_in_need_is_an_answer():
    rows = town(50)
    happy = explainer().picture(rows[merit(rows) > 0], want=YES)
    assert repr(happy) == "No row has an answer that changes anything"
    nobody = explainer().picture(refused(20), want=YES, constraints={"only": []})
    assert nobody.rules == ()


def test_many_rows_are_looked_at_in_part_and_it_is_said():
    bank = Bank()
    chooser, rows = explainer(bank), town(1500, seed=3)
    bank.calls = 0
    found = chooser.picture(rows, want=YES, explained=200)
    assert (found.explained, found.given) == (200, 1500)
    assert found.rows == (merit(rows.iloc[np.linspace(0, 1499, 200).astype(int)]) < 1e-9).sum()
    assert "Looked at 200 of 1500 rows" in repr(found)
    calls = bank.calls
    chooser.picture(town(6000, seed=3), want=YES, explained=200)
    assert bank.calls <= 2 * calls + 10


def test_wrong_calls_are_told():
    with pytest.raises(mx.OptionError, match="parts must be a whole number"):
        explainer().picture(refused(5), want=YES, parts=0)
