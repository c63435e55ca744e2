"""Files by the folder: the answers of one table, and what is broken costs itself alone."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import macex as mx
from lending import loans
from macex.audit import read_records
from scale.town import bank, grants

parquet = pytest.importorskip("pyarrow.parquet")
ROWS = loans(90, seed=4)


@pytest.fixture
def night(tmp_path) -> Path:
    """A folder of three files in two forms, with what Spark leaves beside them."""
    folder = tmp_path / "night"
    (folder / "late").mkdir(parents=True)
    ROWS.iloc[:40].to_parquet(folder / "a.parquet", index=False)
    ROWS.iloc[40:70].to_csv(folder / "b.csv", index=False)
    ROWS.iloc[70:].to_parquet(folder / "late" / "c.parquet", index=False)
    (folder / "_SUCCESS").touch()
    (folder / ".a.parquet.crc").write_bytes(b"crc")
    return folder


def told() -> pd.DataFrame:
    return bank().explain(ROWS).to_frame()


def same(made: pd.DataFrame, wanted: pd.DataFrame) -> None:
    pd.testing.assert_frame_equal(made, wanted, check_dtype=False)


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_folder_is_explained_as_one_table(night, tmp_path, jobs):
    done = mx.explain_file(bank(), night, tmp_path / "out.parquet", chunk=16, jobs=jobs)
    assert (done.rows, done.faults) == (90, ())
    same(pd.read_parquet(tmp_path / "out.parquet"), told())


def test_a_list_and_a_pattern_name_files(night, tmp_path):
    named = [night / "a.parquet", night / "b.csv"]
    assert mx.explain_file(bank(), named, tmp_path / "list.csv").rows == 70
    assert mx.explain_file(bank(), str(night / "*.*"), tmp_path / "glob.csv").rows == 70
    with pytest.raises(mx.DataError, match="no file matches"):
        mx.explain_file(bank(), str(night / "*.feather"), tmp_path / "none.csv")
    (tmp_path / "empty").mkdir()
    with pytest.raises(mx.DataError, match="without files"):
        mx.explain_file(bank(), tmp_path / "empty", tmp_path / "none.csv")


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet"])
def test_the_bytes_do_not_depend_on_the_workers(night, tmp_path, form):
    for jobs in (1, 2):
        mx.explain_file(bank(), night, tmp_path / f"{jobs}.{form}", chunk=10, jobs=jobs, n=2)
    one, two = ((tmp_path / f"{jobs}.{form}").read_bytes() for jobs in (1, 2))
    assert one == two


def test_a_folder_of_parts_is_a_table_like_any_other(night, tmp_path):
    out = tmp_path / "answers"
    mx.explain_file(bank(), night, out, chunk=16)
    assert (out / "_SUCCESS").exists()
    parts = sorted(out.glob("part-*.parquet"))
    assert len(parts) == 7
    assert len({str(parquet.read_schema(part)) for part in parts}) == 1
    same(pd.read_parquet(out), told())
    with pytest.raises(mx.OptionError, match="finished run"):
        mx.explain_file(bank(), night, out, chunk=16)
    mx.explain_file(bank(), night, out, chunk=40, force=True)
    same(pd.read_parquet(out), told())


def test_a_folder_of_something_else_is_left_alone(night, tmp_path):
    for name in ("letter", "part-00000-1f2e.snappy.parquet"):
        folder = tmp_path / name.partition(".")[0]
        folder.mkdir()
        (folder / name).touch()
        for _ in range(2):
            with pytest.raises(mx.OptionError, match="other files"):
                mx.explain_file(bank(), night, folder, force=True)
            (folder / "_SUCCESS").touch()  # by another program
        assert {file.name for file in folder.iterdir()} == {name, "_SUCCESS"}


def stopping(after: int):
    """A progress that ends the run."""

    def report(done: int, _total: int | None) -> None:
        if done >= after:
            raise KeyboardInterrupt

    return report


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_folder_is_gone_on_with_part_by_part(night, tmp_path, jobs):
    out = tmp_path / "answers"
    with pytest.raises(KeyboardInterrupt):
        mx.explain_file(bank(), night, out, chunk=16, jobs=jobs, progress=stopping(40))
    assert not (out / "_SUCCESS").exists()
    before = {path.name: path.stat().st_mtime_ns for path in out.glob("part-*")}
    assert before
    done = mx.explain_file(bank(), night, out, chunk=16, resume=True, jobs=jobs)
    assert done.resumed >= 16
    assert before.items() <= {p.name: p.stat().st_mtime_ns for p in out.glob("part-*")}.items()
    same(pd.read_parquet(out), told())


@pytest.fixture
def broken(tmp_path) -> Path:
    """A Parquet file whose second row group of three is damaged."""
    path = tmp_path / "broken.parquet"
    ROWS.to_parquet(path, index=False, row_group_size=30, compression="zstd")
    group = parquet.ParquetFile(path).metadata.row_group(1)
    start = min(group.column(at).data_page_offset for at in range(4))
    content = bytearray(path.read_bytes())
    content[start : start + group.total_byte_size // 2] = b"\xff" * (group.total_byte_size // 2)
    path.write_bytes(content)
    return path


def the_second_group_is_left_out(source: Path, tmp_path: Path, chunk: int) -> None:
    """It is named with its rows, the rest is answered, and it is an error where that is wanted."""
    done = mx.explain_file(bank(), source, tmp_path / "out.csv", chunk=chunk)
    assert (done.rows, done.lost, len(done.faults)) == (60, 30, 1)
    assert done.faults[0].startswith(f"{source} row group 1, rows 30 to 59: ")
    wanted = told()
    kept = wanted[~wanted["cf.row"].between(30, 59)].reset_index(drop=True)
    same(pd.read_csv(tmp_path / "out.csv"), kept)
    with pytest.raises(mx.DataError, match="row group 1"):
        mx.explain_file(bank(), source, tmp_path / "other.csv", on_error="raise")


def test_a_broken_row_group_is_named_and_the_rest_goes_on(broken, tmp_path):
    the_second_group_is_left_out(broken, tmp_path, chunk=16)


def without_page(path: Path, rows: pd.DataFrame, page: int) -> Path:
    """A file of three row groups; a page of the second is marked as none of data, so skipped."""
    rows.to_parquet(
        path,
        index=False,
        row_group_size=30,
        compression="none",
        use_dictionary=False,
        data_page_size=1,
        write_batch_size=10,
    )
    content = bytearray(path.read_bytes())
    debt = parquet.ParquetFile(path).metadata.row_group(1).column(rows.columns.get_loc("debt"))
    at = debt.data_page_offset
    head = bytes(content[at : at + 6])  # what kind of page, and of how many bytes: always the same
    for _ in range(page):
        at = content.index(head, at + 1)
    content[at + 1] = 2
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("page", [0, 1])
@pytest.mark.parametrize("chunk", [5, 7, 16, 200])
def test_a_row_group_that_is_short_without_an_error_is_left_out(tmp_path, page, chunk):
    """The cells after the page that is skipped would stand in the wrong rows."""
    source = without_page(tmp_path / "short.parquet", ROWS, page)
    the_second_group_is_left_out(source, tmp_path, chunk=chunk)


def test_files_that_drift_are_left_out_by_name(night, tmp_path):
    ROWS.head(5).drop(columns="debt").to_csv(night / "c.csv", index=False)
    ROWS.head(5).assign(more=1).to_csv(night / "d.csv", index=False)
    (night / "e.parquet").write_bytes(b"PAR1 and no more")
    done = mx.explain_file(bank(), night, tmp_path / "out.csv", chunk=16)
    assert done.rows == 90
    assert done.lost == 10
    missing, extra, cut = done.faults
    assert "c.csv has no column 'debt'" in missing
    assert "d.csv has a column 'more'" in extra
    assert "e.parquet is not a whole Parquet file" in cut


def test_types_and_orders_that_drift_are_the_same_rows(tmp_path):
    folder = tmp_path / "drift"
    folder.mkdir()
    ROWS.iloc[:50].to_parquet(folder / "a.parquet", index=False)
    drifted = ROWS.iloc[50:, ::-1].astype({"age": "float64", "job": "category", "income": "int32"})
    drifted.to_parquet(folder / "b.parquet", index=False)
    mx.explain_file(bank(), folder, tmp_path / "answers")
    same(pd.read_parquet(tmp_path / "answers"), told())


def test_a_column_that_became_text_gives_every_row_a_reason(tmp_path):
    ROWS.astype({"income": str}).to_parquet(tmp_path / "rows.parquet", index=False)
    done = mx.explain_file(bank(), tmp_path / "rows.parquet", tmp_path / "out.jsonl")
    assert (done.unreadable, done.statuses) == (90, {"not_found": 90})
    assert len(done.faults) == 20
    first = json.loads((tmp_path / "out.jsonl").read_text().splitlines()[0])
    assert "'income'" in first["reason"]


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet"])
def test_an_unreadable_cell_costs_its_row_alone(tmp_path, form):
    lines = ROWS.to_csv(index=False).splitlines()
    lines[21] = "30,much,40,none"
    (tmp_path / "rows.csv").write_text("\n".join(lines))
    done = mx.explain_file(bank(), tmp_path / "rows.csv", tmp_path / f"out.{form}", chunk=16)
    assert (done.rows, done.unreadable) == (90, 1)
    assert "rows.csv line 22: column 'debt' holds 'much'" in done.faults[0]
    if form == "parquet":
        made = pd.read_parquet(tmp_path / "out.parquet")
        assert made["debt"].isna().sum() == 1
        same(made[made["cf.row"] != 20], told()[told()["cf.row"] != 20])


def test_progress_counts_up_to_all_rows(night, tmp_path):
    seen = []
    mx.explain_file(
        bank(), night, tmp_path / "out.csv", chunk=16, progress=lambda *now: seen.append(now)
    )
    assert seen[-1] == (90, 90)
    assert seen == sorted(seen)


FULL = """
import resource, sys
sys.path[:0] = {paths!r}
import macex as mx
from scale.town import bank
resource.setrlimit(resource.RLIMIT_FSIZE, (6000, 6000))
try:
    mx.explain_file(bank(), sys.argv[1], sys.argv[2], chunk=30)
