"""Reason codes of columns are in every form in which answers leave."""

from __future__ import annotations

import json

import jsonschema
import pandas as pd
import polars as pl
import pytest

import macex as mx
from cohort.town import NO, YES, Bank, refused, town
from macex.ask.question import Question
from macex.explanation.json import schema
from macex.scale.chunks import ChunkExplainer
from macex.scale.partition import Partition

NAMES = {
    "income": mx.Name("yearly income", code="R1", reason="Income too low"),
    "debt": {"code": "R2"},
    "gender": "sex",
}


def explainer(**options) -> mx.Explainer:
    return mx.Explainer(Bank(), town(), classes=(NO, YES), names=NAMES, **options)


def expected(found) -> list[str]:
    return [";".join(reason.code for reason in item.reason_codes()) for item in found]


def test_the_codes_are_those_of_the_names():
    found = explainer().explain(refused(20), want=YES)
    table = {"income": ("R1", "Income too low"), "debt": "R2"}
    for item in found:
        assert item.reason_codes() == item.reason_codes(table)
    assert {"R1;R2", "R2;R1"} & set(expected(found))


def test_frames_of_any_library_have_a_column_of_codes():
    rows = refused(20)
    found = explainer().explain(rows, want=YES, n=2)
    frame = found.to_frame()
    assert frame.columns[-1] == "cf.reasons"
    codes = expected(found)
    assert frame["cf.reasons"].tolist() == [codes[row] for row in frame["cf.row"]]
    chooser = mx.Explainer(
        lambda rows: Bank()(rows.to_pandas()),
        pl.from_pandas(town()),
        classes=(NO, YES),
        names=NAMES,
    )
    polars = chooser.explain(pl.from_pandas(rows.reset_index(drop=True)), want=YES, n=2).to_frame()
    assert polars["cf.reasons"].to_list() == frame["cf.reasons"].tolist()
    nobody = explainer().explain(rows.head(0), want=YES).to_frame()
    assert nobody.columns.tolist() == frame.columns.tolist()


def test_without_codes_there_is_no_column():
    plain = mx.Explainer(Bank(), town(), classes=(NO, YES), names={"income": "yearly income"})
    found = plain.explain(refused(5), want=YES)
    assert "cf.reasons" not in found.to_frame()
    assert "reason_codes" not in json.loads(found[0].to_json())


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_files_have_them(tmp_path, ending):
    rows = refused(60)
    rows.to_csv(tmp_path / "rows.csv", index=False)
    out = tmp_path / f"out.{ending}"
    mx.explain_file(explainer(), tmp_path / "rows.csv", out, want=YES, chunk=25)
    read = pd.read_csv(out) if ending == "csv" else pd.read_parquet(out)
    found = explainer().explain(rows.reset_index(drop=True), want=YES)
    assert read["cf.reasons"].tolist() == expected(found)


def test_json_has_them_and_its_schema_knows():
    found = explainer().explain(refused(6), want=YES)
    document = json.loads(found.to_json())
    jsonschema.validate(document, schema())
    told = [[code["code"] for code in item["reason_codes"]] for item in document["explanations"]]
    assert [";".join(codes) for codes in told] == expected(found)
    assert document["explanations"][0]["reason_codes"][0].keys() == {"code", "text", "column"}
    assert "reason_codes" not in found.to_json(canonical=True)


def test_engines_declare_and_give_them():
    rows = refused(30)
    partition = Partition.of(ChunkExplainer(explainer(), Question(want=YES)), list(rows.columns))
    made = partition.explain_chunk(rows)
    assert made.dtypes.to_dict() == partition.empty(rows).dtypes.to_dict()
    assert made["cf.reasons"].tolist() == expected(explainer().explain(rows, want=YES))


def test_a_saved_explainer_keeps_them(tmp_path):
    chooser = mx.Explainer(Bank(), town(), classes=(NO, YES), names=NAMES)
    chooser.save(tmp_path / "bank.macex")
    again = mx.load(tmp_path / "bank.macex", Bank())
    rows = refused(6)
    assert expected(again.explain(rows, want=YES)) == expected(chooser.explain(rows, want=YES))


def test_wrong_codes_are_told():
    with pytest.raises(mx.OptionError, match="Name\\(code=\\) must be text"):
        mx.Name("income", code=3)
    with pytest.raises(mx.OptionError, match="did you mean 'code'"):
        mx.Explainer(Bank(), town(), classes=(NO, YES), names={"debt": {"cod": "R1"}})
