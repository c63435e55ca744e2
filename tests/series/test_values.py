"""What can be made of a result: text, JSON, HTML and a drawing."""

from __future__ import annotations

import html
import json
import pickle
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from jsonschema import Draft202012Validator

import macex as mx
from macex.render.cards import card
from macex.render.speech import Speech
from macex.render.stretches import stretch_clause
from macex.series.json import schema
from macex.series.records import fingerprint
from series.machines import NAMES, Machine, explainer, made_cases

QUERIES = made_cases(3, seed=1)
FOUND = explainer(finetune=None).explain(QUERIES, want="bump")
NONE = explainer().explain(QUERIES[:1], want="bump", constraints={"fixed": ["sensor 2"]})


def test_an_answer_is_a_sentence():
    (said,) = FOUND[0].sentences()
    donor = FOUND[0].counterfactuals[0].changes[0].case
    assert said == (
        f"If sensor 2 between 0 and 39 were as in case {donor} (class bump), the model would have "
        "decided bump (score 0.01 → 1.00)."
    )
    assert FOUND[1].sentences()[0].startswith("The model already decides bump (score ")
    assert NONE[0].sentences() == [NONE[0].reason]


def test_a_short_or_blended_stretch_is_said_as_such():
    (change,) = FOUND[0].counterfactuals[0].changes
    short = replace(change, start=7, stop=8, blend=0.25, label=None)
    assert stretch_clause(short, Speech()) == (
        f"sensor 2 at 7 were 25 % of the way to what it is in case {change.case}"
    )


def test_text_lists_channels_and_reasons():
    assert "\n      sensor 2 time 0 to 39, as in case" in repr(FOUND[0])
    assert "no change needed" in repr(FOUND[1])
    assert repr(FOUND).startswith("3 explanations: 3 found")
    assert "no answer" in repr(NONE[0])


def test_json_holds_what_changed_before_and_after():
    document = json.loads(FOUND.to_json())
    assert document["format"] == "macex.series_explanations/1"
    (change,) = document["explanations"][0]["counterfactuals"][0]["changes"]
    assert np.allclose(change["before"], QUERIES[0, 2])
    assert change["channel"] == "sensor 2"
    assert document["explanations"][0]["cost"]["rows"] == FOUND[0].cost.rows
    assert "cost" not in json.loads(FOUND[0].to_json(canonical=True))


def test_probabilities_are_those_of_the_model():
    for one in FOUND:
        assert one.probabilities == pytest.approx(said(one.query), abs=1e-6)
        for answer in one.counterfactuals:
            assert answer.probabilities == pytest.approx(said(answer.sample), abs=1e-6)
    assert NONE[0].miss.probabilities == {}
    bare = mx.SeriesExplainer(lambda cases: cases[:, 0].mean(axis=1), made_cases())
    assert bare.explain(QUERIES[:1], want=mx.above(-5))[0].probabilities == {}


def said(sample):
    return dict(zip(Machine.classes_, Machine().predict_proba(sample[None])[0], strict=True))


class Timid(Machine):
    """A machine that hardly ever says that a level is raised."""

    def predict_proba(self, cases):
        found = super().predict_proba(cases) * [1.0, 1.0, 1e-9]
        return found / found.sum(axis=1, keepdims=True)


def test_one_of_three_answers_says_why():
    asked = {
        "tried": {},
        "rows": {"max_rows": 30},
        "fragile": {"want": None, "also": [Timid()]},
    }
    for why, options in asked.items():
        asking = explainer(candidates=mx.NearCases(k=40 if why == "fragile" else 5))
        (found,) = asking.explain(QUERIES[:1], **{"want": "bump", "n": 3, **options})
        assert (why, found.fewer) == (why, why)
        assert json.loads(found.to_json())["fewer"] == why
    (found,) = explainer().explain(QUERIES[:1], want="bump", n=3)
    assert repr(found).endswith("1 of 3 asked. No other combination that was tried suffices")
    assert explainer().explain(QUERIES[:1], want="bump")[0].fewer is None


