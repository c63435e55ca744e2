"""The models of the arena: fitted on classes and on numbers, each answers under the meter."""

from __future__ import annotations

import numpy as np
import pytest

from macex.bench.arena.factories import LAST, unfitted
from macex.bench.arena.tables import table
from macex.bench.metered import attach


@pytest.mark.filterwarnings("ignore")  # networks stop after so many rounds, converged or not
@pytest.mark.parametrize("name", ["iris", "diabetes", "tiles"])
@pytest.mark.parametrize("kind", LAST)
def test_every_model_answers_about_every_kind_of_table(kind, name):
    one = table(name)
    rows, label = one.dataset.frame.head(150), one.dataset.label[:150]
    model = unfitted(one, kind).fit(rows, label)
    meter = attach(model)
    said = np.asarray(model.predict(rows)).reshape(-1)
    assert (meter.calls, meter.rows) == (1, 150)
    assert np.isfinite(said.astype(float)).all()
    if one.regression:
        assert np.corrcoef(said, label)[0, 1] > 0.3
    else:
        assert (said == label).mean() > 0.6
