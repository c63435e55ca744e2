"""A saved explainer of series answers as the one it was made from."""

from __future__ import annotations

import zipfile

import numpy as np
import pytest

import macex as mx
from series.machines import Machine, explainer, made_cases

QUERIES = made_cases(3, seed=1)


def test_a_loaded_explainer_gives_the_same_bytes(tmp_path):
    path = tmp_path / "machine.macex"
    wish = mx.SeriesConstraints(fixed=["sensor 0"], fixed_times={"sensor 2": [(0, 5)]})
    asked = explainer(constraints=wish, candidates=mx.NearCases(k=3), finetune=mx.Segments(blend=4))
    asked.save(path)
    again = mx.load(path, Machine())
    assert isinstance(again, mx.SeriesExplainer)
    assert again.constraints == asked.constraints
    found = [one.explain(QUERIES, n=2).to_json(canonical=True) for one in (asked, again)]
    assert found[0] == found[1]


@pytest.mark.parametrize("layout", ["channels_first", "channels_last"])
def test_cases_of_unequal_lengths_are_saved(tmp_path, layout):
    rng = np.random.default_rng(0)
    cases = [rng.normal(place % 2, 0.1, (2, 20 + place)) for place in range(12)]
    given = cases if layout == "channels_first" else [case.T for case in cases]

    def high(samples):
        level = [
            sample.T[0].mean() if layout != "channels_first" else sample[0].mean()
            for sample in samples
        ]
        return 1 / (1 + np.exp(-9 * (np.array(level) - 0.5)))

    asked = mx.SeriesExplainer(high, given, layout=layout, classes=("low", "high"))
    asked.save(tmp_path / "e")
    again = mx.load(tmp_path / "e", high)
    found = [one.explain(given[:2]).to_json(canonical=True) for one in (asked, again)]
    assert found[0] == found[1]


def test_another_model_is_refused(tmp_path):
    explainer().save(tmp_path / "e")

    class Other(Machine):
        def predict_proba(self, cases):
            return np.roll(super().predict_proba(cases), 1, axis=1)

    with pytest.raises(mx.SavedError, match="answers otherwise"):
        mx.load(tmp_path / "e", Other())


def test_a_file_that_lacks_a_part_is_refused(tmp_path):
    explainer().save(tmp_path / "e")
    with zipfile.ZipFile(tmp_path / "e") as box, zipfile.ZipFile(tmp_path / "f", "w") as other:
        for name in box.namelist():
            if name != "scores.npy":
                other.writestr(name, box.read(name))
    with pytest.raises(mx.SavedError, match="is not a saved explainer"):
        mx.load(tmp_path / "f", Machine())
