"""What an output is made of: whole parts of one job, written by one run at a time."""

from __future__ import annotations

import errno
import io
import json
import os
from decimal import Decimal
from pathlib import Path

import pandas as pd
import pytest

import macex as mx
from lending import loans
from macex.audit import read_records
from macex.scale.readers import read_table
from scale.town import bank, grants

parquet = pytest.importorskip("pyarrow.parquet")
ROWS = loans(12, seed=5)
EMPTY, WRONG = ROWS.head(0), ROWS.drop(columns="debt")


class Stopped(Exception):  # noqa: N818 - not an error of anybody's
    """A run was ended on its way."""


def stop(done: int, _total: int | None) -> None:
    if done >= 9:
        raise Stopped


def table(path: Path) -> pd.DataFrame:
    """The answers of a file of any form, by row."""
    if path.suffix == ".csv":
        return pd.read_csv(path)
    if path.suffix == ".json":
        return pd.DataFrame(json.loads(path.read_text())["explanations"])
    return pd.read_parquet(path)


@pytest.fixture
def rows(tmp_path) -> Path:
    ROWS.to_csv(tmp_path / "rows.csv", index=False)
    return tmp_path / "rows.csv"


@pytest.mark.parametrize("form", ["csv", "json", "parquet"])
@pytest.mark.parametrize("first", [EMPTY, WRONG], ids=["no rows", "other columns"])
def test_the_output_has_one_head_wherever_the_first_rows_come_from(tmp_path, form, first):
    folder = tmp_path / "night"
    folder.mkdir()
    first.to_csv(folder / "a.csv", index=False)
    ROWS.to_csv(folder / "b.csv", index=False)
    EMPTY.to_csv(folder / "c.csv", index=False)
    out = tmp_path / f"out.{form}"
    mx.explain_file(bank(), folder, out, chunk=5)
    assert len(table(out)) == 12
    assert not table(out).isna().all(axis=1).any()


@pytest.mark.parametrize("form", ["csv", "json", "parquet"])
def test_no_rows_give_a_table_without_rows(tmp_path, form):
    EMPTY.to_csv(tmp_path / "none.csv", index=False)
    assert mx.explain_file(bank(), tmp_path / "none.csv", tmp_path / f"out.{form}").rows == 0
    assert len(table(tmp_path / f"out.{form}")) == 0


def test_a_part_that_is_not_whole_is_made_again(rows, tmp_path):
    whole, out = tmp_path / "whole.csv", tmp_path / "out.csv"
    mx.explain_file(bank(), rows, whole, chunk=3)
    with pytest.raises(Stopped):
        mx.explain_file(bank(), rows, out, chunk=3, progress=stop)
    first, second = sorted((tmp_path / "out.csv.parts").glob("*.part"))[:2]
    os.truncate(first, 10)
    second.unlink()
    done = mx.explain_file(bank(), rows, out, chunk=3, resume=True)
    assert done.resumed == 0
    assert out.read_bytes() == whole.read_bytes()


@pytest.mark.parametrize("other", [{"form": "jsonl"}, {"n": 2}, {"want": "granted"}, {"chunk": 4}])
def test_a_run_goes_on_with_the_same_options_only(rows, tmp_path, other):
    call = {"form": "csv", "chunk": 3}
    with pytest.raises(Stopped):
        mx.explain_file(bank(), rows, tmp_path / "out.dat", **call, progress=stop)
    with pytest.raises(mx.OptionError, match="was begun with another"):
        mx.explain_file(bank(), rows, tmp_path / "out.dat", **call | other, resume=True)


def test_a_run_from_a_stream_is_not_gone_on_with(rows, tmp_path):
    out = tmp_path / "out.csv"
    with pytest.raises(Stopped):
        mx.explain_file(bank(), io.BytesIO(rows.read_bytes()), out, chunk=3, progress=stop)
    other = io.BytesIO(loans(12, seed=6).to_csv(index=False).encode())
    with pytest.raises(mx.OptionError, match="from a stream"):
        mx.explain_file(bank(), other, out, chunk=3, resume=True)