except mx.RunError as error:
    print(error)
"""


def test_a_full_disk_is_said_and_the_run_goes_on_later(night, tmp_path):
    out = tmp_path / "out.csv"
    script = FULL.format(paths=[path for path in sys.path if path])
    line = [sys.executable, "-c", script, str(night), str(out)]
    said = subprocess.run(
        line,
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
    ).stdout
    assert "4 parts are written and whole: make room" in said
    assert not out.exists()
    done = mx.explain_file(bank(), night, out, chunk=30, resume=True)
    assert done.resumed == 90
    same(pd.read_csv(out), told())


@pytest.mark.parametrize("jobs", [1, 2])
def test_the_audit_has_every_row_once_whatever_happens(night, tmp_path, jobs, monkeypatch):
    """Here the run dies when the records of a part are written and its note is not."""
    log = tmp_path / "audit.jsonl"
    audited = mx.Explainer(grants(), loans(500, seed=1), classes=("refused", "granted"), audit=log)
    with monkeypatch.context() as patch:
        patch.setattr("macex.scale.parts.json.dumps", dying_at_note(json.dumps))
        with pytest.raises(KeyboardInterrupt):
            mx.explain_file(audited, night, tmp_path / "out.csv", chunk=16, jobs=jobs)
    written = len(list(read_records(log)))
    assert written
    done = mx.explain_file(audited, night, tmp_path / "out.csv", chunk=16, jobs=jobs, resume=True)
    assert done.resumed == written
    records = list(read_records(log))
    assert len({record["id"] for record in records}) == len(records) == 90
    assert sorted(record["name"] for record in records) == list(range(90))


def dying_at_note(dumps):
    """`json.dumps` that fails on the second note of a part."""
    notes = []

    def dying(document, **options):
        if "statuses" in document:
            notes.append(document)
            if len(notes) == 2:
                raise KeyboardInterrupt
        return dumps(document, **options)

    return dying


def test_a_dead_worker_leaves_a_run_that_goes_on(night, tmp_path, monkeypatch):
    monkeypatch.setattr("macex.scale.workers.threads_pay", lambda _free, _jobs: False)
    granted, here = grants(), os.getpid()
    mark = tmp_path / "died"

    def deadly(rows):
        if os.getpid() != here and not mark.exists():
            mark.touch()
            os._exit(1)
        return granted(rows)

    out = tmp_path / "answers"
    with pytest.raises(mx.RunError, match="worker process died"):
        mx.explain_file(bank(deadly), night, out, chunk=16, jobs=2)
    assert mx.explain_file(bank(deadly), night, out, chunk=16, jobs=2, resume=True).resumed >= 16
    same(pd.read_parquet(out), told())


def test_names_of_rows_keep_their_type(tmp_path):
    named = ROWS.assign(applicant=np.arange(90) * 2**55 // 90)
    named.to_parquet(tmp_path / "rows.parquet", index=False)
    mx.explain_file(
        bank(), tmp_path / "rows.parquet", tmp_path / "answers", index="applicant", chunk=16
    )
    made = pd.read_parquet(tmp_path / "answers")
    assert made["applicant"].tolist() == named["applicant"][made["cf.row"]].tolist()


BROKEN_LINES = {
    "short.csv": "50,3",
    "quote.csv": '50,3,40,"none',
    "text.jsonl": '{"income": 50, "deb',
    "keys.jsonl": '{"income": 50}',
}


@pytest.mark.parametrize("name", BROKEN_LINES)
def test_the_rows_before_a_broken_line_are_read_whatever_the_chunks(tmp_path, name):
    folder = tmp_path / "night"
    folder.mkdir()
    first, second = ROWS.iloc[:30], ROWS.iloc[30:70]
    lines = first.to_csv(index=False)
    if name.endswith("jsonl"):
        lines = first.to_json(orient="records", lines=True)
    after = lines.splitlines()[-1]
    (folder / name).write_text(f"{lines}{BROKEN_LINES[name]}\n{after}\n")
    second.to_parquet(folder / "z.parquet", index=False)
    for chunk in (7, 10, 200):
        done = mx.explain_file(bank(), folder, tmp_path / f"{chunk}.csv", chunk=chunk)
        assert (done.rows, len(done.faults)) == (70, 1)
        assert f"{name} line 3" in done.faults[0]
        assert done.faults[0].count(name) == 1
        same(pd.read_csv(tmp_path / f"{chunk}.csv"), bank().explain(ROWS.head(70)).to_frame())


@pytest.mark.parametrize("name", BROKEN_LINES)
def test_a_broken_line_of_the_only_file_is_an_error(tmp_path, name):
    lines = ROWS.head(5).to_csv(index=False)
    if name.endswith("jsonl"):
        lines = ROWS.head(5).to_json(orient="records", lines=True)
    (tmp_path / name).write_text(f"{lines}{BROKEN_LINES[name]}\n")
    with pytest.raises(mx.DataError, match=f"{name} line"):
        mx.explain_file(bank(), tmp_path / name, tmp_path / "out.csv")
    assert not (tmp_path / "out.csv.parts").exists()


def test_a_row_that_the_model_fails_on_has_a_reason_and_is_no_fault(tmp_path):
    granted = grants()

    def failing(rows):
        if (rows["income"] == 1000).any():
            raise ValueError("income too large")
        return granted(rows)

    rows = ROWS.head(6).assign(income=[50, 60, 1000, 70, 80, 90])
    rows.to_csv(tmp_path / "rows.csv", index=False)
    done = mx.explain_file(bank(failing), tmp_path / "rows.csv", tmp_path / "out.jsonl")
    assert done.statuses == {"found": 5, "not_found": 1}
    assert (done.unreadable, done.lost, done.faults) == (0, 0, ())
    said = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert "income too large" in said[2]["reason"]
    with pytest.raises(mx.MacexError, match="income too large"):
        mx.explain_file(
            bank(failing), tmp_path / "rows.csv", tmp_path / "raised.csv", on_error="raise"
        )


@pytest.mark.parametrize("safe", [True, False])
def test_text_that_a_spreadsheet_would_run_is_kept_from_it_unless_told_otherwise(tmp_path, safe):
    rows = ROWS.head(2).assign(name=["=1+1", "b"])
    rows.to_csv(tmp_path / "rows.csv", index=False)
    out = tmp_path / "out.csv"
    mx.explain_file(bank(), tmp_path / "rows.csv", out, index="name", formula_safe=safe)
    assert pd.read_csv(out)["name"].tolist() == ["'=1+1" if safe else "=1+1", "b"]
