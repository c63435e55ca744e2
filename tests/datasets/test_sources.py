from __future__ import annotations

import hashlib

import pytest

from macex.datasets.sources import ADULT, BREAST, GERMAN, TITANIC, DatasetSource, read
from macex.errors import DataError

CONTENT = b"age,class\n30,0\n41,1\n"
TINY = DatasetSource("tiny.csv", hashlib.sha256(CONTENT).hexdigest(), "nobody")


@pytest.fixture
def folder(tmp_path):
    (tmp_path / TINY.file).write_bytes(CONTENT)
    return tmp_path


@pytest.mark.parametrize("source", [ADULT, BREAST, GERMAN], ids=lambda one: one.file)
def test_embedded_files_are_what_their_checksum_says(source, monkeypatch):
    monkeypatch.delenv("MACEX_DATA", raising=False)
    assert len(read(source).table) == {ADULT: 48842, BREAST: 699, GERMAN: 1000}[source]


def test_a_file_is_read_from_the_folder_given(folder):
    assert read(TINY, folder).table["age"].tolist() == [30, 41]


def test_a_file_is_read_from_the_folder_of_the_environment(folder, monkeypatch):
    monkeypatch.setenv("MACEX_DATA", str(folder))
    assert read(TINY).table["class"].tolist() == [0, 1]


def test_the_folder_given_goes_before_the_environment(folder, tmp_path, monkeypatch):
    monkeypatch.setenv("MACEX_DATA", str(tmp_path / "nowhere"))
    assert len(read(TINY, folder).table) == 2


def test_without_a_folder_the_error_says_how_to_give_one(monkeypatch):
    monkeypatch.delenv("MACEX_DATA", raising=False)
    with pytest.raises(DataError, match=r"'titanic\.csv'.*set MACEX_DATA.*or pass folder="):
        read(TITANIC, download=False)


def test_a_missing_file_is_named_with_its_folder(tmp_path):
    with pytest.raises(DataError, match=rf"'titanic\.csv' is missing.*{tmp_path.name}"):
        read(TITANIC, tmp_path)


def test_a_changed_file_is_refused(folder):
    (folder / TINY.file).write_bytes(CONTENT + b"52,0\n")
    with pytest.raises(DataError, match=rf"expected {TINY.sha256[:12]}; use an unchanged copy"):
        read(TINY, folder)


def test_a_folder_that_is_passed_must_hold_the_file_and_nothing_is_fetched(tmp_path, monkeypatch):
    monkeypatch.setenv("MACEX_OPENML", "http://127.0.0.1:9")
    with pytest.raises(DataError) as caught:
        read(TITANIC, tmp_path)
    assert "127.0.0.1" not in str(caught.value)