def test_more_channels_than_three_are_listed_and_not_told_in_one_sentence():
    (found,) = explainer(finetune=None).explain(
        QUERIES[:1], want="bump", constraints={"groups": [NAMES[:5]]}
    )
    assert len(found.counterfactuals[0].channels) == 5
    told = card(found, Speech())
    assert told.lead.startswith("If 5 channels were as listed below, the model would have decided")
    assert len(told.answers[0].lines) == 5
    assert found.sentences()[0].count("as in case") == 5
    assert "bump 0.01 → " in told.answers[0].probabilities


def test_the_schema_is_a_schema():
    Draft202012Validator.check_schema(schema())


GAP = made_cases(1, seed=1)
GAP[0, 2, 3] = np.nan
ASKED = {
    "plain": {},
    "groups": {"constraints": {"groups": [["sensor 1", "sensor 2"], ["sensor 0", "sensor 5"]]}},
    "none": {"constraints": {"fixed": ["sensor 2"]}},
    "several": {"n": 3},
    "score": {"want": mx.at_least(0.4, label="raised")},
    "out of rows": {"max_rows": 1},
    "gaps": {"rows": GAP},
}


@pytest.mark.parametrize("canonical", [False, True])
@pytest.mark.parametrize("asked", ASKED.values(), ids=ASKED)
def test_json_is_as_its_schema_says(asked, canonical):
    options = {"rows": QUERIES, "want": "bump", **asked}
    found = explainer().explain(options.pop("rows"), **options)
    check = Draft202012Validator(schema())
    check.validate(json.loads(found.to_json(canonical=canonical)))
    for item in found:
        check.validate(json.loads(item.to_json(canonical=canonical)))


@pytest.mark.parametrize("broken", [{"status": "lost"}, {"score": "high"}, {"extra": 1}])
def test_the_schema_refuses_what_is_no_explanation(broken):
    document = json.loads(FOUND[0].to_json())
    assert not Draft202012Validator(schema()).is_valid({**document, **broken})


def test_gaps_are_null_in_json():
    train, case = made_cases(), QUERIES[:1].copy()
    case[0, 2, 3] = np.nan
    found = mx.SeriesExplainer(Machine(), train, finetune=None)
    document = json.loads(found.explain(case, want="bump").to_json())
    assert document["explanations"][0]["counterfactuals"][0]["changes"][0]["before"][3] is None


def test_html_escapes_names_and_draws():
    names = ["<b>"] + [f"s{place}" for place in range(5)]
    machine = Machine()
    found = mx.SeriesExplainer(machine, made_cases(), channels=names[1:3] + names[:1] + names[3:])
    page = found.explain(QUERIES[:2], want="bump")._repr_html_()
    assert "<b>&lt;b&gt;</b>" in page
    assert "<polyline" in page
    assert "<b><b>" not in page


def test_a_slice_is_a_batch():
    assert isinstance(FOUND[:2], mx.SeriesExplanations)
    assert len(FOUND[:2]) == 2


def test_a_drawing_has_a_panel_for_each_change():
    (panel,) = FOUND[0].plot().charts
    assert panel.y.name == "sensor 2"
    (change,) = FOUND[0].counterfactuals[0].changes
    drawn = [f"case {change.case}", "the case", "counterfactual"]
    assert [line.name for line in panel.lines] == drawn
    assert panel.spans[0].high == change.stop - 0.5
    assert "Nothing to draw" in str(NONE[0].plot()) or NONE[0].plot().charts
    with pytest.raises(mx.OptionError, match="counterfactuals 1 to 1"):
        FOUND[0].plot(rank=2)


def test_a_frame_has_a_line_for_each_counterfactual_and_a_column_for_each_channel():
    frame = FOUND.to_frame()
    assert list(frame.columns[:6]) == list(FOUND[0].channels)
    assert frame["cf.row"].tolist() == [0, 1, 2]
    assert frame["cf.sparsity"].tolist() == [1, 0, 1]
    assert np.array_equal(frame["sensor 2"][0], FOUND[0].counterfactuals[0].sample[2])
    lone = NONE.to_frame()
    assert (lone["cf.rank"][0], lone["cf.status"][0]) == (0, "not_found")
    assert np.array_equal(lone["sensor 0"][0], QUERIES[0, 0])


