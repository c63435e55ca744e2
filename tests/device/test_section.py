"""Points that are passed while an example is refined."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("torch")

import torch

from device.worlds import DEVICES, LIKE_A_DEVICE, numbers
from macex import Constraints, Explainer
from macex.device import DeviceExplainer
from macex.device.arrays import on_host, place_named
from macex.device.layout import layout_of
from macex.device.section import DeviceTried, on_the_way
from macex.stages.selection import PLAUSIBLE


@pytest.mark.parametrize("device", DEVICES)
def test_of_the_points_that_reach_the_goal_every_fourth_is_kept(device):
    layout = layout_of(numbers().explainer.engine.fitted, Constraints(), place_named(device))
    points = np.arange(24.0).reshape(1, 2, 12)
    reached = np.ones((1, 2, 12), bool)
    reached[0, 0, [0, 1, 5]] = False
    reached[0, 1, :11] = False
    parts = points, np.ones_like(reached), reached, -points
    tried = DeviceTried(*map(layout.place.array, parts))
    found = on_the_way(layout, layout.place.array(np.array([[50.0, 60.0]])), tried)
    values, progress, real = map(on_host, found)
    assert values[real].tolist() == [[2.0, 60.0], [7.0, 60.0], [11.0, 60.0], [50.0, 23.0]]
    assert progress[real].tolist() == [-2.0, -7.0, -11.0, -23.0]


@pytest.mark.parametrize("device", DEVICES)
def test_where_nothing_was_refined_nothing_was_passed(device):
    layout = layout_of(numbers().explainer.engine.fitted, Constraints(), place_named(device))
    none = layout.place.zeros((0, 2, 24), layout.place.xp.float64)
    values, progress, real = on_the_way(
        layout, layout.place.zeros((0, 2), none.dtype), DeviceTried(none, none > 0, none > 0, none)
    )
    assert values.shape == (0, 12, 2)
    assert progress.shape == real.shape == (0, 12)


@pytest.mark.parametrize("device", DEVICES)
def test_a_point_that_was_passed_is_the_answer_where_it_is_usual_and_what_is_nearer_is_not(device):
    dense, rare = np.linspace(8.0, 9.0, 101).round(2), 10.0 + 1.5 * np.arange(1, 15)
    data = pd.DataFrame({"a": np.concatenate([np.linspace(-1.0, 1.0, 101).round(2), dense, rare])})
    explainer = Explainer(
        lambda rows: 1 / (1 + np.exp(3 - rows["a"])),
        data,
        classes=("no", "yes"),
        **LIKE_A_DEVICE,
    )
    score = torch.sigmoid if device else lambda codes: 1 / (1 + np.exp(-codes))
    fast = DeviceExplainer(explainer, lambda codes: score(codes[:, 0] - 3), device=device)
    queries = data.iloc[:101:20]
    answers = on_host(fast.explain(explainer.schema.read(queries).codes).codes)[:, 0]
    best = [item.counterfactuals[0] for item in explainer.explain(queries)]
    assert min(found.plausibility for found in best) >= PLAUSIBLE
    np.testing.assert_allclose(answers, [found.row["a"].iloc[0] for found in best])
    assert (answers > 3.1).all()
    assert (answers < dense.min()).all()