@pytest.mark.parametrize("name", ["out.csv", "out"])
@pytest.mark.parametrize("how", ["resume", "force"])
def test_two_runs_do_not_write_the_same_output_at_once(rows, tmp_path, name, how):
    out, refused = tmp_path / name, []

    def meanwhile(done: int, _total: int | None) -> None:
        if done == 6 and not refused:
            with pytest.raises(mx.OptionError, match="another run is writing") as error:
                mx.explain_file(bank(), rows, out, chunk=3, want="granted", **{how: True})
            refused.append(error)

    mx.explain_file(bank(), rows, out, chunk=3, progress=meanwhile)
    assert refused
    made = table(out) if out.suffix else pd.read_parquet(out)
    assert made["cf.label"].tolist() == bank().explain(ROWS).to_frame()["cf.label"].tolist()


def test_a_finished_folder_that_is_replaced_keeps_no_part_of_before(rows, tmp_path):
    mx.explain_file(bank(), rows, tmp_path / "out", chunk=2)
    mx.explain_file(bank(), rows, tmp_path / "out", chunk=6, force=True, resume=True)
    assert len(list((tmp_path / "out").glob("part-*"))) == 2


def test_a_folder_is_not_marked_as_whole_while_its_parts_are_removed(rows, tmp_path, monkeypatch):
    out, real, removed = tmp_path / "out", Path.unlink, []
    mx.explain_file(bank(), rows, out, chunk=2)

    def dying(path: Path, *, missing_ok: bool = False) -> None:
        if path.name.startswith("part-"):
            removed.append(path)
            if len(removed) == 3:
                raise Stopped
        real(path, missing_ok=missing_ok)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "unlink", dying)
        with pytest.raises(Stopped):
            mx.explain_file(bank(), rows, out, chunk=2, n=2, force=True)
    assert len(list(out.glob("part-*"))) == 4
    assert not (out / "_SUCCESS").exists()
    assert mx.explain_file(bank(), rows, out, chunk=2, n=2, resume=True).rows == 12
    assert (out / "_SUCCESS").exists()


def test_what_is_read_is_never_written_over(rows, tmp_path):
    before = rows.read_bytes()
    folder = tmp_path / "night"
    folder.mkdir()
    (folder / "a.csv").write_bytes(before)
    ROWS.to_parquet(folder / "b.parquet", index=False)
    for source, out in [
        (rows, rows),
        (str(tmp_path / "*.csv"), rows),
        (folder, folder / "out.csv"),
        (folder, folder),
        (folder / "b.parquet", folder),
        ([folder / "a.csv"], tmp_path / "night" / ".." / "night" / "a.csv"),
    ]:
        with pytest.raises(mx.OptionError, match=r"elsewhere|other files"):
            mx.explain_file(bank(), source, out, force=True)
    assert rows.read_bytes() == (folder / "a.csv").read_bytes() == before


@pytest.mark.parametrize(
    ("index", "said"), [("income", "which the model needs"), ("cf.row", "column of the answers")]
)
def test_the_names_of_rows_are_a_column_of_their_own(tmp_path, index, said):
    ROWS.assign(**{"cf.row": 1}).to_csv(tmp_path / "rows.csv", index=False)
    with pytest.raises(mx.OptionError, match=said):
        mx.explain_file(bank(), tmp_path / "rows.csv", tmp_path / "out.csv", index=index)


def test_a_file_without_the_names_of_its_rows_is_left_out(tmp_path):
    folder = tmp_path / "night"
    folder.mkdir()
    ROWS.assign(name=range(12)).to_csv(folder / "a.csv", index=False)
    ROWS.to_csv(folder / "b.csv", index=False)
    done = mx.explain_file(bank(), folder, tmp_path / "out.csv", index="name")
    assert (done.rows, done.lost) == (12, 12)
    assert "b.csv has no such column" in done.faults[0]


def test_names_of_several_types_become_text(tmp_path):
    folder = tmp_path / "night"
    folder.mkdir()
    ROWS.assign(name=range(12)).to_parquet(folder / "a.parquet", index=False)
    ROWS.assign(name=list("abcdefghijkl")).to_parquet(folder / "b.parquet", index=False)
    mx.explain_file(bank(), folder, tmp_path / "out.parquet", index="name", chunk=5)
    made = pd.read_parquet(tmp_path / "out.parquet")
    assert made["name"].tolist() == [*map(str, range(12)), *"abcdefghijkl"]


