from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from baselines.worlds import DATA, GREEDY, POOR, made
from macex.baselines import Greedy
from macex.errors import OptionError

TABLE = pd.DataFrame({"a": [0, 0, 1, 1], "b": [0, 1, 0, 1], "c": [0, 1, 1, 0]}).astype(str)


def test_values_come_from_one_training_row_that_the_model_decides_as_wanted():
    for item in made(GREEDY).explain(POOR):
        after = {change.column: change.after for change in item.counterfactuals[0].changes}
        givers = (DATA[list(after)] == pd.Series(after)).all(axis=1)
        assert givers.any()


def test_a_change_that_a_later_one_makes_needless_is_given_back():
    """c gains most at first, but a and b alone suffice."""

    def score(rows):
        a, b, c = (rows[name].to_numpy() == "1" for name in "abc")
        return np.where(a & b, 0.9, np.where(a & c, 0.45, 0.1 + 0.2 * c + 0.1 * a))

    query = pd.DataFrame({"a": ["0"], "b": ["0"], "c": ["0"]})
    data = pd.concat([TABLE, pd.DataFrame({"a": ["1"], "b": ["1"], "c": ["1"]})])
    item = Greedy(score, data, classes=("no", "yes")).explain(query)[0]
    assert {change.column for change in item.counterfactuals[0].changes} == {"a", "b"}


def test_more_distractors_never_need_more_changes():
    few = made(GREEDY, distractors=1).explain(POOR)
    many = made(GREEDY, distractors=10).explain(POOR)
    for one, ten in zip(few, many, strict=True):
        assert ten.counterfactuals[0].sparsity <= one.counterfactuals[0].sparsity


def test_a_wrong_number_of_distractors_is_an_error():
    with pytest.raises(OptionError, match=r"Greedy\(distractors=\)"):
        made(GREEDY, distractors=0)
