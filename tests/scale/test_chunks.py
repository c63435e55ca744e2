"""What is written of a row does not depend on which rows stand in the same chunk."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import macex as mx


def diary(count: int = 300) -> pd.DataFrame:
    """A column of every kind that a file may hold."""
    draw = np.random.default_rng(0)
    begin = pd.Timestamp("2024-01-01")
    return pd.DataFrame(
        {
            "whole": draw.integers(0, 90, count),
            "part": draw.normal(size=count).round(2),
            "day": begin + pd.to_timedelta(draw.integers(0, 300, count), "D"),
            "time": begin + pd.to_timedelta(draw.integers(0, 3000, count), "h"),
            "span": pd.to_timedelta(draw.integers(0, 4, count) * 12, "h"),
            "self": draw.random(count) > 0.5,
            "word": draw.choice(list("abc"), count),
        }
    )


def keeper() -> mx.Explainer:
    def kept(rows):
        points = (rows["whole"].astype(float) - 45) / 10 + rows["part"].astype(float)
        return 1 / (1 + np.exp(-points))

    return mx.Explainer(kept, diary(), classes=("no", "yes"))


ODD = {
    "none": ("whole", 7),
    "a fraction": ("whole", 64.5),
    "an endless number": ("whole", float("inf")),
    "a large number": ("whole", 10**30),
    "text for a whole number": ("whole", "many"),
    "text for a number": ("part", "much"),
    "a whole number for a number": ("part", 3),
    "text for a day": ("day", "soon"),
    "text for a time": ("time", "later"),
    "text for a span": ("span", "long"),
    "text for a truth": ("self", "perhaps"),
    "another word": ("word", "z"),
}


def plain(cell: object) -> object:
    if isinstance(cell, pd.Timestamp | pd.Timedelta):
        return str(cell)
    return cell.item() if isinstance(cell, np.generic) else cell


@pytest.mark.parametrize("written", ["csv", "jsonl"])
@pytest.mark.parametrize("read", ["csv", "jsonl"])
@pytest.mark.parametrize(("column", "cell"), ODD.values(), ids=ODD)
def test_the_bytes_do_not_depend_on_the_chunks(tmp_path, column, cell, read, written):
    rows = diary(9).astype(object)
    rows.loc[5, column] = cell
    if read == "csv":
        content = rows.to_csv(index=False)
    else:
        records = rows.to_dict("records")
        content = "".join(
            json.dumps({name: plain(held) for name, held in record.items()}) + "\n"
            for record in records
        )
    source = tmp_path / f"rows.{read}"
    source.write_text(content)
    explainer, made = keeper(), set()
    for size in (1, 4, 100):
        out = tmp_path / f"out{size}.{written}"
        done = mx.explain_file(explainer, source, out, chunk=size)
        assert done.rows == 9
        made.add(out.read_bytes())
    assert len(made) == 1


def test_a_large_whole_number_is_not_rounded_beside_a_fraction(tmp_path):
    large = 2**53 + 1
    data = pd.DataFrame({"count": np.arange(40) + large, "part": np.linspace(0, 1, 40)})
    explainer = mx.Explainer(lambda rows: rows["part"], data, classes=("no", "yes"))
    lines = [{"count": large, "part": 0.2}, {"count": 0.5, "part": 0.2}]
    (tmp_path / "rows.jsonl").write_text("\n".join(map(json.dumps, lines)))
    mx.explain_file(explainer, tmp_path / "rows.jsonl", tmp_path / "out.jsonl")
    first = json.loads((tmp_path / "out.jsonl").read_text().splitlines()[0])
    assert first["query"]["count"] == large
