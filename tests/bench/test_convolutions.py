"""The network learns what tells classes apart, and the same every time."""

from __future__ import annotations

import numpy as np
import pytest

from macex.bench.convolutions import ConvolutionalNetwork
from series.machines import made_cases

pytest.importorskip("torch")
pytestmark = pytest.mark.usefixtures("one_thread")


def test_it_learns_and_does_so_the_same_every_time(monkeypatch):
    monkeypatch.setattr("macex.bench.convolutions.EPOCHS", 30)
    labels = np.array(["calm", "bump", "raised"] * 20)
    first, second = (ConvolutionalNetwork(made_cases(), labels) for _ in range(2))
    cases = made_cases(30, seed=1)
    scores = first.predict_proba(cases)
    assert np.array_equal(scores, second.predict_proba(cases))
    assert (first.classes_[scores.argmax(axis=1)] == np.tile(labels[:3], 10)).mean() > 0.8
    assert scores.sum(axis=1) == pytest.approx(np.ones(30))
