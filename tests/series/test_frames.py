"""Cases that come in frames are the cases that come in arrays."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
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


def by_columns(cases):
    """A line for every time point, half an hour apart, with columns for case and time."""
    count, width, length = cases.shape
    frame = pd.DataFrame(cases.transpose(0, 2, 1).reshape(-1, width), columns=NAMES)
    start = pd.Timestamp("2024-05-01")
    frame["time"] = [start + pd.Timedelta(30 * at, "min") for at in range(length)] * count
    frame["case_id"] = np.repeat([f"run {place}" for place in range(count)], length)
    return frame


def long(cases):
    return by_columns(cases).melt(["case_id", "time"], var_name="channel", value_name="value")


def listed(cases):
    return [pd.DataFrame(case.T, columns=NAMES) for case in cases]


def listed_timed(cases):
    """Frames of polars with a column of times, which is no channel."""
    times = {"time": np.arange(cases.shape[2])[::-1]}
    return [pl.DataFrame(dict(zip(NAMES, case[:, ::-1], strict=True)) | times) for case in cases]


@pytest.mark.parametrize(
    "framed",
    [
        by_columns,
        long,
        listed,
        listed_timed,
        lambda cases: pl.from_pandas(long(cases)),
        lambda cases: [pl.from_pandas(one) for one in listed(cases)],
    ],
)
def test_other_frames_answer_as_the_array(framed):
    found = mx.SeriesExplainer(Machine(), framed(TRAIN)).explain(framed(QUERIES))
    for one, other in zip(found, explainer().explain(QUERIES), strict=True):
        assert np.array_equal(one.counterfactuals[0].sample, other.counterfactuals[0].sample)
        assert one.counterfactuals[0].channels == other.counterfactuals[0].channels


def test_the_order_of_lines_and_columns_is_of_no_account():
    asked = mx.SeriesExplainer(Machine(), by_columns(TRAIN))
    given = by_columns(QUERIES[:1])
    mixed = given.sample(frac=1, random_state=0)[given.columns[::-1]]
    assert asked.explain(mixed).to_json(canonical=True) == asked.explain(given).to_json(
        canonical=True
    )


def test_times_and_units_are_told(tmp_path):
    names = {"sensor 2": mx.Name("pressure", unit="bar")}
    asked = mx.SeriesExplainer(Machine(), by_columns(TRAIN), names=names)
    asked.save(tmp_path / "saved")
    for one in (asked, mx.load(tmp_path / "saved", Machine())):
        (found,) = one.explain(by_columns(QUERIES[:1]))
        (change,) = found.counterfactuals[0].changes
        first = pd.Timestamp("2024-05-01") + pd.Timedelta(30 * change.start, "min")
        assert change.times[0] == str(first)
        assert f"pressure between {first}" in found.sentences()[0]
        assert str(first) in repr(found)
        assert str(first) in found.to_json()


def test_labels_of_times_are_given_for_arrays():
    asked = mx.SeriesExplainer(Machine(), TRAIN, times=np.arange(40) / 4, time_unit="s")
    (change,) = asked.explain(QUERIES[:1])[0].counterfactuals[0].changes
    assert change.times == (f"{change.start / 4:g} s", f"{(change.stop - 1) / 4:g} s")
    with pytest.raises(mx.OptionError, match="3 labels for 40 time points"):
        mx.SeriesExplainer(Machine(), TRAIN, times=[1, 2, 3])
    with pytest.raises(mx.OptionError, match="'sensor', which is not a channel"):
        mx.SeriesExplainer(Machine(), TRAIN, channels=NAMES, names={"sensor": "x"})


def test_frames_that_do_not_fit_are_refused():
    asked = mx.SeriesExplainer(Machine(), nested(TRAIN))
    with pytest.raises(mx.SchemaError, match="'sensor 0' is missing"):
        asked.explain(nested(QUERIES).rename(columns={"sensor 0": "sensor zero"}))
    twice = pd.concat([long(TRAIN), long(TRAIN).iloc[:1]])
    with pytest.raises(mx.SchemaError, match="second value"):
        mx.SeriesExplainer(Machine(), twice)
    again = pd.concat([by_columns(TRAIN), by_columns(TRAIN).iloc[:1]])
    with pytest.raises(mx.SchemaError, match="two lines of time"):
        mx.SeriesExplainer(Machine(), again)
    with pytest.raises(mx.SchemaError, match="cannot be told apart"):
        mx.SeriesExplainer(Machine(), [pd.DataFrame(case) for case in TRAIN])


def test_a_layout_that_was_not_said_is_questioned_where_cases_look_turned_round():
    time = np.linspace(0, 6, 50)
    smooth = np.sin(time + np.arange(30)[:, None, None]) * [[3.0], [1], [2]]  # (cases, 3, time)
    smooth += np.array([[5.0], [-5], [0]])

    def model(cases):
        return cases.max(axis=(1, 2))

    with pytest.warns(UserWarning, match="pass layout='channels_last'"):
        mx.SeriesExplainer(model, smooth.transpose(0, 2, 1))
    mx.SeriesExplainer(model, smooth)  # no warning, which would be an error
    mx.SeriesExplainer(model, smooth.transpose(0, 2, 1), layout="channels_first")


def test_a_turned_case_that_happens_to_fit_is_refused():
    level = np.arange(8.0)[:, None] * 10
    cases = np.random.default_rng(0).normal(0, 1, (40, 8, 8)) + level
    asked = mx.SeriesExplainer(lambda given: given[:, 0].mean(axis=1), cases)
    with pytest.raises(mx.SchemaError, match="look turned round"):
        asked.explain(cases[:2].transpose(0, 2, 1), want=mx.above(0))
    assert len(asked.explain(cases[:2], want=mx.above(-5)))


def test_a_list_of_frames_with_as_many_channels_as_lines_is_not_turned_round():
    time = [pl.DataFrame({"flow": np.arange(12.0) + at, "heat": np.zeros(12)}) for at in range(8)]
    asked = mx.SeriesExplainer(lambda cases: cases[:, 0].max(axis=1), time)
    assert asked.channels == ["flow", "heat"]
    assert asked.explain(time[:1], want=mx.above(14))[0].query.shape == (2, 12)


def test_other_objects_with_columns_are_refused():
    frame = pd.DataFrame(TRAIN[0].T, columns=NAMES)
    table = pa.Table.from_pandas(frame)
    for given in (table, [table], [frame, TRAIN[1]], pl.from_pandas(frame).lazy()):
        with pytest.raises(mx.SchemaError, match="pandas or polars"):
            mx.SeriesExplainer(Machine(), given)


LEVEL = np.arange(20.0)[:, None] + np.arange(12.0)


def level(cases):
    return cases[:, 0].mean(axis=1)


@pytest.mark.parametrize(
    ("columns", "first"),
    [
        (range(12), None),
        ([f"t{at}" for at in range(12)], None),
        (pd.date_range("2024-01-01", periods=12), "2024-01-01"),
        ([f"{at / 4}" for at in range(12)], "0"),
    ],
)
def test_a_wide_frame_has_a_case_in_every_line(columns, first):
    wide = pd.DataFrame(LEVEL, columns=pd.Index(columns))
    mixed = wide[list(wide.columns)[::-1]]
    asked = mx.SeriesExplainer(level, wide, channels=["load"])
    found = asked.explain(mixed[:1], want=mx.above(8))
    plain = mx.SeriesExplainer(level, LEVEL[:, None], channels=["load"]).explain(
        LEVEL[:1, None], want=mx.above(8)
    )
    assert np.array_equal(found[0].counterfactuals[0].sample, plain[0].counterfactuals[0].sample)
    times = found[0].counterfactuals[0].changes[0].times
    assert times is None if first is None else times[0] >= first


def test_a_wide_frame_of_polars():
    wide = pl.DataFrame({f"t_{at}": LEVEL[:, at] for at in range(12)})
    asked = mx.SeriesExplainer(level, wide)
    assert asked.channels == ["channel 0"]
    assert asked.explain(wide, want=mx.above(3))[0].status == "found"
