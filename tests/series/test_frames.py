"""Cases that come in frames are the cases that come in arrays."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

import macex as mx
from series.machines import NAMES, Machine, explainer, made_cases

TRAIN, QUERIES = made_cases(), made_cases(3, seed=1)


def nested(cases):
    return pd.DataFrame({name: list(cases[:, at]) for at, name in enumerate(NAMES)})


def indexed(cases):
    names = pd.MultiIndex.from_product([range(len(cases)), range(cases.shape[2])])
    return pd.DataFrame(
        cases.transpose(0, 2, 1).reshape(-1, len(NAMES)), index=names, columns=NAMES
    )


def polar(cases):
    return pl.DataFrame({name: cases[:, at].tolist() for at, name in enumerate(NAMES)})


@pytest.mark.parametrize("framed", [nested, indexed])
def test_a_frame_answers_as_the_array(framed):
    found = mx.SeriesExplainer(Machine(), framed(TRAIN)).explain(framed(QUERIES))
    assert found.to_json(canonical=True) == explainer().explain(QUERIES).to_json(canonical=True)


def test_a_frame_of_polars_names_the_channels():
    asked = mx.SeriesExplainer(Machine(), polar(TRAIN))
    assert asked.channels == NAMES
    assert asked.explain(polar(QUERIES))[0].status == "found"


def test_cells_that_are_no_series_are_refused():
    with pytest.raises(mx.SchemaError, match="index of two levels"):
        mx.SeriesExplainer(Machine(), pd.DataFrame({"a": [1.0, 2.0]}))
    with pytest.raises(mx.SchemaError, match="unequal lengths"):
        mx.SeriesExplainer(Machine(), pd.DataFrame({"a": [[1.0]], "b": [[1.0, 2.0]]}))
    with pytest.raises(mx.SchemaError, match="no columns"):
        mx.SeriesExplainer(Machine(), pd.DataFrame())


def test_a_layout_that_is_turned_round_is_questioned():
    with pytest.raises(mx.OptionError, match="layout= the other one"):
        mx.SeriesExplainer(Machine(), TRAIN.transpose(0, 2, 1), channels=NAMES)
    with pytest.raises(mx.SchemaError, match="turned round they would fit"):
        explainer().explain(QUERIES.transpose(0, 2, 1))


def test_unequal_lengths_become_a_list():
    frame = pd.DataFrame({"a": [np.zeros(5), np.ones(7)]})
    asked = mx.SeriesExplainer(
        lambda cases: np.array([case.mean() for case in cases]), frame, classes=("no", "yes")
    )
    assert asked.explain(frame)[0].status == "found"
