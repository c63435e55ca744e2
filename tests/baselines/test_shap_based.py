from __future__ import annotations

import sys

import numpy as np
import pytest

from baselines.worlds import CLASSES, DATA, POOR, SHAP, chance, made
from macex.baselines import ShapBased
from macex.errors import OptionError


def test_the_column_most_against_the_goal_is_changed():
    """Only the job and the hours matter, and for a smith only the hours speak against the goal."""

    def score(rows):
        smith = rows["job"].to_numpy() == "smith"
        return 1 / (1 + np.exp(-(0.2 * (rows["hours"].to_numpy(float) - 45) + 0.5 * smith)))

    smiths = DATA[(DATA["job"] == "smith") & (DATA["hours"] < 30)].head(5)
    found = ShapBased(score, DATA, classes=CLASSES).explain(smiths)
    assert all(
        [change.column for change in item.counterfactuals[0].changes] == ["hours"] for item in found
    )


def test_the_rows_that_shap_may_ask_are_bounded():
    explainer = made(SHAP, samples=20, background=4, neighbors=2)
    for item in explainer.explain(POOR):
        assert item.cost.rows <= explainer.max_rows + 3


def test_numpys_global_generator_is_left_as_it_was():
    np.random.seed(5)  # noqa: NPY002 - the global generator is what this is about
    before = np.random.random()  # noqa: NPY002
    np.random.seed(5)  # noqa: NPY002
    made(SHAP).explain(POOR.head(2))
    assert np.random.random() == before  # noqa: NPY002


def test_without_shap_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "shap", None)
    with pytest.raises(ImportError, match=r"pip install macex\[baselines\]"):
        ShapBased(chance, DATA, classes=CLASSES)


@pytest.mark.parametrize("option", ["neighbors", "samples", "background"])
def test_wrong_sizes_are_errors(option):
    with pytest.raises(OptionError, match=rf"ShapBased\({option}=\)"):
        made(SHAP, **{option: 0})
