"""The figures on record: whole, and only complete tools are rivals."""

from __future__ import annotations

import pytest

from macex.bench.record.others import FEWEST, MACE_RL, NEAREST, listed, nearest, recorded, sparsest
from macex.datasets import NAMES

CELLS = [(name, kind) for kind in ("XGBoost", "MLP") for name in NAMES]


@pytest.mark.parametrize(("name", "kind"), CELLS)
def test_no_tool_is_sparser_than_the_optimum(name, kind):
    least = listed(FEWEST, name, kind).sparsity
    complete = [f for (_, *cell), f in recorded().items() if cell == [name, kind] and f.complete]
    assert least == min(figure.sparsity for figure in complete)


@pytest.mark.parametrize(("name", "kind"), CELLS)
def test_every_cell_has_the_authors_code_and_rivals(name, kind):
    assert listed(MACE_RL, name, kind).complete
    for tool, figure in (sparsest(name, kind), nearest(name, kind)):
        assert figure.complete
        assert tool not in (FEWEST, NEAREST)


def test_a_tool_that_answered_some_rows_is_no_rival():
    assert (
        listed("cfnow greedy", "breast", "XGBoost").sparsity
        < listed(FEWEST, "breast", "XGBoost").sparsity
    )
    assert sparsest("breast", "XGBoost")[0] == MACE_RL


def test_an_unknown_cell_has_no_figures():
    assert listed(MACE_RL, "adult", "linear") is None
    assert sparsest("adult", "linear") is None