def test_a_batch_without_cases_has_a_frame_of_the_same_columns():
    empty = explainer().explain(QUERIES[:0])
    assert list(empty.to_frame().columns) == list(FOUND.to_frame().columns)
    assert len(empty.to_changes()) == 0
    assert empty.summary().rows == 0


def test_changes_have_a_line_each():
    changes = FOUND.to_changes()
    assert changes["channel"].tolist() == ["sensor 2", "sensor 2"]
    assert changes[["start", "stop"]].to_numpy().tolist() == [[0, 40], [0, 40]]
    assert np.array_equal(changes["before"][0], QUERIES[0, 2])


def test_files_hold_every_value(tmp_path):
    text = FOUND.to_csv(tmp_path / "answers.csv").read_text(encoding="utf-8")
    assert str(FOUND[0].counterfactuals[0].sample[2].tolist()) in text
    pytest.importorskip("pyarrow")
    FOUND.to_parquet(tmp_path / "changes.parquet", changes=True)
    assert len(pd.read_parquet(tmp_path / "changes.parquet")) == 2


def test_a_sheet_of_excel_holds_every_value(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    sample = FOUND[0].counterfactuals[0].sample
    for at, result in enumerate((FOUND, FOUND[0])):
        book = openpyxl.load_workbook(result.to_excel(tmp_path / f"{at}.xlsx"))
        assert book.sheetnames == ["answers", "changes"]
        heads, first, *_ = book["answers"].iter_rows(values_only=True)
        for channel, values in zip(FOUND[0].channels, sample, strict=True):
            assert json.loads(first[heads.index(channel)]) == values.tolist()


def test_a_summary_counts_channels_and_says_when_they_change():
    summary = FOUND.summary()
    assert dict(summary.columns) == {"sensor 2": 2}
    assert summary.typical[0].stretch == (0, 39)
    assert "time 0 to 39" in repr(summary)
    assert summary.metrics["validity"] == 1.0
    assert FOUND.metrics()["sparsity"] == pytest.approx(2 / 3)


def test_a_report_is_one_file_with_a_drawing_of_every_change(tmp_path):
    path = FOUND.to_html(tmp_path / "report.html", title="<machines>")
    page = path.read_text(encoding="utf-8")
    assert page.count("<figure") == 2
    assert "&lt;machines&gt;" in page
    assert "Zeit 0 bis 39" in FOUND.to_html(language="de")


def test_pages_say_what_was_asked_of_which_model(tmp_path):
    limits = {"fixed": ["sensor 0"], "fixed_times": [(0, 5)]}
    found = explainer().explain(QUERIES[:2], want="bump", constraints=limits)
    model = fingerprint(explainer().engine)[:12]
    for at, result in enumerate((found, found[:1], found[0])):
        page = result.to_html(tmp_path / f"{at}.html").read_text(encoding="utf-8")
        assert "Wanted</dt><dd>bump<" in page
        told = re.search("May change</dt><dd>(.*?)<", page)[1]
        assert html.unescape(told) == "fixed 'sensor 0'; fixed times 0 to 4"
        assert f"Model</dt><dd>{model}<" in page
    each = explainer().explain(QUERIES[:2], want=["bump", "raised"], constraints=[None, limits])
    assert each.to_html().count("<dd>one for each row") == 2


def test_answers_are_the_same_after_a_journey():
    again = pickle.loads(pickle.dumps(FOUND))  # noqa: S301 - our own
    assert again.to_json() == FOUND.to_json()
    assert again.to_frame().shape == FOUND.to_frame().shape


def test_different_channels_are_diverse():
    level = np.arange(20.0)[:, None, None] + np.zeros((20, 2, 30))
    either = mx.SeriesExplainer(
        lambda cases: (cases.max(axis=(1, 2)) > 9.5).astype(float), level, classes=("low", "high")
    )
    (item,) = found = either.explain(level[5:6], n=2)
    assert {answer.channels for answer in item.counterfactuals} == {("channel 0",), ("channel 1",)}
    assert found.metrics()["diversity_column_sets"] == 1.0


def test_a_blend_is_told_with_all_its_digits():
    change = FOUND[0].counterfactuals[0].changes[0]
    said = stretch_clause(replace(change, blend=0.984375), Speech())
    assert "98.4375 % of the way" in said
