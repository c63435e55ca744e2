"""What can be made of a result: text, JSON, HTML and a drawing."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from jsonschema import Draft202012Validator

import macex as mx
from macex.series.json import schema
from macex.series.words import change_text
from series.machines import Machine, explainer, made_cases

QUERIES = made_cases(3, seed=1)
FOUND = explainer(finetune=None).explain(QUERIES, want="bump")
NONE = explainer().explain(QUERIES[:1], want="bump", constraints={"fixed": ["sensor 2"]})


def test_an_answer_is_a_sentence():
    (said,) = FOUND[0].sentences()
    assert said == (
        "If sensor 2 between 0 and 39 were as in a case of class bump, the model would have "
        "decided bump (score 0.01 → 1.00)."
    )
    assert FOUND[1].sentences()[0].startswith("The model already decides bump (score ")
    assert NONE[0].sentences() == [NONE[0].reason]


def test_a_short_or_blended_stretch_is_said_as_such():
    (change,) = FOUND[0].counterfactuals[0].changes
    short = replace(change, start=7, stop=8, blend=0.25, label=None)
    assert change_text(short) == (
        f"sensor 2 at 7 were 25 % of the way to what it is in case {change.case}"
    )


def test_text_lists_channels_and_reasons():
    assert "1. 1 channel: bump" in repr(FOUND[0])
    assert "sensor 2 0–39 from case" in repr(FOUND[0])
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
    assert "&lt;b&gt;" in page
    assert "<svg" in page
    assert "<b>" not in page.replace("<b>calm</b>", "").replace("<b>bump</b>", "")


def test_a_slice_is_a_batch():
    assert isinstance(FOUND[:2], mx.SeriesExplanations)
    assert len(FOUND[:2]) == 2


def test_a_drawing_has_a_panel_for_each_change():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    panels = FOUND[0].plot()
    assert [panel.get_ylabel() for panel in panels] == ["sensor 2"]
    assert len(panels[0].lines) == 2
    assert len(NONE[0].plot()) == 1
    with pytest.raises(mx.OptionError, match="counterfactuals 1 to 1"):
        FOUND[0].plot(rank=2)
    plt.close("all")
