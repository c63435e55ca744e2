"""A file is fetched whole, or not at all; what arrived is not asked for twice."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from macex.datasets.download import cache_folder, digest, fetch
from macex.errors import DataError

CONTENT = bytes(range(256)) * 1000
SHA256 = hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture
def url(site):
    site.pages["/file"] = CONTENT
    return f"{site.address}/file"


def test_a_file_arrives_whole_and_nothing_else_is_left(url, tmp_path):
    path = fetch(url, tmp_path / "deep" / "file", sha256=SHA256)
    assert path.read_bytes() == CONTENT
    assert [found.name for found in path.parent.iterdir()] == ["file"]


def test_a_broken_connection_leaves_no_file_and_the_next_call_goes_on(url, site, tmp_path):
    site.break_after = 100_000
    with pytest.raises(DataError, match="100,000 of 256,000 bytes; call again to go on"):
        fetch(url, tmp_path / "file", sha256=SHA256)
    assert not (tmp_path / "file").exists()
    site.break_after = None
    assert fetch(url, tmp_path / "file", sha256=SHA256).read_bytes() == CONTENT
    assert site.asked == [("/file", None), ("/file", "bytes=100000-")]


def test_a_server_that_knows_no_ranges_sends_everything_again(url, site, tmp_path):
    site.break_after = 1000
    with pytest.raises(DataError):
        fetch(url, tmp_path / "file")
    site.break_after, site.knows_ranges = None, False
    assert fetch(url, tmp_path / "file", sha256=SHA256).read_bytes() == CONTENT


def test_a_part_longer_than_the_file_is_thrown_away(url, tmp_path):
    (tmp_path / "file.part").write_bytes(CONTENT + b"more")
    assert fetch(url, tmp_path / "file", sha256=SHA256).read_bytes() == CONTENT


@pytest.mark.parametrize("kind", ["md5", "sha256"])
def test_a_wrong_checksum_leaves_nothing(url, tmp_path, kind):
    with pytest.raises(DataError, match=rf"its {kind} begins with .*, not ffffffffffff"):
        fetch(url, tmp_path / "file", **{kind: "f" * 32})
    assert list(tmp_path.iterdir()) == []


def test_a_missing_page_is_named_with_its_answer(site, tmp_path):
    with pytest.raises(DataError, match=r"/nothing answered 404 Not Found"):
        fetch(f"{site.address}/nothing", tmp_path / "file")
    assert list(tmp_path.iterdir()) == []


def test_a_server_that_does_not_answer_is_given_up(url, site, tmp_path):
    site.hangs = True
    with pytest.raises(DataError, match="no answer in time"):
        fetch(url, tmp_path / "file", timeout=0.2)
    assert list(tmp_path.iterdir()) == []


def test_nobody_at_the_address_is_an_error_that_names_it(tmp_path):
    with pytest.raises(DataError, match=r"http://127\.0\.0\.1:9/file could not be fetched"):
        fetch("http://127.0.0.1:9/file", tmp_path / "file", timeout=1)


def test_only_web_addresses_are_fetched(tmp_path):
    with pytest.raises(DataError, match="no web address"):
        fetch(f"file://{tmp_path}/secret", tmp_path / "file")


def test_a_bar_changes_nothing(url, tmp_path, capfd):
    fetch(url, tmp_path / "file", progress=True)
    assert digest(tmp_path / "file") == SHA256
    assert capfd.readouterr().out == ""


def test_the_cache_is_where_the_environment_says(monkeypatch, tmp_path):
    monkeypatch.setenv("MACEX_CACHE", str(tmp_path))
    assert cache_folder() == tmp_path
    monkeypatch.delenv("MACEX_CACHE")
    assert isinstance(cache_folder(), Path)
    assert cache_folder().name == "macex"
