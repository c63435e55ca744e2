"""OpenML, played by a server on this machine with small files of the real ones' form."""

from __future__ import annotations

import hashlib
import json

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from macex.datasets import load
from macex.datasets.openml import OpenML, read_arff, table
from macex.datasets.sources import COMPAS, CREDIT
from macex.errors import DataError

TITANIC = """@relation 'd'
@attribute 'pclass' numeric
@attribute 'survived' {0,1}
@attribute 'name' string
@attribute 'sex' {'female','male'}
@attribute 'age' numeric
@attribute 'sibsp' numeric
@attribute 'parch' numeric
@attribute 'fare' numeric
@attribute 'embarked' {'C','Q','S'}
@data
1,1,"Allen, Miss. Elisabeth Walton","female",29,0,0,211.3375,"S"
3,0,"Storey, Mr. Thomas","male",60.5,0,0,?,"S"
2,1,"Mc'Cormack, Mr. Thomas","male",?,0,0,26,?
"""
COMPAS_COLUMNS = (
    "sex age juv_fel_count priors_count race_African-American race_Caucasian c_charge_degree_F "
    "c_charge_degree_M twoyearrecid"
)


def arff(columns, *lines):
    head = "\n".join(f"@attribute {name} numeric" for name in columns)
    return f"@relation r\n{head}\n@data\n" + "\n".join(lines) + "\n"


@pytest.fixture
def openml(site, tmp_path, monkeypatch):
    """A function that publishes a file under a data id."""
    monkeypatch.setenv("MACEX_OPENML", site.address)
    monkeypatch.setenv("MACEX_CACHE", str(tmp_path))
    monkeypatch.delenv("MACEX_DATA", raising=False)

    def publish(data_id, text, **changes):
        described = {
            "url": f"https://www.openml.org/data/v1/download/{data_id}",
            "md5_checksum": hashlib.md5(text.encode(), usedforsecurity=False).hexdigest(),
        }
        page = json.dumps({"data_set_description": {**described, **changes}})
        site.pages[f"/api/v1/json/data/{data_id}"] = page.encode()
        site.pages[f"/data/v1/download/{data_id}"] = text.encode()
        return OpenML(data_id, lambda raw: raw, "")

    return publish


def test_a_dataset_is_fetched_once_and_then_read_from_the_cache(openml, site, tmp_path):
    source = openml(7, TITANIC)
    assert len(table(source)) == 3
    asked = len(site.asked)
    assert len(table(source)) == 3
    assert len(site.asked) == asked == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "openml-7.arff",
        "openml-7.sha256",
    ]


def test_a_cached_file_that_has_changed_is_refused(openml, tmp_path):
    table(openml(7, TITANIC))
    (tmp_path / "openml-7.arff").write_text(TITANIC.replace("60.5", "61"))
    with pytest.raises(DataError, match=r"has changed since it was fetched; delete it"):
        table(openml(7, TITANIC))


def test_a_file_that_is_not_as_described_is_refused(openml, tmp_path):
    with pytest.raises(DataError, match="its md5 begins with"):
        table(openml(7, TITANIC, md5_checksum="0" * 32))
    assert list(tmp_path.iterdir()) == []


def test_a_description_in_another_form_is_an_error(openml, site):
    source = openml(7, TITANIC)
    site.pages["/api/v1/json/data/7"] = b"[]"
    with pytest.raises(DataError, match="dataset 7 in an unknown form"):
        table(source)
    with pytest.raises(DataError, match="names no file"):
        table(openml(7, TITANIC, url=None))


def test_titanic_of_another_content_is_refused_since_its_checksum_is_known(openml):
    openml(40945, TITANIC)
    with pytest.raises(DataError, match=r"its sha256 begins with .*, not c56e3785c96c.*MACEX_DATA"):
        load("titanic")


def test_compas_reads_openmls_zeros_and_ones(openml):
    lines = ("1,30,0,2,1,0,1,0,1", "0,45,0,0,0,1,0,1,0")
    openml(42193, arff(COMPAS_COLUMNS.split(), *lines))
    data = load("compas")
    assert data.frame.to_dict("list") == {
        "age": [30, 45],
        "charge_degree": ["F", "M"],
        "sex": ["Male", "Female"],
        "race": ["African-American", "Caucasian"],
        "priors_count": [2, 0],
    }
    assert data.label.tolist() == [1, 0]
    assert "OpenML dataset 42193: 5278 people" in data.source


def test_credit_reads_openmls_columns(openml):
    columns = [f"A{place}" for place in range(1, 16)]
    openml(40981, arff(columns, "1,22.08,11.46,2,4,4,1.585,0,0,0,1,2,100,1213,0"))
    data = load("credit")
    assert data.frame.iloc[0].tolist()[:4] == ["1", 22.08, 11.46, "2"]
    assert data.label.tolist() == [0]


def test_titanic_fills_the_missing_fare():
    from macex.datasets.openml import read_arff, titanic

    found = titanic(read_arff(TITANIC))
    assert found["fare"].tolist() == [211.3375, (211.3375 + 26) / 2, 26]
    assert found["survived"].tolist() == [1, 0, 1]


def test_a_column_that_openml_renamed_is_named(openml):
    openml(40981, arff(["A1", "A2"], "1,2"))
    with pytest.raises(DataError, match="40981 has no column"):
        load("credit")


@pytest.mark.parametrize("source", [COMPAS, CREDIT], ids=lambda source: source.file)
def test_without_any_source_the_error_says_how_to_get_the_file(source, monkeypatch, tmp_path):
    monkeypatch.delenv("MACEX_DATA", raising=False)
    monkeypatch.setenv("MACEX_CACHE", str(tmp_path))
    monkeypatch.setenv("MACEX_OPENML", "off")
    name = {"compas.csv": "compas", "australian_credit.csv": "credit"}[source.file]
    with pytest.raises(DataError, match=rf"{source.file}.*turned off.*set MACEX_DATA to a folder"):
        load(name)


HEAD = "% a remark\n@RELATION r\n\n@ATTRIBUTE age NUMERIC\n@attribute 'home town' string\n@DATA\n"


def quoted(text: str, mark: str) -> str:
    return mark + text.replace("\\", "\\\\").replace(mark, "\\" + mark) + mark


def test_numbers_are_floats_and_the_rest_is_text():
    found = read_arff(HEAD + "29, Paris\n% between\n\n0.5,?\n")
    assert found["age"].tolist() == [29.0, 0.5]
    assert found["home town"].tolist()[0] == "Paris"
    assert pd.isna(found["home town"][1])


@given(
    text=st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1),
    mark=st.sampled_from("'\""),
)
def test_a_quoted_value_comes_back_as_it_was(text, mark):
    found = read_arff(HEAD + f"1,{quoted(text, mark)}\n2,{quoted(text + ', ' + text, mark)}\n")
    assert found["home town"].tolist() == [text, f"{text}, {text}"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("@relation r\n@attribute a real\n", "no line @data"),
        ("<html>not found</html>", "no line @data"),
        (HEAD + "1\n", "line 7 has 1 values for 2 attributes"),
        (HEAD + "1,2,3\n", "line 7 has 3 values for 2 attributes"),
        (HEAD + "old,Paris\n", "'age' holds a value that is not a number"),
        ("@attribute a\n@data\n", "line 1 is no attribute"),
    ],
)
def test_what_is_no_arff_file_is_an_error_that_says_where(text, said):
    with pytest.raises(DataError, match=said):
        read_arff(text)


def test_an_empty_cell_at_the_end_is_a_cell():
    assert read_arff(HEAD + "1,\n")["home town"].tolist() == [""]
