"""A folder of answers grows with the rows: what was explained once is left alone."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

import macex as mx
from lending import loans
from scale.town import bank

pytest.importorskip("pyarrow")
ROWS = loans(60, seed=5)


class Stopped(Exception):  # noqa: N818 - not an error of anybody's
    """A run was ended on its way."""


def stopping(at: int):
    def stop(done: int, _total: int | None) -> None:
        if done >= at:
            raise Stopped

    return stop


def arrive(folder: Path, day: int) -> None:
    """The rows of a day."""
    place = folder / f"day={day}"
    place.mkdir(parents=True)
    ROWS.iloc[day * 10 : day * 10 + 10].to_csv(place / "rows.csv", index=False)


@pytest.fixture
def night(tmp_path) -> Path:
    for day in (1, 3):
        arrive(tmp_path / "night", day)
    return tmp_path / "night"


def answered(out: Path, days: list[int]) -> None:
    """The folder has the answers of these days, in the order in which they came."""
    table = pd.read_parquet(out)
    rows = pd.concat(ROWS.iloc[day * 10 : day * 10 + 10] for day in days)
    wanted = bank().explain(rows).to_frame()
    assert table["cf.score"].tolist() == wanted["cf.score"].tolist()
    assert table["cf.row"].tolist() == list(range(len(rows)))
    assert (out / "_SUCCESS").exists()
    assert not (out / "_macex").exists()


def test_new_files_are_added_and_old_ones_left_alone(night, tmp_path):
    out = tmp_path / "out"
    assert mx.explain_file(bank(), night, out, chunk=4).rows == 20
    old = {path: path.stat().st_mtime_ns for path in out.glob("part-*")}
    arrive(night, 2)
    assert mx.explain_file(bank(), night, out, chunk=4, add=True).rows == 10
    answered(out, [1, 3, 2])
    assert {path: path.stat().st_mtime_ns for path in old} == old
    assert mx.explain_file(bank(), night, out, chunk=4, add=True).rows == 0
    answered(out, [1, 3, 2])


def test_a_first_run_may_add_and_files_may_go_away(night, tmp_path):
    out = tmp_path / "out"
    assert mx.explain_file(bank(), night, out, add=True).rows == 20
    (night / "day=1" / "rows.csv").unlink()
    arrive(night, 2)
    assert mx.explain_file(bank(), night, out, add=True).rows == 10
    answered(out, [1, 3, 2])


def test_a_run_that_adds_goes_on_and_takes_what_came_meanwhile(night, tmp_path):
    out = tmp_path / "out"
    mx.explain_file(bank(), night, out, chunk=4)
    arrive(night, 2)
    with pytest.raises(Stopped):
        mx.explain_file(bank(), night, out, chunk=4, add=True, progress=stopping(8))
    assert not (out / "_SUCCESS").exists()
    arrive(night, 0)
    done = mx.explain_file(bank(), night, out, chunk=4, add=True)
    assert done.rows == 20
    assert done.resumed > 0
    answered(out, [1, 3, 2, 0])


def test_a_run_that_adds_nothing_leaves_the_folder_whole(night, tmp_path):
    out = tmp_path / "out"
    mx.explain_file(bank(), night, out)
    (night / "day=9").mkdir()
    (night / "day=9" / "rows.csv").write_text("other,columns\n1,2\n")
    with pytest.raises(mx.DataError):
        mx.explain_file(bank(), night, out, add=True)
    (night / "day=9" / "rows.csv").unlink()
    answered(out, [1, 3])


def test_a_file_that_changed_and_other_options_are_refused(night, tmp_path):
    out = tmp_path / "out"
    mx.explain_file(bank(), night, out)
    arrive(night, 2)
    with pytest.raises(mx.OptionError, match="begun with another n"):
        mx.explain_file(bank(), night, out, n=2, add=True)
    ROWS.to_csv(night / "day=1" / "rows.csv", index=False)
    with pytest.raises(mx.DataError, match="holds something else now"):
        mx.explain_file(bank(), night, out, add=True)
    assert mx.explain_file(bank(), night, out, add=True, force=True).rows == 80


def test_a_folder_that_does_not_say_what_it_was_made_from(night, tmp_path):
    out = tmp_path / "out"
    mx.explain_file(bank(), night, out)
    (out / "_SUCCESS").write_bytes(b"")
    with pytest.raises(mx.OptionError, match="does not say which files"):
        mx.explain_file(bank(), night, out, add=True)


def main(endpoint: str, deadly: int) -> None:
    """A night's run in a bucket, which kills itself after so many rows."""
    import fsspec

    fsspec.config.conf["s3"] = {"endpoint_url": endpoint, "key": "none", "secret": "none"}

    def kill(done: int, _total: int | None) -> None:
        if deadly and done >= deadly:
            os.kill(os.getpid(), signal.SIGKILL)

    made = mx.explain_file(
        bank(),
        "s3://platform/night",
        "s3://platform/answers",
        index=["day", "number"],
        partition_by="day",
        compression="zstd",
        chunk=4,
        add=True,
        progress=kill,
    )
    sys.stdout.write(json.dumps([made.rows, made.resumed]))


def run_night(endpoint: str, deadly: int = 0) -> tuple[int, str]:
    folder = Path(__file__).parents[1]
    done = subprocess.run(
        [sys.executable, __file__, endpoint, str(deadly)],
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(folder), *sys.path])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode in (0, -signal.SIGKILL), done.stderr
    return done.returncode, done.stdout


@pytest.mark.slow
def test_nights_on_a_platform_with_two_kills():
    """A bucket of days, explained night after night; two nights are killed on their way."""
    server_class = pytest.importorskip("moto.server").ThreadedMotoServer
    fsspec = pytest.importorskip("fsspec")
    pytest.importorskip("s3fs")
    server = server_class(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    try:
        host, port = server.get_host_and_port()
        endpoint = f"http://{host}:{port}"
        anybody = {"endpoint_url": endpoint, "key": "none", "secret": "none"}
        store = fsspec.filesystem("s3", skip_instance_cache=True, **anybody)
        store.mkdir("platform")
        rows = ROWS.assign(number=range(60))

        def day(at: int) -> None:
            text = rows.iloc[at * 10 : at * 10 + 10].to_csv(index=False)
            store.pipe_file(f"platform/night/day={at}/rows.csv", text.encode())

        day(0)
        day(1)
        assert run_night(endpoint, deadly=9)[0] == -signal.SIGKILL
        assert json.loads(run_night(endpoint)[1]) == [20, 8]
        day(3)
        assert run_night(endpoint, deadly=5)[0] == -signal.SIGKILL
        day(2)
        assert json.loads(run_night(endpoint)[1]) == [20, 4]
        store.invalidate_cache()
        files = [name for name in store.find("platform/answers") if name.endswith(".parquet")]
        parts = {name: pd.read_parquet(store.open(name)) for name in files}
        made = pd.concat(
            part.assign(day=int(name.split("day=")[1][0])) for name, part in parts.items()
        ).sort_values("cf.row")
        order = [*range(20), *range(30, 40), *range(20, 30)]
        assert made["number"].astype(int).tolist() == order
        assert (made["day"] == made["number"].astype(int) // 10).all()
        wanted = bank().explain(ROWS.iloc[order]).to_frame()
        assert made["cf.score"].tolist() == wanted["cf.score"].tolist()
    finally:
        server.stop()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