def moments(count: int) -> pd.DataFrame:
    """Whole numbers and times that are seldom missing, and seldom more than a date."""
    rows = pd.DataFrame({"count": range(count), "big": range(2**60, 2**60 + count)})
    rows["day"] = pd.date_range("2024-02-01", periods=count)
    rows["time"] = pd.date_range("2024-02-01", periods=count, freq="4h")
    rows[["count", "big"]] = rows[["count", "big"]].astype("Int64")
    rows.loc[rows.index % 7 == 3, ["count", "big", "day"]] = None
    return rows


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_the_look_of_a_cell_does_not_depend_on_the_cells_around_it(tmp_path, ending, form):
    rows, source = moments(60), tmp_path / f"rows.{ending}"

    def early(given):
        return 1 / (1 + (given["time"] > pd.Timestamp("2024-02-05")) * 3.0 + 0.5)

    explainer = mx.Explainer(early, rows, classes=("late", "early"))
    if ending == "csv":
        rows.head(20).to_csv(source, index=False)
    elif ending == "jsonl":
        rows.head(20).to_json(source, orient="records", lines=True, date_format="iso")
    else:
        rows.head(20).to_parquet(source, index=False)
    outs = [tmp_path / f"{chunk}.{form}" for chunk in (1, 20)]
    for chunk, out in zip((1, 20), outs, strict=True):
        mx.explain_file(explainer, source, out, chunk=chunk, on_error="raise")
    assert outs[0].read_bytes() == outs[1].read_bytes()
    if form == "csv":
        made = pd.read_csv(outs[0], dtype=str)
        assert made["big"].dropna().tolist() == rows["big"].head(20).dropna().astype(str).tolist()
        assert made["day"].iloc[0] == "2024-02-01"


@pytest.mark.parametrize("form", ["csv", "parquet"])
@pytest.mark.parametrize("nullable", [True, False])
def test_a_missing_name_changes_no_other(tmp_path, form, nullable):
    names = [2**60 + at for at in range(12)]
    names[4] = None
    kind = "Int64" if nullable else object
    ROWS.assign(name=pd.array(names, dtype=kind)).to_parquet(tmp_path / "rows.parquet", index=False)
    out = tmp_path / f"out.{form}"
    mx.explain_file(bank(), tmp_path / "rows.parquet", out, index="name", chunk=6)
    if form == "csv":
        made = pd.read_csv(out, dtype={"name": "Int64"})["name"].tolist()
        assert [None if name is pd.NA else name for name in made] == names
    else:
        assert parquet.read_table(out)["name"].to_pylist() == names


@pytest.mark.parametrize("kind", ["str", "Int64", "datetime64[us]", "category"])
@pytest.mark.parametrize("form", ["parquet", "feather"])
def test_names_are_of_one_type_also_where_all_of_a_part_are_missing(tmp_path, kind, form):
    names = pd.Series(range(2**40, 2**40 + 12)).astype(object)
    names = (names.map(str) if kind in ("str", "category") else names).where(names.index >= 5)
    named = ROWS.assign(name=pd.Series(names.where(names.notna(), None), dtype=kind))
    getattr(named, f"to_{form}")(tmp_path / "rows")
    mx.explain_file(bank(), tmp_path / "rows", tmp_path / "out", index="name", chunk=5)
    parts = sorted((tmp_path / "out").glob("part-*"))
    assert len({parquet.read_schema(part).field("name").type for part in parts}) == 1
    made = pd.read_parquet(tmp_path / "out").drop_duplicates("cf.row")["name"]
    assert made.isna().sum() == 5
    assert made.iloc[5:].tolist() == named["name"].iloc[5:].tolist()


def test_ends_of_lines_in_cells_are_read_back_from_csv(tmp_path):
    names = ["a\rb", "c\nd", "e\r\nf", 'g"h', "i,j", "\r", " k ", "l\r\n", "m", "n", "o", "p"]
    ROWS.assign(**{"na\rme": names}).to_parquet(tmp_path / "rows.parquet", index=False)
    out = tmp_path / "out.csv"
    exact = {"chunk": 5, "formula_safe": False}
    mx.explain_file(bank(), tmp_path / "rows.parquet", out, index="na\rme", **exact)
    for made in (pd.read_csv(out), read_table(out)):
        assert made["na\rme"].tolist() == names
    assert out.read_bytes().count(b"\r\n") == 2


def test_decimals_are_numbers_where_training_has_numbers(tmp_path):
    decimals = ROWS.assign(debt=[Decimal(str(debt)) for debt in ROWS["debt"]])
    decimals.to_parquet(tmp_path / "rows.parquet", index=False)
    mx.explain_file(bank(), tmp_path / "rows.parquet", tmp_path / "out.csv")
    wanted = bank().explain(ROWS).to_frame()
    pd.testing.assert_frame_equal(table(tmp_path / "out.csv"), wanted, check_dtype=False)


