from __future__ import annotations

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from macex.datasets.arff import read_arff
from macex.errors import DataError

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
