"""NICE written here: by hand, and beside its authors' package."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from baselines.worlds import CLASSES, DATA, POOR, chance
from macex.baselines import Nice, NiceSearch
from macex.errors import OptionError

SMALL = pd.DataFrame({"a": [0.0, 1.0, 2.0, 10.0], "b": [0.0, 3.0, 8.0, 10.0], "c": list("xyyx")})


def weighed(rows):
    """Linear in the log odds: b counts more than a, c = y alone is worth 1."""
    raw = 0.2 * rows["a"] + 0.4 * rows["b"] + (rows["c"] == "y") - 3
    return (1 / (1 + np.exp(-raw))).to_numpy()


def changes(reward, n=1):
    made = NiceSearch(weighed, SMALL, reward=reward, classes=("no", "yes"))
    found = made.explain(SMALL.iloc[[0]], n=n)[0]
    return [{c.column: c.after for c in one.changes} for one in found.counterfactuals]


def test_it_starts_from_the_nearest_unlike_row_by_heom():
    """Row 2 is 0.2 + 0.8 + 1 away, row 3 is 1 + 1."""
    assert changes("none") in ([{"a": 2.0, "b": 8.0, "c": "y"}], [{"a": 10.0, "b": 10.0}])


def test_sparsity_takes_the_greatest_gain_first():
    """From -3: b of 8 gains 3.2 and is enough; a and c alone are not."""
    made = NiceSearch(weighed, SMALL.iloc[:3], classes=("no", "yes"))
    found = made.explain(SMALL.iloc[[0]])[0].counterfactuals[0]
    assert [change[:3] for change in found.changes] == [("b", 0.0, 8.0)]


def test_proximity_takes_the_greatest_gain_for_its_distance():
    """c gains little for a whole step, so b comes first here, too; then nothing is missing."""
    made = NiceSearch(weighed, SMALL.iloc[:3], reward="proximity", classes=("no", "yes"))
    found = made.explain(SMALL.iloc[[0]])[0].counterfactuals[0]
    assert [change.column for change in found.changes] == ["b"]


def test_several_answers_start_from_several_rows():
    assert len(changes("none", n=2)) == 2


def test_a_wrong_reward_is_named():
    with pytest.raises(OptionError, match="did you mean 'sparsity'"):
        NiceSearch(chance, DATA, reward="sparsty", classes=CLASSES)


def test_plausibility_prefers_columns_that_make_the_row_look_known():
    """Two numbers that always move together: taking one alone leaves their line."""
    line = np.arange(40.0)
    data = pd.DataFrame({"a": line, "b": line, "free": np.tile([0.0, 39.0], 20)})
    model = lambda rows: 1 / (1 + np.exp(20.5 - rows["a"] / 2 - rows["free"] / 2))  # noqa: E731
    made = NiceSearch(model, data, reward="plausibility", classes=("no", "yes"))
    assert made.explain(data.iloc[[2]])[0].status == "found"


@pytest.mark.slow
@pytest.mark.parametrize("reward", ["none", "sparsity", "proximity"])
def test_it_answers_as_the_authors_package(reward):
    """Ties apart, which both break by position: all rows of `POOR` have the same answer."""
    try:
        Nice.program.python()
    except OptionError as error:
        pytest.skip(str(error))
    there = Nice(chance, DATA, reward=reward, classes=CLASSES)
    theirs = there.explain(POOR)
    ours = NiceSearch(chance, DATA, reward=reward, classes=CLASSES).explain(POOR)
    there.close()
    same = [
        tuple(a.counterfactuals[0].row.iloc[0]) == tuple(b.counterfactuals[0].row.iloc[0])
        for a, b in zip(ours, theirs, strict=True)
    ]
    assert all(same), same
