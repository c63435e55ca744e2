"""Whatever is given for an argument, an error that says which one it is and what it takes."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import macex as mx

RNG = np.random.default_rng(0)
X = pd.DataFrame({"a": RNG.normal(size=60), "b": RNG.integers(0, 9, 60), "c": ["x", "y", "z"] * 20})
ROWS = X.head(6)
CASES = RNG.normal(size=(12, 2, 10))


def named(value) -> str:
    """A value in the name of a test, the same in every process."""
    return "object" if type(value) is object else str(value)


def model(rows):
    return 1 / (1 + np.exp(-rows["a"].to_numpy() - (rows["c"] == "x")))


E = mx.Explainer(model, X, classes=("no", "yes"))
FOUND = E.explain(ROWS)
NO_NUMBER = [
    None,
    "x",
    [],
    {},
    object(),
    float("nan"),
    float("inf"),
    np.array([1, 2]),
    True,
    10**400,
]
NO_PATH = [-1, 0.5, True, [], object(), b"x", "a\0b"]


@pytest.mark.parametrize("value", NO_NUMBER, ids=named)
@pytest.mark.parametrize("option", ["rate", "l1", "entropy"])
def test_reinforce_takes_numbers(option, value):
    with pytest.raises(mx.OptionError, match=rf"Reinforce\({option}=\)"):
        mx.Reinforce(**{option: value})


@pytest.mark.parametrize("value", [*NO_NUMBER, (1,), (1, "x"), (2, 1), (0, 1), "ab"], ids=named)
@pytest.mark.parametrize("stage", [mx.GradientlessDescent, mx.GradientlessSearch])
def test_radii_are_two_numbers(stage, value):
    with pytest.raises(mx.OptionError, match=rf"{stage.__name__}\(radius=\)"):
        stage(radius=value)


@pytest.mark.parametrize(
    "value", ["x", [], 0, 1.5, float("nan"), np.array([1, 2]), True], ids=named
)
@pytest.mark.parametrize("option", ["categories", "quantiles", "rows"])
def test_a_domain_takes_counts(option, value):
    with pytest.raises(mx.OptionError, match=rf"Domain\({option}=\)"):
        mx.Domain(**{option: value})


@pytest.mark.parametrize("value", ["x", None, [], np.array([1, 2])], ids=named)
def test_stages_name_a_choice_that_is_none(value):
    with pytest.raises(mx.OptionError, match=r"Neighbors\(match=\)"):
        mx.Neighbors(match=value)
    with pytest.raises(mx.OptionError, match=r"Neighbors\(index="):
        mx.Neighbors(index=value)
    with pytest.raises(mx.OptionError, match=r"Selection\(printed=\)"):
        mx.Selection(printed=value)
    with pytest.raises(mx.OptionError, match=r"Reinforce\(weigh=\)"):
        mx.Reinforce(weigh=value)


@pytest.mark.parametrize("value", ["x", [], {}, object(), np.array([1, 2]), True], ids=named)
def test_a_grid_is_a_number(value):
    with pytest.raises(mx.SchemaError, match="Continuous: step"):
        mx.Continuous(step=value)


def test_bounds_of_scores_may_be_large_integers():
    assert E.explain(ROWS, want=mx.at_least(10**30))[0].status != "found"
    with pytest.raises(mx.GoalError, match="finite"):
        mx.at_least(10**400)


def test_a_label_is_one_value():
    with pytest.raises(mx.GoalError, match="a label is one value"):
        E.explain(ROWS, want=mx.at_least(0.5, label=np.array([1, 2])))


@pytest.mark.parametrize("path", NO_PATH, ids=named)
def test_files_are_named_by_paths(path, tmp_path):
    for write in (FOUND.to_json, FOUND.to_csv, FOUND.to_html, FOUND.to_parquet, E.save):
        with pytest.raises(mx.OptionError, match="path takes the path of a file"):
            write(path)
    for read in (lambda given: mx.load(given, model), mx.load_model):
        with pytest.raises(mx.OptionError, match="path takes the path of a file"):
            read(path)
    with pytest.raises(mx.OptionError, match="source"):
        mx.explain_file(E, [path], tmp_path / "out.csv")


@pytest.mark.parametrize("value", [None, -1, [], {}, object()], ids=named)
def test_reports_name_what_they_cannot_use(value):
    with pytest.raises(mx.OptionError, match="language"):
        FOUND.to_html(language=value)
    with pytest.raises(mx.OptionError, match="language"):
        FOUND[0].sentences(value)
    with pytest.raises(mx.OptionError, match="most"):
        FOUND.to_html(most=value)
    with pytest.raises(mx.OptionError, match="plan="):
        FOUND.summary(plan=value)
    with pytest.raises(mx.OptionError, match="findings="):
        FOUND.to_html(findings=[value])


@pytest.mark.parametrize("value", ["x", object(), [["x"]], {"a": "x"}, {"a": None}], ids=named)
def test_shap_values_are_numbers(value):
    with pytest.raises(mx.OptionError, match="shap"):
        FOUND.summary(shap=value)


def test_more_changes_than_columns_are_no_more_work():
    most = len(X.columns)
    assert repr(E.plan(ROWS, max_changes=10**30)) == repr(E.plan(ROWS, max_changes=most))
    assert repr(E.picture(ROWS, parts=10**30)) == repr(E.picture(ROWS, parts=len(ROWS)))


def test_recourse_is_diagnosed_or_not():
    with pytest.raises(mx.OptionError, match="diagnose"):
        E.recourse(ROWS, diagnose="yes")


@pytest.mark.parametrize("value", [None, 3, 1.5, "ab"], ids=named)
def test_groups_of_channels_are_lists(value):
    with pytest.raises(mx.ConstraintError, match="groups="):
        mx.SeriesConstraints(groups=value)


@pytest.mark.parametrize("value", [3, [], {}, np.zeros(2)], ids=named)
def test_a_layout_is_one_of_two_words(value):
    with pytest.raises(mx.OptionError, match="layout="):
        mx.SeriesExplainer(lambda cases: cases[:, 0].max(axis=1), CASES, layout=value)


@pytest.mark.parametrize("value", [7, None, E], ids=["number", "None", "explainer"])
def test_a_record_is_named_by_a_text(value, tmp_path):
    audit = tmp_path / "audit.jsonl"
    mx.Explainer(model, X, classes=("no", "yes"), audit=audit).explain(ROWS.head(1))
    with pytest.raises(mx.OptionError, match="id takes the id of a record"):
        mx.replay(value, audit, model=model, data=X)
