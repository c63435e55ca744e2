"""Points in time are exact to the last digit: in groups, rules, ranges, values and rows."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest

import macex as mx
from macex.ask.expressions import compile_rule
from macex.explanation.reader import explanations_read

SPREAD = {"ns": 10**17, "us": 10**14, "ms": 10**11, "s": 10**8}  # about three years of each
UNITS = tuple(SPREAD)
KINDS = [*UNITS, "ns Europe/Oslo", "us Europe/Oslo", "polars ns", "polars us Europe/Oslo"]


def moments(kind: str, count: int, rng: np.random.Generator) -> pd.Series:
    """A few moments of a resolution, in a zone or not; some lie one tick apart."""
    unit, _, zone = kind.removeprefix("polars ").partition(" ")
    few = SPREAD[unit] * 10 + rng.integers(0, SPREAD[unit], 6)
    few = np.concatenate([few, few + 1])
    held = pd.Series(rng.choice(few, count).astype(f"M8[{unit}]"))
    return held.dt.tz_localize("UTC").dt.tz_convert(zone) if zone else held


def table(kind: str, seed: int = 0, count: int = 80):
    rng = np.random.default_rng(seed)
    data = pd.DataFrame(
        {
            "start": moments(kind, count, rng),
            "town": rng.choice(["Bern", "Oslo", "Rome"], count),
            "end": moments(kind, count, rng),
            "size": rng.integers(0, 4, count),
        }
    )
    return pl.from_pandas(data) if kind.startswith("polars") else data


def pandas_of(frame) -> pd.DataFrame:
    return frame if isinstance(frame, pd.DataFrame) else frame.to_pandas()


def cells(frame) -> list[tuple]:
    """Rows as tuples of whole ticks, text and numbers."""
    found = pandas_of(frame).copy()
    for name in ("start", "end"):
        if name in found:
            found[name] = found[name].to_numpy("M8[ns]").astype(np.int64)
    return list(found.itertuples(index=False, name=None))


def lottery(frame) -> np.ndarray:
    """A score that every tick decides anew."""
    return np.array([hash_of(row) for row in cells(frame)])


def hash_of(row: tuple) -> float:
    parts = (sum(map(ord, cell)) if isinstance(cell, str) else int(cell) for cell in row)
    mixed = sum(
        part % 1_000_003 * prime for part, prime in zip(parts, (7, 31, 101, 977), strict=True)
    )
    return mixed % 1009 / 1009


def answers(found):
    return [(item, cf) for item in found for cf in item.counterfactuals]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("group", [["start", "town"], ["end", "start"], ["end", "size", "town"]])
def test_a_group_takes_a_combination_of_training_to_the_last_digit(kind, group):
    data = table(kind)
    asked = mx.Explainer(lottery, data)
    wish = {"groups": [group], "only": group}
    found = asked.explain(data[:12], want=mx.rise_by(0.05), n=3, constraints=wish)
    known = set(cells(data[group]))
    assert answers(found)
    for _, cf in answers(found):
        assert cells(cf.row[group])[0] in known


@pytest.mark.parametrize("kind", KINDS)
def test_a_changed_moment_is_a_moment_of_training(kind):
    data = table(kind)
    asked = mx.Explainer(lottery, data, candidates="domain", finetune=None)
    found = asked.explain(data[:12], want=mx.rise_by(0.05), constraints={"only": ["start"]})
    known = {row[0] for row in cells(data[["start"]])}
    assert answers(found)
    for _, cf in answers(found):
        assert cells(cf.row[["start"]])[0][0] in known
        assert lottery(cf.row)[0] == pytest.approx(cf.score, abs=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_said_of_a_moment_is_what_the_row_holds(kind):
    data = table(kind)
    found = mx.Explainer(lottery, data).explain(data[:12], want=mx.rise_by(0.05))
    for item, cf in answers(found):
        for change in cf.changes:
            if change.column in ("start", "end"):
                before, after = pd.Timestamp(change.before), pd.Timestamp(change.after)
                assert before.as_unit("ns").value == cells(item.query[[change.column]])[0][0]
                assert after.as_unit("ns").value == cells(cf.row[[change.column]])[0][0]


@pytest.mark.parametrize("kind", KINDS)
def test_none_over_seen_values_is_true_to_the_last_digit(kind):
    names = ["start", "end", "size"]
    for seed in range(6):
        data = table(kind, seed, 30)
        goal = sorted(set(cells(data[names])))[seed]

        def hits(frame, goal=goal):
            return np.array([float(row == goal) for row in cells(frame[names])])

        others = [place for place, row in enumerate(cells(data[names])) if row != goal][:5]
        rows = data[others] if isinstance(data, pl.DataFrame) else data.iloc[others]
        asked = mx.Explainer(hits, data, candidates="domain")
        found = asked.explain(rows, want=mx.at_least(1), constraints={"only": names})
        assert [item.status for item in found] == ["found"] * len(rows)


@pytest.mark.parametrize("kind", KINDS)
def test_rules_tell_neighbouring_ticks_apart(kind):
    data = table(kind)
    asked = mx.Explainer(lottery, data)
    found = asked.explain(
        data[:20], want=mx.rise_by(0.02), n=3, constraints={"rules": ["start < end"]}
    )
    assert answers(found)
    for _, cf in answers(found):
        start, end = cells(cf.row[["start", "end"]])[0]
        assert start < end


@pytest.mark.parametrize("kind", KINDS)
def test_equal_moments_of_two_columns_are_equal_in_a_rule(kind):
    data = pandas_of(table(kind))
    data["end"] = data["start"].sample(frac=1, random_state=1).array
    data = data[data["start"] != data["start"].min()]  # so that the columns start elsewhere
    schema = mx.Schema.infer(data)
    codes = schema.read(data).codes
    for rule, truth in (
        ("start == end", data["start"] == data["end"]),
        ("start <= end", data["start"] <= data["end"]),
        ("end - start <= 0", data["end"] <= data["start"]),
    ):
        assert 0 < truth.sum() < len(truth)
        assert np.array_equal(compile_rule(rule, schema.columns)(codes, codes), truth), rule


@pytest.mark.parametrize("kind", KINDS)
def test_a_range_ends_at_its_last_tick(kind):
    data = table(kind)
    ticks = sorted({row[0] for row in cells(data[["start"]])})
    stamps = pd.to_datetime([ticks[3], ticks[8]])
    ends = [stamp.isoformat() for stamp in stamps]
    if "Oslo" in kind:
        ends = [stamp.tz_localize("UTC").isoformat() for stamp in stamps]
    wish = {"ranges": {"start": ends}, "only": ["start"]}
    asked = mx.Explainer(lottery, data, candidates="domain")
    found = asked.explain(data[:20], want=mx.rise_by(0.02), n=3, constraints=wish)
    assert answers(found)
    for _, cf in answers(found):
        assert ticks[3] <= cells(cf.row[["start"]])[0][0] <= ticks[8]


@pytest.mark.parametrize("kind", KINDS)
def test_moments_outlive_json(kind):
    data = table(kind)
    asked = mx.Explainer(lottery, data)
    wish = {"groups": [["end", "town"]]}
    found = asked.explain(data[:6], want=mx.rise_by(0.05), n=2, constraints=wish)
    again = explanations_read(json.loads(found.to_json())["explanations"], found[0].source.rows)
    assert cells(again.to_frame()[list(pandas_of(data))]) == cells(
        found.to_frame()[list(pandas_of(data))]
    )
    schema = mx.Schema.from_dict(json.loads(json.dumps(asked.schema.to_dict())))
    codes = asked.schema.read(data).codes
    assert np.array_equal(schema.read(data).codes, codes)
    assert cells(schema.frame(codes)) == cells(data)


@pytest.mark.parametrize("kind", [*UNITS, "ns Europe/Oslo"])
def test_moments_outlive_a_parquet_file(kind, tmp_path):
    data = table(kind)
    asked = mx.Explainer(lottery, data)
    data.head(6).to_parquet(tmp_path / "rows.parquet", index=False)
    mx.explain_file(
        asked, tmp_path / "rows.parquet", tmp_path / "out.parquet", want=mx.rise_by(0.05)
    )
    found = asked.explain(data.head(6), want=mx.rise_by(0.05))
    names = list(data)
    assert cells(pd.read_parquet(tmp_path / "out.parquet")[names]) == cells(found.to_frame()[names])


@pytest.mark.parametrize("unit", UNITS)
def test_a_moment_never_seen_is_read_and_written_as_it_is(unit):
    data = table(unit)
    odd = data.head(4).assign(start=lambda d: d["start"] + np.timedelta64(1, unit))
    found = mx.Explainer(lottery, data).explain(odd, want=mx.rise_by(0.05))
    for place, item in enumerate(found):
        assert cells(item.query) == cells(odd.iloc[[place]])
        for cf in item.counterfactuals:
            if "start" not in {change.column for change in cf.changes}:
                assert cells(cf.row[["start"]]) == cells(odd[["start"]].iloc[[place]])


def test_an_array_of_moments_is_exact():
    rng = np.random.default_rng(3)
    data = (10**18 + rng.choice(rng.integers(0, 10**17, 7), (60, 3))).astype("M8[ns]")

    def score(rows):
        return (rows.view(np.int64) % 997).sum(axis=1) / 3000

    found = mx.Explainer(score, data).explain(
        data[:10],
        want=mx.rise_by(0.05),
        constraints={"groups": [["x0", "x2"]], "only": ["x0", "x2"]},
    )
    known = {tuple(row) for row in data[:, [0, 2]].view(np.int64).tolist()}
    assert answers(found)
    for _, cf in answers(found):
        assert tuple(cf.row[0, [0, 2]].view(np.int64).tolist()) in known


@pytest.mark.parametrize("unit", UNITS)
def test_durations_are_exact(unit):
    rng = np.random.default_rng(4)
    few = rng.integers(0, SPREAD[unit], 8)
    data = pd.DataFrame(
        {"wait": rng.choice(few, 60).astype(f"m8[{unit}]"), "size": rng.integers(0, 5, 60)}
    )

    def score(rows):
        return (rows["wait"].to_numpy("m8[ns]").astype(np.int64) % 997 + rows["size"]) / 1000

    found = mx.Explainer(score, data, candidates="domain", finetune=None).explain(
        data.head(10), want=mx.rise_by(0.05), constraints={"only": ["wait"]}
    )
    assert answers(found)
    known = set(data["wait"])
    for _, cf in answers(found):
        assert cf.row["wait"].iloc[0] in known
        assert pd.Timedelta(cf.changes[0].after) == cf.row["wait"].iloc[0]