@pytest.mark.parametrize("name", ["out.csv", "out"])
def test_a_run_that_fails_before_its_first_part_leaves_nothing_behind(tmp_path, name):
    ROWS.assign(more=1).to_csv(tmp_path / "rows.csv", index=False)
    with pytest.raises(mx.DataError, match="has a column 'more'"):
        mx.explain_file(bank(), tmp_path / "rows.csv", tmp_path / name)
    assert mx.explain_file(bank(), tmp_path / "rows.csv", tmp_path / name, drop="more").rows == 12


@pytest.mark.parametrize("name", ["out.csv", "out"])
@pytest.mark.parametrize("full", ["write_whole", "alone"])
def test_a_disk_that_is_full_at_the_start_is_said_and_nothing_is_left(
    rows, tmp_path, monkeypatch, name, full
):
    out = tmp_path / name

    def no_room(path: Path, _content: bytes = b"") -> None:
        raise OSError(errno.ENOSPC, "No space left on device", str(path))

    with monkeypatch.context() as patch:
        patch.setattr(f"macex.scale.places.{full}", no_room)
        with pytest.raises(mx.RunError, match="0 parts are written and whole: make room"):
            mx.explain_file(bank(), rows, out)
    assert not [*tmp_path.glob("*.parts"), *tmp_path.glob("out/*")]
    assert mx.explain_file(bank(), rows, out).rows == 12


@pytest.mark.parametrize("name", ["out.csv", "out"])
@pytest.mark.parametrize("how", ["resume", "force"])
def test_what_a_killed_run_was_writing_is_removed(rows, tmp_path, name, how):
    out = tmp_path / name
    with pytest.raises(Stopped):
        mx.explain_file(bank(), rows, out, chunk=3, progress=stop)
    others = [tmp_path / ".else.csv.77.part", tmp_path / ".out.csv.part"]
    left = [out / ".part-000003.parquet.77.part", out / "._SUCCESS.77.part"]
    if out.suffix:
        left = [tmp_path / ".out.csv.77.part"]
    for path in (*others, *left):
        path.touch()
    mx.explain_file(bank(), rows, out, chunk=3, **{how: True})
    assert [path for path in (*others, *left) if path.exists()] == others


def test_what_is_asked_is_the_same_for_all_rows_and_read_from_files(rows, tmp_path):
    with pytest.raises(mx.ConstraintError, match="the same for all rows"):
        mx.explain_file(bank(), rows, tmp_path / "out.csv", constraints=[{}] * 12)
    for source in (ROWS, (path for path in [rows])):
        with pytest.raises(mx.OptionError, match="source is a file"):
            mx.explain_file(bank(), source, tmp_path / "out.csv")


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet", ""])
@pytest.mark.parametrize("damage", ["overwritten", "cut", "gone"])
def test_a_damaged_part_is_made_again(tmp_path, rows, form, damage):
    whole, out = (tmp_path / f"{name}{form and '.'}{form}" for name in ("whole", "out"))
    mx.explain_file(bank(), rows, whole, chunk=3)
    with pytest.raises(Stopped):
        mx.explain_file(bank(), rows, out, chunk=3, progress=stop)
    first = out / "part-000000.parquet" if not form else Path(f"{out}.parts/000000.part")
    content = first.read_bytes()
    if damage == "gone":
        first.unlink()
    elif damage == "cut":
        first.write_bytes(content[:-7])
    else:
        first.write_bytes(content[:20] + bytes(40) + content[60:])
    done = mx.explain_file(bank(), rows, out, chunk=3, resume=True)
    assert 0 < done.resumed < 9
    files = sorted(out.glob("part-*")) if not form else [out]
    for file in files:
        assert file.read_bytes() == (whole / file.name if not form else whole).read_bytes()


def test_a_part_that_is_made_again_is_recorded_once(tmp_path, rows):
    log, out = tmp_path / "audit.jsonl", tmp_path / "out.csv"
    classes = ("refused", "granted")
    audited = mx.Explainer(grants(), loans(500, seed=1), classes=classes, audit=log)
    with pytest.raises(Stopped):
        mx.explain_file(audited, rows, out, chunk=3, progress=stop)
    Path(f"{out}.parts/000000.part").write_bytes(b"nonsense")
    mx.explain_file(audited, rows, out, chunk=3, resume=True)
    assert len(list(read_records(log))) == len(ROWS)
