"""What an explainer says beside explanations: scores of any row, and itself."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import macex as mx

DATA = pd.DataFrame({"hours": range(20, 60), "debt": [1, 2] * 20})


def model(rows):
    return 1 / (1 + np.exp(44.5 - rows["hours"]))


@pytest.fixture(scope="module")
def explainer():
    names = {"hours": mx.Name("hours a week", unit="h"), "debt": "what is owed"}
    return mx.Explainer(model, DATA, classes=("no", "yes"), names=names)


def test_a_score_is_read_toward_the_goal(explainer):
    rows = DATA.head(3)
    yes = model(rows).to_numpy()
    assert explainer.score(rows, want="yes") == pytest.approx(yes, abs=1e-6)
    assert explainer.score(rows, want="no") == pytest.approx(1 - yes, abs=1e-6)
    assert explainer.score(rows, want=mx.at_least(0.9)) == pytest.approx(yes, abs=1e-6)


def test_a_score_is_the_one_that_explanations_show(explainer):
    rows = DATA.iloc[[3, 30]]
    found = explainer.explain(rows)
    assert explainer.score(rows).tolist() == [item.score for item in found]


def test_names_are_saved_with_their_units(explainer, tmp_path):
    explainer.save(tmp_path / "explainer")
    again = mx.load(tmp_path / "explainer", model)
    row = {"hours": 40, "debt": 1}
    assert repr(again.explain(row)[0]) == repr(explainer.explain(row)[0])
    assert "40 h → 46 h" in repr(again.explain(row)[0])


def test_an_explainer_shows_itself(explainer):
    html = explainer._repr_html_()
    for fact in ("no, yes", "40 rows", "hours, debt", "exhaustive"):
        assert fact in html


def test_an_answer_knows_what_was_asked(explainer):
    found = explainer.explain({"hours": 40, "debt": 1}, n=3)[0]
    assert (found.asked.n, found.asked.method, found.fell_back) == (3, "exhaustive", False)
    assert (found.needed.label, found.needed.low) == ("yes", 0.5)
    assert "1 of 3 asked" in repr(found)
