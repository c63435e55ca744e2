"""The real OmniXAI, in the environment that `make peers` makes."""

from __future__ import annotations

import pytest

import macex as mx
from baselines.worlds import CLASSES, DATA, POOR, chance, pay
from macex.baselines import OmniXai
from macex.errors import OptionError

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module", autouse=True)
def peers():
    try:
        OmniXai.program.python()
    except OptionError as error:
        pytest.skip(str(error))


@pytest.mark.parametrize("method", ["rl", "gld"])
def test_answers_are_valid_by_the_callers_model_and_repeat_themselves(method):
    omnixai = OmniXai(chance, DATA, method=method, classes=CLASSES)
    found = omnixai.explain(POOR.head(3), n=2)
    assert [item.status for item in found] == ["found"] * 3
    for item in found:
        for answer in item.counterfactuals:
            assert pay(answer.row)[0] >= 200
            assert (answer.row.dtypes == DATA.dtypes).all()
        assert item.method == f"omnixai {method}"
    assert list(omnixai.explain(POOR.head(3), n=2)) == list(found)


def test_fixed_columns_are_told_to_it():
    constraints = mx.Constraints(fixed=["rate", "job"])
    omnixai = OmniXai(chance, DATA, constraints=constraints, classes=CLASSES)
    found = omnixai.explain(POOR)
    changed = {c.column for item in found for cf in item.counterfactuals for c in cf.changes}
    assert changed
    assert not changed & {"rate", "job"}
