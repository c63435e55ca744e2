"""The paper's printed numbers: whole, and marked best where its text says so."""

from __future__ import annotations

import pytest

from macex.bench.record.paper import printed, printed_tables
from macex.datasets import NAMES


@pytest.mark.parametrize("table", ["1", "2", "3", "6"])
def test_every_line_has_a_number_for_each_dataset(table):
    assert printed_tables()["datasets"] == [name for name in NAMES if name != "german"]
    for methods in printed_tables()[table].values():
        assert all(len(numbers) == 5 for numbers in methods.values())


@pytest.mark.parametrize("table", ["1", "2"])
def test_mace_rl_is_printed_as_sparsest_everywhere(table):
    lines = printed_tables()[table]["sparsity"]
    for at in range(5):
        assert lines["MACE-RL"][at] == min(numbers[at] for numbers in lines.values())


def test_the_examples_change_what_they_say():
    for table in ("4", "5"):
        for example in printed_tables()[table]:
            for change in [*example["counterfactuals"], example["actions"]]:
                assert all(example["query"][name] != value for name, value in change.items())


def test_what_is_not_printed_is_none():
    assert printed("2", "sparsity", "default", "adult") is None
    assert printed("2", "sparsity", None, "adult") is None
    assert printed("2", "sparsity", "MACE-RL", "loans") is None
    assert printed("2", "proximity", "DiCE", "credit") == -5023.03
